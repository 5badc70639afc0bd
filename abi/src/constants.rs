//! The numbers that are read in other languages, under the names that they have in Rust. From these lists come what the
//! assembly of the nucleus and the stencils of portals are assembled with ([`equates`]), and `cairn_abi.h`, which
//! `lib/c/cairn.h` includes.

use crate::arch::{interrupt, page_table, trap};
use crate::device::{self, register};
use crate::parameters::Parameters;
use crate::{
    Error, address, descriptor, domain, float, grant, literal, process, semaphore, startup, thread,
};
use core::fmt::{self, Write};

/// Name and number of constants, by the module that has them.
macro_rules! constants {
    ($($module:ident: $($name:ident),*;)*) => { &[$($((stringify!($name), $module::$name as i64),)*)*] };
}

/// What C components read, beside the errors; `CAIRN_` is set before each name.
pub const C: &[(&str, i64)] = constants! {
    c: ABI_VERSION;
    domain: PORTAL_OWN_DOMAIN, PORTAL_OWN_THREAD, PORTAL_TIME, PORTAL_FIRST_IMPORT, CLIENT_INDEX_SHIFT;
    descriptor: VALUE_NONE, VALUE_UNSIGNED, VALUE_SIGNED, VALUE_BOOL, VALUE_OBJECT, VALUE_WORDS, NAME_SIZE,
        LETTERS_SIZE, METHODS_MAXIMUM, IMPORTS_MAXIMUM, EXPORTS_MAXIMUM, ARGUMENTS_MAXIMUM, ARGUMENT_UNSIGNED,
        ARGUMENT_SIGNED, ARGUMENT_BOOL, ARGUMENT_DURATION, ARGUMENT_TEXT, ARGUMENT_BYTES;
    address: REGION_SIZE, STARTUP_OFFSET, READY_OFFSET, READY_SAID, LOG_OFFSET, PAGE_SIZE, PROCESS_MEMORY;
    c: LOG_LEVEL, LOG_BEGUN, LOG_RECORDS, LOG_RECORD_WORDS, LOG_PLACE_SHIFT, LOG_TEXT_MAXIMUM, LOG_TARGET_MAXIMUM;
    startup: DEVICES_MAXIMUM, SECTIONS_MAXIMUM, ARGUMENT_SIZE, PANIC_MARK, PANIC_MESSAGE_MAXIMUM;
    device: QUEUE_PAGES, USED_RING, POSTED_MAXIMUM, DEVICE_NOTIFY, DEVICE_ACKNOWLEDGE, DEVICE_CONFIGURE, DEVICE_POST, DEVICE_OFFER,
        DEVICE_QUEUE_PORTALS;
    c: DEVICE_INTERRUPT_STATUS, DEVICE_CONFIGURATION_CHANGED, DEVICE_STATUS, DEVICE_NEEDS_RESET, DEVICE_CONFIGURATION, NETWORK_DESCRIPTORS, BLOCK_DESCRIPTORS, CONSOLE_DESCRIPTORS,
        RANDOM_DESCRIPTORS;
    c: DESCRIPTOR_MAGIC, STARTUP_DEVICES, STARTUP_ARGUMENT, STARTUP_VALUES, SIZE_OF_MAPPING, SIZE_OF_STARTUP, SIZE_OF_METHOD, SIZE_OF_INTERFACE, SIZE_OF_IMPORT, SIZE_OF_EXPORT,
        SIZE_OF_ARGUMENT, SIZE_OF_COMPONENT;
};

/// What Rust says in another way: the version, the descriptor's mark, and sizes, which `cairn.h` compares with its own.
mod c {
    use crate::descriptor::*;
    use crate::device::{VirtioKind, register};
    use crate::log;
    use crate::startup::{Mapping, Startup};
    use core::mem::offset_of;

