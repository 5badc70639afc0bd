//! What a terminal does with what is typed: it shows it, makes lines of it, and knows the keys that are signals.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use linux_raw_sys::general::*;

/// Bytes that wait to be read at most; what is typed then is lost.
const WAITING_MOST: usize = 4096;
/// Bytes of `struct termios` of a system call.
pub const SETTINGS_SIZE: usize = 36;
/// Where the control characters stand in that, and how many there are.
const CONTROL: usize = 17;

/// The settings of a terminal, and what it has not handed over yet.
pub struct Line {
    /// Flags of input, output, hardware, and of lines, as `struct termios` has them.
    flags: [u32; 4],
    characters: [u8; SETTINGS_SIZE - CONTROL],
    /// The line that is typed.
    edited: Vec<u8>,
    /// Whole lines; one without an end is what ctrl-D ended, and the end of the file if it is empty.
    lines: VecDeque<Vec<u8>>,
}

impl Default for Line {
    fn default() -> Line {
        let mut characters = [0; SETTINGS_SIZE - CONTROL];
        for (place, character) in [
            (VINTR, 3),
            (VQUIT, 28),
            (VERASE, 127),
            (VKILL, 21),
            (VEOF, 4),
            (VMIN, 1),
            (VSTART, 17),
            (VSTOP, 19),
            (VSUSP, 26),
            (VWERASE, 23),
        ] {
            characters[place as usize] = character;
        }
        let lines = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN;
        let flags = [ICRNL, OPOST | ONLCR, B38400 | CS8 | CREAD, lines];
        Line { flags, characters, edited: Vec::new(), lines: VecDeque::new() }
    }
}

impl Line {
    /// The settings as a system call has them.
    pub fn settings(&self) -> [u8; SETTINGS_SIZE] {
        let mut bytes = [0; SETTINGS_SIZE];
        for (place, flags) in self.flags.iter().enumerate() {
            bytes[place * 4..][..4].copy_from_slice(&flags.to_le_bytes());
        }
        bytes[CONTROL..].copy_from_slice(&self.characters);
        bytes
    }

    /// Other settings; what was typed stays.
    pub fn set(&mut self, bytes: &[u8; SETTINGS_SIZE]) {
        for (place, flags) in self.flags.iter_mut().enumerate() {
            *flags = u32::from_le_bytes(*bytes[place * 4..].first_chunk().expect("16 bytes"));
        }
        self.characters.copy_from_slice(&bytes[CONTROL..]);
        if !self.has(ICANON) && !self.edited.is_empty() {
            self.lines.push_back(core::mem::take(&mut self.edited));
        }
    }

    /// Forgets what was typed.
    pub fn clear(&mut self) {
        self.edited.clear();
        self.lines.clear();
    }

    fn has(&self, flag: u32) -> bool {
        self.flags[3] & flag != 0
    }

    fn is(&self, byte: u8, place: u32) -> bool {
        let character = self.characters[place as usize];
        byte == character && character != 0
    }

    fn waiting(&self) -> usize {
        self.edited.len() + self.lines.iter().map(|line| line.len() + 1).sum::<usize>()
    }

    /// Takes a byte that is typed; `show` is told what is to be seen. The signal that it means.
    pub fn typed(&mut self, byte: u8, mut show: impl FnMut(&[u8])) -> Option<u32> {
        let byte = if byte == b'\r' && self.flags[0] & ICRNL != 0 { b'\n' } else { byte };
        if self.has(ISIG) {
            let keys = [(VINTR, SIGINT), (VQUIT, SIGQUIT), (VSUSP, SIGTSTP)];
            if let Some((_, signal)) = keys.into_iter().find(|(place, _)| self.is(byte, *place)) {
                self.clear();
                if self.has(ECHO) {
                    show(&[b'^', byte + b'@', b'\n']);
                }
                return Some(signal);
            }
        }
        if !self.has(ICANON) {
            if self.waiting() < WAITING_MOST {
                match self.lines.back_mut() {
                    Some(last) => last.push(byte),
                    None => self.lines.push_back(alloc::vec![byte]),
                }
                if self.has(ECHO) {
                    show(&[byte]);
                }
            }
            return None;
        }
        let echo = self.has(ECHO);
        if self.waiting() >= 2 * WAITING_MOST {
            return None;
        }
        if self.is(byte, VERASE) || byte == 8 {
            if self.edited.pop().is_some() && echo {
                show(b"\x08 \x08");
            }
        } else if self.is(byte, VKILL) {
            for _ in self.edited.drain(..) {
                if echo {
                    show(b"\x08 \x08");
                }
            }
        } else if self.is(byte, VEOF) {
            self.lines.push_back(core::mem::take(&mut self.edited));
        } else if byte == b'\n' {
            self.edited.push(byte);
            self.lines.push_back(core::mem::take(&mut self.edited));
            if echo {
                show(b"\n");
            }
        } else if self.waiting() + 1 < WAITING_MOST {
            self.edited.push(byte);
            if echo {
                show(&[byte]);
            }
        }
        None
    }

