//! What a portal between two instances is like: from the caller, the callee, and how far they trust each other.
//!
//! | | from one domain to another |
//! |---|---|
//! | entry | the `ecall`'s trap, by the index in the caller's table |
//! | space | the callee's page table, unless the caller is in it; a fence where address-space identifiers do not tell domains apart |
//! | stack | the callee's one stack if it runs to completion; the caller's if both share it; else one of the callee's queue |
//! | state | discarded between two that run to completion; kernel for a caller there; minimal if the caller trusts the callee with it; else partial |
//! | parameters | memory is copied or mapped, from the caller's region |
//! | leave | `sret`, with the callee's return stub as return address |

use crate::specification::{Specification, Stack, State};
use cairn_abi::address::{STACK_GROUP_SIZE, STACK_GROUPS};
use cairn_abi::descriptor::{Name, is_name};
use cairn_abi::domain::stack_queue;
use cairn_abi::literal::{LITERAL_LIMITS, LITERAL_LIMITS_TO_COMPLETION};
use cairn_abi::record::{self, Instance};
use cairn_abi::semaphore::waiters_word;
use cairn_abi::{DomainId, InstanceId, Space};

/// Where the code of one end runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In user mode, in a domain of its own.
    User,
    /// In the kernel domain, in whatever space the thread has.
    Kernel,
    /// There as well, to completion: with interrupts off.
    KernelToCompletion {
        /// Each of them is masked too, since somebody does the same in user mode, where nothing else keeps them out.
        masks: bool,
    },
}

/// Whether a domain may use the floating-point unit, and from when on a call into it has it: as the layout's record has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Float(pub u16);

impl Float {
    /// It may not: the unit is off.
    pub const OFF: Float = Float(record::FLOAT_OFF);
    /// From its first instruction of floating point on, which is a trap.
    pub const FIRST_USE: Float = Float(record::FLOAT_FIRST_USE);
    /// From its start.
    pub const START: Float = Float(record::FLOAT_START);

    /// Its processes may, and what they have in the unit stays there while their server runs.
    pub const PROCESSES: Float = Float(record::FLOAT_PROCESSES);

    /// Whether it may at all.
    pub const fn is_on(self) -> bool {
        matches!(self, Float::FIRST_USE | Float::START)
    }
}

/// One end of a crossing.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// The instance.
    pub instance: InstanceId,
    /// Its domain.
    pub domain: DomainId,
    /// Where it runs.
    pub place: Place,
    /// The space while its code runs, if it has one of its own.
    pub space: Space,
    /// Kernel address of the portal table.
    pub table: u64,
    /// Whether it may use the floating-point unit.
    pub float: Float,
}

impl End {
    /// No instance.
    pub const NONE: End = End {
        instance: InstanceId(0),
        domain: DomainId(0),
        place: Place::User,
        space: Space::NONE,
        table: 0,
        float: Float::OFF,
    };

    /// An instance of the layout's record.
    pub fn of(instance: &Instance) -> End {
        End {
            instance: instance.number,
            domain: instance.domain,
            place: match (instance.in_kernel, instance.run_to_completion) {
                (0, _) => Place::User,
                (_, 0) => Place::Kernel,
                (_, number) => Place::KernelToCompletion { masks: number == 1 },
            },
            space: instance.space,
            table: instance.table,
            float: Float(instance.float),
        }
    }
}

/// What a caller trusts the callee with, which both ends consented to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trust {
    /// Its stack, which lies in a stack group of both.
    pub shared_stack: bool,
    /// The registers that the C convention preserves.
    pub minimal_state: bool,
}

/// How long an export may keep a thread, in ticks; zero: it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The longest execution of a call.
    pub execution: u64,
    /// The longest time until a call is back.
    pub call: u64,
    /// The longest time after the thread was called home.
    pub cancelled: u64,
}

impl Limits {
    /// The same from nanoseconds, in this order. `time_base`: ticks of a second.
    pub fn new([execution, call, cancelled]: [u64; 3], time_base: u64) -> Limits {
        let ticks = |nanoseconds: u64| match nanoseconds {
            0 => 0,
            _ => (u128::from(nanoseconds) * u128::from(time_base)).div_ceil(1_000_000_000) as u64,
        };
        Limits { execution: ticks(execution), call: ticks(call), cancelled: ticks(cancelled) }
    }
}

