//! A small system in the emulator: the nucleus, four domains, a thread, and the portals that a test
//! asks for. The test itself plays the user-mode programs: it sets registers and lets the hart
//! execute one instruction at a time.

use crate::nucleus::{Nucleus, nucleus};
pub use crate::places::*;
use crate::privileged::Landmarks;

use cairn_abi::address::*;
use cairn_abi::arch::call::INTERRUPTS_OFF;
use cairn_abi::arch::interrupt::INTERRUPTS_ON;
use cairn_abi::arch::trap::{ACCESS_FAULTS, ILLEGAL, slots};
use cairn_abi::page_table::OWN;
use cairn_abi::parameters::Parameters;
pub use cairn_abi::upcall::Upcall;
use cairn_abi::{DomainId, InstanceId, Space};
use cairn_abi::{domain, privileged, semaphore, thread};
use cairn_emulator::mmu::{ACCESSED, DIRTY, EXECUTE, GLOBAL, READ, USER, WRITE};
use cairn_emulator::register::*;
use cairn_emulator::{AddressSpace, Machine, Options, Privilege, Tables, encode};
use cairn_portal::{
    Crossing, End, Fences, Float, GenerateError, Generated, Ground, Place, ShortCircuit, Source,
    Specification, fences, generate,
};
use std::collections::HashMap;
use std::mem::offset_of;
use std::ops::Range;

/// A call portal with what belongs to it.
#[derive(Clone, Debug)]
pub struct Connection {
    pub specification: Specification,
    pub caller: usize,
    pub callee: usize,
    pub index: u64,
    pub crossing: Crossing,
    pub code: Generated,
    /// The free activations, the first to be taken first.
    pub activations: Vec<Activation>,
}

/// An activation of a callee.
#[derive(Clone, Copy, Debug)]
pub struct Activation {
    /// Kernel address of its descriptor.
    pub descriptor: u64,
    /// Its stack's top.
    pub stack: u64,
    /// Physical address of the page-table entry of its first window page.
    pub entries: u64,
}

/// Everything.
#[derive(Clone)]
pub struct World {
    pub machine: Machine,
    pub random: fastrand::Rng,
    pub nucleus: &'static Nucleus,
    pub fences: Fences,
    pub landmarks: Landmarks,
    /// The `satp` that was found to be a space last.
    pub checked_space: u64,
    /// `sie` where ordinary components run.
    pub interrupts: u64,
    tables: Tables,
    /// By the number of their domain; 0: the kernel domain.
    pub spaces: Vec<AddressSpace>,
    portals_used: u64,
    queues: usize,
    activations: usize,
    activations_of: [u64; DOMAINS_END],
    pub semaphores: usize,
    /// Where components in the kernel domain return to, by the frames in which they were entered.
    pub ways_back: HashMap<u64, u64>,
    /// Code of short circuits that is executed with interrupts on.
    pub short_circuits: Vec<Range<u64>>,
    next_index: [u64; DOMAINS_END],
    /// Domains that may use the floating-point unit.
    float: [Float; DOMAINS_END],
}

const KERNEL_DATA: u64 = READ | WRITE | GLOBAL | ACCESSED | DIRTY;
const USER_DATA: u64 = READ | WRITE | USER | ACCESSED | DIRTY;
const OWN_DATA: u64 = USER_DATA | OWN;

impl World {
    /// Machine with ASIDs, and the TLB that keeps what no fence names.
    pub fn new(seed: u64) -> World {
        World::with(Options::default(), Fences::ByAsid, seed)
    }

