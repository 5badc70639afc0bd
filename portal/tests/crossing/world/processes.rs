//! A server of processes in the world: the client is one, and the test plays it and two processes.

use super::*;
use crate::run::SAVED;
use cairn_abi::arch::trap::{ILLEGAL, slots};
use cairn_abi::domain::{PORTALS_DESCRIBED, UPCALL_SLOTS, upcall_entry};
use cairn_abi::page_table::ENTRIES;
use cairn_abi::privileged::*;
use cairn_abi::process::*;
use cairn_emulator::encode::{ECALL, NOP, addi, ld};
use cairn_emulator::mmu::{EXECUTE, VALID};
use cairn_portal::generate::process;
use cairn_portal::{ProcessPortal, ProcessServer};

pub const POOL: Pool = Pool { spaces: 2, directories: 3, leaves: 4 };
/// The processes' memory.
pub const MEMORY: u64 = 0xe000_0000;
pub const MEMORY_SIZE: u64 = LEAF_SPAN;
/// What the server has of the area, in its order.
pub const CELLS: u64 = PROCESSES + PAGE_SIZE;
pub const BLOCK: u64 = CELLS + PAGE_SIZE;
pub const ROOTS: u64 = BLOCK + 2 * PAGE_SIZE;
pub const ROOTS_PHYSICAL: u64 = PROCESSES_PHYSICAL + (ROOTS - PROCESSES);
/// Where the server is entered.
pub const BY_CALL: u64 = ENTRY;
pub const BY_FAULT: u64 = ENTRY + 8;
pub const BY_INTERRUPT: u64 = ENTRY + 0x10;
/// Where each process has a page of its program: an `ecall` and a load; the second process' is in another page of memory.
pub const PROCESS: u64 = 0x1_0000;
/// Another thread of the server.
pub const OTHER: usize = 2;

/// The portals of the server, for who takes instructions out.
#[derive(Clone)]
pub struct Made {
    pub call: (u64, u64),
    pub back: u64,
    pub fault: u64,
    pub illegal: u64,
    pub operations: Vec<u64>,
}

impl World {
    pub fn status(&self, field: i64) -> u64 {
        self.word(CELLS.wrapping_add_signed(field))
    }

    pub fn set_status(&mut self, field: i64, word: u64) {
        self.set_word(CELLS.wrapping_add_signed(field), word);
    }

