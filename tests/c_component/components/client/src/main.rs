//! Calls a server that is written in C; prints what held.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::{Error, InstanceId};
use cairn_app_interfaces::Echo;
use cairn_interfaces::{Console, MemoryStatistics, Names};
use core::fmt::Write;

cairn::component! {
    name: "c-component-client",
    imports: { console: Console, echo: Echo, names: Names, statistics: MemoryStatistics },
    main: main,
}

struct Terminal;
impl Write for Terminal {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        imports::CONSOLE.write(text.as_bytes()).map_err(|_| core::fmt::Error)
    }
}

/// Counts checks that failed, and says what was found instead.
struct Checks {
    failed: u32,
}

impl Checks {
    fn equal<T: PartialEq + core::fmt::Debug>(&mut self, what: &str, found: T, expected: T) {
        if found != expected {
            self.failed += 1;
            let _ = writeln!(Terminal, "FAILED {what}: {found:?}, expected {expected:?}");
        }
    }
}

fn main() {
    const ECHO: cairn_app_interfaces::EchoProxy = imports::ECHO;
    let mut checks = Checks { failed: 0 };

    checks.equal("add", ECHO.add(40, 2), Ok(42));
    checks.equal("all bits arrive", ECHO.add(0xFFFF_FFFF_0000_0000, 0xFFFF_FFFF), Ok(u64::MAX));
    let _ = writeln!(Terminal, "ok words");

    let mut buffer = [b'.'; 16];
    checks.equal("nothing said yet", ECHO.fill(&mut buffer), Ok(0));
    checks.equal("say", ECHO.say("Hello, Cairn!"), Ok(()));
    checks.equal("fill", ECHO.fill(&mut buffer), Ok(13));
    checks.equal("what it said, no byte more", &buffer, b"Hello, Cairn!...");
    checks.equal("fill a short buffer", ECHO.fill(&mut buffer[..5]), Ok(5));
    // More than 64 bytes reach the server in a window instead of a copy.
    let mut large = [b'.'; 200];
    checks.equal("fill a window", ECHO.fill(&mut large), Ok(13));
    checks.equal("in the window", &large[..14], b"Hello, Cairn!.");
    let _ = writeln!(Terminal, "ok bytes");

    checks.equal("a sum that does not fit", ECHO.add(u64::MAX, 1), Err(Error::BadArgument));
    let long = [b'x'; 65];
    let long = core::str::from_utf8(&long).unwrap_or("");
    checks.equal("a text that does not fit", ECHO.say(long), Err(Error::TooLarge));
    checks.equal("fill after the errors", ECHO.fill(&mut buffer), Ok(13));
    let _ = writeln!(Terminal, "ok errors");

    // The server answers what the name server answers it.
    let first = imports::NAMES.list(0, &mut [0; 64]).map(|(length, next)| (length as u64, next));
    checks.equal(
        "two words of a name",
        first.is_ok_and(|(length, next)| length > 0 && next > 0),
        true,
    );
    checks.equal("two words", imports::STATISTICS.usage(), first);
    let behind = imports::STATISTICS.usage_of(InstanceId(u16::MAX));
    checks.equal("no words behind the last name", behind, Err(Error::NotFound));
    let _ = writeln!(Terminal, "ok values of two words");
    let given = imports::STATISTICS.usage_of(InstanceId(0xfffe));
    checks.equal("arguments", given, Ok((2048, 9 << 8 | u64::from(b's'))));

    let _ = writeln!(Terminal, "client: {} failed", checks.failed);
}