    /// A world on a machine with these options, whose path is recorded and whose misaligned accesses trap; portals and
    /// nucleus are made for such `fences`.
    pub fn with(options: Options, fences: Fences, seed: u64) -> World {
        let options = Options { record_path: true, traps_misaligned: true, ..options };
        let mut machine = Machine::with(options);
        let mut tables = Tables::new(&mut machine.memory, TABLES_PHYSICAL, TABLES_PAGES);
        let kernel = AddressSpace::new(&mut tables, 0);
        let mut world = World {
            machine,
            random: fastrand::Rng::with_seed(seed),
            nucleus: nucleus(),
            fences,
            landmarks: Landmarks::new(nucleus()),
            checked_space: 0,
            interrupts: INTERRUPTS_ON,
            tables,
            spaces: vec![kernel],
            portals_used: 0,
            queues: 0,
            activations: 0,
            activations_of: [0; DOMAINS_END],
            semaphores: 0,
            ways_back: HashMap::new(),
            short_circuits: vec![],
            next_index: [domain::PORTAL_FIRST_IMPORT as u64; DOMAINS_END],
            float: [Float::OFF; DOMAINS_END],
        };
        world.map_kernel();
        for number in 1..DOMAINS_END {
            world.add_domain(number);
        }
        world.fill_tables();
        world.begin();
        world
    }

    fn map_new(&mut self, space: usize, address: u64, physical: u64, pages: u64, flags: u64) {
        self.machine.memory.add(physical, pages * PAGE_SIZE);
        self.spaces[space].map(
            &mut self.machine.memory,
            &mut self.tables,
            address,
            physical,
            pages,
            flags,
        );
    }

    fn map_kernel(&mut self) {
        let rights = [READ | EXECUTE, READ, READ | WRITE];
        for ((address, bytes), rights) in self.nucleus.parts.iter().zip(rights) {
            let flags = rights | GLOBAL | ACCESSED | DIRTY;
            self.map_new(0, *address, physical(*address), bytes.len() as u64 / PAGE_SIZE, flags);
            self.machine.memory.write(physical(*address), bytes).unwrap();
        }
        let flags = READ | EXECUTE | GLOBAL | ACCESSED;
        self.map_new(0, PORTAL_CODE, PORTALS_PHYSICAL, PORTAL_PAGES, flags);
        let activations = (domain::activation(64) - ACTIVATIONS).div_ceil(PAGE_SIZE);
        for (address, pages) in [
            (THREADS, THREAD_COUNT as u64),
            (DOMAINS, DOMAINS_END as u64 * 2),
            (ACTIVATIONS, activations),
            (SEMAPHORES, semaphore::SEMAPHORE_WINDOW_SIZE.div_ceil(PAGE_SIZE)),
            (PAGE_TABLES, TABLES_PAGES),
        ] {
            self.map_new(0, address, physical(address), pages, KERNEL_DATA);
        }
        for thread in 0..THREAD_COUNT {
            let stack = kernel_stack(thread);
            let top_page = stack / PAGE_SIZE * PAGE_SIZE;
            self.map_new(0, top_page, physical(top_page), 1, KERNEL_DATA);
            let field =
                thread::thread_block(thread).wrapping_add_signed(thread::FIELD_KERNEL_STACK);
            self.set_word(field, stack);
        }
        for number in (1..DOMAINS_END).filter(|number| is_kernel(*number)) {
            let address = at(number, IMAGE_OFFSET);
            let flags = READ | EXECUTE | GLOBAL | ACCESSED;
            self.map_new(0, address, physical(address), 1, flags);
            self.map_new(
                0,
                at(number, DATA),
                physical(at(number, DATA)),
                DATA_PAGES,
                KERNEL_DATA | OWN,
            );
        }
    }

    fn add_domain(&mut self, number: usize) {
        let asid = if self.fences.asids() { number as u16 } else { 0 };
        let space = AddressSpace::new(&mut self.tables, asid);
        for entry in (256..512).map(|entry| entry * 8) {
            let kernel = self.machine.memory.read_u64(self.spaces[0].root + entry).unwrap();
            self.machine.memory.write_u64(space.root + entry, kernel).unwrap();
        }
        self.spaces.push(space);
        if is_kernel(number) {
            return self.fill_domain(number);
        }

        let execute = EXECUTE | USER | ACCESSED | OWN;
        let map = |world: &mut World, offset, pages, flags| {
            world.map_new(number, at(number, offset), physical(at(number, offset)), pages, flags);
        };
        map(self, IMAGE_OFFSET, 1, execute | READ);
        map(self, DATA, DATA_PAGES, OWN_DATA);
        map(self, READ_ONLY, 1, READ | USER | ACCESSED | OWN);
        map(self, EXECUTE_ONLY, 1, execute);
        map(self, STACK - 2 * PAGE_SIZE, 2, OWN_DATA);
        if number == CLIENT || number == SERVER {
            let pages = (GROUP_STACK - STACK_GROUPS) / PAGE_SIZE;
            self.map_new(number, STACK_GROUPS, GROUP_PHYSICAL, pages, USER_DATA);
        }
        self.fill_domain(number);
    }

