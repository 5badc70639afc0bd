//! What of its memory each component used in a run, `./cairn run --report`: measured by the memory manager's own code, in the memory
//! that the machine left.

use crate::build::BuiltImage;
use crate::guest_memory::GuestMemory;
use anyhow::Result;
use cairn_abi::address::DEVICES_OFFSET;
use cairn_abi::record::{
    CONTENT_CLIENT_STACK, CONTENT_CONSTANTS, CONTENT_DATA, CONTENT_HEAP, CONTENT_STACK,
    CONTENT_TEXT, CONTENT_THREAD_STACK,
};
use cairn_abi::{InstanceId, address::PAGE_SIZE};
use cairn_image::{InstanceReport, places};
use cairn_memory::manager::{Manager, State};
use cairn_memory::measure::Measured;
use cairn_memory::tables::Tables;
use std::collections::BTreeSet;

/// Bytes used of so many.
#[derive(Clone, Copy, Default)]
struct Part {
    used: u64,
    size: u64,
}

impl Part {
    fn shown(self) -> String {
        match self.size {
            0 => "-".to_owned(),
            size => format!("{}/{}", kibibytes(self.used), kibibytes(size)),
        }
    }
}

fn kibibytes(bytes: u64) -> String {
    format!("{}K", bytes.div_ceil(1024))
}

/// The table of the run that has ended.
pub fn table(image: &BuiltImage, memory: &GuestMemory) -> Result<String> {
    let left = memory.read(image)?;
    let words = left.words(memory.base, memory.end() - memory.base);
    let state = Box::new(State::empty());
    let manager = Manager {
        state: &state,
        header: &left.header,
        instances: &left.instances,
        segments: &left.segments,
        activations: &[],
        tables: Tables { words: &[], physical: 0, free: &state.tables, first_free: 0 },
        memory: &words,
        memory_physical: memory.base,
        fence: || {},
    };
    manager.begin();
    let mapped = places::mapped(memory.base, left.content, &image.domains);
    let mut text = row([
        "component",
        "text",
        "data",
        "heap",
        "stack",
        "calls'",
        "stacks",
        "threads'",
        "run-time",
        "portals",
    ]
    .map(str::to_owned));
    for instance in &left.report.instances {
        text += &line(&manager, instance, &mapped)?;
    }
    Ok(text)
}

fn line(manager: &Manager, of: &InstanceReport, mapped: &BTreeSet<u64>) -> Result<String> {
    let [mut text, mut data, mut heap, mut stack, mut calls] = [Part::default(); 5];
    let (mut stacks, mut threads) = ((0, 0), None::<Part>);
    let mut at = 0;
    while let Ok(Measured { next, content: Some(content), size, used }) =
        manager.measure(InstanceId(of.number), at)
    {
        at = next;
        let part = Part { used, size };
        match content {
            _ if size == 0 => {}
            CONTENT_TEXT | CONTENT_CONSTANTS => text.size += size,
            CONTENT_DATA => data.size += size,
            CONTENT_HEAP => heap = part,
            CONTENT_STACK => stack = part,
            CONTENT_CLIENT_STACK => {
                calls = Part { used: used.max(calls.used), size };
                stacks.0 += u64::from(used > 0);
                stacks.1 += 1;
            }
            CONTENT_THREAD_STACK => {
                let left = |part: &Part| (part.size - part.used) as f64 / part.size as f64;
                let fuller = threads.filter(|known| left(known) <= left(&part));
                threads = fuller.or(Some(part));
            }
            _ => {}
        }
    }
    let end = of.region + DEVICES_OFFSET;
    let run_time = mapped.range(end - of.reachable..end).count() as u64 * PAGE_SIZE;
    let or_none = |is_some: bool, text: String| if is_some { text } else { "-".to_owned() };
    Ok(row([
        of.name.clone(),
        kibibytes(text.size),
        kibibytes(data.size),
        heap.shown(),
        stack.shown(),
        calls.shown(),
        or_none(stacks.1 > 0, format!("{}/{}", stacks.0, stacks.1)),
        threads.unwrap_or_default().shown(),
        or_none(run_time > 0, kibibytes(run_time)),
        or_none(of.portal_code > 0, of.portal_code.to_string()),
    ]))
}

fn row(cells: [String; 10]) -> String {
    let [name, text, data, heap, stack, calls, stacks, threads, run_time, portals] = cells;
    format!(
        "{name:<14} {text:>5} {data:>5} {heap:>11} {stack:>9} {calls:>9} {stacks:>6} {threads:>9} {run_time:>8} {portals:>7}\n"
    )
}
