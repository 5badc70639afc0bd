//! What a test prints, and how it ends.

use core::fmt::Write;

/// The serial port, without a driver.
pub struct Serial;
impl Write for Serial {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        if let Some(registers) = cairn::environment::device(0) {
            text.bytes().for_each(|byte| registers.write_u8(0, byte));
        }
        Ok(())
    }
}

macro_rules! say {
    ($($part:tt)*) => {{ use core::fmt::Write as _; let _ = writeln!($crate::report::Serial, $($part)*); }};
}

/// Where the test failed.
pub struct Failed;

/// Compares, and says what was found instead.
macro_rules! expect {
    ($found:expr, $expected:expr) => {{
        let (found, expected) = ($found, $expected);
        if found != expected {
            say!(
                "FAILED line {}: {} is {:?}, expected {:?}",
                line!(),
                stringify!($found),
                found,
                expected
            );
            return Err($crate::report::Failed);
        }
    }};
}

macro_rules! succeed {
    ($found:expr) => {
        match $found {
            Ok(value) => value,
            Err(error) => {
                say!("FAILED line {}: {}: {:?}", line!(), stringify!($found), error);
                return Err($crate::report::Failed);
            }
        }
    };
}
