//! `./cairn profile`: where the cycles of a system go on a simulated core.
//!
//! A cycle counts for the instruction that retires next, since the core was waiting for that one. A line that is read from
//! memory was in no cache; a page that is walked for had no entry of the TLB.

use crate::build::{self, BuiltImage, Symbols};
use crate::cycle_trace::{self, Event, Events, What};
use crate::test::{Job, Outcome};
use anyhow::{Context, Result, bail};
use cairn_abi::address::{KERNEL, PAGE_SIZE, PORTAL_CODE, REGION_SIZE, THREADS};
use cairn_abi::text::Visible;
use cairn_image::Places;
use object::{Object, ObjectSymbol, SymbolKind};
use rustc_demangle::demangle;
use std::collections::HashMap;
use std::fmt::Write;
use std::fs::File;
use std::hash::Hash;
use std::ops::Range;
use std::path::PathBuf;
use std::process::Stdio;

/// What is asked for.
pub struct Request {
    /// Cycles from reset.
    pub cycles: Range<u64>,
    /// Text that is typed at the console, from the start.
    pub input: Option<PathBuf>,
    /// Most rows of each table.
    pub rows: usize,
}

/// Cycles that an instance takes at most until it has started: 75 had after 1,802,671.
const START: u64 = 25_000;
/// Cycles that are looked at when all have.
const BEHIND_START: u64 = 500_000;

/// The cycle in which a profile ends that does not say, of a system with so many instances.
pub fn end(from: u64, instances: usize) -> u64 {
    from.max(START * instances as u64) + BEHIND_START
}

/// What costs cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cost {
    cycles: u64,
    instructions: u64,
}

/// Bytes of a page in which reads are told apart: a cache's line, of either core a multiple.
const LINE: u64 = 64;

/// What a trace adds up to.
#[derive(Debug, Default)]
struct Profile {
    /// By address.
    instructions: HashMap<u64, Cost>,
    /// Reads of each line of memory.
    lines: HashMap<u64, u64>,
    /// Walks of the page tables for each page.
    walks: HashMap<u64, u64>,
    /// From the first instruction to the last.
    cycles: Range<u64>,
}

impl Profile {
    fn read(events: Events, memory: u64) -> Result<Profile> {
        let mut profile = Profile::default();
        let mut last = None;
        for event in events {
            let Event { cycle, what } = event?;
            match what {
                What::Retires(address) => {
                    if last.is_none() {
                        profile.cycles.start = cycle;
                    }
                    profile.cycles.end = cycle;
                    let cost = profile.instructions.entry(address).or_default();
                    // The first has waited for nothing that was seen.
                    cost.cycles += cycle - last.replace(cycle).unwrap_or(cycle);
                    cost.instructions += 1;
                }
                What::Read(address, bytes) if address >= memory && bytes > 8 => {
                    *profile.lines.entry(address & !(LINE - 1)).or_default() += 1;
                }
                What::Walk(address) => *profile.walks.entry(address).or_default() += 1,
                What::Read(..) | What::Write(..) => {}
            }
        }
        if profile.instructions.is_empty() {
            bail!("nothing was executed in these cycles");
        }
        Ok(profile)
    }
}

/// Functions by their addresses.
struct Functions {
    sorted: Vec<(Range<u64>, String)>,
    firmware: Range<u64>,
}

impl Functions {
    /// Of the nucleus and of all instances.
    fn of(image: &BuiltImage) -> Result<Functions> {
        let mut functions = Vec::new();
        for Symbols { file, offset, owner } in &image.symbols {
            let bytes =
                std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
            let elf = object::File::parse(&*bytes).with_context(|| file.display().to_string())?;
            for symbol in elf.symbols().filter(is_code) {
                let start = symbol.address().wrapping_add(*offset);
                let Ok(name) = symbol.name() else { continue };
                // What begins so is the assembler's own.
                if !name.is_empty() && !name.starts_with(['.', '$']) {
                    let name =
                        format!("{owner}: {}", Visible::text(&format!("{:#}", demangle(name))));
                    functions.push((start..start.saturating_add(symbol.size()), name));
                }
            }
        }
        functions.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        functions.dedup_by_key(|(range, _)| range.start);
        Ok(Functions { sorted: functions, firmware: image.firmware.clone() })
    }

