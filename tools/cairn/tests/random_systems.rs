//! Random systems of 10 to 250 instances: there is an image, which boots and in which everyone has what the description
//! promises, or an error says which line has to change.
#![forbid(unsafe_code)]

use cairn_description::{Disk, Files, load_from};
use cairn_random::Random;
use cairn_tool::build::{self, Parts, lay_out_with, nucleus};
use cairn_tool::paths;
use cairn_tool::system_tests::SystemTest;
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

    fn content_size(&self, path: &str) -> io::Result<Option<u64>> {
        self.0.content_size(path)
    }

    fn is_component(&self, folder: &str) -> bool {
        self.0.is_component(folder)
    }
}

/// `extends` the components of `tests/shares`, in other numbers and with other quotas, all of which they take.
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
    let mut clients = 0;
    for kind in &kinds[..3] {
        let count = 1 + random.below(left.saturating_sub(2).max(1));
        clients += count;
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
             memory = \"{memory}K\"\nstacks = {{ count = {stacks}, size = \"4K\" }}\n\
             argument = \"{semaphores} {locks} CLIENTS 0 0 {names} {sections}\"\n"
        )
        .unwrap();
        if random.below(8) == 0 {
            text += "placement = \"kernel\"\n";
        }
    }
    text.replace("CLIENTS", &clients.to_string())
}

/// Lays out so many random systems, and boots the first of those that have an image.
fn try_systems(seed: u64, count: u64, mut boots: u64) {
    let parts = Parts::new("tests/shares/shares", None).unwrap();
    let (nucleus, _) = nucleus().unwrap();
    let test = SystemTest::read(&paths::source().join("tests/shares/test.toml")).unwrap();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut random = Random::of_seed(seed);
    let (mut images, mut errors) = (0, 0);
    for round in 0..count {
        let text = description(&mut random);
        let files = With(Disk::new(root), &text);
        let made = load_from(&files, NAME, None)
            .map_err(|report| report.to_string())
            .and_then(|system| parts.described_by(system).map_err(|error| error.to_string()))
            .and_then(|parts| {
                lay_out_with(&parts, &nucleus).map_err(|error| error.to_string())?;
                Ok(parts)
            });
        match made {
            Ok(parts) => {
                images += 1;
                if boots > 0 {
                    boots -= 1;
                    let image = build::image(parts, Some(&format!("{seed}-{round}"))).unwrap();
                    if let Err(error) = test.run(&image) {
                        panic!("{seed}, {round}: {error:#}\n{text}");
                    }
                    std::fs::remove_file(image.file).unwrap();
                }
            }
            Err(error) => {
                errors += 1;
                assert!(error.contains(" --> "), "{round}: {error}\n{text}");
                assert!(error.contains("= help: "), "{round}: {error}\n{text}");
            }
        }
    }
    assert!(images > 5 && errors > 5, "{images} images, {errors} errors");
}

#[test]
fn a_random_system_boots_or_has_an_error_with_its_line() {
    try_systems(5, 100, 3);
}

#[test]
#[ignore = "the long form, for some minutes: cargo test -p cairn-tool --test random_systems -- --ignored"]
fn every_random_system_with_an_image_boots() {
    try_systems(6, 300, u64::MAX);
}
