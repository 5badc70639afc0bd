//! A kernel of two processes, each of a few instructions: what they find in their registers and in memory, what they cannot reach, and how
//! they are interrupted.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod program;

use cairn::Error;
use cairn::abi::address::{KERNEL, NUCLEUS, PAGE_SIZE, PORTAL_CODE, PROCESS_MEMORY, PROCESSES};
use cairn::abi::process::STATUS_PAGE;
use cairn::abi::upcall::Access;
use cairn::process::{
    self, Carrier, Exit, Fault, FloatingPoint, Page, Registers, Rights, Space, Tables,
};
use cairn::thread::{Stack, spawn};
use cairn_interfaces as interfaces;
use cairn_random::Random;
use cairn_test_processes_contract::Progress;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use core::time::Duration;
use program::*;

cairn::component! {
    name: "processes-kernel",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
    },
    exports: { progress: Progress = ROUNDS },
    main: main,
}

struct Rounds(AtomicU64);
static ROUNDS: Rounds = Rounds(AtomicU64::new(0));

impl Progress for Rounds {
    fn rounds(&self) -> Result<u64, Error> {
        Ok(self.0.load(Relaxed))
    }
}

/// Where each process has its program, which it cannot write, and a page that it can.
const CODE: u64 = 0x1_0000;
const DATA: u64 = 0x3f_ffff_f000;
/// Registers of calls and of memory.
const INDEX: usize = 5;
const VALUE: usize = 10;
const ADDRESS: usize = 11;

static CARRIER: Stack<16384> = Stack::new();
static TICKS: AtomicBool = AtomicBool::new(false);

struct Kernel {
    carrier: Carrier,
    tables: Tables,
    random: Random,
    says: bool,
}

/// The clock, which is more urgent than what it interrupts.
fn main() {
    let is_needless = cairn::environment::argument() == "computes when needed";
    // As urgent as who looks whether it is needed.
    let priority = if is_needless { 1 } else { 29 };
    let carrier = spawn(&CARRIER, priority, || {
        let error = process::carry(|carrier| serve(carrier));
        panic!("{}", error.text())
    })
    .expect("carrier");
    while !is_needless {
        cairn::thread::sleep(Duration::from_millis(2)).expect("sleep");
        // It is at home in its processes: nobody is sent back, nor blamed, however long they take.
        imports::SUPERVISOR.call_home(carrier.name()).expect("call home");
        if TICKS.load(Relaxed) {
            process::interrupt().expect("interrupt");
        }
    }
}

fn serve(carrier: Carrier) -> ! {
    let is_first = cairn::environment::startup().generation == 0;
    let mut kernel = Kernel {
        carrier,
        tables: Tables::new().expect("processes"),
        random: Random::new(130),
        says: is_first,
    };
    assert_eq!(process::carry(|_| unreachable!("it is the carrier already")), Error::Busy);
    let spaces = [0, 1].map(|number| kernel.make_process(number));
    if cairn::environment::argument().starts_with("computes") {
        kernel.computes(spaces[0]);
    }
    kernel.calls(&spaces);
    kernel.faults(&spaces);
    kernel.reaches_nothing_else(spaces[0]);
    kernel.interrupts(spaces[1]);
    kernel.floats(&spaces);
    kernel.ends();
    kernel.say("done");
    kernel.rounds(&spaces)
}

impl Kernel {
    fn say(&self, what: &str) {
        if self.says {
            imports::CONSOLE.print(format_args!("ok: {what}\n")).expect("console");
        }
    }

    /// The second page of memory that it has says which process it is.
    fn make_process(&mut self, number: u64) -> Space {
        let space = self.tables.make_space().expect("space");
        for (place, address, rights) in [(0, CODE, Rights::EXECUTE), (1, DATA, Rights::WRITE)] {
            let page = Page { number: 2 * number + place, rights };
            self.tables.map(space, address, page).expect("map");
        }
        let memory = self.tables.memory();
        let code = (2 * number * PAGE_SIZE) as usize;
        for (place, instruction) in PROGRAM.into_iter().enumerate() {
            memory.store_u32(code + place * 4, instruction);
        }
        process::fence_instructions();
        self.tables.copy_out(space, DATA, &(1000 + number).to_le_bytes()).expect("copy");
        space
    }

    fn random_registers(&mut self, counter: u64) -> Registers {
        let mut registers = Registers::new(counter, 0);
        (1..32).for_each(|number| registers.set(number, self.random.next()));
        registers
    }

