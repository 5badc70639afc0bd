//! What components said last in their logs, where no console is left for the shell to show it: read in their memory, as the instances
//! wrote it, and nothing of it is believed.

use crate::component as imports;
use crate::lasting::lasting;
use crate::printer;
use crate::system::System;
use cairn::environment::startup;
use cairn_abi::address::LOG_OFFSET;
use cairn_abi::descriptor::name_text;
use cairn_abi::log::{BEGUN, Head, RECORD_WORDS, RECORDS, Stamp};
use cairn_abi::record::Instance;
use cairn_abi::text::Visible;
use cairn_supervisor::report::PIECE;
use core::fmt::Write;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Words of a log, from its end, that are shown, and how many a piece has.
const WORDS: usize = 64;
const WORDS_OF_PIECE: usize = PIECE / 8;
/// A call of the supervisor's that only tells.
pub const PRIORITY: u8 = 1;

/// The next instance; zero: none.
static NEXT: &AtomicU64 = &lasting().next_log;

/// From now on the logs are shown, one after the other.
pub fn begin() {
    NEXT.store(1, Relaxed);
}

/// Whether there is one to be shown.
pub fn is_due() -> bool {
    NEXT.load(Relaxed) != 0
}

impl System {
    /// Shows the last records of the next instance that has a log.
    pub fn tell_next_log(&self) {
        let mut rest = self.instances(NEXT.load(Relaxed)).filter(|record| record.log_size != 0);
        let (record, next) = (rest.next(), rest.next());
        NEXT.store(next.map_or(0, |next| u64::from(next.number)), Relaxed);
        if let Some(record) = record {
            self.tell_log(record);
        }
    }

    fn tell_log(&self, instance: &Instance) -> Option<()> {
        let ring = instance.start_address + LOG_OFFSET;
        let piece = |first: usize| {
            let mut piece = [0; PIECE];
            let address = ring + first as u64 * 8;
            imports::MEMORY.peek(instance.number, address, &mut piece).ok()?;
            let mut words = [0; WORDS_OF_PIECE];
            let (bytes, _) = piece.as_chunks::<8>();
            words
                .iter_mut()
                .zip(bytes)
                .for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
            Some(words)
        };
        // Whole pieces, so that none goes around the end of the ring.
        let size = (instance.log_size / 8).checked_sub(RECORDS as u64)?;
        let begun = piece(0)?[BEGUN];
        let from =
            begun.saturating_sub(WORDS as u64) / WORDS_OF_PIECE as u64 * WORDS_OF_PIECE as u64;
        let mut words = [0; WORDS + WORDS_OF_PIECE];
        let pieces = words.chunks_exact_mut(WORDS_OF_PIECE);
        for (words, place) in pieces.zip((from..begun).step_by(WORDS_OF_PIECE)) {
            words.copy_from_slice(&piece(RECORDS + (place % size) as usize)?);
        }
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let head = Head::of(*word, from.wrapping_add(at as u64));
            let record = head.and_then(|head| words.get(at..at + head.words() as usize));
            let (Some(head), Some(record)) = (head, record) else {
                at += 1;
                continue;
            };
            self.tell_record(instance, head, record);
            at += record.len();
        }
        Some(())
    }

    fn tell_record(&self, instance: &Instance, head: Head, record: &[u64]) {
        let mut log = printer::log();
        let name = name_text(&instance.name);
        let time_base = startup().time_base.max(1);
        let stamp = Stamp { time: record[1], time_base, level: head.level };
        let _ = write!(log, "supervisor: log {stamp} {name}: ");
        let mut bytes = [0; cairn_abi::log::TEXT_MAXIMUM];
        let words = record.iter().skip(RECORD_WORDS as usize);
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        let (target, text) = bytes[..usize::from(head.length)].split_at(head.target.into());
        let separator = if target.is_empty() { "" } else { ": " };
        let _ = write!(printer::others_text(), "{}{separator}{}", Visible(target), Visible(text));
        let _ = writeln!(log);
    }
}
