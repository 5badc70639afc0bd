//! Random systems of 10 to 250 instances: there is an image, or an error says which line has to change.
#![forbid(unsafe_code)]

use cairn_description::{Disk, Files, load_from};
use cairn_random::Random;
use cairn_tool::build::{Parts, lay_out_with, nucleus};
use std::fmt::Write;
use std::io;

/// The tree, and one file more.
struct With<'a>(Disk, &'a str);
const NAME: &str = "tests/shares/random.toml";

impl Files for With<'_> {
    fn read(&self, path: &str) -> io::Result<String> {
        if path == NAME { Ok(self.1.to_owned()) } else { self.0.read(path) }
    }

    fn list(&self, folder: &str) -> Vec<String> {
        self.0.list(folder)
    }

    fn is_component(&self, folder: &str) -> bool {
        self.0.is_component(folder)
    }
}

/// `extends` the components of `tests/shares`, in other numbers and with other quotas.
fn description(random: &mut Random) -> String {
    let mut text = "[system]\nname = \"random\"\nextends = \"./shares\"\n".to_owned();
    let counting = random.below(8) == 0;
    let instances = 10 + random.below(241);
    let kinds = ["none", "few", "some", "many"];
    let mut left = instances.saturating_sub(9);
    write!(
        text,
        "counting = {counting}\nwithout = [\"many\"]\n[instance.memory]\nmemory = \"5M\"\n"
    )
    .unwrap();
    for kind in &kinds[..3] {
        let count = 1 + random.below(left.saturating_sub(2).max(1));
        left = left.saturating_sub(count);
        // Mostly few, sometimes what no system has.
        let quota = |random: &mut Random, most: u64| match random.below(12) {
            0 => random.below(most),
            _ => random.below(1 + most / instances),
        };
        let (semaphores, locks) = (quota(random, 1024), quota(random, 255));
        let (portals, stacks) = (quota(random, 1472), quota(random, 200));
        let rest = 256 - instances;
        let (names, sections) = (quota(random, rest), quota(random, rest));
        let for_sections = if random.below(8) == 0 { 0 } else { 8 * sections };
        let memory = 64 * (1 + random.below(8)) + for_sections;
        write!(
            text,
            "[instance.{kind}]\ncount = {count}\nsemaphores = {semaphores}\nlocks = {locks}\nportals = {portals}\n\
             names = {names}\nsections_at_run_time = {sections}\nimports.memory = \"memory.memory\"\n\
             memory = \"{memory}K\"\nstacks = {{ count = {stacks}, size = \"4K\" }}\n"
        )
        .unwrap();
        if random.below(8) == 0 {
            text += "placement = \"kernel\"\n";
        }
    }
    text
}

#[test]
fn a_random_system_has_an_image_or_an_error_with_its_line() {
    let parts = Parts::new("tests/shares/shares", None).unwrap();
    let (nucleus, _) = nucleus().unwrap();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut random = Random::of_seed(5);
    let (mut images, mut errors) = (0, 0);
    for round in 0..100 {
        let text = description(&mut random);
        let files = With(Disk::new(root), &text);
        let made = load_from(&files, NAME, None)
            .map_err(|report| report.to_string())
            .and_then(|system| parts.described_by(system).map_err(|error| error.to_string()))
            .and_then(|parts| lay_out_with(&parts, &nucleus).map_err(|error| error.to_string()));
        match made {
            Ok(_) => images += 1,
            Err(error) => {
                errors += 1;
                assert!(error.contains(" --> "), "{round}: {error}\n{text}");
                assert!(error.contains("= help: "), "{round}: {error}\n{text}");
            }
        }
    }
    assert!(images > 5 && errors > 5, "{images} images, {errors} errors");
}
