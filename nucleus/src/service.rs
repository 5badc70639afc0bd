//! The privileged portals that are not worth assembly. Each checks its arguments, since what is
//! granted to one component must not let it do more than the portal says.

use crate::arch;
use crate::parameters;
use cairn_abi::DomainId;
use cairn_abi::address::KERNEL;
use cairn_abi::arch::interrupt::INTERRUPTS_ON;
use cairn_abi::arch::trap;
use cairn_abi::domain::Tables;
use cairn_abi::error::Error;
use cairn_abi::literal::CallFrame;
use cairn_abi::parameters::Parameters;
use cairn_abi::{address, domain, float, literal, thread};
use core::ptr::addr_of;

/// The domain blocks.
fn tables(parameters: &Parameters) -> Tables {
    Tables::of(parameters.portals)
}

/// Reads a word of the kernel domain.
///
/// # Safety
/// `address` names a mapped, aligned word of the kernel domain.
unsafe fn load(address: u64) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { (address as *const u64).read_volatile() }
}

/// Writes a word of the kernel domain.
///
/// # Safety
/// `address` names a mapped, writable, aligned word of the kernel domain that nothing in the
/// running thread's frames depends on.
unsafe fn store(address: u64, word: u64) {
    // SAFETY: the caller's promise.
    unsafe { (address as *mut u64).write_volatile(word) }
}

fn at(base: u64, offset: i64) -> u64 {
    base.wrapping_add_signed(offset)
}

/// Clears words from an address on, without a loop: interrupts are off.
macro_rules! clear {
    ($base:expr, $($word:literal)*) => { $(store($base + 8 * $word, 0);)* };
}
const CLEARED: i64 = 35 * 8;
const _: () = assert!(thread::TRAP_STATE == CLEARED);

unsafe extern "C" {
    /// The hart's words of the floating-point unit (`arch/riscv64/float.S`).
    #[link_name = "nucleus_float"]
    static mut FLOAT: [u64; 3];
}

/// Nobody has the floating-point registers of who was in a thread's block before: what begins there finds none of its own, either.
///
/// # Safety
/// `block` is that of a thread that does not run and is set up anew.
unsafe fn forget_float(block: u64) {
    let owner = at(addr_of!(FLOAT) as u64, float::FLOAT_OWNER);
    // SAFETY: the words are the nucleus' own; behind the last frame that a block can hold lies the base frame's cell.
    unsafe {
        if load(owner) & !(address::PAGE_SIZE - 1) == block {
            store(owner, 0);
        }
        store(at(block, float::FLOAT_BASE_CELL + float::FLOAT_STATE), 0);
    }
}