    pub const ABI_VERSION: u32 = crate::VERSION;
    pub const DESCRIPTOR_MAGIC: u64 = MAGIC;
    pub const DEVICE_INTERRUPT_STATUS: u64 = register::INTERRUPT_STATUS;
    pub const DEVICE_CONFIGURATION_CHANGED: u32 = register::CONFIGURATION_CHANGED;
    pub const DEVICE_STATUS: u64 = register::STATUS;
    pub const DEVICE_NEEDS_RESET: u32 = register::NEEDS_RESET;
    pub const DEVICE_CONFIGURATION: u64 = register::CONFIGURATION;
    pub const NETWORK_DESCRIPTORS: u64 = VirtioKind::Network.descriptors();
    pub const BLOCK_DESCRIPTORS: u64 = VirtioKind::Block.descriptors();
    pub const CONSOLE_DESCRIPTORS: u64 = VirtioKind::Console.descriptors();
    pub const RANDOM_DESCRIPTORS: u64 = VirtioKind::Random.descriptors();
    pub const LOG_LEVEL: usize = log::LEVEL;
    pub const LOG_BEGUN: usize = log::BEGUN;
    pub const LOG_RECORDS: usize = log::RECORDS;
    pub const LOG_RECORD_WORDS: u64 = log::RECORD_WORDS;
    pub const LOG_PLACE_SHIFT: u32 = log::Head::BITS;
    pub const LOG_TEXT_MAXIMUM: usize = log::TEXT_MAXIMUM;
    pub const LOG_TARGET_MAXIMUM: usize = log::TARGET_MAXIMUM;
    pub const SIZE_OF_METHOD: usize = size_of::<MethodDescriptor>();
    pub const SIZE_OF_INTERFACE: usize = size_of::<InterfaceDescriptor>();
    pub const SIZE_OF_IMPORT: usize = size_of::<ImportDescriptor>();
    pub const SIZE_OF_EXPORT: usize = size_of::<ExportDescriptor>();
    pub const SIZE_OF_ARGUMENT: usize = size_of::<ArgumentDescriptor>();
    pub const STARTUP_DEVICES: usize = offset_of!(Startup, devices);
    pub const STARTUP_ARGUMENT: usize = offset_of!(Startup, argument);
    pub const STARTUP_VALUES: usize = offset_of!(Startup, values);
    pub const SIZE_OF_MAPPING: usize = size_of::<Mapping>();
    pub const SIZE_OF_STARTUP: usize = size_of::<Startup>();
    pub const SIZE_OF_COMPONENT: usize = size_of::<ComponentDescriptor>();
}

