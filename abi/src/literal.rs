//! The literals of a portal: 64-bit words that lie directly before its code.
//!
//! The trap entry and the return dispatch jump with `jr t1`, so `t1` is the address of the code
//! and every literal is one load, `ld REGISTER, LITERAL(t1)`. What differs between two portals of
//! the same specification is in the literals; the code of both is the same.

use crate::DomainId;

/// Bytes of literals before the code.
pub const LITERALS_SIZE: i64 = 128;

/// A mark with the kind of code that follows; see the `MARK_*` constants.
pub const LITERAL_MARK: i64 = -8;
/// Return code: where to go on if the callee is dead.
pub const LITERAL_ABORT: i64 = -16;
/// Call: the portal's index in its caller's table.
pub const LITERAL_INDEX: i64 = -16;
/// Call: address of the return portal's code. Return: address of its *dead* entry. Dead entry: address
/// of its return portal, for walks of an invocation stack.
pub const LITERAL_RETURN: i64 = -24;
/// The space of the domain that the code enters.
pub const LITERAL_SPACE: i64 = -32;
/// Portal table of the domain that the code enters.
pub const LITERAL_TABLE: i64 = -40;
/// Call: the callee's entry point.
pub const LITERAL_ENTRY: i64 = -48;
/// Return: address of the word that counts the threads that wait for an activation of the queue.
pub const LITERAL_WAITERS: i64 = -48;
/// Call: address of the callee's return stub.
pub const LITERAL_STUB: i64 = -56;
/// Return: the longest time until the call is back in ticks, or zero; if not zero, the frame's lowest word is the
/// time of the call.
pub const LITERAL_LONGEST_CALL: i64 = -56;
/// Call, `s`: base of the stack group; `r`: top of the stack.
pub const LITERAL_STACK: i64 = -64;
/// Call, `n` and `k`: address of the words of a limited grant ([`crate::grant`]).
pub const LITERAL_LIMITS: i64 = -64;
/// The same of `r`, which opens no windows.
pub const LITERAL_LIMITS_TO_COMPLETION: i64 = -120;
/// Return: for how long the callee may keep a thread that was called home, in ticks, or zero.
pub const LITERAL_CANCELLED: i64 = -64;
/// Call: the server's constant. Semaphore portals: index of the semaphore.
pub const LITERAL_CONSTANT: i64 = -72;
/// Return: the longest execution of a call in ticks, or zero; if not zero, the frame's lowest word is the time of the
/// call.
pub const LITERAL_LONGEST: i64 = -72;
/// Address of the nucleus' service table (see `nucleus/src/arch/riscv64/window.S`).
pub const LITERAL_SERVICES: i64 = -80;
/// Windows: first address of the caller's memory that may be passed.
pub const LITERAL_SOURCE: i64 = -88;
/// Semaphores: kernel address of the count.
pub const LITERAL_SEMAPHORE: i64 = -88;
/// Windows: bytes of that memory.
pub const LITERAL_SOURCE_SIZE: i64 = -96;
/// Semaphores: kernel address of the hart's word.
pub const LITERAL_NOTED: i64 = -96;
/// Windows: kernel address of the page-table entry of its first page.
pub const LITERAL_SOURCE_ENTRY: i64 = -104;
/// Call on behalf of another: address of the stack queue by whose calls that one's threads come to the caller.
pub const LITERAL_BEHALF: i64 = -104;
/// Call to an interposer: the code in whose place it stands.
pub const LITERAL_ORIGINAL: i64 = -64;
/// `n`, and `s` with windows: address of the callee's stack queue.
pub const LITERAL_QUEUE: i64 = -112;
/// Windows: identifier of the callee's space, for the translation fence.
pub const LITERAL_IDENTIFIER: i64 = -120;
/// Return: the [`CallFrame`] that the portal leaves, for walks of an invocation stack.
pub const LITERAL_FRAME: i64 = -128;
/// Counting build, call: address of the call counter.
pub const LITERAL_COUNTER: i64 = -128;

/// Faults of a range, call: where the code lies by which a fault outside of it goes on, or one that its pager does not mend; in the
/// return portal, too.
pub const LITERAL_ELSE: i64 = -80;
/// Faults of a range, call: its first address...
pub const LITERAL_RANGE: i64 = -88;
/// ... its bytes...
pub const LITERAL_RANGE_SIZE: i64 = -96;
/// ... the kernel address of the page-table entry of its first page...
pub const LITERAL_RANGE_ENTRIES: i64 = -64;
/// ... and what a thread that waited for one of the pager's stacks goes on with.
pub const LITERAL_AGAIN: i64 = -104;
/// Faults of a range that go to an interposer, call: the word with which that is entered.
pub const LITERAL_INNER: i64 = -120;
/// Return, of a fault's way through interposers: which range's it is, as the kernel address of the page-table entry of its first page. Who
/// calls on behalf of the client has the same as [`LITERAL_BEHALF`].
pub const LITERAL_FAULT: i64 = -120;
/// Call on behalf of the client of a range: the range's number. Its first address is [`LITERAL_RANGE`].
pub const LITERAL_RANGE_NUMBER: i64 = -96;