/// Where the callee's stack is looked for, if it has none of its own for each call.
#[derive(Clone, Copy, Debug)]
pub enum Ground {
    /// Base of the caller's stack group, or zero.
    Group(u64),
    /// Top of the one stack of a callee that runs to completion.
    Top(u64),
}

impl Ground {
    /// As a literal has it.
    pub const fn address(self) -> u64 {
        let (Ground::Group(address) | Ground::Top(address)) = self;
        address
    }
}

/// What a portal's code reaches beside the two ends.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// What the caller may pass.
    Memory {
        /// Its first address.
        first: u64,
        /// Bytes.
        size: u64,
    },
    /// A semaphore, by its index.
    Semaphore(usize),
}

/// Which half of a semaphore a hybrid portal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SemaphoreOperation {
    /// Wait, or take one.
    P,
    /// Signal, or give one.
    V,
}

impl SemaphoreOperation {
    /// What a method of the scheduler's interface of semaphores does in portal code, by its name.
    pub fn of(name: &Name) -> Option<SemaphoreOperation> {
        match (is_name(name, b"p"), is_name(name, b"v")) {
            (true, _) => Some(SemaphoreOperation::P),
            (_, true) => Some(SemaphoreOperation::V),
            _ => None,
        }
    }
}

/// For whom an interposer calls: a client whose call it is in.
#[derive(Clone, Copy, Debug)]
pub struct Behalf {
    /// The client: whom `a` names.
    pub client: InstanceId,
    /// The stack queue of that client's calls to the interposer. Only a thread that came by one of these, and is in no other
    /// call since, gets through.
    pub queue: u64,
    /// If it is no call but a fault of a range: what is passed on of it.
    pub fault: Option<PassedFault>,
}

/// A fault of a client's range on its way from an interposer to the pager, or to the next interposer. Nobody can change anything about it.
#[derive(Clone, Copy, Debug)]
pub struct PassedFault {
    /// The range's first address.
    pub first: u64,
    /// Its number.
    pub number: u64,
    /// Kernel address of the page-table entry of its first page in the client.
    pub entries: u64,
    /// Whether the client may write there.
    pub is_writable: bool,
    /// The callee is the pager, and this its memory: what it answers is mapped for the client.
    pub pager: Option<PagerMemory>,
}

/// Memory out of which a pager provides pages.
#[derive(Clone, Copy, Debug)]
pub struct PagerMemory {
    /// Its first address.
    pub first: u64,
    /// Bytes.
    pub size: u64,
    /// Kernel address of the page-table entry of its first page.
    pub entry: u64,
}

/// Everything that a portal's code depends on beside its specification.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    /// The caller.
    pub caller: End,
    /// None: it calls for itself.
    pub behalf: Option<Behalf>,
    /// The callee.
    pub callee: End,
    /// The callee's entry point.
    pub entry: u64,
    /// The callee's return stub.
    pub stub: u64,
    /// `c`.
    pub constant: u64,
    /// `=`: the index at which the portal will be installed; on behalf of another, that one's index.
    pub index: u64,
    /// For `s` and `r`.
    pub ground: Ground,
    /// Of a limited grant: address of its words ([`cairn_abi::grant`]); zero: none.
    pub grant: u64,
    /// Address of the callee's stack queue for this client, if the specification takes activations.
    pub queue: u64,
    /// Address of the word that counts the threads that wait for that queue.
    pub waiters: u64,
    /// Of windows and semaphores.
    pub source: Source,
    /// Windows: kernel address of the page-table entry of the memory's first page.
    pub source_entry: u64,
    /// Address of the nucleus' service table.
    pub services: u64,
    /// Counting build: address of the call counter, else zero.
    pub counter: u64,
    /// What the export declares.
    pub limits: Limits,
    /// Whether the machine's ASIDs tell domains apart; if not, entering a domain fences.
    pub asids: bool,
    /// Whether the callee is the portal manager, whose frame has room behind all others.
    pub of_manager: bool,
}