    /// Whether there is something to be read, which may be the end of the file.
    pub fn is_readable(&self) -> bool {
        !self.lines.is_empty()
    }

    /// A line, or as much of it as is wanted; `None`: nothing yet.
    pub fn read(&mut self, most: usize) -> Option<Vec<u8>> {
        let Some(line) = self.lines.front_mut() else {
            let waits = self.has(ICANON) || self.characters[VMIN as usize] > 0;
            return if waits { None } else { Some(Vec::new()) };
        };
        let rest = line.split_off(line.len().min(most));
        let read = core::mem::replace(line, rest);
        if line.is_empty() {
            self.lines.pop_front();
        }
        Some(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &mut Line, text: &[u8]) -> (Vec<u8>, Vec<u32>) {
        let (mut shown, mut signals) = (Vec::new(), Vec::new());
        for byte in text {
            signals.extend(line.typed(*byte, |bytes| shown.extend(bytes)));
        }
        (shown, signals)
    }

    fn without(line: &mut Line, flags: u32) {
        let mut settings = line.settings();
        let all = u32::from_le_bytes(*settings[12..].first_chunk().unwrap()) & !flags;
        settings[12..16].copy_from_slice(&all.to_le_bytes());
        line.set(&settings);
    }

    #[test]
    fn lines_can_be_corrected_and_are_read_in_parts() {
        let mut line = Line::default();
        let (shown, _) = typed(&mut line, b"wrong\x15ax\x7fb\r");
        assert!(shown.ends_with(b"ax\x08 \x08b\n"));
        assert_eq!(line.read(2), Some(b"ab".to_vec()));
        assert_eq!((line.read(9), line.read(9)), (Some(b"\n".to_vec()), None));
        typed(&mut line, b"half\x04\x04");
        assert_eq!((line.read(9), line.read(9)), (Some(b"half".to_vec()), Some(Vec::new())));
        assert!(!line.is_readable());
    }

    #[test]
    fn keys_are_signals_and_forget_what_was_typed() {
        let mut line = Line::default();
        let (shown, signals) = typed(&mut line, b"half\x03\x1c\x1a");
        assert_eq!(signals, [SIGINT, SIGQUIT, SIGTSTP]);
        assert!(shown.starts_with(b"half^C\n"));
        assert_eq!(line.read(9), None);
        without(&mut line, ISIG);
        assert_eq!(typed(&mut line, b"\x03\n").1, []);
        assert_eq!(line.read(9), Some(b"\x03\n".to_vec()));
    }

    #[test]
    fn raw_bytes_come_at_once_and_unseen() {
        let mut line = Line::default();
        typed(&mut line, b"be");
        without(&mut line, ICANON | ECHO);
        let (shown, _) = typed(&mut line, b"\x1b[A\r");
        assert_eq!((shown.len(), line.read(9)), (0, Some(b"be\x1b[A\n".to_vec())));
        assert_eq!(line.read(9), None);
        let mut settings = line.settings();
        settings[CONTROL + VMIN as usize] = 0;
        line.set(&settings);
        assert_eq!(line.read(9), Some(Vec::new()));
        assert_eq!(line.settings(), settings);
    }

    #[test]
    fn what_is_too_much_is_lost() {
        for flags in [0, ICANON] {
            let mut line = Line::default();
            without(&mut line, flags);
            typed(&mut line, &[b'x'; 3 * WAITING_MOST]);
            typed(&mut line, b"\n");
            let read = line.read(usize::MAX).unwrap();
            assert!(read.len() <= WAITING_MOST && read.len() > WAITING_MOST - 3);
        }
        let mut line = Line::default();
        for _ in 0..3 * WAITING_MOST {
            typed(&mut line, b"\n\x04");
        }
        assert!(line.waiting() <= 2 * WAITING_MOST);
    }
}