    /// Makes the client a server of processes, its thread not yet the carrier.
    pub fn serve_processes(&mut self) -> Made {
        self.use_float(CLIENT, Float::PROCESSES);
        let area = (ROOTS - PROCESSES) / PAGE_SIZE + POOL.tables();
        let rights = READ | WRITE | ACCESSED | DIRTY;
        self.map_new(0, PROCESSES, PROCESSES_PHYSICAL, area, rights | GLOBAL);
        self.map_new(CLIENT, STATUS_PAGE, PROCESSES_PHYSICAL, 1, rights | USER);
        self.machine.memory.add(MEMORY, MEMORY_SIZE);
        for number in 0..POOL.spaces {
            let asid = if self.fences.asids() { 256 + number as u16 } else { 0 };
            let space = AddressSpace { root: ROOTS_PHYSICAL + number * PAGE_SIZE, asid };
            for entry in (256..512).map(|entry| entry * 8) {
                let kernel = self.machine.memory.read_u64(self.spaces[0].root + entry).unwrap();
                self.machine.memory.write_u64(space.root + entry, kernel).unwrap();
            }
            self.spaces.push(space);
        }
        let table = BLOCK + domain::BEFORE_TABLE;
        let parameters = self.nucleus.symbol("NUCLEUS_PARAMETERS");
        let exit = std::mem::offset_of!(cairn_abi::parameters::Parameters, exit_portal);
        let server = ProcessServer {
            domain: DomainId(CLIENT as u16),
            cells: CELLS,
            table,
            space: Space::new(ROOTS_PHYSICAL, if self.fences.asids() { 256 } else { 0 }),
            pool: POOL,
            roots: ROOTS,
            roots_physical: ROOTS_PHYSICAL,
            memory: (MEMORY, MEMORY_SIZE),
            services: self.nucleus.symbol(self.fences.service_table()),
            exit: self.word(parameters + exit as u64),
            asids: self.fences.asids(),
        };
        let mut make =
            |portal| self.generate(|words, address| process(portal, &server, words, address));
        let call = make(ProcessPortal::Call);
        let back = make(ProcessPortal::Return).call;
        let fault = make(ProcessPortal::Fault).call;
        let illegal = make(ProcessPortal::Illegal).call;
        let operations = [
            (PORTAL_PROCESS_BEGIN, ProcessPortal::Begin { call: call.back, back }),
            (PORTAL_PROCESS_SELECT, ProcessPortal::Select),
            (PORTAL_PROCESS_MAP, ProcessPortal::Map),
            (PORTAL_PROCESS_MAP_SEVERAL, ProcessPortal::MapSeveral),
            (PORTAL_PROCESS_LINK, ProcessPortal::Link),
            (PORTAL_PROCESS_CLEAR, ProcessPortal::Clear),
            (PORTAL_PROCESS_FENCE, ProcessPortal::Fence),
            (PORTAL_PROCESS_INTERRUPT, ProcessPortal::Interrupt { call: call.back }),
            (PORTAL_PROCESS_FLOAT, ProcessPortal::Float),
        ]
        .map(|(index, portal)| (index, make(portal).call));
        for (index, code) in operations {
            self.install(CLIENT, index as u64, code);
        }
        for index in 0..PORTALS_DESCRIBED as u64 {
            self.set_word(table + index * 8, if index == 0 { call.back } else { call.call });
        }
        // What interrupts a process goes the way of what interrupts its server.
        for slot in 0..UPCALL_SLOTS {
            let own = self.word(self.table(CLIENT).wrapping_add_signed(upcall_entry(slot)));
            let is_fault = slots(Upcall::Fault).contains(&slot);
            let code = match is_fault {
                true if slot == ILLEGAL => illegal,
                true => fault,
                false => own,
            };
            self.set_word(table.wrapping_add_signed(upcall_entry(slot)), code);
        }
        self.set_word(table.wrapping_add_signed(domain::FIELD_NUMBER), CLIENT as u64);
        let space = self.spaces[CLIENT].satp();
        self.set_word(table.wrapping_add_signed(domain::FIELD_SPACE), space);
        self.set_word(CELLS.wrapping_add_signed(CELL_SERVER), self.spaces[CLIENT].satp());
        self.set_word(CELLS.wrapping_add_signed(CELL_PROCESS), server.space.word());
        let operations = operations.map(|(_, code)| code).into();
        Made { call: (call.call, call.back), back, fault, illegal, operations }
    }

    /// The server does something; what it is answered.
    pub fn operate(&mut self, portal: usize, first: u64, second: u64) -> i64 {
        let arguments = [first, second, at(CLIENT, BY_INTERRUPT), 4, 5, 6, 7, 8];
        let before = self.machine.csr.sscratch;
        let crossed = self.call(portal as u64, at(CLIENT, STACK - 64), arguments);
        self.assert_at(CLIENT, RESUME);
        for register in [T1, T2, T3, T4, T5, T6] {
            assert_eq!(self.machine.get(register), 0, "{}", name(register));
        }
        for register in SAVED {
            assert_eq!(self.machine.get(register), crossed.before[usize::from(register)]);
        }
        let begins = portal == PORTAL_PROCESS_BEGIN && self.machine.get(A0) == 0;
        let moved = if begins { PROCESS_FRAME + SERVER_FRAME } else { 0 };
        assert_eq!(self.machine.csr.sscratch, before.wrapping_add_signed(moved));
        self.machine.get(A0) as i64
    }

    pub fn begin_to_carry(&mut self) -> i64 {
        self.operate(PORTAL_PROCESS_BEGIN, at(CLIENT, BY_CALL), at(CLIENT, BY_FAULT))
    }