/// What assembly reads, beside the errors and where the nucleus' parameters lie.
const ASSEMBLY: &[(&str, i64)] = constants! {
    thread: FRAME_RETURN, FRAME_TABLE, FRAME_RA, FRAME_ACTIVATION, FRAME_SCRATCH, TRAP_FRAME, KERNEL_CALL_FRAME, TRAP_STATE_X, TRAP_STATUS,
        TRAP_INTERRUPTS, TRAP_SEPC, TRAP_SPACE, FIELD_FRAME, FIELD_KERNEL_STACK, FAULT_CAUSES, FAULT_LIFE_SHIFT, THREADS_PAGE, INVOCATION_LIMIT_BIT,
        THREAD_INDEX_TOP;
    trap: KERNEL_ENTER, KERNEL_ENTER_INSIDE, EXCEPTION_ENTRIES, FAULT_ENTRY, INTERRUPT_ENTRIES, STACK_WAIT, SSTATUS_SIE, SSTATUS_SPIE, SSTATUS_SPP, SSTATUS_SUM,
        SSTATUS_FS, SSTATUS_FS_BIT, SSTATUS_FS_CLEAN, UNKNOWN_ENTRY;
    domain: FIELD_GENERATION, FIELD_ALIVE, FIELD_SPACE, FIELD_KERNEL_ENTRIES, FIELD_COPY_BEGIN, FIELD_COPY_END, FIELD_COPY_LANDING, PORTALS_DESCRIBED, QUEUE_FIRST,
        ACTIVATION_NEXT, ACTIVATION_STACK, ACTIVATION_ALIAS, ACTIVATION_WINDOW_ENTRY, ACTIVATION_WINDOW;
    address: USER_ADDRESS_BITS, STACK_GROUP_SHIFT, COPY_MAXIMUM, COPY_STRIDE, WINDOW_MAXIMUM, WINDOW_SLOT_STRIDE, WINDOW_SLOTS,
        PAGE_SIZE, KERNEL_STACK_HALF_BIT;
    float: FLOAT_REGISTERS, FLOAT_CONTROL, FLOAT_WORDS, FLOAT_STATE, FLOAT_PRESERVED, FLOAT_OWNER,
        FLOAT_OLDER, FLOAT_OWNER_CELL;
    grant: LIMIT_USES, LIMIT_UNTIL;
    process: STATUS_PC, STATUS_T0, STATUS_CAUSE, STATUS_VALUE, STATUS_PENDING, CELL_SERVER, CELL_PROCESS, CELL_CARRIER, CELL_CALL, CELL_FAULT,
        CELL_INTERRUPT, CELL_FLOAT, STATUS_FLOAT, STATUS_ENTRIES, MAPPED_MAXIMUM, PROCESS_FRAME, SERVER_FRAME, CLEARED;
    semaphore: SEMAPHORE_LEVEL;
    device: DESCRIPTOR_SIZE, AVAILABLE_INDEX, AVAILABLE_ENTRIES;
    register: QUEUE_NOTIFY, INTERRUPT_ACKNOWLEDGE, CONFIGURATION;
    literal: LITERAL_ABORT, LITERAL_INDEX, LITERAL_RETURN, LITERAL_SPACE, LITERAL_TABLE, LITERAL_ENTRY, LITERAL_WAITERS, LITERAL_STUB,
        LITERAL_STACK, LITERAL_CONSTANT, LITERAL_SERVICES, LITERAL_SOURCE, LITERAL_SOURCE_SIZE, LITERAL_SOURCE_ENTRY, LITERAL_BEHALF,
        LITERAL_SEMAPHORE, LITERAL_NOTED, LITERAL_QUEUE, LITERAL_IDENTIFIER, LITERAL_COUNTER, LITERAL_REGISTERS,
        LITERAL_DESCRIPTORS, LITERAL_DEVICE_ADDRESS, LITERAL_DMA_SIZE, LITERAL_LENGTH_MASK, LITERAL_COUNT, LITERAL_RINGS, LITERAL_ELSE, LITERAL_RANGE,
        LITERAL_RANGE_SIZE, LITERAL_RANGE_ENTRIES, LITERAL_AGAIN, LITERAL_INNER, LITERAL_FAULT, LITERAL_RANGE_NUMBER, LITERAL_CELLS, LITERAL_FIRST, LITERAL_SPAN,
        LITERAL_POOL, LITERAL_LEAVES, LITERAL_POINTER, SERVICE_FLOAT,
        SERVICE_FLOAT_RESUME, SERVICE_FLOAT_BEGIN, SERVICE_FLOAT_LEAVE, SERVICE_FLOAT_TAKE, MARK_RETURN, MARK_DEAD;
    interrupt: INTERRUPTS_ON, SOFTWARE_INTERRUPT;
    page_table: SPACE_IDENTIFIER, SPACE_IDENTIFIER_SHIFT, ENTRIES, ENTRIES_BITS, PTE_VALID, PTE_GLOBAL, PTE_READABLE, PTE_WRITABLE, PTE_READ_WINDOW, PTE_WRITE_WINDOW, PTE_KERNEL_READABLE,
        PTE_KERNEL_WRITABLE, PTE_KERNEL_READ_WINDOW, PTE_KERNEL_WRITE_WINDOW, PTE_USER,
        PTE_PAGED, PTE_PAGED_KEPT, PTE_PAGED_GIVEN, PTE_LOST, PTE_PASSED_READABLE, PTE_PASSED_WRITABLE;
};

/// Writes the numbers as assemblers read them, a line each.
pub fn equates(out: &mut impl Write) -> fmt::Result {
    for (name, number) in ASSEMBLY {
        writeln!(out, ".equ {name}, {number}")?;
    }
    for error in Error::ALL {
        writeln!(out, ".equ ERROR_{}, {}", Name(error.name()), error.status())?;
    }
    for (name, offset) in Parameters::OFFSETS {
        writeln!(out, ".equ PARAMETERS_{}, {offset}", Name(name))?;
    }
    Ok(())
}

/// A variant's or field's name, shown as that of a constant: `NoPortal` as `NO_PORTAL`.
pub struct Name<'a>(pub &'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, letter) in self.0.chars().enumerate() {
            if position > 0 && letter.is_ascii_uppercase() {
                out.write_char('_')?;
            }
            out.write_char(letter.to_ascii_uppercase())?;
        }
        Ok(())
    }
}