/// Prepares a thread that does not run: a base frame, whose return ends the thread, and above it a
/// trap frame that begins at `entry`. `running` is the topmost frame of the running thread. In the kernel domain stack and
/// return address are nobody's choice, and where a thread begins only of a scheduler that is there too; under another it
/// begins at the main function of an instance of the domain.
#[unsafe(no_mangle)]
extern "C" fn set_up_thread(
    index: u64,
    domain_number: u64,
    entry: u64,
    stack: u64,
    argument: u64,
    link: u64,
    running: u64,
) -> i64 {
    let parameters = parameters();
    if index >= parameters.threads || domain_number >= parameters.domains {
        return Error::BadArgument.status();
    }
    let block = thread::thread_block(index as usize);
    if (block..block + address::PAGE_SIZE).contains(&running) {
        return Error::BadArgument.status();
    }
    let table = tables(&parameters).portal_table(DomainId(domain_number as usize as u16));
    let base = at(block, thread::base_frame(index as usize));
    let top = at(base, thread::TRAP_FRAME);
    // SAFETY: both numbers are in range, so block and table are mapped, and the running thread has
    // another block.
    unsafe {
        if load(at(table, domain::FIELD_ALIVE)) == 0 {
            return Error::Dead.status();
        }
        let kernel_entry = load(at(table, domain::FIELD_KERNEL_ENTRIES));
        let is_trusted = || {
            let own = load(at(running, thread::FRAME_TABLE));
            load(at(own, domain::FIELD_KERNEL_ENTRIES)) != 0
        };
        let begins = |number| load(at(table, domain::FIELD_KERNEL_ENTRIES + number * 8)) == entry;
        if kernel_entry != 0 && !(0..domain::FELLOWS_MAXIMUM as i64).any(begins) && !is_trusted() {
            return Error::NotAllowed.status();
        }
        forget_float(block);
        let state = at(top, -thread::TRAP_STATE);
        clear!(state, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17);
        clear!(state, 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34);
        store(at(base, thread::FRAME_RETURN), parameters.exit_portal);
        store(at(base, thread::FRAME_TABLE), table);
        store(at(base, thread::FRAME_RA), 0);
        store(at(base, thread::FRAME_ACTIVATION), 0);
        store(at(top, thread::FRAME_RETURN), arch::trap_return_address());
        store(at(top, thread::FRAME_TABLE), table);
        let register = |number| at(top, thread::trap_register(number));
        let (mut status, mut stack, mut link) = (trap::USER_STATUS, stack, link);
        if kernel_entry != 0 {
            status = trap::KERNEL_STATUS;
            stack = load(at(block, thread::FIELD_KERNEL_STACK));
            link = arch::kernel_return_address();
            store(register(trap::FRAME_REGISTER), base);
        }
        store(at(top, thread::TRAP_STATUS), status);
        store(at(top, thread::TRAP_INTERRUPTS), INTERRUPTS_ON);
        store(at(top, thread::TRAP_SEPC), entry);
        store(at(top, thread::TRAP_SPACE), load(at(table, domain::FIELD_SPACE)));
        store(register(trap::RETURN_REGISTER), link);
        store(register(trap::STACK_REGISTER), stack);
        store(register(trap::ARGUMENT_REGISTER), argument);
        let generation = at(block, thread::FIELD_GENERATION);
        store(generation, load(generation) + 1);
        store(at(block, thread::FIELD_DOMAIN), domain_number);
        store(at(block, thread::FIELD_FRAME), top);
    }
    0
}

/// The shape of the frames that a return portal leaves.
///
/// # Safety
/// `back` is the code of a return portal.
unsafe fn call_frame(back: u64) -> CallFrame {
    // SAFETY: literals lie before the code.
    CallFrame::of_word(unsafe { load(at(back, literal::LITERAL_FRAME)) })
}

/// Address of the header at an offset of a thread's block, if it is that of a frame above the base; none of the running
/// thread, whose topmost frame is noted nowhere. All frames above it are followed, since a register that a thread saved
/// can look like a header.
#[inline(never)]
fn frame_header(index: u64, offset: u64, running: u64) -> Option<u64> {
    let block = thread::thread_block(index as usize);
    if index >= parameters().threads || (block..block + address::PAGE_SIZE).contains(&running) {
        return None;
    }
    let base = at(block, thread::base_frame(index as usize));
    // SAFETY: the block is mapped, and its field is zero or the topmost header; below each header but the base's is that of
    // another frame. Literals lie before what a frame returns by, and those of a dead entry name its return portal.
    unsafe {
        let mut header = load(at(block, thread::FIELD_FRAME));
        while header > base && header != block.wrapping_add(offset) {
            let back = load(at(header, thread::FRAME_RETURN));
            header -= if back < address::PORTAL_CODE {
                // The trap return, or its dead entry.
                thread::TRAP_FRAME as u64
            } else {
                let is_dead = load(at(back, literal::LITERAL_MARK)) == literal::MARK_DEAD;
                let portal = if is_dead { load(at(back, literal::LITERAL_RETURN)) } else { back };
                call_frame(portal).size.into()
            };
        }
        (header > base).then_some(header)
    }
}

/// Whether a frame's return address is the code of a return portal. A word that is the address of such code has that
/// code's literals before it, and only such words pass: an address in the portal code area (its first literals apart)
/// before which stands the mark.
fn is_return_portal(parameters: &Parameters, back: u64) -> bool {
    let portals = address::PORTAL_CODE + literal::LITERALS_SIZE as u64..parameters.portal_code_end;
    // SAFETY: the literals before an aligned address of that range are mapped.
    let mark = |back| unsafe { load(at(back, literal::LITERAL_MARK)) };
    back.is_multiple_of(16) && portals.contains(&back) && mark(back) == literal::MARK_RETURN
}