    /// The function at an address. Those in assembly have no size: they end where the next begins.
    fn name(&self, address: u64) -> String {
        if (PORTAL_CODE..THREADS).contains(&address) {
            return "portal code".to_owned();
        }
        let next = self.sorted.partition_point(|(range, _)| range.start <= address);
        match next.checked_sub(1).map(|at| &self.sorted[at]) {
            Some((range, name))
                if range.contains(&address) || range.is_empty() && near(range, address) =>
            {
                name.clone()
            }
            _ if self.firmware.contains(&address) => "firmware".to_owned(),
            _ => format!("{:#x}", address & !(PAGE_SIZE - 1)),
        }
    }
}

/// Labels in assembly have no type.
fn is_code(symbol: &object::Symbol) -> bool {
    matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Label | SymbolKind::Unknown)
        && symbol.section_index().is_some()
}

fn near(range: &Range<u64>, address: u64) -> bool {
    address - range.start < PAGE_SIZE
}

/// Boots `image` and says where its cycles went.
pub fn run(image: &BuiltImage, request: &Request) -> Result<String> {
    let input = match &request.input {
        Some(file) => File::open(file)
            .with_context(|| format!("cannot read the console script {}", file.display()))?
            .into(),
        None => Stdio::null(),
    };
    let functions = Functions::of(image)?;
    // Whatever the system ends with: it has run until then.
    let profile = cycle_trace::with(
        image,
        request.cycles.clone(),
        input,
        |_| true,
        |events| Profile::read(events, image.firmware.start),
    )?;
    let content = std::fs::read(&image.file)
        .with_context(|| format!("cannot read {}", image.file.display()))?;
    let owner = |address| owner(address, &image.symbols);
    let places = Places::read(image.firmware.end, content, &image.domains, &owner);
    let names = Names {
        function: &|address| functions.name(address),
        line: &|line| places.name(line),
        page: &|page| match owner(page) {
            Some(instance) => instance,
            None if page >= KERNEL => cairn_image::places::kernel(page),
            None => "in no region: shared, a role's, or memory itself".to_owned(),
        },
    };
    Ok(shown(&profile, &names, request.rows))
}

/// The instance in whose region an address is.
fn owner(address: u64, symbols: &[Symbols]) -> Option<String> {
    // The first are the nucleus'.
    let mut instances = symbols.iter().skip(1);
    let found = instances.find(|symbols| symbols.offset / REGION_SIZE == address / REGION_SIZE);
    found.map(|symbols| symbols.owner.clone())
}

/// The test of all this, if its name contains `filter`: where the cycles of a boot go, with the component in a domain of its own
/// and in the kernel's.
pub fn jobs(filter: &str) -> Vec<Job> {
    const BOARD: &str = "rocket-rtl";
    let name = format!("profile: {BOARD}");
    let run = || {
        let systems = [
            ("hello", "  page table of hello, level 0, for 0x10", "  1010001000  hello\n"),
            (
                "tests/kernel/kernel-hello",
                "  hello, 0xfffffff010090000 (rx)\n",
                "  fffffff010001000  hello\n",
            ),
        ];
        for (system, line, walk) in systems {
            let image = build::build(system, Some(BOARD))?;
            let request = Request { cycles: 0..80_000, input: None, rows: 1000 };
            let text = run(&image, &request)?;
            let expected = [
                "  nucleus: trap_entry\n",
                "  portal code\n",
                "  firmware\n",
                "  hello: cairn_hello::main\n",
                "  thread ",
                line,
                "  hello\n",
                walk,
            ];
            if let Some(name) = expected.iter().find(|part| !text.contains(**part)) {
                bail!("expected `{name}` of {system} in\n{text}");
            }
        }
        Ok(Outcome { passed: 1, ..Outcome::default() })
    };
    let job = Job { name, run: Box::new(run) };
    Vec::from_iter(Some(job).filter(|job| job.name.contains(filter)))
}

/// The greatest first; of equals the first by key.
fn sorted<K: Ord + Hash, V>(map: HashMap<K, V>, weight: impl Fn(&V) -> u64) -> Vec<(K, V)> {
    let mut rows: Vec<(K, V)> = map.into_iter().collect();
    rows.sort_by(|(a, cost), (b, other)| weight(other).cmp(&weight(cost)).then(a.cmp(b)));
    rows
}

/// What stands at addresses.
struct Names<'a> {
    /// Of instructions.
    function: &'a dyn Fn(u64) -> String,
    /// Of memory.
    line: &'a dyn Fn(u64) -> Option<String>,
    /// Of translations.
    page: &'a dyn Fn(u64) -> String,
}

