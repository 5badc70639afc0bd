//! Images without translation fences: they show that a test would notice a missing one.

use crate::build::BuiltImage;
use anyhow::{Context, Result, bail};

/// `sfence.vma` with any registers (privileged manual, section 4.2.1): what is the same in all, and which bits
/// these are.
const FENCE: u32 = 0x1200_0073;
const FENCE_BITS: u32 = 0xfe00_7fff;
const NOP: u32 = 0x0000_0013;

/// The same image with a `nop` in place of each translation fence, in a file of its own.
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
        if u32::from_le_bytes(*word) & FENCE_BITS == FENCE {
            bytes[at - 2..at + 2].copy_from_slice(&NOP.to_le_bytes());
            count += 1;
        }
    }
    count
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
}