/// Who is stopped on its way back out of a call inside the kernel domain, whose frame is this one's, reads again where that
/// leads: nobody else reads `FRAME_RA` before it leaves privileged mode.
///
/// # Safety
/// `header` is that of a frame of a thread that does not run.
#[inline(never)]
unsafe fn read_again(header: u64) {
    let trap = at(header, thread::TRAP_FRAME);
    let block = header & !(address::PAGE_SIZE - 1);
    // SAFETY: a block's field is its topmost frame; a trap's has its state below.
    unsafe {
        let place = at(trap, thread::TRAP_SEPC);
        if load(at(block, thread::FIELD_FRAME)) == trap && arch::comes_back_inside(load(place)) {
            store(place, arch::kernel_inside_return_address());
        }
    }
}

/// Makes a frame that returns into a dead domain leave through its dead entry.
#[unsafe(no_mangle)]
extern "C" fn unwind(index: u64, offset: u64, _: u64, _: u64, _: u64, _: u64, running: u64) -> i64 {
    let parameters = parameters();
    let Some(header) = frame_header(index, offset, running) else {
        return Error::BadArgument.status();
    };
    // SAFETY: `header` is a frame's, and the literals before the trap return or a return portal are mapped. The table of the domain that the frame returns into is used only if it is one of the domains'.
    unsafe {
        let back = load(at(header, thread::FRAME_RETURN));
        let tables = tables(&parameters);
        let into = if back == arch::trap_return_address() {
            // Of a process it is a table of its own, which has its server's number.
            let table = load(at(header, thread::FRAME_TABLE - thread::TRAP_FRAME));
            tables.portal_table(DomainId(load(at(table, domain::FIELD_NUMBER)) as u16))
        } else {
            if !is_return_portal(&parameters, back) {
                return Error::BadArgument.status();
            }
            tables.portal_table(call_frame(back).caller)
        };
        let is_table = |number: &DomainId| {
            u64::from(*number) < parameters.domains && into == tables.portal_table(*number)
        };
        if tables.domain(into).filter(is_table).is_none() {
            return Error::BadArgument.status();
        }
        if load(at(into, domain::FIELD_ALIVE)) != 0 {
            return Error::NotAllowed.status();
        }
        store(at(header, thread::FRAME_RETURN), load(at(back, literal::LITERAL_RETURN)));
        // The way back of a call inside the kernel domain looks at nothing else. A trap frame has nothing there that is read.
        store(at(header, thread::FRAME_RA), arch::kernel_inside_dead_address());
        read_again(header);
    }
    0
}

/// Whether a thread was stopped in privileged mode: nobody chooses where it goes on.
///
/// # Safety
/// `header` is a trap frame's.
unsafe fn was_privileged(header: u64) -> bool {
    // SAFETY: below a trap frame's header lies its state.
    unsafe { load(at(header, thread::TRAP_STATUS)) & trap::SSTATUS_SPP != 0 }
}

/// Lets a thread fault when it comes back by a call's frame (its return address is moved into the half where its domain executes
/// nothing), and lets one go on that faulted so (the address in its trap frame is moved back). A thread that was stopped in a process
/// goes on in the space of that one's server, where it finds what the server has there: nothing, if that is to end.
#[unsafe(no_mangle)]
extern "C" fn divert(index: u64, offset: u64, _: u64, _: u64, _: u64, _: u64, running: u64) -> i64 {
    let parameters = parameters();
    let Some(header) = frame_header(index, offset, running) else {
        return Error::BadArgument.status();
    };
    // SAFETY: `header` is a frame's, below which lies its state. What is changed is where a thread goes on in its mode, and only
    // between two addresses of which one always faults there: user mode executes nothing of the kernel's half, supervisor
    // mode nothing that user mode can (privileged manual section 4.3.1). No return code reads it before it leaves.
    unsafe {
        let back = load(at(header, thread::FRAME_RETURN));
        let is_trap = back == arch::trap_return_address();
        let (place, is_kernel) = if is_trap {
            let table = load(at(header, thread::FRAME_TABLE - thread::TRAP_FRAME));
            if table >= address::PROCESSES {
                store(at(header, thread::TRAP_SPACE), load(at(table, domain::FIELD_SPACE)));
                return 0;
            }
            (at(header, thread::TRAP_SEPC), was_privileged(header))
        } else if is_return_portal(&parameters, back) {
            let table = tables(&parameters).portal_table(call_frame(back).caller);
            let entry = load(at(table, domain::FIELD_KERNEL_ENTRIES));
            (at(header, thread::FRAME_RA), entry != 0)
        } else {
            return Error::BadArgument.status();
        };
        let address = load(place);
        let half = if is_kernel == is_trap { 0 } else { KERNEL };
        if address & KERNEL != half {
            return Error::BadArgument.status();
        }
        store(place, address ^ KERNEL);
        read_again(header);
    }
    0
}

