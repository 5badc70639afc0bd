//! A machine of words: six instances, whose connections the layout made. No instance has the number of its domain or its
//! region.

mod moving;
mod threads;

use crate::blocks::Kind;
use crate::machine::{Layout, Machine, Published};
use crate::synchronisation::Interfaces;
use cairn_abi::address::{PORTAL_CODE, region};
use cairn_abi::descriptor::{InterfaceDescriptor, LETTERS_SIZE, MethodDescriptor, name};
use cairn_abi::domain::{
    FIELD_ALIVE, FIELD_GENERATION, HELD_QUEUE, PORTALS_DESCRIBED, QUEUE_SIZE, Tables, stack_queue,
};
use cairn_abi::grant::GRANTS_MAXIMUM;
use cairn_abi::record::*;
use cairn_abi::{DomainId, Error, InstanceId, RegionId, Space};
use cairn_portal::invocation::Words;
use cairn_portal::literal::*;
pub use moving::*;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use zerocopy::FromZeros;

pub const SCHEDULER: InstanceId = InstanceId(1);
pub const MANAGER: InstanceId = InstanceId(2);
pub const SERVER: InstanceId = InstanceId(3);
pub const OTHER: InstanceId = InstanceId(4);
pub const CLIENT: InstanceId = InstanceId(5);
/// In the kernel domain.
pub const SECOND: InstanceId = InstanceId(6);
/// Without it the system halts.
pub const ESSENTIAL: InstanceId = OTHER;
/// It uses the floating-point unit.
pub const WITH_FLOAT: InstanceId = CLIENT;
const DOMAINS: usize = 7;
/// Where an instance is from the start.
pub fn domain_of(instance: InstanceId) -> DomainId {
    DomainId(if instance == CLIENTS_PLACE { 7 } else { DOMAINS as u16 - instance.0 })
}

fn region_of(instance: InstanceId) -> RegionId {
    RegionId(DOMAINS as u16 + instance.0)
}

/// Methods of servers, by which their entry points are told apart.
pub const NUMBERS: u64 = 1;
pub const READER: u64 = 2;
/// The export of `SERVER` that clients open.
pub const SERVICE: usize = 4;
pub const SERVICE_METHODS: usize = 2;
pub const SEMAPHORE_METHODS: usize = 2;
pub const VERSION: u64 = 9;
/// The first import's portal; those to both servers follow.
pub const FIRST: u32 = 16;
pub const IMPORTS: usize = 3;
/// The number of what `OTHER` registers.
pub const REGISTERED: u64 = 1 << 40;
const NO_PORTAL: u64 = PORTAL_CODE + 128;
pub const FATAL: u64 = 8;
pub const FIRST_USE: u64 = 16;
const FREE_CODE: u64 = 0x10000;
pub(in crate::tests) const CODE: usize = 0x80000;

pub fn import_of(server: InstanceId) -> u64 {
    u64::from(FIRST) + 1 + u64::from(server.0 - SERVER.0)
}

pub fn entry(server: InstanceId, method: u64) -> u64 {
    region(region_of(server)) + 0x10000 + method * 16
}

/// What an index leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    pub server: InstanceId,
    pub entry: u64,
    pub constant: u64,
}

pub struct Fake {
    pub layout: Layout,
    code: Vec<AtomicI64>,
    entries: RefCell<Vec<[u64; PORTALS_DESCRIBED]>>,
    alive: RefCell<[bool; DOMAINS + 1]>,
    /// Free activations of each stack queue.
    pub queues: RefCell<BTreeMap<u16, Vec<u32>>>,
    /// Places of activations, and whose they are said to be.
    clients: RefCell<BTreeMap<usize, InstanceId>>,
    generation: Cell<u64>,
    /// How many entries were read or written.
    pub looked: Cell<usize>,
    pub allocated: Cell<u64>,
    registered: Cell<Option<InstanceId>>,
    /// Words of domain blocks before their tables that were written.
    pub words: RefCell<BTreeMap<(u16, i64), u64>>,
    /// Activations that were described, and in how many words.
    pub described: RefCell<BTreeMap<u32, usize>>,
    /// Instances that the name server was told of.
    pub named: RefCell<BTreeSet<u16>>,
    limits: Vec<[AtomicI64; 2]>,
    /// How often those who wait for the held were let go, and how many wait.
    pub released: Cell<usize>,
    pub waiters: Cell<u64>,
    /// A thread makes a call of the limited grant at this place just before the next entry is written.
    pub caller: Cell<Option<usize>>,
}