    /// Each process has a page of its program, and of what it writes.
    pub fn make_processes(&mut self) {
        assert_eq!(self.begin_to_carry(), 0);
        for number in 0..POOL.spaces {
            let (directory, leaf) = (POOL.first_directory() + number, number);
            let entries = ENTRIES as u64;
            let links =
                [(number * entries, directory), (directory * entries, POOL.first_leaf() + leaf)];
            for (entry, table) in links {
                assert_eq!(self.operate(PORTAL_PROCESS_LINK, entry, table), 0);
            }
            let first = leaf * entries + PROCESS / PAGE_SIZE;
            for (page, rights) in [(0, READ | EXECUTE), (1, READ | WRITE)] {
                let physical = MEMORY + (2 * number + page) * PAGE_SIZE;
                let entry = physical >> 2 | rights | USER | ACCESSED | DIRTY | VALID;
                assert_eq!(self.operate(PORTAL_PROCESS_MAP, first + page, entry), 0);
            }
            let program = encode::bytes(&[ECALL, ld(A0, A1, 0), addi(T0, T0, 1), NOP, 0]);
            self.machine.memory.write(MEMORY + 2 * number * PAGE_SIZE, &program).unwrap();
            let word = MEMORY + (2 * number + 1) * PAGE_SIZE;
            self.machine.memory.write_u64(word, 1000 + number).unwrap();
        }
    }

    /// From an instruction in user mode to the next one there; how many were executed.
    pub fn pass(&mut self) -> u64 {
        self.machine.journal.clear();
        let executed = self.machine.executed();
        self.machine.step();
        while self.machine.privilege == Privilege::Supervisor {
            assert!(self.machine.executed() - executed < 1000, "{}", self.trace());
            self.check_privileged();
            self.machine.step();
        }
        self.check_no_loop();
        self.machine.executed() - executed
    }

    /// The server returns to a process, which goes on with these registers at `offset` of its page.
    pub fn resume(&mut self, number: u64, registers: &[u64; 32], offset: u64) -> u64 {
        assert_eq!(self.operate(PORTAL_PROCESS_SELECT, number, 0), 0);
        self.set_status(STATUS_PC, PROCESS + offset);
        self.set_status(STATUS_T0, registers[usize::from(T0)]);
        for register in 1..32 {
            self.machine.set(register, registers[usize::from(register)]);
        }
        self.machine.set(T0, 0);
        self.machine.program_counter = at(CLIENT, CALL);
        let count = self.pass();
        let satp = self.spaces[DOMAINS_END + number as usize].satp();
        assert_eq!((self.machine.csr.satp, self.machine.program_counter), (satp, PROCESS + offset));
        assert_eq!(self.machine.registers(), *registers, "a process finds all its registers");
        for field in [STATUS_PC, STATUS_CAUSE, STATUS_VALUE] {
            self.set_status(field, !0);
        }
        assert_eq!(self.machine.csr.sscratch, base_header().wrapping_add_signed(PROCESS_FRAME));
        count
    }

    pub fn random_registers(&mut self) -> [u64; 32] {
        let mut registers = std::array::from_fn(|_| self.random.u64(..));
        registers[0] = 0;
        registers
    }

    /// The server has been entered, with all that the process had in its registers, which was at `offset`.
    pub fn assert_in_server(&self, entry: u64, registers: &[u64; 32], offset: u64) {
        self.assert_at(CLIENT, entry);
        assert_eq!(self.machine.registers(), *registers);
        assert_eq!(self.status(STATUS_PC), PROCESS + offset);
        assert_eq!(self.machine.csr.satp, self.spaces[CLIENT].satp());
        assert_eq!(self.machine.csr.sscratch, self.word(CELLS.wrapping_add_signed(CELL_CARRIER)));
        assert_eq!(self.machine.csr.sie, self.interrupts);
    }

    /// After another thread.
    pub fn back_to_carrier(&mut self) {
        self.machine.csr.stimecmp = 0;
        self.cross();
        self.machine.csr.stimecmp = u64::MAX;
        let stack = at(SCHEDULER, STACK - 64);
        self.prepare_call(PORTAL_SWITCH as u64, stack, [0, 0, THREAD as u64, 0, 0, 0, 0, 0]);
        self.pass();
    }

    /// Another thread of the server begins, and runs.
    pub fn start_other(&mut self) {
        let stack = at(SCHEDULER, STACK - 64);
        let arguments = [
            OTHER as u64,
            CLIENT as u64,
            at(CLIENT, RESUME),
            at(CLIENT, STACK - 0x800),
            0,
            at(CLIENT, STUB),
            0,
            0,
        ];
        self.machine.csr.stimecmp = 0;
        self.pass();
        self.machine.csr.stimecmp = u64::MAX;
        self.call(PORTAL_SET_UP_THREAD as u64, stack, arguments);
        self.call(PORTAL_SWITCH as u64, stack, [0, 0, OTHER as u64, 0, 0, 0, 0, 0]);
        self.assert_at(CLIENT, RESUME);
    }
}
