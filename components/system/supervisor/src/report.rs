//! What happened, in words.

use cairn_abi::arch::trap::{PANIC_MARK_REGISTER, PANIC_REGISTERS};
use cairn_abi::record::Symbol;
use cairn_abi::startup::PANIC_MARK;
use cairn_abi::text::Visible;
use cairn_abi::upcall::{Access, Fault};

/// A fault, as a predicate of the component.
pub const fn fault_text(fault: Fault) -> &'static str {
    match fault {
        Fault::Misaligned(Access::Execute, _) => "jumped to a misaligned address",
        Fault::Misaligned(Access::Read, _) => "loaded from a misaligned address",
        Fault::Misaligned(Access::Write, _) => "stored to a misaligned address",
        Fault::Absent(Access::Execute, _) => "fetched an instruction where there is no memory",
        Fault::Absent(Access::Read, _) => "loaded where there is no memory",
        Fault::Absent(Access::Write, _) => "stored where there is no memory",
        Fault::Denied(Access::Execute, _) => "jumped to an address that it may not execute",
        Fault::Denied(Access::Read, _) => "read an address that it may not read",
        Fault::Denied(Access::Write, _) => "wrote to an address that it may not write",
        Fault::Illegal => "executed an illegal or privileged instruction",
        Fault::FloatingPoint => "used floating point, but does not say `float = \"hard\"`,",
        Fault::Breakpoint => "stopped at a breakpoint",
        Fault::Other(_) => "caused an unexpected trap",
    }
}

/// A panic's message, from the registers of its trap frame. The component can have put any bytes there.
pub fn panic_message(register: impl Fn(i64) -> u64, text: &mut [u8; 128]) -> Option<Visible<'_>> {
    if register(PANIC_MARK_REGISTER) != PANIC_MARK {
        return None;
    }
    for (bytes, number) in text.chunks_exact_mut(8).zip(PANIC_REGISTERS) {
        bytes.copy_from_slice(&register(number).to_le_bytes());
    }
    let length = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    Some(Visible(&text[..length]))
}

/// The function that `address` is in, and the offset in it. `symbols` are sorted by address.
pub fn nearest_symbol(symbols: &[Symbol], address: u64) -> Option<(&Symbol, u64)> {
    let behind = symbols.partition_point(|symbol| symbol.address <= address);
    let symbol = symbols.get(behind.checked_sub(1)?)?;
    let offset = address - symbol.address;
    (offset < u64::from(symbol.size)).then_some((symbol, offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(address: u64, size: u32) -> Symbol {
        Symbol { address, size, name: 0, name_length: 0, reserved: 0 }
    }

    #[test]
    fn finds_the_function_around_an_address() {
        let symbols = [symbol(0x100, 0x10), symbol(0x200, 0x20)];
        let found = |address| {
            nearest_symbol(&symbols, address).map(|(symbol, offset)| (symbol.address, offset))
        };
        assert_eq!(found(0xff), None);
        assert_eq!(found(0x100), Some((0x100, 0)));
        assert_eq!(found(0x10f), Some((0x100, 15)));
        assert_eq!(found(0x110), None);
        assert_eq!(found(0x21f), Some((0x200, 0x1f)));
        assert_eq!(found(0x220), None);
    }

    #[test]
    fn a_panic_message_commands_no_terminal() {
        let message = |bytes: &[u8], mark: u64| {
            let mut all = [0u8; 128];
            all[..bytes.len()].copy_from_slice(bytes);
            let register = move |number: i64| match number {
                PANIC_MARK_REGISTER => mark,
                _ => u64::from_le_bytes(all[(number as usize - 10) * 8..][..8].try_into().unwrap()),
            };
            panic_message(register, &mut [0; 128]).map(|message| message.to_string())
        };
        assert_eq!(message(b"a.rs:1: no", PANIC_MARK).as_deref(), Some("a.rs:1: no"));
        assert_eq!(message(b"a.rs:1: no", 0), None);
        assert_eq!(message(b"\x1b[2J!", PANIC_MARK).as_deref(), Some(r"\u{1b}[2J!"));
        let mut cut = [b'x'; 128];
        cut[127] = 0xc3;
        let shown = message(&cut, PANIC_MARK).expect("a panic");
        assert!(shown.ends_with(r"x\xc3"), "cut inside a character: {shown}");
    }
}
