//! A disk beside what its user says of it: which writes of each sector were acknowledged.
//!
//! A line `acknowledged: FIRST: A-B A-B ...` says of the sectors from FIRST on: the write with the number A was the last that was
//! acknowledged, the one with B the last that was tried. Every word of a sector has its number above, the write's below; the write 0
//! is the zeros with which the disk begins. So a sector has to be one of the writes A to B, and be it whole.

use crate::plugged::SECTOR;
use anyhow::{Context, Result, bail, ensure};

const MARK: &str = "acknowledged: ";

/// Compares a disk with what its user said on the console.
pub fn check(console: &str, disk: &[u8]) -> Result<()> {
    let mut is_said = false;
    for line in console.lines().filter_map(|line| line.trim_end().strip_prefix(MARK)) {
        is_said = true;
        let (first, writes) = parsed(line).with_context(|| {
            format!("the console says `{MARK}{line}`, expected `{MARK}FIRST: A-B A-B ...`")
        })?;
        for (sector, (acknowledged, tried)) in (first..).zip(writes) {
            of_sector(disk, sector, acknowledged, tried)?;
        }
    }
    ensure!(
        is_said,
        "[disk]: `acknowledged` expects lines `{MARK}FIRST: A-B ...` on the console, and found none"
    );
    Ok(())
}

type Said = (u64, Vec<(u32, u32)>);

fn parsed(line: &str) -> Option<Said> {
    let (first, writes) = line.split_once(':')?;
    let writes = writes.split_whitespace().map(|write| {
        let (acknowledged, tried) = write.split_once('-')?;
        let (acknowledged, tried) = (acknowledged.parse().ok()?, tried.parse().ok()?);
        (acknowledged <= tried).then_some((acknowledged, tried))
    });
    Some((first.parse().ok()?, writes.collect::<Option<_>>()?))
}

fn of_sector(disk: &[u8], sector: u64, acknowledged: u32, tried: u32) -> Result<()> {
    let at = (sector * SECTOR) as usize;
    let bytes = disk.get(at..at + SECTOR as usize);
    let bytes = bytes.with_context(|| format!("the disk has no sector {sector}"))?;
    let words = || {
        bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")))
    };
    let found = words().next().expect("a sector has words");
    if let Some(number) = words().position(|word| word != found) {
        bail!("sector {sector} is torn: its word 0 is {found:#x}, its word {number} is another");
    }
    let write = found as u32;
    let expected = if write == 0 { 0 } else { sector << 32 | u64::from(write) };
    if found != expected {
        bail!("sector {sector} has {found:#x}, which was never written there");
    }
    if !(acknowledged..=tried).contains(&write) {
        bail!(
            "sector {sector} has write {write}; acknowledged was {acknowledged}, tried were those up to {tried}"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk of sectors with these writes.
    fn disk(writes: &[u32]) -> Vec<u8> {
        let words = (0..).zip(writes).flat_map(|(sector, write)| {
            [if *write == 0 { 0 } else { sector << 32 | u64::from(*write) }; 64]
        });
        words.flat_map(u64::to_le_bytes).collect()
    }

    #[test]
    fn what_was_acknowledged_is_there_or_what_was_tried_later() {
        let disk = disk(&[9, 0, 3, 5]);
        let said = |text: &str| check(text, &disk).map_err(|error| format!("{error:#}"));
        said("begin\nacknowledged: 1: 0-2 3-3\r\nacknowledged: 3: 1-7\n").unwrap();
        for (text, expected) in [
            ("acknowledged: 3: 6-7", "sector 3 has write 5; acknowledged was 6"),
            ("acknowledged: 3: 1-4", "tried were those up to 4"),
            ("acknowledged: 1: 1-2", "sector 1 has write 0"),
            ("acknowledged: 3: 5-5 0-0", "no sector 4"),
            ("acknowledged: 3: 5", "expected `acknowledged: FIRST"),
            ("acknowledged: 3: 5-4", "expected `acknowledged: FIRST"),
            ("", "found none"),
        ] {
            let error = said(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn a_sector_is_one_write() {
        let mut torn = disk(&[1, 2]);
        torn[512 + 504] = 1;
        let error = check("acknowledged: 1: 0-9", &torn).unwrap_err().to_string();
        assert!(
            error.contains("sector 1 is torn: its word 0 is 0x100000002, its word 63"),
            "{error}"
        );
        let mut foreign = disk(&[1, 2]);
        foreign.copy_within(0..512, 512);
        let error = check("acknowledged: 1: 0-9", &foreign).unwrap_err().to_string();
        assert!(error.contains("sector 1 has 0x1, which was never written there"), "{error}");
    }
}