    /// The program of a domain, and its block.
    fn fill_domain(&mut self, number: usize) {
        let mut program = vec![encode::NOP; 0x100];
        program[..12].copy_from_slice(&[
            encode::addi(T0, ZERO, 0),
            encode::ECALL,
            if is_kernel(number) { encode::jalr(ZERO, RA, 0) } else { encode::ECALL },
            encode::lbu(A0, A1, 0),
            encode::sb(A0, A1, 0),
            encode::lr_d(A0, A1),
            encode::sc_d(A0, A0, A1),
            encode::NOP,
            encode::NOP,
            encode::NOP,
            INTERRUPTS_OFF,
            encode::jalr(ZERO, T1, 0),
        ]);
        self.write_bytes(at(number, STUB), &encode::bytes(&program));
        if is_kernel(number) {
            self.add_copy_routine(number);
        }

        let table = domain::portal_table(DomainId(number as u16));
        let space = if is_kernel(number) { 0 } else { self.spaces[number].satp() };
        self.set_word(table.wrapping_add_signed(domain::FIELD_SPACE), space);
        self.set_word(table.wrapping_add_signed(domain::FIELD_NUMBER), number as u64);
        self.set_word(table.wrapping_add_signed(domain::FIELD_ALIVE), 1);
        let entry = if is_kernel(number) { at(number, ENTRY) } else { 0 };
        self.set_word(table.wrapping_add_signed(domain::FIELD_KERNEL_ENTRIES), entry);
    }

    fn fill_tables(&mut self) {
        let empty = Crossing::NONE;
        let none = self.generate(|words, address| {
            generate::short_circuit(ShortCircuit::NoPortal, &empty, words, address)
        });
        for number in 1..DOMAINS_END {
            for index in 0..domain::PORTALS_MAXIMUM as u64 {
                self.install(number, index, none.call);
            }
            for (index, kind) in [
                (domain::PORTAL_OWN_DOMAIN, ShortCircuit::OwnDomain),
                (domain::PORTAL_OWN_THREAD, ShortCircuit::OwnThread),
                (domain::PORTAL_TIME, ShortCircuit::Time),
            ] {
                let crossing = Crossing { caller: self.end(number), ..Crossing::NONE };
                let code = self.generate(|words, address| {
                    generate::short_circuit(kind, &crossing, words, address)
                });
                self.install(number, index as u64, code.call);
                if is_kernel(number) {
                    self.short_circuits.push(code.call..code.call + code.size as u64);
                }
            }
        }
        // Which finds out where it was called from.
        self.short_circuits.push(none.call..none.call + none.size as u64);
        for (portal, name) in [
            (privileged::PORTAL_SWITCH, "privileged_switch"),
            (privileged::PORTAL_SET_UP_THREAD, "privileged_set_up_thread"),
            (privileged::PORTAL_SET_TIMER, "privileged_set_timer"),
            (privileged::PORTAL_UNWIND, "privileged_unwind"),
            (privileged::PORTAL_SET_ALIVE, "privileged_set_alive"),
            (privileged::PORTAL_DIVERT, "privileged_divert"),
            (privileged::PORTAL_REFUSE, "privileged_refuse"),
            (privileged::PORTAL_FENCE_TRANSLATION, "privileged_fence_translation"),
            (privileged::PORTAL_FENCE_INSTRUCTION, "privileged_fence_instruction"),
            (privileged::PORTAL_WAIT, "privileged_wait"),
        ] {
            // In a real system they are shared out among several components.
            self.install(SCHEDULER, portal as u64, self.nucleus.symbol(name));
        }
        let fatal = self.nucleus.symbol("nucleus_fatal");
        let upcalls =
            [Upcall::Fault, Upcall::StackWait, Upcall::Software, Upcall::Timer, Upcall::External]
                .map(|upcall| (upcall, self.upcall_portal(upcall)));
        for number in 1..DOMAINS_END {
            let table = domain::portal_table(DomainId(number as u16));
            for (upcall, code) in upcalls {
                let code =
                    if (number, upcall) == (SCHEDULER, Upcall::Fault) { fatal } else { code };
                for slot in slots(upcall) {
                    self.set_word(table.wrapping_add_signed(domain::upcall_entry(*slot)), code);
                }
            }
            for slot in ACCESS_FAULTS.iter().filter(|_| is_kernel(number)) {
                let entry = table.wrapping_add_signed(domain::upcall_entry(*slot));
                self.set_word(entry, self.nucleus.symbol("kernel_access_fault"));
            }
        }
    }