    fn run(&mut self, space: Space, registers: &mut Registers) -> Exit {
        self.carrier.run(space, registers).expect("run")
    }

    /// A process calls with this in the register that is an index elsewhere, and all of its registers stay as they are.
    fn call(&mut self, space: Space, index: u64) {
        let mut registers = self.random_registers(CODE + CALL);
        registers.set(INDEX, index);
        let before = registers.clone();
        assert_eq!(self.run(space, &mut registers), Exit::Called);
        assert_eq!(registers, before);
    }

    fn calls(&mut self, spaces: &[Space]) {
        for index in [0, 1, 4, 16, 511, 512, 513, 1 << 12, 1 << 61, u64::MAX] {
            spaces.iter().for_each(|space| self.call(*space, index));
        }
        for _ in 0..1000 {
            let index = self.random.next() >> (self.random.next() % 64);
            self.call(spaces[index as usize % spaces.len()], index);
        }
        self.say("calls with any index, and all registers");
    }

    /// What becomes of a load, a store or a jump.
    fn access(&mut self, space: Space, instruction: u64, address: u64) -> (Exit, u64) {
        let mut registers = self.random_registers(CODE + instruction);
        registers.set(ADDRESS, address);
        let before = registers.clone();
        let exit = self.run(space, &mut registers);
        let value = registers.get(VALUE);
        if exit == Exit::Called {
            assert_eq!(registers.counter, CODE + instruction + 4);
            registers.counter = before.counter;
            registers.set(VALUE, before.get(VALUE));
        }
        if instruction != JUMP {
            assert_eq!(registers, before, "a fault leaves all as it was");
        }
        (exit, value)
    }

    fn faults(&mut self, spaces: &[Space]) {
        for (number, space) in (1000..).zip(spaces) {
            assert_eq!(self.access(*space, LOAD, DATA), (Exit::Called, number));
            let denied = |access, address| Exit::Fault(Fault::Denied(access, address));
            let (exit, _) = self.access(*space, STORE, CODE);
            assert_eq!(exit, denied(Access::Write, CODE), "its code");
            let (exit, _) = self.access(*space, JUMP, DATA);
            assert_eq!(exit, denied(Access::Execute, DATA), "its data");
            // A page is mapped where one was missed, and taken back.
            let missed = DATA - 8 * PAGE_SIZE;
            for _ in 0..3 {
                let (exit, _) = self.access(*space, LOAD, missed);
                assert_eq!(exit, denied(Access::Read, missed));
                let page = Page { number: 9, rights: Rights::WRITE };
                self.tables.map(*space, missed, page).expect("map");
                let (exit, value) = self.access(*space, STORE, missed);
                assert_eq!(exit, Exit::Called);
                assert_eq!(self.access(*space, LOAD, missed), (Exit::Called, value));
                assert_eq!(self.tables.unmap(*space, missed), Some(page));
            }
            let mut registers = self.random_registers(CODE + ILLEGAL);
            assert_eq!(self.run(*space, &mut registers), Exit::Fault(Fault::Illegal));
        }
        self.say("faults, and pages that come and go");
    }

    /// Whatever lies at these addresses elsewhere.
    fn reaches_nothing_else(&mut self, space: Space) {
        let own = &ROUNDS as *const Rounds as u64;
        let given = process::given().expect("processes");
        let places = [
            0,
            own,
            STATUS_PAGE,
            KERNEL,
            NUCLEUS,
            PORTAL_CODE,
            PROCESSES,
            PROCESS_MEMORY + given.memory,
            PROCESS_MEMORY + given.tables,
            given.memory,
            1 << 38,
            u64::MAX - 7,
        ];
        for address in places {
            for instruction in [LOAD, STORE, JUMP] {
                let (exit, _) = self.access(space, instruction, address & !7);
                assert!(matches!(exit, Exit::Fault(Fault::Denied(..))), "{address:#x}: {exit:?}");
            }
        }
        self.say("nothing but its own pages is there");
    }

    fn interrupts(&mut self, space: Space) {
        TICKS.store(true, Relaxed);
        let mut count = 0;
        for _ in 0..20 {
            let mut registers = self.random_registers(CODE + COUNT);
            registers.set(VALUE, 0);
            assert_eq!(self.run(space, &mut registers), Exit::Interrupted);
            count += registers.get(VALUE);
        }
        assert!(count > 0, "it computes until it is interrupted");
        TICKS.store(false, Relaxed);
        // One more may be on its way.
        cairn::thread::sleep(Duration::from_millis(4)).expect("sleep");
        let mut registers = self.random_registers(CODE + CALL);
        if self.run(space, &mut registers) == Exit::Interrupted {
            assert_eq!(self.run(space, &mut registers), Exit::Called);
        }
        self.say("a process that computes is interrupted");
    }

