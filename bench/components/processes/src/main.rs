//! Measures processes as their server sees them: a call, a call of another process each time, a page fault that the server mends.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::abi::upcall::Access;
use cairn::measure::{Cost, Stamp};
use cairn::process::{self, Carrier, Exit, Fault, Page, Registers, Rights, Space, Tables};
use cairn_bench::{PAGE, Report, Rounds, SAMPLES, Samples, settled};

cairn::component! {
    name: "processes",
    main: main,
}

const WARM_UP: usize = 100;

/// `ecall`, and again.
const CALLS: [u32; 2] = [0x0000_0073, 0xffdf_f06f];
/// `ld a0, 0(a1)`, `xor a1, a1, a2`, and again.
const LOADS: [u32; 3] = [0x0005_b503, 0x00c5_c5b3, 0xff9f_f06f];

/// Where each process has its program.
const CODE: u64 = 0x1_0000;
/// The first of two pages, of which one is mapped at a time.
const DATA: u64 = 0x2_0000;
/// The page of memory that is mapped there, behind those of all programs.
const DATA_PAGE: Page = Page { number: 3, rights: Rights::READ };
/// Registers of the process.
const INDEX: usize = 5;
const ADDRESS: usize = 11;
const DISTANCE: usize = 12;

struct Process {
    space: Space,
    registers: Registers,
}

struct Server {
    carrier: Carrier,
    tables: Tables,
    /// What reading the counters costs.
    reading: Cost,
}

fn main() {
    let error = process::carry(|carrier| measure(carrier));
    panic!("{}", error.text())
}

fn measure(carrier: Carrier) -> ! {
    let mut report = Report::new();
    let mut server = Server {
        carrier,
        tables: Tables::new().expect("the description gives it processes"),
        reading: settled(reading),
    };
    let mut callers = [0, 1].map(|number| server.make_process(number, &CALLS));
    let mut loader = server.make_process(2, &LOADS);
    report.samples(format_args!("process.call"), 1, |samples| {
        server.calls(&mut callers[..1], samples);
    });
    report.samples(format_args!("process.switch"), 1, |samples| {
        server.calls(&mut callers, samples);
    });
    report.samples(format_args!("process.fault"), 1, |samples| {
        server.faults(&mut loader, samples);
    });
    report.end();
    loop {
        core::hint::spin_loop();
    }
}

/// Not inlined: of several readings in a row the compiler puts instructions between the two of one.
#[inline(never)]
fn reading() -> Cost {
    let begin = Stamp::begin();
    let end = Stamp::end();
    end - begin
}

impl Server {
    fn make_process(&mut self, number: u64, program: &[u32]) -> Process {
        let space = self.tables.make_space().expect("the description has a space for each");
        let page = Page { number, rights: Rights::EXECUTE };
        self.tables.map(space, CODE, page).expect("the description has tables for each");
        let memory = self.tables.memory();
        for (place, instruction) in program.iter().enumerate() {
            memory.store_u32((number * PAGE) as usize + place * 4, *instruction);
        }
        cairn::process::fence_instructions();
        let mut registers = Registers::new(CODE, 0);
        // It is a portal's index elsewhere, and what a program has in it is rarely so small.
        registers.set(INDEX, DATA);
        registers.set(ADDRESS, DATA);
        registers.set(DISTANCE, PAGE);
        Process { space, registers }
    }

    /// Calls of these processes in turn.
    fn calls(&mut self, processes: &mut [Process], samples: &mut Samples) {
        let rounds = Rounds::new(WARM_UP, SAMPLES, 1);
        for round in rounds.all() {
            let count = processes.len();
            let cost = self.call(&mut processes[round % count]);
            if rounds.counts(round) {
                samples.add(cost);
            }
        }
    }

    /// Goes on behind the call of a process, up to its next one, and looks at what it was left by: a whole turn of a server's loop.
    #[inline(never)]
    fn call(&mut self, process: &mut Process) -> Cost {
        let begin = Stamp::begin();
        process.registers.skip_call();
        let exit = self.carrier.run(process.space, &mut process.registers);
        assert!(matches!(exit, Ok(Exit::Called)), "it calls");
        let end = Stamp::end();
        end - begin - self.reading
    }

    /// Faults of a process that loads from two pages in turn, of which the other one is mapped.
    fn faults(&mut self, process: &mut Process, samples: &mut Samples) {
        let rounds = Rounds::new(WARM_UP, SAMPLES, 1);
        let mut missed = DATA;
        for round in rounds.all() {
            let (cost, next) = self.fault(process, missed);
            let page = self.tables.unmap(process.space, missed);
            assert!(page == Some(DATA_PAGE), "it was mapped");
            missed = next;
            if rounds.counts(round) {
                samples.add(cost);
            }
        }
    }

    /// Maps what a process missed and goes on with it, up to its next fault; where that is.
    #[inline(never)]
    fn fault(&mut self, process: &mut Process, missed: u64) -> (Cost, u64) {
        let begin = Stamp::begin();
        self.tables.map(process.space, missed, DATA_PAGE).expect("it is a page of a process");
        let exit = self.carrier.run(process.space, &mut process.registers);
        let Ok(Exit::Fault(Fault::Denied(Access::Read, next))) = exit else {
            panic!("it misses the other page: {exit:?}");
        };
        let end = Stamp::end();
        assert!(next == missed ^ PAGE, "it misses the other page");
        (end - begin - self.reading, next)
    }
}
