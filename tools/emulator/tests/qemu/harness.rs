//! Runs a program in both emulators and compares the logs that it writes.

use cairn_emulator::encode::*;
use cairn_emulator::{Machine, Options, Stop};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Where the machine-mode start-up code of the QEMU run lies, and all memory begins.
const START: u64 = 0x8000_0000;
/// The program, in supervisor mode, in both.
pub const PROGRAM: u64 = 0x8000_1000;
/// What it logs.
pub const LOG: u64 = 0x8100_0000;
/// Memory for it to play with.
pub const DATA: u64 = 0x8200_0000;
const MEMORY_SIZE: u64 = 0x300_0000;
const LIMIT: u64 = 10_000_000;

/// Where to go on after a trap.
pub const RESUME: u8 = 24;
/// For the trap handler and the logging code.
pub const SCRATCH: u8 = 25;
/// Points to the middle of a page of [`DATA`].
pub const DATA_POINTER: u8 = 26;
/// Points behind the log.
pub const LOG_POINTER: u8 = 27;

const SSTATUS: u16 = 0x100;
const STVEC: u16 = 0x105;
const SEPC: u16 = 0x141;
const SCAUSE: u16 = 0x142;
const STVAL: u16 = 0x143;

/// A program that is being written: it begins with its trap handler, which logs the cause, the
/// value and the address, and goes on at [`RESUME`] in supervisor mode.
pub struct Program {
    words: Vec<u32>,
    data: Vec<(u64, Vec<u8>)>,
    log_words: u64,
}

impl Program {
    pub fn new() -> Program {
        let mut program = Program { words: Vec::new(), data: Vec::new(), log_words: 0 };
        let mut handler = Vec::new();
        for (position, csr) in [SCAUSE, STVAL, SEPC].into_iter().enumerate() {
            handler.push(csrrs(SCRATCH, csr, 0));
            handler.push(sd(SCRATCH, LOG_POINTER, 8 * position as i32));
        }
        handler.extend([addi(LOG_POINTER, LOG_POINTER, 24), csrrw(0, SEPC, RESUME)]);
        handler.extend([addi(SCRATCH, 0, 0x100), csrrs(0, SSTATUS, SCRATCH), SRET]);
        program.push(jal(0, 4 + 4 * handler.len() as i32));
        program.words.extend(handler);
        program.extend(constant(SCRATCH, PROGRAM + 4));
        program.push(csrrw(0, STVEC, SCRATCH));
        program.extend(constant(LOG_POINTER, LOG));
        program.extend(constant(DATA_POINTER, DATA + 0x800));
        program
    }

    pub fn push(&mut self, word: u32) {
        self.words.push(word);
    }

    pub fn extend(&mut self, words: impl IntoIterator<Item = u32>) {
        self.words.extend(words);
    }

    /// The address of what is pushed next.
    pub fn here(&self) -> u64 {
        PROGRAM + 4 * self.words.len() as u64
    }

    /// Contents of memory before the program begins.
    pub fn preload(&mut self, address: u64, bytes: Vec<u8>) {
        self.data.push((address, bytes));
    }

    /// An instruction that may trap, and then counts as done.
    pub fn push_trapping(&mut self, word: u32) {
        self.extend([auipc(RESUME, 0), addi(RESUME, RESUME, 12), word]);
    }

    /// Logs all registers but those that differ with the log's position.
    pub fn log_registers(&mut self) {
        for register in 1..LOG_POINTER {
            self.push(sd(register, LOG_POINTER, i32::from(register) * 8));
        }
        for register in LOG_POINTER + 1..32 {
            self.push(sd(register, LOG_POINTER, i32::from(register) * 8));
        }
        self.push(addi(LOG_POINTER, LOG_POINTER, 256));
        self.log_words += 32;
    }

    /// Runs it in both and compares what it logged and what memory then holds at `regions` of
    /// (address, bytes). Gives the hart as it then is.
    pub fn compare(mut self, name: &str, options: Options, regions: &[(u64, u64)]) -> Machine {
        let end = self.here();
        let machine = self.emulate(end, options);
        let logged = machine.get(LOG_POINTER) - LOG;
        assert!(
            logged >= 8 * self.log_words && logged < DATA - LOG,
            "{name}: log of {logged} bytes"
        );
        // The log first: its first difference is the earliest.
        let mut regions = regions.to_vec();
        regions.insert(0, (LOG, logged));
        for (address, size) in &regions {
            self.send(*address, *size);
        }
        // The test finisher ends QEMU.
        self.extend(constant(10, 0x5555));
        self.extend(constant(11, 0x10_0000));
        self.extend([sw(10, 11, 0), jal(0, 0)]);
        let received = self.run_in_qemu(name);
        let mut expected = Vec::new();
        for (address, size) in &regions {
            expected.extend(machine.memory.read(*address, *size as usize).unwrap());
        }
        assert_eq!(received.len(), expected.len(), "{name}: QEMU logged another number of bytes");
        let differing = (0..expected.len()).find(|at| expected[*at] != received[*at]);
        if let Some(at) = differing {
            let at = at & !7;
            let word = |bytes: &[u8]| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            panic!(
                "{name}: at byte {at} (of the log, {logged} bytes, and then memory) this emulator has \
                 {:#x}, QEMU {:#x}; {}",
                word(&expected),
                word(&received),
                self.who_logged(at as u64, end, options)
            );
        }
        machine
    }