    /// The thread runs in the client, nothing on its invocation stack but the base frame.
    fn begin(&mut self) {
        let exit = self.upcall_portal(None);
        let parameters = self.nucleus.symbol("NUCLEUS_PARAMETERS");
        for (offset, value) in [
            (offset_of!(Parameters, threads), THREAD_COUNT as u64),
            (offset_of!(Parameters, domains), DOMAINS_END as u64),
            (offset_of!(Parameters, exit_portal), exit),
            (offset_of!(Parameters, portal_code_end), PORTAL_CODE + PORTAL_PAGES * PAGE_SIZE),
        ] {
            self.set_word(parameters + offset as u64, value);
        }
        if let Some([list, end]) = self.fences.changes() {
            let (list, end) = (self.nucleus.symbol(list), self.nucleus.symbol(end));
            let list = self.bytes(list, end - list);
            assert!(!list.is_empty(), "the trap return fences");
            for (address, instruction) in fences::changes(&list) {
                self.write_bytes(address, &encode::bytes(&[instruction]));
            }
        }
        let base = base_header();
        self.set_word(base.wrapping_add_signed(thread::FRAME_RETURN), exit);
        self.set_word(
            base.wrapping_add_signed(thread::FRAME_TABLE),
            domain::portal_table(DomainId(CLIENT as u16)),
        );
        let csr = &mut self.machine.csr;
        csr.satp = self.spaces[CLIENT].satp();
        csr.stvec = self.nucleus.symbol("trap_entry");
        csr.scounteren = 7;
        csr.sie = INTERRUPTS_ON;
        csr.sscratch = base;
        self.machine.privilege = Privilege::User;
        self.machine.program_counter = at(CLIENT, RESUME);
    }

    /// Generates code behind what was generated before.
    pub fn generate(
        &mut self,
        generate: impl FnOnce(&mut [u32], u64) -> Result<Generated, GenerateError>,
    ) -> Generated {
        let mut words = vec![0; 1024];
        let address = PORTAL_CODE + self.portals_used;
        let code = generate(&mut words, address).expect("the portal can be generated");
        self.machine
            .memory
            .write(physical(address), &encode::bytes(&words[..code.size / 4]))
            .expect("the world has portal code pages enough");
        self.portals_used += code.size as u64;
        code
    }

    /// Puts a portal into a domain's table.
    pub fn install(&mut self, domain: usize, index: u64, code: u64) {
        self.set_word(domain::portal_table(DomainId(domain as u16)) + index * 8, code);
    }

    /// One end of a crossing.
    pub fn end(&self, number: usize) -> End {
        let AddressSpace { root, asid } = self.spaces[number];
        let space = Space::new(root, asid.into());
        End {
            instance: InstanceId(number as u16),
            domain: DomainId(number as u16),
            place: if is_kernel(number) { Place::Kernel } else { Place::User },
            space,
            table: domain::portal_table(DomainId(number as u16)),
            float: self.float[number],
        }
    }

