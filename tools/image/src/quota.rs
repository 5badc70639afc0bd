//! Whether instances fit into their quotas of memory, which depends on their finished programs.

use crate::report::InstanceReport;
use cairn_abi::address::{PAGE_SIZE, activation_stride};
use cairn_description::model::Instance;
use cairn_description::{Error, Report, show_size};

/// Refuses instances that begin with more memory than their quotas.
pub fn check<'a>(
    instances: impl Iterator<Item = (&'a Instance, &'a InstanceReport)>,
) -> Result<(), Report> {
    let mut report = Report::new();
    for (instance, placed) in instances {
        let sections = instance.sections_memory();
        let needed = placed.memory + sections;
        if needed <= *instance.memory {
            let most = placed.memory + placed.reachable;
            if *instance.memory > most {
                report.push(unreachable(instance, most));
            }
            continue;
        }
        let needed = needed.next_multiple_of(PAGE_SIZE);
        let program = placed.memory - placed.heap - placed.stacks;
        let of_sections = match sections {
            0 => String::new(),
            _ => format!(", its `sections_at_run_time` {}", show_size(sections)),
        };
        report.push(Error::new(
            &instance.memory.place,
            format!("the memory of `{}` does not hold its program", instance.name),
            format!(
                "expected at least {}, found {}",
                show_size(needed),
                show_size(*instance.memory)
            ),
            format!(
                "write `memory = \"{}\"` or more, since what it asks for at run time comes on top. \
                 Of it the program takes {}, its data that is not zero twice for a restart; the heap {}, the stacks {}{of_sections}",
                show_size(needed),
                show_size(program),
                show_size(placed.heap),
                show_size(placed.stacks)
            ),
        ));
    }
    report.into_result(())
}

/// A quota beyond its region's addresses cannot be used, and is missing elsewhere.
fn unreachable(instance: &Instance, most: u64) -> Error {
    Error::new(
        &instance.memory.place,
        format!("`{}` could never take all of its memory", instance.name),
        format!("expected at most {}, found {}", show_size(most), show_size(*instance.memory)),
        format!(
            "lower `memory`, or its stacks, each of which takes {} of the region's addresses",
            show_size(activation_stride(instance.stacks.size.max(*instance.stacks.limit)))
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_description::{Disk, Files, System, load_from};
    use std::io;

    const SYSTEM: &str = r#"[system]
name = "tight"
board = "qemu-virt"
scheduler = "scheduler"

[instance.scheduler]
component = "scheduler"
memory = "32K"
"#;

    /// The repository, with one more system.
    struct Tree(Disk);

    impl Files for Tree {
        fn read(&self, path: &str) -> io::Result<String> {
            if path == "systems/tight.toml" { Ok(SYSTEM.to_owned()) } else { self.0.read(path) }
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

    fn system() -> System {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        load_from(&Tree(Disk::new(root)), "tight", None).unwrap_or_else(|report| panic!("{report}"))
    }

    fn check_with(memory: u64) -> Result<(), Report> {
        let placed = InstanceReport { memory, stacks: 16 << 10, ..InstanceReport::default() };
        let system = system();
        check(system.instances.iter().zip([&placed]))
    }

    #[test]
    fn what_fits_exactly_is_fine() {
        assert!(check_with(32 << 10).is_ok());
    }

    #[test]
    fn a_program_above_its_quota_is_refused_at_the_line_to_change() {
        let report = check_with(36 << 10).unwrap_err().to_string();
        let expected = r#"error: the memory of `scheduler` does not hold its program
 --> systems/tight.toml:8:10
  |
8 | memory = "32K"
  |          ^^^^^ expected at least 36K, found 32K
  |
  = help: write `memory = "36K"` or more, since what it asks for at run time comes on top. Of it the program takes 20K, its data that is not zero twice for a restart; the heap 0 bytes, the stacks 16K

1 error
"#;
        assert_eq!(report, expected);
    }
}
