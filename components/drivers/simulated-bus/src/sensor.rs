//! A sensor of temperature as National Semiconductor's LM75 (data sheet, section 1.11, "register structure"), with the eleven
//! bits of its successors.

/// Its address with all three address pins low.
pub const ADDRESS: u16 = 0x48;

/// Registers, as the pointer selects them.
const TEMPERATURE: u8 = 0;
const CONFIGURATION: u8 = 1;
const HYSTERESIS: u8 = 2;
const OVERTEMPERATURE: u8 = 3;
const REGISTERS: u8 = 4;

/// The sensor.
pub struct Sensor {
    pointer: u8,
    /// Each with its higher byte first on the bus; of the configuration there is only that byte.
    registers: [[u8; 2]; REGISTERS as usize],
}

impl Sensor {
    /// As it is after power-on, at 20 degrees.
    pub const fn new() -> Sensor {
        Sensor { pointer: TEMPERATURE, registers: [[20, 0], [0, 0], [75, 0], [80, 0]] }
    }

    /// It is so warm around it.
    pub fn set_temperature(&mut self, eighths: i16) {
        self.registers[TEMPERATURE as usize] = (eighths << 5).to_be_bytes();
    }

    /// The `position`th byte of a write; whether the sensor takes it.
    pub fn write(&mut self, position: usize, byte: u8) -> bool {
        match (position, self.pointer) {
            (0, _) if byte < REGISTERS => self.pointer = byte,
            (1, CONFIGURATION) => self.registers[CONFIGURATION as usize][0] = byte,
            (1 | 2, HYSTERESIS | OVERTEMPERATURE) => {
                self.registers[self.pointer as usize][position - 1] = byte;
            }
            _ => return false,
        }
        true
    }

    /// The `position`th byte of a read: the register's two, over and over.
    pub fn read(&self, position: usize) -> u8 {
        let at = if self.pointer == CONFIGURATION { 0 } else { position % 2 };
        self.registers[self.pointer as usize][at]
    }
}

impl Default for Sensor {
    fn default() -> Self {
        Sensor::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sensor: &Sensor) -> [u8; 2] {
        [sensor.read(0), sensor.read(1)]
    }

    #[test]
    fn the_pointer_selects_a_register() {
        let mut sensor = Sensor::new();
        sensor.set_temperature(-201);
        assert_eq!(read(&sensor), [0xe6, 0xe0], "25.125 degrees below zero");
        assert!(sensor.write(0, OVERTEMPERATURE) && sensor.write(1, 30) && sensor.write(2, 0x80));
        assert_eq!(read(&sensor), [30, 0x80]);
        assert!(sensor.write(0, CONFIGURATION) && sensor.write(1, 5));
        assert_eq!(read(&sensor), [5, 5]);
    }

    #[test]
    fn what_it_does_not_have_is_not_acknowledged() {
        let mut sensor = Sensor::new();
        assert!(!sensor.write(0, REGISTERS));
        assert!(sensor.write(0, TEMPERATURE) && !sensor.write(1, 0), "it measures that");
        assert!(sensor.write(0, HYSTERESIS) && !sensor.write(3, 0));
    }
}