    /// Nothing but a process that computes.
    fn computes(&mut self, space: Space) -> ! {
        ROUNDS.0.store(1, Relaxed);
        let mut registers = self.random_registers(CODE + COUNT);
        loop {
            let exit = self.run(space, &mut registers);
            panic!("nobody interrupts it: {exit:?}");
        }
    }

    /// Each has registers of its own in the unit, from its first use on.
    fn floats(&mut self, spaces: &[Space]) {
        if self.carrier.float() == Err(Error::NoPortal) {
            self.has_no_unit(spaces[0]);
            return self.say("floating point");
        }
        let mut known = [0, 1].map(|_| None);
        for round in 0..100 {
            for (number, space) in spaces.iter().enumerate() {
                self.carrier.set_float(known[number].as_ref()).expect("float");
                let mut registers = self.random_registers(CODE + DOUBLE);
                let mut exit = self.run(*space, &mut registers);
                if known[number].is_none() {
                    assert_eq!(exit, Exit::Fault(Fault::FloatingPoint));
                    let first = FloatingPoint { registers: [number as u64 + 7; 32], control: 0 };
                    self.carrier.set_float(Some(&first)).expect("float");
                    exit = self.run(*space, &mut registers);
                }
                assert_eq!(exit, Exit::Called);
                // It has read the one and written the other.
                assert_eq!(registers.get(VALUE), number as u64 + 7);
                let found = self.carrier.float().expect("float");
                assert_eq!(found.registers[2], registers.get(ADDRESS), "{round}");
                assert_eq!(found.registers[31], number as u64 + 7);
                known[number] = Some(found);
            }
        }
        self.say("floating point");
    }

    /// No hart has a unit, or the board keeps it from all.
    fn has_no_unit(&mut self, space: Space) {
        for registers in [None, Some(&FloatingPoint::default())] {
            assert_eq!(self.carrier.set_float(registers), Err(Error::NoPortal));
            let mut registers = self.random_registers(CODE + DOUBLE);
            let before = registers.clone();
            let exit = self.run(space, &mut registers);
            assert_eq!((exit, &registers), (Exit::Fault(Fault::FloatingPoint), &before));
        }
    }

    /// As often as there are spaces, and then again; pages and tables come back.
    fn ends(&mut self) {
        let mut made = [None; 8];
        for _ in 0..50 {
            let mut count = 0;
            while let Ok(space) = self.tables.make_space() {
                let page = Page { number: 20 + count as u64, rights: Rights::READ };
                self.tables.map(space, CODE, page).expect("map");
                made[count] = Some((space, page));
                count += 1;
            }
            assert!(count > 0);
            for (space, page) in made.iter().flatten().take(count) {
                let mut found = 0;
                self.tables.end_space(*space, |address, last| {
                    assert_eq!((address, last), (CODE, *page));
                    found += 1;
                });
                assert_eq!((found, self.tables.find(*space, CODE)), (1, None));
            }
            made = [None; 8];
        }
        assert_eq!(
            self.tables.map(Space(9), CODE, Page { number: 0, rights: Rights::READ }),
            Err(Error::BadPointer)
        );
        let beyond = Page { number: self.tables.pages(), rights: Rights::READ };
        assert_eq!(self.tables.map(Space(0), 2 * CODE, beyond), Err(Error::BadArgument));
        self.say("spaces end, and others begin");
    }

    /// Without end: calls, faults, interrupts, one process after the other.
    fn rounds(&mut self, spaces: &[Space]) -> ! {
        self.says = false;
        TICKS.store(true, Relaxed);
        loop {
            for (number, space) in (1000..).zip(spaces) {
                let mut registers = self.random_registers(CODE + LOAD);
                registers.set(ADDRESS, DATA);
                let mut before = registers.clone();
                while self.run(*space, &mut registers) == Exit::Interrupted {}
                before.counter = CODE + LOAD + 4;
                before.set(VALUE, number);
                assert_eq!(registers, before);
            }
            ROUNDS.0.fetch_add(1, Relaxed);
        }
    }
}
