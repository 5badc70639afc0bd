//! RISC-V 64, supervisor mode, Sv39: the assembly of the nucleus and the numbers it uses.

use cairn_abi::page_table::{EXECUTE, OWN, READ, USER, VALID, WRITE};
use cairn_abi::parameters::Parameters;
use cairn_abi::{Error, address, domain, thread};
use cairn_portal::literal;
use core::arch::global_asm;
use core::mem::offset_of;

/// Bytes of the stack on which the services in Rust run, one per hart.
const NUCLEUS_STACK_SIZE: usize = 4096;

// One block for all files, so that each number is defined once.
global_asm!(
    ".option norvc",
    ".option norelax",
    ".equ FRAME_RETURN, {frame_return}",
    ".equ FRAME_TABLE, {frame_table}",
    ".equ FRAME_ACTIVATION, {frame_activation}",
    ".equ FRAME_SCRATCH, {frame_scratch}",
    ".equ TRAP_FRAME, {trap_frame}",
    ".equ TRAP_STATE_X, {trap_state_x}",
    ".equ TRAP_SEPC, {trap_sepc}",
    ".equ TRAP_SATP, {trap_satp}",
    ".equ FIELD_FRAME, {field_frame}",
    ".equ THREADS_PAGE, {threads_page}",
    ".equ PORTALS_SHIFT, {portals_shift}",
    ".equ EXCEPTION_ENTRIES, {exception_entries}",
    ".equ INTERRUPT_ENTRIES, {interrupt_entries}",
    ".equ INTERRUPTS_ON, {interrupts_on}",
    ".equ ACTIVATION_STACK, {activation_stack}",
    ".equ ACTIVATION_ALIAS, {activation_alias}",
    ".equ ACTIVATION_WINDOW_ENTRY, {activation_window_entry}",
    ".equ COPY_MAXIMUM, {copy_maximum}",
    ".equ COPY_STRIDE, {copy_stride}",
    ".equ WINDOW_MAXIMUM, {window_maximum}",
    ".equ USER_ADDRESS_BITS, 38",
    ".equ PTE_READABLE, {pte_readable}",
    ".equ PTE_WRITABLE, {pte_writable}",
    ".equ PTE_READ_WINDOW, {pte_read_window}",
    ".equ PTE_WRITE_WINDOW, {pte_write_window}",
    ".equ LITERAL_ABORT, {literal_abort}",
    ".equ LITERAL_SOURCE, {literal_source}",
    ".equ LITERAL_SOURCE_SIZE, {literal_source_size}",
    ".equ LITERAL_SOURCE_ENTRY, {literal_source_entry}",
    ".equ LITERAL_ASID, {literal_asid}",
    ".equ MARK_RETURN, {mark_return}",
    ".equ MARK_DEAD, {mark_dead}",
    ".equ ERROR_NO_PORTAL, {error_no_portal}",
    ".equ ERROR_DEAD, {error_dead}",
    ".equ ERROR_BAD_POINTER, {error_bad_pointer}",
    ".equ ERROR_TOO_LARGE, {error_too_large}",
    ".equ ERROR_NOT_PAGE_ALIGNED, {error_not_page_aligned}",
    // Privileged manual, section 4.1.1: SPP, SUM; cleared at boot: SIE, SPIE, UBE, SPP, VS, FS, SUM, MXR.
    ".equ SSTATUS_SPP, 1 << 8",
    ".equ SSTATUS_SUM, 1 << 18",
    ".equ SSTATUS_CLEAR, 1 << 1 | 1 << 5 | 1 << 6 | 1 << 8 | 3 << 9 | 3 << 13 | 1 << 18 | 1 << 19",
    // Section 4.1.11: the address-space identifier.
    ".equ SATP_ASID, 0xffff << 44",
    // Section 4.1.10; the assembler does not know its name.
    ".equ SENVCFG, 0x10a",
    // Sstc extension, chapter 2.
    ".equ STIMECMP, 0x14d",
    ".equ NUCLEUS_STACK_SIZE, {nucleus_stack_size}",
    ".equ PARAMETERS_NUCLEUS_OFFSET, {parameters_nucleus_offset}",
    ".equ PARAMETERS_BOOT_SATP, {parameters_boot_satp}",
    ".equ PARAMETERS_BOOT_FRAME, {parameters_boot_frame}",
    ".equ PARAMETERS_BOOT_PORTAL, {parameters_boot_portal}",
    ".equ PARAMETERS_THREADS, {parameters_threads}",
    include_str!("boot.S"),
    include_str!("trap.S"),
    include_str!("window.S"),
    include_str!("privileged.S"),
    frame_return = const thread::FRAME_RETURN,
    frame_table = const thread::FRAME_TABLE,
    frame_activation = const thread::FRAME_ACTIVATION,
    frame_scratch = const thread::FRAME_SCRATCH,
    trap_frame = const thread::TRAP_FRAME,
    trap_state_x = const thread::trap_register(1),
    trap_sepc = const thread::TRAP_SEPC,
    trap_satp = const thread::TRAP_SATP,
    field_frame = const thread::FIELD_FRAME,
    threads_page = const (address::THREADS as i64) >> 12,
    portals_shift = const domain::PORTALS_SHIFT,
    exception_entries = const domain::exception_entry(0),
    interrupt_entries = const domain::interrupt_entry(0),
    interrupts_on = const thread::INTERRUPTS_ON,
    activation_stack = const domain::ACTIVATION_STACK,
    activation_alias = const domain::ACTIVATION_ALIAS,
    activation_window_entry = const domain::ACTIVATION_WINDOW_ENTRY,
    copy_maximum = const address::COPY_MAXIMUM,
    copy_stride = const address::COPY_STRIDE,
    window_maximum = const address::WINDOW_MAXIMUM,
    pte_readable = const OWN | VALID | READ | USER,
    pte_writable = const OWN | VALID | READ | WRITE | USER,
    // What a page keeps of its bits in a window: the callee neither owns nor executes it.
    pte_read_window = const !(OWN | WRITE | EXECUTE) as i64,
    pte_write_window = const !(OWN | EXECUTE) as i64,
    literal_abort = const literal::LITERAL_ABORT,
    literal_source = const literal::LITERAL_SOURCE,
    literal_source_size = const literal::LITERAL_SOURCE_SIZE,
    literal_source_entry = const literal::LITERAL_SOURCE_ENTRY,
    literal_asid = const literal::LITERAL_ASID,
    mark_return = const literal::MARK_RETURN,
    mark_dead = const literal::MARK_DEAD,
    error_no_portal = const Error::NoPortal.status(),
    error_dead = const Error::Dead.status(),
    error_bad_pointer = const Error::BadPointer.status(),
    error_too_large = const Error::TooLarge.status(),
    error_not_page_aligned = const Error::NotPageAligned.status(),
    nucleus_stack_size = const NUCLEUS_STACK_SIZE,
    parameters_nucleus_offset = const offset_of!(Parameters, nucleus_offset),
    parameters_boot_satp = const offset_of!(Parameters, boot_satp),
    parameters_boot_frame = const offset_of!(Parameters, boot_frame),
    parameters_boot_portal = const offset_of!(Parameters, boot_portal),
    parameters_threads = const offset_of!(Parameters, threads),
);

unsafe extern "C" {
    /// The code that a trap frame names as its return portal; never called as a function.
    fn trap_return();
}

/// Address of the code that resumes a thread from a trap frame.
pub fn trap_return_address() -> u64 {
    trap_return as *const () as u64
}
