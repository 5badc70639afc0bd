//! Images without translation fences: they show that a test would notice a missing one.

use crate::build::BuiltImage;
use anyhow::{Context, Result, bail};

/// `sfence.vma` with any registers (privileged manual, section 4.2.1): what is the same in all, and which bits
/// these are.
const FENCE: u32 = 0x1200_0073;
const FENCE_BITS: u32 = 0xfe00_7fff;
const NOP: u32 = 0x0000_0013;
/// Fences at a switch of domains: `sfence.vma zero, t2` in portals, `sfence.vma zero, t0` in the trap return.
const SWITCHES: [u32; 2] = [0x1270_0073, 0x1250_0073];
/// What follows such a fence in a call: the load of the callee's entry point, `ld t2, -48(t1)`.
const LOAD_ENTRY: u32 = 0xfd03_3383;
/// `csrw sie, zero`: in calls into the scheduler and the interrupt dispatcher, so many bytes before the fence at most.
const INTERRUPTS_OFF: u32 = 0x1040_1073;
const INTERRUPTS_OFF_BEFORE: usize = 160;

/// The same image with a `nop` in place of each translation fence, in a file of its own. Of those at a switch of
/// domains only calls from one component into another lose theirs: a core may keep, of a page that it looked ahead
/// at, that the domain before does not have it, and then whoever comes back to that page faults before anything is
/// shown.
pub fn removed(image: &BuiltImage) -> Result<BuiltImage> {
    let mut bytes = std::fs::read(&image.file)
        .with_context(|| format!("cannot read {}", image.file.display()))?;
    if remove(&mut bytes) == 0 {
        bail!("{} has no translation fences", image.file.display());
    }
    let file = image.file.with_extension("unfenced.bin");
    std::fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(BuiltImage { file, ..image.clone() })
}

/// Returns how many there were. Instructions begin at even addresses.
fn remove(bytes: &mut [u8]) -> usize {
    let mut count = 0;
    let mut at = 0;
    while let Some(word) = bytes.get(at..).and_then(|bytes| bytes.first_chunk()) {
        at += 2;
        let word = u32::from_le_bytes(*word);
        if word & FENCE_BITS == FENCE && !stays(word, &bytes[..at - 2], &bytes[at + 2..]) {
            bytes[at - 2..at + 2].copy_from_slice(&NOP.to_le_bytes());
            count += 1;
        }
    }
    count
}

/// Whether a fence stays that lies between these bytes.
fn stays(fence: u32, before: &[u8], behind: &[u8]) -> bool {
    let near = &before[before.len().saturating_sub(INTERRUPTS_OFF_BEFORE)..];
    let call = behind.starts_with(&LOAD_ENTRY.to_le_bytes());
    let interrupts_off = near.windows(4).any(|word| word == INTERRUPTS_OFF.to_le_bytes());
    SWITCHES.contains(&fence) && (!call || interrupts_off)
}

#[cfg(test)]
mod tests {
    use super::remove;

    #[test]
    fn every_kind_of_fence_is_removed_and_nothing_else() {
        // c.nop; sfence.vma; sfence.vma zero, a0; sfence.vma a0, a1; fence.i; wfi; c.nop
        let words: [u32; 5] = [0x1200_0073, 0x12a0_0073, 0x12b5_0073, 0x0000_100f, 0x1050_0073];
        let mut bytes = vec![0x01, 0x00];
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend([0x01, 0x00]);
        let before = bytes.clone();
        assert_eq!(remove(&mut bytes), 3);
        for fence in bytes[2..14].chunks(4) {
            assert_eq!(fence, [0x13, 0, 0, 0]);
        }
        assert_eq!((&bytes[..2], &bytes[14..]), (&before[..2], &before[14..]));
        assert_eq!(remove(&mut bytes), 0);
    }

    #[test]
    fn of_the_fences_at_switches_only_those_of_calls_go() {
        use super::{INTERRUPTS_OFF, LOAD_ENTRY, NOP, SWITCHES};
        let removed = |before: u32, between: usize, fence: u32, behind: u32| {
            let words = [&[before], vec![NOP; between].as_slice(), &[fence, behind]].concat();
            remove(&mut words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())
        };
        assert_eq!(removed(NOP, 9, SWITCHES[0], LOAD_ENTRY), 1);
        assert_eq!(removed(NOP, 9, SWITCHES[0], NOP), 0);
        assert_eq!(removed(NOP, 9, SWITCHES[1], NOP), 0);
        assert_eq!(removed(INTERRUPTS_OFF, 39, SWITCHES[0], LOAD_ENTRY), 0);
        assert_eq!(removed(INTERRUPTS_OFF, 40, SWITCHES[0], LOAD_ENTRY), 1);
    }
}
