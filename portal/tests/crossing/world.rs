//! A small system in the emulator: the nucleus, four domains, a thread, and the portals that a test
//! asks for. The test itself plays the user-mode programs: it sets registers and lets the hart
//! execute one instruction at a time.

mod beginning;
pub mod processes;

use crate::nucleus::{Nucleus, nucleus};
pub use crate::places::*;
use crate::privileged::Landmarks;

use cairn_abi::address::*;
use cairn_abi::arch::interrupt::INTERRUPTS_ON;
use cairn_abi::arch::trap::{ILLEGAL, slots};
use cairn_abi::page_table::OWN;
use cairn_abi::thread::{FRAME_RETURN, FRAME_TABLE, INVOCATION_LIMIT};
pub use cairn_abi::upcall::Upcall;
use cairn_abi::{DomainId, InstanceId, Space};
use cairn_abi::{domain, thread};
use cairn_emulator::mmu::{ACCESSED, DIRTY, GLOBAL, READ, USER, WRITE};
use cairn_emulator::register::*;
use cairn_emulator::{AddressSpace, Machine, Options, Privilege, Tables, encode};
use cairn_portal::{
    Crossing, End, Fences, Float, GenerateError, Generated, Ground, Place, Source, Specification,
    generate,
};
use std::collections::HashMap;
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
    /// The server is a guest in the client's page table.
    has_guest: bool,
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
        World::build(options, fences, seed, false)
    }

    /// The same with the server in the client's page table.
    pub fn with_guest(options: Options, fences: Fences, seed: u64) -> World {
        World::build(options, fences, seed, true)
    }

    fn build(options: Options, fences: Fences, seed: u64, has_guest: bool) -> World {
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
            has_guest,
        };
        world.map_kernel();
        for number in 1..DOMAINS_END {
            world.add_domain(number);
        }
        world.fill_tables();
        world.begin();
        world
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
        self.set_word(
            domain::Tables::LEAST.portal_table(DomainId(domain as u16)) + index * 8,
            code,
        );
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
            table: domain::Tables::LEAST.portal_table(DomainId(number as u16)),
            float: self.float[number],
        }
    }

    /// From now on a domain may use the floating-point unit: it has entries of its own, and portals made from now on know it.
    pub fn use_float(&mut self, number: usize, from: Float) {
        self.float[number] = from;
        let table = domain::Tables::LEAST.portal_table(DomainId(number as u16));
        for upcall in
            [Upcall::Fault, Upcall::StackWait, Upcall::Software, Upcall::Timer, Upcall::External]
        {
            let code = self.upcall_portal_of(upcall, self.end(number));
            for slot in slots(upcall) {
                self.set_word(table.wrapping_add_signed(domain::upcall_entry(*slot)), code);
            }
        }
        if from.is_on() {
            let first_use = self.nucleus.symbol("float_first_use");
            self.set_word(table.wrapping_add_signed(domain::upcall_entry(ILLEGAL)), first_use);
        }
    }

    /// Where code was generated.
    pub fn portal_code(&self) -> Range<u64> {
        PORTAL_CODE..PORTAL_CODE + self.portals_used
    }

    /// Whether it may.
    pub fn has_float(&self, number: usize) -> bool {
        self.float[number] != Float::OFF
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
        let made = self.crossing(&specification, caller, callee, activations);
        self.connect_by(specification, (caller, callee), made)
    }

    /// The same as if the callee were the portal manager.
    pub fn connect_manager(
        &mut self,
        specification: &str,
        caller: usize,
        callee: usize,
    ) -> Connection {
        let specification = Specification::parse(specification).unwrap();
        let (mut crossing, activations) = self.crossing(&specification, caller, callee, 2);
        crossing.of_manager = true;
        self.connect_by(specification, (caller, callee), (crossing, activations))
    }

    pub fn connect_by(
        &mut self,
        specification: Specification,
        (caller, callee): (usize, usize),
        (crossing, activations): (Crossing, Vec<Activation>),
    ) -> Connection {
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
        let mut inside = (1..DOMAINS_END).filter(|number| self.spaces[*number].satp() == satp);
        // Guest and host are told apart by the frame.
        let table = self.word(self.machine.csr.sscratch.wrapping_add_signed(FRAME_TABLE));
        let named = inside.clone().find(|number| self.table(*number) == table);
        named.or(inside.next()).unwrap_or_else(|| panic!("satp {satp:#x} is no domain's"))
    }

    /// The word at a kernel or user address, by its physical place.
    pub fn word(&self, address: u64) -> u64 {
        self.machine.memory.read_u64(physical(address)).unwrap()
    }

    /// Sets it.
    pub fn set_word(&mut self, address: u64, value: u64) {
        self.machine.memory.write_u64(physical(address), value).unwrap();
    }

    /// The topmost frame is at the last place that a header can have: no further one fits behind it, of whatever size. Where that is.
    pub fn fill_invocation_stack(&mut self) -> u64 {
        let below = self.machine.csr.sscratch;
        let deepest = below - below % PAGE_SIZE + INVOCATION_LIMIT - 8;
        for offset in [FRAME_RETURN, FRAME_TABLE] {
            let word = self.word(below.wrapping_add_signed(offset));
            self.set_word(deepest.wrapping_add_signed(offset), word);
        }
        self.machine.csr.sscratch = deepest;
        deepest
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