/// Answers a call for a thread that stands at it: it goes on behind the call, with an error.
#[unsafe(no_mangle)]
extern "C" fn refuse(index: u64, offset: u64, _: u64, _: u64, _: u64, _: u64, running: u64) -> i64 {
    let Some(header) = frame_header(index, offset, running) else {
        return Error::BadArgument.status();
    };
    // SAFETY: `header` is a frame's, below which lies its state. What is changed are registers with which a thread goes on
    // in user mode, or behind a call in the kernel domain.
    unsafe {
        let is_trap = load(at(header, thread::FRAME_RETURN)) == arch::trap_return_address();
        // In the kernel domain a thread stands at a call only here, with the return address that compiled code gave it.
        let calls = || load(at(header, thread::TRAP_SEPC)) == arch::kernel_call_address();
        if !is_trap || was_privileged(header) && !calls() {
            return Error::BadArgument.status();
        }
        let register = |number| at(header, thread::trap_register(number));
        store(at(header, thread::TRAP_SEPC), load(register(trap::RETURN_REGISTER)));
        store(register(trap::ARGUMENT_REGISTER), Error::Cancelled.status() as u64);
    }
    0
}

/// Marks a domain dead or alive: no thread can be set up in a dead one.
#[unsafe(no_mangle)]
extern "C" fn set_alive(number: u64, alive: u64) -> i64 {
    let parameters = parameters();
    if number >= parameters.domains || alive > 1 {
        return Error::BadArgument.status();
    }
    let table = tables(&parameters).portal_table(DomainId(number as usize as u16));
    // SAFETY: the number is in range, so the block is mapped; no frame holds these words.
    unsafe {
        if alive == 1 && load(at(table, domain::FIELD_ALIVE)) == 0 {
            let generation = at(table, domain::FIELD_GENERATION);
            store(generation, load(generation) + 1);
        }
        store(at(table, domain::FIELD_ALIVE), alive);
    }
    0
}

/// Sets the timer on a hart without `stimecmp`.
#[unsafe(no_mangle)]
extern "C" fn set_timer_by_firmware(time: u64) -> i64 {
    sbi_rt::set_timer(time);
    0
}

/// Halts (0) or reboots (1) the machine; `value` other than zero is a failure. Or the firmware prints a byte (2).
#[unsafe(no_mangle)]
extern "C" fn firmware(kind: u64, value: u64) -> i64 {
    match kind {
        0 => halt(value),
        1 => {
            sbi_rt::system_reset(sbi_rt::ColdReboot, sbi_rt::NoReason);
            Error::NotSupported.status()
        }
        2 => {
            // As at the end (`fatal`): older firmware has nothing else.
            #[allow(deprecated)]
            sbi_rt::legacy::console_putchar(value as usize & 0xff);
            0
        }
        _ => Error::BadArgument.status(),
    }
}

/// Halts the machine: with `status` as the emulator's exit status if it has a test finisher, since
/// the firmware's shutdown carries none.
pub fn halt(status: u64) -> ! {
    let finisher = parameters().finisher;
    if finisher != 0 {
        // The finisher's words: pass, or fail with a status above.
        let word = if status == 0 { 0x5555 } else { (status as u32 & 0xff) << 16 | 0x3333 };
        // SAFETY: the host tool maps the finisher's registers here.
        unsafe { (finisher as *mut u32).write_volatile(word) };
    }
    sbi_rt::system_reset(sbi_rt::Shutdown, sbi_rt::SystemFailure);
    loop {
        core::hint::spin_loop();
    }
}