    /// From now on a domain may use the floating-point unit: it has entries of its own, and portals made from now on know it.
    pub fn use_float(&mut self, number: usize, from: Float) {
        self.float[number] = from;
        let table = domain::portal_table(DomainId(number as u16));
        for upcall in
            [Upcall::Fault, Upcall::StackWait, Upcall::Software, Upcall::Timer, Upcall::External]
        {
            let code = self.upcall_portal_of(upcall, self.end(number));
            for slot in slots(upcall) {
                self.set_word(table.wrapping_add_signed(domain::upcall_entry(*slot)), code);
            }
        }
        let first_use = self.nucleus.symbol("float_first_use");
        self.set_word(table.wrapping_add_signed(domain::upcall_entry(ILLEGAL)), first_use);
    }

    /// Where code was generated.
    pub fn portal_code(&self) -> Range<u64> {
        PORTAL_CODE..PORTAL_CODE + self.portals_used
    }

    /// Whether it may.
    pub fn has_float(&self, number: usize) -> bool {
        self.float[number].is_on()
    }

    /// Whether its calls have it when they begin.
    pub fn starts_with_float(&self, number: usize) -> bool {
        self.float[number] == Float::START
    }

    /// Where an upcall, or the end of a thread, finds the scheduler.
    pub fn upcall_entry(upcall: impl Into<Option<Upcall>>) -> u64 {
        at(SCHEDULER, UPCALL_ENTRIES + upcall.into().map_or(0, |upcall| 1 + upcall as u64) * 16)
    }

    /// The portal that enters the scheduler for an upcall, or for the end of a thread.
    pub fn upcall_portal(&mut self, upcall: impl Into<Option<Upcall>>) -> u64 {
        self.upcall_portal_of(upcall, End::NONE)
    }

    /// The same out of a domain.
    fn upcall_portal_of(&mut self, upcall: impl Into<Option<Upcall>>, caller: End) -> u64 {
        let upcall = upcall.into();
        let crossing = Crossing {
            caller,
            callee: self.end(SCHEDULER),
            entry: World::upcall_entry(upcall),
            stub: at(SCHEDULER, STUB),
            ground: Ground::Top(at(SCHEDULER, STACK)),
            services: self.nucleus.symbol(self.fences.service_table()),
            asids: self.fences.asids(),
            ..Crossing::NONE
        };
        let acknowledge = upcall == Some(Upcall::Software);
        self.generate(|words, address| generate::upcall(&crossing, acknowledge, words, address))
            .call
    }

    /// Everything that a crossing depends on, with a queue of `activations` if it needs one.
    pub fn crossing(
        &mut self,
        specification: &Specification,
        caller: usize,
        callee: usize,
        activations: usize,
    ) -> (Crossing, Vec<Activation>) {
        let index = self.next_index[caller];
        self.next_index[caller] += 1;
        let source = at(caller, 0);
        let source_entry = self.spaces[caller].entry(&self.machine.memory, source).unwrap();
        let mut crossing = Crossing {
            caller: self.end(caller),
            callee: self.end(callee),
            entry: at(callee, ENTRY),
            stub: match is_kernel(callee) {
                true => self.nucleus.symbol("kernel_return"),
                false => at(callee, STUB),
            },
            constant: self.random.u64(..),
            index,
            ground: match callee {
                SCHEDULER => Ground::Top(at(SCHEDULER, STACK)),
                _ => Ground::Group(STACK_GROUPS),
            },
            source: Source::Memory { first: source, size: SOURCE_SIZE },
            source_entry: source_entry - TABLES_PHYSICAL + PAGE_TABLES,
            services: self.nucleus.symbol(self.fences.service_table()),
            asids: self.fences.asids(),
            ..Crossing::NONE
        };
        let mut taken = Vec::new();
        if specification.takes_activation() {
            crossing.take_from(self.queues);
            self.queues += 1;
            taken = (0..activations).map(|_| self.add_activation(callee)).collect();
            self.fill_queue(crossing.queue, &taken);
        }
        (crossing, taken)
    }

    /// Makes `activations` the free ones of a queue, in this order.
    pub fn fill_queue(&mut self, queue: u64, activations: &[Activation]) {
        let mut next = 0;
        for activation in activations.iter().rev() {
            let link = activation.descriptor.wrapping_add_signed(domain::ACTIVATION_NEXT);
            self.set_word(link, next);
            next = activation.descriptor;
        }
        self.set_word(queue, next);
    }