/// Devices: the bits of a descriptor's word that are its length ([`crate::device::Descriptor::word`]).
pub const LITERAL_LENGTH_MASK: i64 = -80;
/// Devices: kernel address of the registers.
pub const LITERAL_REGISTERS: i64 = -88;
/// Devices: how many queues, descriptors of a queue, or bytes of the configuration there are.
pub const LITERAL_COUNT: i64 = -96;
/// Devices: kernel address of a queue's table of descriptors.
pub const LITERAL_DESCRIPTORS: i64 = -104;
/// Devices: the address at which the device finds the memory that descriptors may name.
pub const LITERAL_DEVICE_ADDRESS: i64 = -112;
/// Devices: bytes of that memory.
pub const LITERAL_DMA_SIZE: i64 = -120;
/// Devices: kernel address of a queue's rings.
pub const LITERAL_RINGS: i64 = -128;

/// Processes: where the server's cells begin ([`crate::process`]).
pub const LITERAL_CELLS: i64 = -72;
/// Processes: the first of what an argument may name...
pub const LITERAL_FIRST: i64 = -80;
/// ... and how many there are; of memory, as entries of page tables have it.
pub const LITERAL_SPAN: i64 = -88;
/// Processes: kernel address of what an argument is the number of an entry or a run in; [`LITERAL_COUNT`] says how many there are.
pub const LITERAL_POOL: i64 = -104;
/// Processes: how many leaves there are.
pub const LITERAL_LEAVES: i64 = -112;
/// Processes: the entry that would lead to the first root.
pub const LITERAL_POINTER: i64 = -120;

/// Return, made at run time: for the portal manager, the shape of its code...
pub const LITERAL_SHAPE: i64 = -88;
/// ... and the next return portal of the same two ends.
pub const LITERAL_NEXT: i64 = -96;

/// What a return portal says of the frames that it leaves, a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallFrame {
    /// Bytes by which the portal moves the frame pointer, saved registers included.
    pub size: u16,
    /// It is no call's, but one of the two that a carrier of processes has for good ([`crate::process`]).
    pub of_carrier: bool,
    /// The domain that it returns into.
    pub caller: DomainId,
    /// The domain that runs above the frame.
    pub callee: DomainId,
}

impl CallFrame {
    /// The word: size, 16 bits of which one tells a carrier's, caller, callee.
    pub const fn word(self) -> u64 {
        self.size as u64
            | (self.of_carrier as u64) << 16
            | (self.caller.0 as u64) << 32
            | (self.callee.0 as u64) << 48
    }

    /// What the word says.
    pub const fn of_word(word: u64) -> CallFrame {
        CallFrame {
            size: word as u16,
            of_carrier: word >> 16 & 1 != 0,
            caller: DomainId((word >> 32) as u16),
            callee: DomainId((word >> 48) as u16),
        }
    }
}

/// Mark of a call portal's code.
pub const MARK_CALL: u64 = u64::from_le_bytes(*b"portcall");
/// Mark of a return portal's code.
pub const MARK_RETURN: u64 = u64::from_le_bytes(*b"portback");
/// Mark of the *dead* entry of a return portal.
pub const MARK_DEAD: u64 = u64::from_le_bytes(*b"portdead");

/// Offsets in the nucleus' service table, a word each.
pub const SERVICE_OPEN_READ: i64 = 0;
/// Copies in or maps a writable parameter.
pub const SERVICE_OPEN_WRITE: i64 = 8;
/// Closes a parameter of either kind without copying back.
pub const SERVICE_CLOSE: i64 = 16;
/// Closes a writable parameter, copying back.
pub const SERVICE_CLOSE_WRITE: i64 = 24;
/// An empty stack queue: waits in the scheduler, then calls again.
pub const SERVICE_STACK_WAIT: i64 = 32;
/// The same for a caller in the kernel domain.
pub const SERVICE_STACK_WAIT_IN_KERNEL: i64 = 40;
/// [`SERVICE_OPEN_READ`] for memory of the kernel domain.
pub const SERVICE_OPEN_KERNEL_READ: i64 = 48;
/// [`SERVICE_OPEN_WRITE`] for memory of the kernel domain.
pub const SERVICE_OPEN_KERNEL_WRITE: i64 = 56;
/// No service: the address of the hart's words of the floating-point unit ([`crate::float`]).
pub const SERVICE_FLOAT: i64 = 64;
/// Somebody who is not the unit's owner comes back to a component that may use it.
pub const SERVICE_FLOAT_RESUME: i64 = 72;
/// A call begins that has the unit from the start.
pub const SERVICE_FLOAT_BEGIN: i64 = 80;
/// [`SERVICE_OPEN_READ`] for what the caller has in windows of the call in which it is.
pub const SERVICE_OPEN_PASSED_READ: i64 = 88;
/// [`SERVICE_OPEN_WRITE`] for that.
pub const SERVICE_OPEN_PASSED_WRITE: i64 = 96;
/// A server of processes is left while one of them has the unit, and has written registers.
pub const SERVICE_FLOAT_LEAVE: i64 = 104;
/// The unit changes hands: to a process.
pub const SERVICE_FLOAT_TAKE: i64 = 112;
