//! Images without translation fences: they show that a test would notice a missing one.

use crate::build::BuiltImage;
use anyhow::{Context, Result};

const NOP: u32 = 0x0000_0013;

/// The same image with a `nop` in place of each of [`BuiltImage::fences`], in a file of its own.
pub fn removed(image: &BuiltImage) -> Result<BuiltImage> {
    let mut bytes = std::fs::read(&image.file)
        .with_context(|| format!("cannot read {}", image.file.display()))?;
    for at in &image.fences {
        bytes[*at..at + 4].copy_from_slice(&NOP.to_le_bytes());
    }
    let file = image.file.with_extension("unfenced.bin");
    std::fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(BuiltImage { file, ..image.clone() })
}

#[cfg(test)]
mod tests {
    use crate::build;

    /// `sfence.vma` with any registers (privileged manual, section 4.2.1), and which bits are the same in all.
    const FENCE: [u32; 2] = [0x1200_0073, 0xfe00_7fff];
    /// Those at a switch of domains: `sfence.vma zero, t2` in portals, `sfence.vma zero, t0` in the trap return.
    const SWITCHES: [u32; 2] = [0x1270_0073, 0x1250_0073];

    #[test]
    fn what_is_left_out_is_every_fence_but_those_of_switches() {
        // Its identifiers are too few, so it has fences of every kind.
        let image = build::build("demo", Some("rocket-rtl")).unwrap();
        let bytes = std::fs::read(&image.file).unwrap();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let is_fence = |word: u32| word & FENCE[1] == FENCE[0];
        let at_switches = |at: &&usize| SWITCHES.contains(&word(**at));
        assert!(image.fences.iter().all(|at| is_fence(word(*at))));
        let calls = image.fences.iter().filter(at_switches).count();
        assert!(calls > 20, "{calls} calls");
        // Behind the nucleus and portal code are components, whose data could have the bits of a fence: a stencil of the portal manager has.
        let first = *image.fences.iter().filter(at_switches).min().unwrap();
        let others = (0..first).step_by(4).filter(|at| {
            is_fence(word(*at)) && !SWITCHES.contains(&word(*at)) && !image.fences.contains(at)
        });
        assert_eq!(others.count(), 0);
    }
}
