//! A small display with the commands of MIPI's display command set that its drivers need (DCS 1.3, section 6), 16 bits a pixel.
//! A pin of its own says whether a byte is a command or data.

/// Pixels of a line, and lines.
pub const WIDTH: usize = 64;
pub const HEIGHT: usize = 48;

const SOFT_RESET: u8 = 0x01;
const ENTER_SLEEP: u8 = 0x10;
const EXIT_SLEEP: u8 = 0x11;
const OFF: u8 = 0x28;
const ON: u8 = 0x29;
const SET_COLUMNS: u8 = 0x2a;
const SET_LINES: u8 = 0x2b;
const WRITE_MEMORY: u8 = 0x2c;
const SET_FORMAT: u8 = 0x3a;
/// 16 bits a pixel, by which a display that has just been switched on does not begin.
const FORMAT: u8 = 0x55;

/// The display.
pub struct Display {
    command: u8,
    /// Data since the command.
    count: usize,
    arguments: [u8; 4],
    format: u8,
    columns: (u16, u16),
    lines: (u16, u16),
    /// Where the next pixel goes.
    at: (u16, u16),
    awake: bool,
    on: bool,
    pixels: [u16; WIDTH * HEIGHT],
}

impl Display {
    /// As it is after power-on: asleep and off.
    pub const fn new() -> Display {
        Display {
            command: 0,
            count: 0,
            arguments: [0; 4],
            format: 0,
            columns: (0, WIDTH as u16 - 1),
            lines: (0, HEIGHT as u16 - 1),
            at: (0, 0),
            awake: false,
            on: false,
            pixels: [0; WIDTH * HEIGHT],
        }
    }

    /// What it shows at a place.
    pub fn pixel(&self, x: usize, y: usize) -> Option<u16> {
        let is_shown = self.on && self.awake && x < WIDTH && y < HEIGHT;
        is_shown.then(|| self.pixels[y * WIDTH + x])
    }

    /// Takes a byte.
    pub fn take(&mut self, byte: u8, is_data: bool) {
        match is_data {
            true => self.data(byte),
            false => self.command(byte),
        }
    }

    fn command(&mut self, command: u8) {
        (self.command, self.count) = (command, 0);
        match command {
            SOFT_RESET => *self = Display::new(),
            ENTER_SLEEP => self.awake = false,
            EXIT_SLEEP => self.awake = true,
            OFF => self.on = false,
            ON => self.on = true,
            WRITE_MEMORY => self.at = (self.columns.0, self.lines.0),
            _ => {}
        }
    }

    fn data(&mut self, byte: u8) {
        let place = match self.command {
            WRITE_MEMORY => self.count % 2,
            _ => self.count.min(3),
        };
        self.arguments[place] = byte;
        self.count += 1;
        let [a, b, c, d] = self.arguments;
        let range = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        match (self.command, self.count) {
            (SET_FORMAT, 1) => self.format = byte,
            (SET_COLUMNS, 4) => self.columns = range,
            (SET_LINES, 4) => self.lines = range,
            (WRITE_MEMORY, count) if count.is_multiple_of(2) && self.format == FORMAT => {
                self.put(u16::from_be_bytes([a, b]));
            }
            _ => {}
        }
    }

    /// The next pixel of the part that was set; behind its last one the first comes again.
    fn put(&mut self, pixel: u16) {
        let (x, y) = self.at;
        if usize::from(x) < WIDTH && usize::from(y) < HEIGHT {
            self.pixels[usize::from(y) * WIDTH + usize::from(x)] = pixel;
        }
        self.at = match (x < self.columns.1, y < self.lines.1) {
            (true, _) => (x + 1, y),
            (false, true) => (self.columns.0, y + 1),
            (false, false) => (self.columns.0, self.lines.0),
        };
    }
}

impl Default for Display {
    fn default() -> Self {
        Display::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(display: &mut Display, command: u8, data: &[u8]) {
        display.take(command, false);
        data.iter().for_each(|byte| display.take(*byte, true));
    }

    #[test]
    fn pixels_fill_the_part_that_was_set() {
        let mut display = Display::new();
        send(&mut display, EXIT_SLEEP, &[]);
        send(&mut display, SET_FORMAT, &[FORMAT]);
        send(&mut display, SET_COLUMNS, &[0, 62, 0, 63]);
        send(&mut display, SET_LINES, &[0, 1, 0, 2]);
        send(&mut display, WRITE_MEMORY, &[0, 1, 0, 2, 0x12, 0x34, 0, 4, 0, 5]);
        assert_eq!(display.pixel(62, 2), None, "it is off");
        send(&mut display, ON, &[]);
        assert_eq!(display.pixel(62, 2), Some(0x1234));
        assert_eq!((display.pixel(62, 1), display.pixel(63, 2)), (Some(5), Some(4)));
        assert_eq!((display.pixel(61, 1), display.pixel(64, 1)), (Some(0), None));
        send(&mut display, SOFT_RESET, &[]);
        assert_eq!(display.pixel(62, 2), None);
    }

    #[test]
    fn without_a_format_nothing_is_shown() {
        let mut display = Display::new();
        send(&mut display, EXIT_SLEEP, &[]);
        send(&mut display, ON, &[]);
        send(&mut display, WRITE_MEMORY, &[0xff; 4]);
        assert_eq!(display.pixel(0, 0), Some(0));
    }
}
