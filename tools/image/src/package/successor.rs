//! The memory of a package that replaces an instance: that has to hold its content beside the stacks of its clients, which stay.

use cairn_abi::address::PAGE_SIZE;
use cairn_abi::package::Segment;
use cairn_abi::record::CONTENT_DATA;
use cairn_description::model::{Instance, Package};
use cairn_description::{Error, Located, Place, show_size};
use cairn_loader::package::Writer;

/// Copies that a page lists, for a restart; behind them it has the next such page.
const LISTED: u64 = PAGE_SIZE / 8 - 1;

/// The quota of memory of a package that replaces an instance, which pays for it until it is exchanged. As the memory manager counts.
pub fn memory(
    writer: &Writer,
    package: &Package,
    instance: &Instance,
    replaces: &Place,
) -> Result<u64, Error> {
    let successor = &package.instance;
    let program: u64 = writer.segments.iter().map(|segment| taken(writer, package, segment)).sum();
    let startup = PAGE_SIZE;
    let needed = program + startup + *successor.heap + *successor.stack;
    let parts = format!(
        "the program takes {}, its data twice for a restart; the heap {}, the stack of its first thread {}",
        show_size(program + startup),
        show_size(*successor.heap),
        show_size(*successor.stack)
    );
    if needed > *successor.memory {
        let raise = format!("raise `memory`: {parts}");
        return Err(short(&successor.memory, &successor.name, needed, raise));
    }
    let stacks = u64::from(instance.stacks.count) * instance.stacks.size;
    let with_stays = needed + stacks + instance.sections_memory();
    if with_stays > *instance.memory {
        let raise = format!(
            "raise `memory` of `{}`, which stays as it is: of `{}` {parts}; the stacks for its clients take {}",
            instance.name,
            successor.name,
            show_size(stacks)
        );
        let note = format!("`{}` is to replace it", successor.name);
        return Err(
            short(&instance.memory, &successor.name, with_stays, raise).note(replaces, note)
        );
    }
    Ok(*successor.memory)
}

fn short(memory: &Located<u64>, name: &str, needed: u64, raise: String) -> Error {
    let label = format!("expected at least {}, found {}", show_size(needed), show_size(**memory));
    Error::new(
        &memory.place,
        format!("the successor `{name}` does not fit into this memory"),
        label,
        raise,
    )
}

/// Bytes that a segment takes of a quota.
fn taken(writer: &Writer, package: &Package, (segment, content): &(Segment, Vec<u8>)) -> u64 {
    let content = (content.len() as u64).next_multiple_of(PAGE_SIZE);
    let size = u64::from(segment.size);
    if segment.content == CONTENT_DATA {
        // As if none of its pages were zeros.
        let copies = content / PAGE_SIZE;
        return size + (copies + copies.div_ceil(LISTED)) * PAGE_SIZE;
    }
    let range = u64::from(segment.offset)..u64::from(segment.offset) + size;
    let is_relocated = writer.relocations.iter().any(|word| range.contains(&u64::from(*word)));
    // What nothing is added to is shared with the shelf.
    if package.is_shelved && !is_relocated { size - content } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_abi::record::{CONTENT_CONSTANTS, CONTENT_TEXT};
    use cairn_description::{Disk, Files, Report, System, load_from};
    use std::io;

    /// The repository, with one more system.
    struct Tree(Disk, String);

    impl Files for Tree {
        fn read(&self, path: &str) -> io::Result<String> {
            if path == "systems/tight.toml" { Ok(self.1.clone()) } else { self.0.read(path) }
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

    /// The second instance has this much, and a package that is to replace it.
    fn system(memory: &str, package: &str) -> System {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let text = format!(
            "[system]\nname = \"tight\"\nboard = \"qemu-virt\"\nscheduler = \"scheduler\"\n\
             [instance.scheduler]\ncomponent = \"scheduler\"\nmemory = \"32K\"\n\
             [instance.greeter]\ncomponent = \"examples/greeter\"\nmemory = \"{memory}\"\n\
             stacks = {{ count = 1, size = \"4K\" }}\n\
             [package.new]\nreplaces = \"greeter\"\n{package}\n"
        );
        let tree = Tree(Disk::new(root), text);
        load_from(&tree, "tight", None).unwrap_or_else(|report| panic!("{report}"))
    }

    /// Two pages of text, one of constants with addresses, two of data of which one is zeros.
    fn writer() -> Writer {
        let segment = |offset, size, content, bytes| {
            (Segment { offset, size, file_size: 0, content, reserved: 0 }, vec![1; bytes])
        };
        let segments = [
            segment(0, 0x2000, CONTENT_TEXT, 5000),
            segment(0x2000, 0x1000, CONTENT_CONSTANTS, 16),
            segment(0x3000, 0x2000, CONTENT_DATA, 8),
        ];
        let mut writer = Writer::default();
        writer.segments.extend(segments);
        writer.relocations.push(0x2008);
        writer
    }

    fn needed(system: &mut System, is_shelved: bool) -> Result<u64, Error> {
        system.packages[0].is_shelved = is_shelved;
        let package = &system.packages[0];
        let replaced = package.replaces.as_ref().unwrap();
        memory(&writer(), package, &system.instances[**replaced], &replaced.place)
    }

    fn shown(result: Result<u64, Error>) -> String {
        Report::from(result.unwrap_err()).to_string()
    }

    #[test]
    fn a_successor_fits_beside_the_stacks_that_stay() {
        // Constants, data, what it begins with and the list of that, startup page and stack; with the stack that stays one page more.
        let exactly = 4 + 8 + 4 + 4 + 4 + 16;
        for (pages_more, is_shelved, fits) in
            [(1, true, true), (0, true, false), (3, false, true), (2, false, false)]
        {
            let memory = format!("{}K", exactly + 4 * pages_more);
            let result = needed(&mut system(&memory, ""), is_shelved);
            assert_eq!(result.is_ok(), fits, "{memory} {is_shelved} {result:?}");
        }
        let report = shown(needed(&mut system("40K", ""), true));
        assert!(report.contains("expected at least 44K, found 40K"), "{report}");
        assert!(report.contains("raise `memory` of `greeter`, which stays as it is"), "{report}");
        let own = |memory| needed(&mut system("256K", &format!("memory = \"{memory}\"")), true);
        assert_eq!(own("40K").unwrap(), 40 << 10);
        let report = shown(own("36K"));
        assert!(report.contains("expected at least 40K, found 36K"), "{report}");
    }
}