    fn add_activation(&mut self, callee: usize) -> Activation {
        let base = at(callee, ACTIVATIONS_OFFSET + self.activations_of[callee] * ACTIVATION_STRIDE);
        assert!(base + ACTIVATION_STRIDE <= at(callee, SOURCE_SIZE), "no room for activations");
        self.activations_of[callee] += 1;
        let number = self.activations as u64;
        self.activations += 1;
        let stack = base + ACTIVATION_STACK_TOP;
        let top_page = stack - PAGE_SIZE;
        self.map_new(callee, top_page - PAGE_SIZE, physical(top_page - PAGE_SIZE), 2, OWN_DATA);
        let alias = STACK_ALIASES + number * PAGE_SIZE;
        self.map_new(0, alias, physical(top_page), 1, KERNEL_DATA);
        let windows = base + ACTIVATION_WINDOWS;
        let entries = self.spaces[callee].entry(&self.machine.memory, windows).unwrap();
        let descriptor = domain::activation(number as usize);
        let field = |offset: i64| descriptor.wrapping_add_signed(offset);
        self.set_word(field(domain::ACTIVATION_STACK), stack);
        self.set_word(field(domain::ACTIVATION_ALIAS), alias.wrapping_sub(top_page));
        self.set_word(field(domain::ACTIVATION_WINDOW), windows);
        self.set_word(
            field(domain::ACTIVATION_WINDOW_ENTRY),
            entries - TABLES_PHYSICAL + PAGE_TABLES,
        );
        Activation { descriptor, stack, entries }
    }

    /// Whom a call of this specification goes to: `callee`, or who is in the kernel domain, or the scheduler.
    pub fn callee(specification: &str, callee: usize) -> usize {
        match &specification[..2] {
            "kk" => KERNEL_BACKEND,
            head if head.starts_with('k') => KERNEL_SERVER,
            head if head.starts_with('r') => SCHEDULER,
            _ => callee,
        }
    }

    /// Generates and installs a call portal.
    pub fn connect(&mut self, specification: &str, caller: usize, callee: usize) -> Connection {
        self.connect_with(specification, caller, callee, 2)
    }

    /// The same with so many activations.
    pub fn connect_with(
        &mut self,
        specification: &str,
        caller: usize,
        callee: usize,
        activations: usize,
    ) -> Connection {
        let specification = Specification::parse(specification).unwrap();
        let (crossing, activations) = self.crossing(&specification, caller, callee, activations);
        let code = self
            .generate(|words, address| generate::pair(&specification, &crossing, words, address));
        self.install(caller, crossing.index, code.call);
        let index = crossing.index;
        Connection { specification, caller, callee, index, crossing, code, activations }
    }

    /// The domain whose component is executed.
    pub fn running(&self) -> usize {
        if self.machine.privilege == Privilege::Supervisor {
            let number = (self.machine.program_counter - KERNEL_REGIONS) >> REGION_SHIFT & 0xff;
            assert!(is_kernel(number as usize), "this is no component");
            return number as usize;
        }
        let satp = self.machine.csr.satp;
        (1..DOMAINS_END)
            .find(|number| self.spaces[*number].satp() == satp)
            .unwrap_or_else(|| panic!("satp {satp:#x} is no domain's"))
    }

    /// The word at a kernel or user address, by its physical place.
    pub fn word(&self, address: u64) -> u64 {
        self.machine.memory.read_u64(physical(address)).unwrap()
    }

    /// Sets it.
    pub fn set_word(&mut self, address: u64, value: u64) {
        self.machine.memory.write_u64(physical(address), value).unwrap();
    }

    /// Bytes at an address, by its physical place.
    pub fn bytes(&self, address: u64, size: u64) -> Vec<u8> {
        self.machine.memory.read(physical(address), size as usize).unwrap()
    }

    /// Writes them.
    pub fn write_bytes(&mut self, address: u64, bytes: &[u8]) {
        self.machine.memory.write(physical(address), bytes).unwrap();
    }
}