fn shown(profile: &Profile, names: &Names, rows: usize) -> String {
    let mut functions: HashMap<String, Cost> = HashMap::new();
    let mut total = Cost::default();
    for (address, cost) in &profile.instructions {
        let sum = functions.entry((names.function)(*address)).or_default();
        for sum in [sum, &mut total] {
            sum.cycles += cost.cycles;
            sum.instructions += cost.instructions;
        }
    }
    let reads: u64 = profile.lines.values().sum();
    let mut text = format!(
        "cycles {} to {}: {} instructions, {:.2} cycles each; {reads} lines read from memory\n\n  cycles    part  instr.    each  function\n",
        profile.cycles.start,
        profile.cycles.end,
        total.instructions,
        each(total),
    );
    for (name, cost) in sorted(functions, |cost| cost.cycles).iter().take(rows) {
        let part = 100.0 * cost.cycles as f64 / total.cycles.max(1) as f64;
        let Cost { cycles, instructions } = cost;
        let _ = writeln!(
            text,
            "{cycles:>8} {part:>5.1} % {instructions:>7} {:>7.2}  {name}",
            each(*cost)
        );
    }
    text += "\n   reads        line  set  what lies there\n";
    for (line, count) in sorted(profile.lines.clone(), |count| *count).iter().take(rows) {
        let set = line % PAGE_SIZE / LINE;
        let place = (names.line)(*line)
            .unwrap_or_else(|| "not of the image: firmware, or free memory".to_owned());
        let _ = writeln!(text, "{count:>8}  {line:>10x} {set:>4}  {place}");
    }
    if !profile.walks.is_empty() {
        text += "\n   walks              page  what lies there\n";
    }
    for (page, count) in sorted(profile.walks.clone(), |count| *count).iter().take(rows) {
        let _ = writeln!(text, "{count:>8}  {page:>16x}  {}", (names.page)(*page));
    }
    text
}

fn each(cost: Cost) -> f64 {
    cost.cycles as f64 / cost.instructions as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(lines: &[(u64, What)]) -> Vec<Result<Event>> {
        lines.iter().map(|(cycle, what)| Ok(Event { cycle: *cycle, what: *what })).collect()
    }

    #[test]
    fn a_cycle_counts_for_what_retires_next_and_a_line_for_each_read() {
        use What::*;
        let trace = events(&[
            (10, Retires(0x100)),
            (11, Retires(0x104)),
            (12, Read(0x8000_0000, 64)),
            (13, Read(0x1000_0000, 8)),
            (14, Write(0x8000_0000, 64)),
            (15, Read(0x8000_0010, 16)),
            (60, Walk(0x4000)),
            (61, Retires(0x104)),
        ]);
        let profile = Profile::read(&mut trace.into_iter(), 0x8000_0000).unwrap();
        let cost = |cycles, instructions| Cost { cycles, instructions };
        let expected = HashMap::from([(0x100, cost(0, 1)), (0x104, cost(51, 2))]);
        assert_eq!(profile.instructions, expected);
        assert_eq!(profile.lines, HashMap::from([(0x8000_0000, 2)]));
        let names = Names {
            function: &|address| if address == 0x100 { "one".into() } else { "other".into() },
            line: &|_| Some("a table".into()),
            page: &|_| "somebody's".into(),
        };
        let text = shown(&profile, &names, 1);
        let expected = "\
cycles 10 to 61: 3 instructions, 17.00 cycles each; 2 lines read from memory

  cycles    part  instr.    each  function
      51 100.0 %       2   25.50  other

   reads        line  set  what lies there
       2    80000000    0  a table

   walks              page  what lies there
       1              4000  somebody's
";
        assert_eq!(text, expected);
        assert!(Profile::read(&mut std::iter::empty(), 0).is_err());
    }

    #[test]
    fn what_is_asked_for_without_an_end_has_started_before_it() {
        assert!(end(0, 75) > 1_802_671 + BEHIND_START);
        assert_eq!(end(2_000_000, 5), 2_000_000 + BEHIND_START);
    }

    #[test]
    fn an_address_has_the_function_around_it() {
        let sorted = vec![(0x1000..0x1010, "sized".into()), (KERNEL..KERNEL, "assembly".into())];
        let functions = Functions { sorted, firmware: 0x8000_0000..0x8020_0000 };
        let name = |address| functions.name(address);
        assert_eq!((name(0x100f), name(0x1010)), ("sized".into(), "0x1000".into()));
        assert_eq!(name(0x8000_0040), "firmware");
        assert_eq!(name(KERNEL + 8), "assembly");
        assert_eq!(name(PORTAL_CODE + 4), "portal code");
        assert_eq!(name(KERNEL + PAGE_SIZE + 8), format!("{:#x}", KERNEL + PAGE_SIZE));
    }
}