pub fn letters(text: &str) -> [u8; LETTERS_SIZE] {
    let mut letters = [0; LETTERS_SIZE];
    letters[..text.len()].copy_from_slice(text.as_bytes());
    letters
}

pub fn leak<T>(items: Vec<T>) -> &'static [T] {
    Box::leak(items.into_boxed_slice())
}

fn layout(copy: Option<(InstanceId, InstanceId)>) -> Layout {
    type Described =
        (InstanceId, &'static str, &'static str, u16, &'static [(&'static str, &'static str)]);
    const UPCALLS: &[(&str, &str)] =
        &[("fault", "ctii"), ("stack_wait", "ctiia"), ("software", "ct"), ("timer", "ct")];
    let exports: [Described; 14] = [
        (SCHEDULER, "control", "Control", 0, &[("stop", "c")]),
        (SCHEDULER, "semaphore", "Semaphore", 1, &[("p", "ct"), ("v", "ct")]),
        (SCHEDULER, "lock", "Lock", 1, &[("lock", "ct"), ("unlock", "ct")]),
        (MANAGER, "portals", "Portals", 0, &[("open", "c")]),
        (SERVER, "service", "Service", 0, &[("add", "cii"), ("nothing", "c")]),
        (SERVER, "numbers", "Numbers", 1, &[("pair", "cii")]),
        (SERVER, "readers", "Reader", 1, &[("pair", "cr")]),
        (OTHER, "service", "Service", 0, &[("add", "cii"), ("nothing", "c")]),
        (OTHER, "numbers", "Numbers", 1, &[("pair", "cii")]),
        (OTHER, "readers", "Reader", 1, &[("pair", "cr")]),
        (OTHER, "callers", "Callers", 0, &[("who", "ca")]),
        (OTHER, "indexes", "Indexes", 0, &[("which", "c=")]),
        (SCHEDULER, "upcalls", "SchedulerUpcalls", 0, UPCALLS),
        (SERVER, "pager", "Pager", 0, &[("page_fault", "c=tiiii")]),
    ];
    let (mut records, mut methods) = (Vec::new(), Vec::new());
    for (instance, export, interface, is_object, of_it) in exports {
        records.push(Export {
            name: name(export),
            interface: name(interface),
            version: VERSION,
            instance,
            is_object,
            is_added: 0,
            first_method: methods.len() as u32,
            method_count: of_it.len() as u32,
            longest_execution: 0,
            longest_call: if interface == "Pager" { 1_000_000 } else { 0 },
            cancelled_for: 0,
            open: [u64::MAX; 4],
        });
        for (number, (method, text)) in of_it.iter().enumerate() {
            let which = match interface {
                "Numbers" => NUMBERS,
                "Reader" => READER,
                "Pager" => 8,
                _ => 4 + number as u64,
            };
            methods.push(Method {
                name: name(method),
                letters: letters(text),
                value: 0,
                entry: entry(instance, which),
                meanings: 0,
                meanings_length: 0,
            });
        }
    }
    let connections = [
        (MANAGER, 0, FIRST, 0),
        (SERVER, 0, FIRST, 3),
        (OTHER, 0, FIRST, 3),
        (CLIENT, 0, FIRST, 3),
        (CLIENT, 1, FIRST + 1, 4),
        (CLIENT, 2, FIRST + 2, 7),
        (SECOND, 0, FIRST, 3),
        (SECOND, 1, FIRST + 1, 4),
        (SECOND, 2, FIRST + 2, 7),
    ];
    let portals =
        connections.iter().enumerate().map(|(number, (client, _, index, export))| Portal {
            client: *client,
            reserved: 0,
            index: *index,
            export: *export,
            method: 0,
            code: PORTAL_CODE + 0x1000 + number as u64 * 0x400,
            code_elsewhere: 0,
            specification: [0; 16],
            // `CLIENT` calls `OTHER` on a shared stack; the manager's are not looked at. Behind those that are made.
            queue: match (*client, *export) {
                (CLIENT, 7) | (_, 0 | 3) => u64::MAX,
                _ => 900 + number as u64,
            },
        });
    let instances = (1..DOMAINS as u16).map(InstanceId).map(|number| Instance {
        number,
        leader: number,
        // Its own are among them.
        export_count: 64,
        domain: domain_of(number),
        region: region_of(number),
        start_address: region(region_of(number)),
        run_to_completion: (number == SCHEDULER).into(),
        essential: (number == ESSENTIAL).into(),
        in_kernel: (number == SECOND).into(),
        // The others' portals differ from its.
        float: if number == WITH_FLOAT { FLOAT_FIRST_USE } else { FLOAT_OFF },
        threads: 1,
        semaphores: 8,
        locks: 8,
        names: Range { start: u64::from(number.0) * 8, end: u64::from(number.0) * 8 + 8 },
        per_client: 1,
        stack_group: u32::MAX,
        parent: copy.filter(|copy| copy.0 == number).map_or(InstanceId(0), |copy| copy.1),
        space: Space::new(0, number.into()),
        table: Tables::LEAST.portal_table(domain_of(number)),
        stub: region(region_of(number)) + 0x10000,
        ..Instance::new_zeroed()
    });
    let activations = (0..48).map(|index| Activation {
        index,
        instance: match index {
            ..20 => SERVER,
            20..36 => OTHER,
            36..40 => CLIENT,
            _ => MANAGER,
        },
        queue: u32::MAX,
        client: InstanceId(0),
        reserved: 0,
        windows: 0,
    });
    let header = Header {
        asid_bits: 16,
        free_portal_code: Range { start: PORTAL_CODE + FREE_CODE, end: PORTAL_CODE + CODE as u64 },
        no_portal: NO_PORTAL,
        fatal: FATAL,
        float_first_use: FIRST_USE,
        table_entries: PORTALS_DESCRIBED as u64,
        ..Header::default()
    };
    Layout {
        header: Box::leak(Box::new(header)),
        instances: leak(instances.collect()),
        exports: leak(records),
        methods: leak(methods),
        portals: leak(portals.collect()),
        activations: leak(activations.collect()),
        interrupts: &[],
        ranges: &[],
    }
}

impl Fake {
    pub fn new() -> Fake {
        Fake::laid_out(None)
    }

    /// The first of the two is no instance of the description, but will be a copy of the other.
    pub fn with_copy(copy: InstanceId, parent: InstanceId) -> Fake {
        let fake = Fake::laid_out(Some((copy, parent)));
        fake.set_alive(copy, false);
        fake
    }

    fn laid_out(copy: Option<(InstanceId, InstanceId)>) -> Fake {
        Fake::of(layout(copy))
    }

    fn of(layout: Layout) -> Fake {
        let fake = Fake {
            layout,
            code: (0..CODE / 8).map(|_| AtomicI64::new(0)).collect(),
            entries: RefCell::new(vec![[NO_PORTAL; PORTALS_DESCRIBED]; DOMAINS + 1]),
            alive: RefCell::new([true; DOMAINS + 1]),
            queues: RefCell::new(BTreeMap::new()),
            clients: RefCell::new(BTreeMap::new()),
            generation: Cell::new(0),
            looked: Cell::new(0),
            allocated: Cell::new(0),
            registered: Cell::new(None),
            words: RefCell::default(),
            described: RefCell::default(),
            named: RefCell::default(),
            caller: Cell::new(None),
            released: Cell::default(),
            waiters: Cell::default(),
            limits: (0..GRANTS_MAXIMUM).map(|_| Default::default()).collect(),
        };
        let put = |at: u64, literal: i64, word: u64| fake.put(at, literal, word);
        put(NO_PORTAL, LITERAL_MARK, MARK_CALL);
        for portal in layout.portals {
            let back = portal.code + 0x200;
            let server = domain_of(layout.exports[portal.export as usize].instance);
            let client = domain_of(portal.client);
            put(portal.code, LITERAL_MARK, MARK_CALL);
            put(portal.code, LITERAL_RETURN, back);
            put(back, LITERAL_MARK, MARK_RETURN);
            put(
                back,
                LITERAL_FRAME,
                CallFrame { size: 64, of_carrier: false, caller: client, callee: server }.word(),
            );
            if portal.queue != u64::MAX {
                put(portal.code, LITERAL_QUEUE, stack_queue(portal.queue as usize));
                put(back, LITERAL_QUEUE, stack_queue(portal.queue as usize));
            }
            fake.entries.borrow_mut()[client.index()][portal.index as usize] = portal.code;
        }
        fake
    }

    fn put(&self, code: u64, literal: i64, word: u64) {
        let at = (code - PORTAL_CODE).wrapping_add_signed(literal) as usize;
        self.code[at / 8].store(word as i64, Relaxed);
    }

    /// All instances have been started so often before.
    pub fn set_generation(&self, generation: u64) {
        self.generation.set(generation);
    }

    /// The domain where an instance is from the start.
    pub fn set_alive(&self, instance: InstanceId, alive: bool) {
        self.set_domain_alive(domain_of(instance), alive);
    }

    pub fn set_domain_alive(&self, domain: DomainId, alive: bool) {
        self.alive.borrow_mut()[domain.index()] = alive;
    }

    /// Whether code of a portal begins at an address.
    pub fn load_mark(&self, code: u64) -> bool {
        self.load(code.wrapping_add_signed(LITERAL_MARK)) == Some(MARK_CALL)
    }

    /// What an index of an instance's table leads to.
    pub fn meaning(&self, instance: InstanceId, index: usize) -> Option<Meaning> {
        let code = self.entries.borrow()[domain_of(instance).index()][index];
        let literal = |literal: i64| self.load(code.wrapping_add_signed(literal)).unwrap();
        let frame = |back: u64| self.load(back.wrapping_add_signed(LITERAL_FRAME)).unwrap();
        let callee = || CallFrame::of_word(frame(literal(LITERAL_RETURN))).callee;
        (code != NO_PORTAL).then(|| Meaning {
            server: InstanceId(DOMAINS as u16 - callee().0),
            entry: literal(LITERAL_ENTRY),
            constant: literal(LITERAL_CONSTANT),
        })
    }

    /// Address of the return portal that frames of calls by an index name.
    pub fn back(&self, instance: InstanceId, index: usize) -> u64 {
        let code = self.entries.borrow()[domain_of(instance).index()][index];
        self.load(code.wrapping_add_signed(LITERAL_RETURN)).unwrap()
    }

    /// Words of portal code.
    pub fn words(&self, address: u64, count: usize) -> Vec<u32> {
        let words = (0..count.div_ceil(2) as u64).map(|at| self.load(address + at * 8).unwrap());
        words.flat_map(|word| [word as u32, (word >> 32) as u32]).take(count).collect()
    }

    pub fn interfaces(&self) -> Interfaces {
        let interface = |text: &str, methods: [&str; 2]| {
            let mut interface =
                InterfaceDescriptor { name: name(text), ..InterfaceDescriptor::EMPTY };
            interface.method_count = 2;
            for (at, method) in methods.into_iter().enumerate() {
                interface.methods[at] =
                    MethodDescriptor { name: name(method), letters: letters("ct"), value: 0 };
            }
            &*Box::leak(Box::new(interface))
        };
        Interfaces {
            semaphore: interface("Semaphore", ["p", "v"]),
            lock: interface("Lock", ["lock", "unlock"]),
        }
    }
}

impl Words for Fake {
    fn load(&self, address: u64) -> Option<u64> {
        let place = address.checked_sub(PORTAL_CODE)? as usize / 8;
        Some(self.code.get(place)?.load(Relaxed) as u64)
    }
}

impl Machine for Fake {
    fn layout(&self) -> &Layout {
        &self.layout
    }
    fn code(&self, address: u64, size: usize) -> &[AtomicI64] {
        let at = (address - PORTAL_CODE) as usize / 8;
        &self.code[at..at + size / 8]
    }
    fn entry(&self, domain: DomainId, index: usize) -> u64 {
        self.looked.set(self.looked.get() + 1);
        self.entries.borrow()[domain.index()][index]
    }
    fn set_entry(&self, domain: DomainId, index: usize, code: u64, _: Published) {
        if let Some(grant) = self.caller.take() {
            self.limits[grant][0].fetch_sub(1, Relaxed);
        }
        self.looked.set(self.looked.get() + 1);
        self.entries.borrow_mut()[domain.index()][index] = code;
    }
    fn domain_word(&self, domain: DomainId, offset: i64) -> u64 {
        match offset {
            FIELD_ALIVE => self.alive.borrow()[domain.index()].into(),
            FIELD_GENERATION => self.generation.get(),
            _ => self.words.borrow().get(&(domain.0, offset)).copied().unwrap_or(0),
        }
    }
    fn set_domain_word(&self, domain: DomainId, offset: i64, word: u64) {
        match usize::try_from(offset) {
            Ok(offset) => self.set_entry(domain, offset / 8, word, Published::by_layout()),
            Err(_) => drop(self.words.borrow_mut().insert((domain.0, offset), word)),
        }
    }
    fn describe_activation(&self, index: u32, words: &[(i64, u64)]) {
        self.described.borrow_mut().insert(index, words.len());
    }
    fn fill_queue(&self, queue: u16, free: impl Iterator<Item = u32>) {
        let free: Vec<u32> = free.collect();
        let clients = self.clients.borrow();
        assert!(free.iter().all(|index| clients.contains_key(&(*index as usize))), "has a client");
        self.queues.borrow_mut().insert(queue, free);
    }
    fn set_client(&self, place: usize, client: InstanceId, is: bool) {
        let mut clients = self.clients.borrow_mut();
        match is {
            true => assert_eq!(clients.insert(place, client), None, "one client at a time"),
            false => assert_eq!(clients.remove(&place), Some(client), "whose it was"),
        }
    }
    fn free_activation(&self, queue: u16, behind: Option<u32>) -> Option<u32> {
        let free = self.queues.borrow();
        let free = free.get(&queue)?;
        match behind {
            None => free.first().copied(),
            Some(behind) => {
                let at = free.iter().position(|activation| *activation == behind)?;
                free.get(at + 1).copied()
            }
        }
    }
    fn limits(&self, grant: usize) -> Option<&[AtomicI64; 2]> {
        self.limits.get(grant)
    }
    fn fence_instruction(&self) -> Result<(), Error> {
        Ok(())
    }
    fn allocate(&self, _owner: InstanceId, _initial: Option<u64>) -> Result<u64, Error> {
        self.allocated.set(self.allocated.get() + 1);
        Ok(self.allocated.get() % 60_000)
    }
    fn free(&self, _owner: InstanceId, _kind: Kind) -> Result<(), Error> {
        Ok(())
    }
    fn look_at_stacks(&self, queue: u16) -> Result<(), Error> {
        assert_eq!(usize::from(queue), HELD_QUEUE);
        self.released.set(self.released.get() + 1);
        Ok(())
    }
    fn stack_waiters(&self, queue: u16) -> Result<u64, Error> {
        assert_eq!(usize::from(queue), HELD_QUEUE);
        Ok(self.waiters.get())
    }
    fn add_name(&self, server: InstanceId, _name: &str, _policy: &str) -> Result<u64, Error> {
        self.registered.replace(Some(server)).map_or(Ok(REGISTERED), |_| Err(Error::Busy))
    }
    fn remove_name(&self, _server: InstanceId, _name: &str) -> Result<u64, Error> {
        self.registered.set(None);
        Ok(REGISTERED)
    }
    fn admit(
        &self,
        _server: InstanceId,
        _name: &str,
        _client: InstanceId,
        _admitted: bool,
    ) -> Result<(), Error> {
        Ok(())
    }
    fn add_instance(&self, instance: InstanceId) -> Result<(), Error> {
        if self.named.borrow_mut().insert(instance.0) { Ok(()) } else { Err(Error::Busy) }
    }
    fn retire_instance(&self, instance: InstanceId) {
        self.named.borrow_mut().remove(&instance.0);
    }
    fn remove_names(&self, server: InstanceId) {
        self.registered.set(self.registered.get().filter(|of| *of != server));
    }
}