impl Crossing {
    /// From no instance to none.
    pub const NONE: Crossing = Crossing {
        caller: End::NONE,
        behalf: None,
        callee: End::NONE,
        entry: 0,
        stub: 0,
        constant: 0,
        index: 0,
        ground: Ground::Group(0),
        grant: 0,
        queue: 0,
        waiters: 0,
        source: Source::Memory { first: 0, size: 0 },
        source_entry: 0,
        services: 0,
        counter: 0,
        limits: Limits { execution: 0, call: 0, cancelled: 0 },
        asids: false,
        of_manager: false,
    };

    /// Calls take their activations from this stack queue.
    pub fn take_from(&mut self, queue: usize) {
        (self.queue, self.waiters) = (stack_queue(queue), waiters_word(queue));
    }

    /// Whether calls are those of a limited grant.
    pub const fn is_limited(&self) -> bool {
        self.grant != 0
    }

    /// Which literal names the words of a limited grant: one that the callee's stack leaves free.
    pub const fn limits_literal(&self) -> i64 {
        match self.ground {
            Ground::Group(_) => LITERAL_LIMITS,
            Ground::Top(_) => LITERAL_LIMITS_TO_COMPLETION,
        }
    }

    /// Whom `a` names.
    pub fn client(&self) -> InstanceId {
        self.behalf.map_or(self.caller.instance, |behalf| behalf.client)
    }

    /// The fault that is passed on, if it is one.
    pub fn passed_fault(&self) -> Option<PassedFault> {
        self.behalf.and_then(|behalf| behalf.fault)
    }

    /// Whether both ends are in one page table, in user mode, as a guest and its host. Who calls on behalf of another is not looked at.
    pub fn shares_space(&self) -> bool {
        let (caller, callee) = (&self.caller, &self.callee);
        let is_user = caller.place == Place::User && callee.place == Place::User;
        is_user
            && caller.space == callee.space
            && caller.space != Space::NONE
            && self.behalf.is_none()
    }

    /// Whether the time of a call is stored in its frame.
    pub fn stamps(&self) -> bool {
        self.limits.execution != 0 || self.limits.call != 0
    }
}

/// What all portals from one instance to another have in common.
pub struct Plan {
    /// Stack and state; the letters are a method's.
    pub specification: Specification,
    /// The two ends. What belongs to the machine, to a method and to one portal of it is not in it yet.
    pub crossing: Crossing,
}

/// Chooses how `caller` calls `callee`.
#[inline(always)]
pub fn plan(caller: &Instance, callee: &Instance, trust: Trust) -> Plan {
    let runs_to_completion = |instance: &Instance| instance.run_to_completion != 0;
    let (stack, ground) = match (runs_to_completion(callee), caller.stack_group) {
        (true, _) => (Stack::RunToCompletion, Ground::Top(callee.stack)),
        (false, group) => (
            match trust.shared_stack {
                _ if callee.in_kernel != 0 => Stack::Kernel,
                true => Stack::Shared,
                false => Stack::New,
            },
            Ground::Group(match group {
                u32::MAX => 0,
                group => STACK_GROUPS + u64::from(group) * STACK_GROUP_SIZE,
            }),
        ),
    };
    let state = match stack {
        Stack::RunToCompletion if runs_to_completion(caller) => State::Discarded,
        _ if caller.in_kernel != 0 => State::Kernel,
        Stack::Shared | Stack::New | Stack::Kernel if trust.minimal_state => State::Minimal,
        _ => State::Partial,
    };
    Plan {
        specification: Specification::without_letters(stack, state),
        crossing: Crossing {
            caller: End::of(caller),
            behalf: None,
            callee: End::of(callee),
            stub: callee.stub,
            ground,
            source: Source::Memory { first: caller.start_address, size: caller.entries_span },
            source_entry: caller.entries,
            entry: 0,
            constant: 0,
            index: 0,
            grant: 0,
            queue: 0,
            waiters: 0,
            services: 0,
            counter: 0,
            limits: Limits::default(),
            asids: false,
            of_manager: false,
        },
    }
}