    fn image(&self) -> impl Iterator<Item = (u64, Vec<u8>)> {
        self.data.iter().cloned().chain([(PROGRAM, bytes(&self.words))])
    }

    fn emulate(&self, end: u64, options: Options) -> Machine {
        let mut machine = self.load(options);
        assert_eq!(machine.run_until(end, LIMIT), Stop::Address);
        machine
    }

    fn load(&self, options: Options) -> Machine {
        let mut machine = Machine::with(options);
        machine.memory.add(START, MEMORY_SIZE);
        for (address, bytes) in self.image() {
            machine.memory.write(address, &bytes).unwrap();
        }
        machine.program_counter = PROGRAM;
        machine
    }

    /// The instruction that logged the word at `offset` of the log.
    fn who_logged(&self, offset: u64, end: u64, options: Options) -> String {
        let mut machine = self.load(options);
        machine.run_until(end, LIMIT);
        match machine.journal.writes.iter().find(|write| write.address == LOG + offset) {
            Some(write) => format!("logged by the instruction at {:#x}", write.program_counter),
            None => "not in the log".to_string(),
        }
    }

    /// Sends memory to the serial line.
    fn send(&mut self, address: u64, size: u64) {
        self.extend(constant(10, address));
        self.extend(constant(11, address + size));
        self.extend(constant(12, 0x1000_0000));
        self.extend([lbu(13, 10, 0), sb(13, 12, 0), addi(10, 10, 1), bltu(10, 11, -12)]);
    }

    fn run_in_qemu(&self, name: &str) -> Vec<u8> {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let output = folder.join(format!("{name}.out"));
        let mut command = Command::new("qemu-system-riscv64");
        command.args(["-machine", "virt", "-bios", "none", "-display", "none", "-monitor", "none"]);
        // Exactly the extensions that this emulator has.
        command.args(["-cpu", "rv64,f=off,d=off,h=off,zba=off,zbb=off,zbc=off,zbs=off,sstc=on"]);
        command.arg("-serial").arg(format!("file:{}", output.display()));
        let start = (START, bytes(&enter_supervisor()));
        for (position, (address, bytes)) in self.image().chain([start]).enumerate() {
            let file = folder.join(format!("{name}.{position}"));
            std::fs::write(&file, bytes).unwrap();
            let loader = format!("loader,file={},addr={address:#x},force-raw=on", file.display());
            command.arg("-device").arg(loader);
        }
        let mut child = command.stdin(Stdio::null()).spawn().unwrap_or_else(|error| {
            panic!(
                "qemu-system-riscv64: {error}; this test compares with it, so install it (on Debian: \
                 apt-get install qemu-system-misc)"
            )
        });
        for _ in 0..600 {
            if let Some(status) = child.try_wait().unwrap() {
                assert!(status.success(), "{name}: QEMU ended with {status}");
                return std::fs::read(output).unwrap();
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        child.kill().unwrap();
        panic!("{name}: QEMU did not end in 60 seconds");
    }
}

/// Machine-mode code: delegate all traps, open all memory, clear all registers, go to the program in
/// supervisor mode.
fn enter_supervisor() -> Vec<u32> {
    const MSTATUS: u16 = 0x300;
    const MEDELEG: u16 = 0x302;
    const MIDELEG: u16 = 0x303;
    const MEPC: u16 = 0x341;
    const PMPCFG0: u16 = 0x3a0;
    const PMPADDR0: u16 = 0x3b0;
    const MRET: u32 = 0x3020_0073;
    let mut program = Vec::new();
    let settings = [
        (MEDELEG, 0xb1ff),
        (MIDELEG, 0x222),
        (PMPADDR0, u64::MAX >> 10),
        (PMPCFG0, 0x1f),
        (MEPC, PROGRAM),
        (MSTATUS, 1 << 11),
    ];
    for (csr, value) in settings {
        program.extend(constant(10, value));
        program.push(csrrw(0, csr, 10));
    }
    program.extend((1..32).map(|register| addi(register, 0, 0)));
    program.push(MRET);
    program
}
