//! What of its memory each component used in a run, `./cairn run --report`: measured by the memory manager's own code, in the memory
//! that the machine left.

use crate::build::BuiltImage;
use crate::guest_memory::GuestMemory;
use anyhow::Result;
use cairn_abi::InstanceId;
use cairn_abi::address::{DEVICES_OFFSET, PAGE_SIZE, PAGE_TABLES};
use cairn_image::{InstanceReport, places};
use cairn_memory::live::Record;
use cairn_memory::manager::{Manager, State};
use cairn_memory::measure::Measured;
use cairn_memory::tables::Tables;
use cairn_shell::table::Row;
use cairn_shell::used::{COLUMNS, HEADER, Line, Usage};
use std::collections::BTreeSet;

/// The table of the run that has ended.
pub fn table(image: &BuiltImage, memory: &GuestMemory) -> Result<String> {
    let left = memory.read(image)?;
    let words = left.words(memory.base, memory.end() - memory.base);
    let part = |physical: u64, size: u64| {
        let from = (physical - memory.base) / 8;
        &words[from as usize..(from + size / 8) as usize]
    };
    let (header, state) = (&left.header, Box::new(State::empty()));
    let tables = header.free_page_tables.end - PAGE_TABLES;
    let manager = Manager {
        state: &state,
        header,
        record: Record::new(header, part(left.report.record, header.size)),
        tables: Tables {
            words: part(header.page_tables_physical, tables),
            physical: header.page_tables_physical,
            free: &state.tables,
            first_free: 0,
        },
        memory: &words,
        memory_physical: memory.base,
        fence: || {},
    };
    manager.begin();
    let mapped = places::mapped(memory.base, left.content, &image.domains);
    let (header, _) = HEADER.rsplit_once(' ').expect("several columns");
    let mut text = row(header);
    for instance in &left.report.instances {
        text += &line(&manager, instance, &mapped);
    }
    Ok(text)
}

fn line(manager: &Manager, of: &InstanceReport, mapped: &BTreeSet<u64>) -> String {
    let mut usage = Usage::default();
    let mut at = 0;
    while let Ok(Measured { next, content: Some(content), size, used }) =
        manager.measure(InstanceId(of.number), at)
    {
        at = next;
        usage.add(content, size, used);
    }
    let end = of.region + DEVICES_OFFSET;
    usage.run_time = mapped.range(end - of.reachable..end).count() as u64 * PAGE_SIZE;
    row(&Line(&of.name, &usage, &[Some(of.portal_code)]).to_string())
}

/// Without the last column, which only a machine that runs can fill.
fn row(text: &str) -> String {
    format!("{}\n", Row { columns: &COLUMNS[..COLUMNS.len() - 1], text })
}
