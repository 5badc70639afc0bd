//! What holds at every instruction of privileged code. `World::cross` asks before each.

use crate::in_place::opened;
use crate::nucleus::Nucleus;
use crate::world::*;
use cairn_abi::address::*;
use cairn_abi::domain::Tables;
use cairn_abi::privileged::PORTAL_KERNEL_CALL;
use cairn_abi::thread::*;
use cairn_abi::{DomainId, Error};
use cairn_emulator::csr::{
    SATP_ASID_SHIFT, SSTATUS, STATUS_SIE, STATUS_SPIE, STATUS_SPP, STATUS_SUM,
};
use cairn_emulator::register::{A0, T0, T1, TP};
use cairn_emulator::{AddressSpace, Privilege, encode};
use cairn_portal::invocation::{Frame, Kind, Walk, Words};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Addresses of the nucleus where a state is lawful that is not elsewhere.
#[derive(Clone)]
pub struct Landmarks {
    /// User memory is open: from the first instruction of a copy to the one that closes it.
    copying: [Range<u64>; 4],
    /// A trap from supervisor mode was taken, and `sstatus` still says so.
    trapped: [Range<u64>; 3],
    /// `sstatus` of who goes on is loaded.
    leaving: Range<u64>,
    trap_return: u64,
    /// Interrupts are on, on the way into a component and back...
    entering: [Range<u64>; 2],
    /// ... and on the way from a call to its portal.
    calling: [u64; 2],
}

impl Landmarks {
    pub fn new(nucleus: &Nucleus) -> Landmarks {
        let symbol = |name| nucleus.symbol(name);
        // The two instructions that close user memory, and the four behind them that end in the clearing of SPP.
        let closing = 8;
        let (fault, entry, back) =
            (symbol("copy_fault"), symbol("trap_entry"), symbol("trap_return"));
        Landmarks {
            copying: [
                symbol("copy_begin")..symbol("copy_in_end") + closing,
                symbol("copy_out")..symbol("copy_end") + closing,
                opened(KERNEL_SERVER),
                opened(KERNEL_BACKEND),
            ],
            trapped: [
                entry..back,
                fault..fault + 24,
                symbol("trap_privileged")..symbol("trap_kernel") + 20,
            ],
            leaving: symbol("trap_return_fenced")..symbol("trap_return_fence"),
            trap_return: back,
            entering: [
                symbol("kernel_enter") + 4..symbol("kernel_return") + 4,
                symbol("kernel_enter_inside") + 4..symbol("trap_privileged"),
            ],
            calling: [symbol("kernel_call"), symbol("kernel_call") + 40],
        }
    }

    /// The bits among SPP and SUM that may be set before the instruction at `address`.
    fn lawful(&self, address: u64, status: u64) -> u64 {
        let within = |ranges: &[Range<u64>]| ranges.iter().any(|range| range.contains(&address));
        if within(&self.copying) {
            STATUS_SUM
        } else if status & STATUS_SPP != 0 && within(&self.trapped) {
            STATUS_SPP | STATUS_SUM
        } else if self.leaving.contains(&address) {
            STATUS_SPP | if status & STATUS_SPP == 0 { 0 } else { STATUS_SUM }
        } else {
            0
        }
    }
}

/// The frames of the thread that runs: its topmost one is in `sscratch`, not in its block.
struct Running<'a>(&'a World, u64);

impl Words for Running<'_> {
    fn load(&self, address: u64) -> Option<u64> {
        let frame = self.0.machine.csr.sscratch;
        if address == self.1.wrapping_add_signed(FIELD_FRAME) {
            return Some(frame);
        }
        // Nothing else is read through an alias, which has no place of its own.
        (KERNEL..PAGE_TABLES).contains(&address).then(|| self.0.word(address))
    }
}

impl World {
    /// Its portal table.
    pub fn table(&self, number: usize) -> u64 {
        Tables::LEAST.portal_table(DomainId(number as u16))
    }

    /// `satp` of a domain; of number 0, of a thread that began in the kernel domain.
    pub fn space_of(&self, number: usize) -> u64 {
        self.spaces[number].satp()
    }

    /// Whether this value of `satp` leads to a page table of the world, with its identifier or, during a fence, none.
    pub fn is_space(&self, satp: u64) -> bool {
        let page = |satp: u64| satp & !(0xffff << SATP_ASID_SHIFT);
        let is_it = |space: &AddressSpace| match self.fences.asids() {
            true => [space.satp(), page(space.satp())].contains(&satp),
            false => page(space.satp()) == page(satp),
        };
        self.spaces.iter().any(is_it)
    }

    /// The frames of the running thread, from `sscratch` down.
    pub fn frames(&self) -> Vec<Frame> {
        let index = (self.machine.csr.sscratch.wrapping_sub(THREADS) / THREAD_BLOCK_SIZE) as usize;
        assert!(index < THREAD_COUNT, "sscratch is {:#x}", self.machine.csr.sscratch);
        let words = Running(self, thread_block(index));
        let layout = (self.landmarks.trap_return, Tables::LEAST);
        Walk::new(&words, layout, index as u64).with_limits().collect()
    }

    /// What must hold before every instruction of privileged code.
    pub fn check_privileged(&mut self) {
        let (csr, address) = (&self.machine.csr, self.machine.program_counter);
        let status = csr.sstatus;
        let set = status & (STATUS_SPP | STATUS_SUM);
        // Traps leave to where they came from, and user memory is closed, but in these places.
        if set != 0 && !(set == STATUS_SPP && self.leaves_to_kernel(address)) {
            let unlawful = set & !self.landmarks.lawful(address, status);
            assert_eq!(unlawful, 0, "sstatus at {address:#x}, {}", self.trace());
            // A trap out of a copy in the kernel domain still has it set, and the way back there again.
            let marks = &self.landmarks;
            let mut passing = marks.trapped.iter().chain([&marks.leaving]);
            let is_passing = passing.any(|range| range.contains(&address));
            let is_open = set & STATUS_SUM != 0 && !is_passing;
            let found = !is_open || csr.sscratch == self.machine.get(TP);
            assert!(found, "a fault in user memory finds no frame, {}", self.trace());
        }
        // In the half of user mode a diverted thread faults.
        if status & STATUS_SIE != 0 && address >= KERNEL {
            self.check_kernel_code();
        }
        if address == self.landmarks.trap_return {
            self.check_trap_frame(self.machine.get(TP));
        }
        let space = self.machine.csr.satp;
        if space != self.checked_space {
            assert!(self.is_space(space), "satp is {space:#x}, {}", self.trace());
            self.checked_space = space;
        }
    }

    /// Interrupts are on in supervisor mode: compiled code of an instance runs, its thread can be stopped here.
    fn check_kernel_code(&self) {
        let (csr, address) = (&self.machine.csr, self.machine.program_counter);
        let table = self.word(csr.sscratch.wrapping_add_signed(FRAME_TABLE));
        let number = match address {
            _ if self.landmarks.entering.iter().any(|range| range.contains(&address))
                || self.is_threshold(address) =>
            {
                usize::from(Tables::LEAST.domain(table).expect("a frame names a domain").0)
            }
            _ => {
                assert!(address >= KERNEL_REGIONS, "interrupts are on, {}", self.trace());
                self.running()
            }
        };
        assert!(is_kernel(number), "interrupts are on, {}", self.trace());
        assert_eq!(csr.sie, self.interrupts, "sie in kernel code, {}", self.trace());
        let frames = self.frames();
        let complete = frames.last().is_some_and(|frame| frame.kind == Kind::Base);
        assert!(complete, "frames {frames:x?} do not end in the base, {}", self.trace());
        assert_eq!(table, self.table(number), "the topmost frame names who runs, {}", self.trace());
        self.check_space();
    }

    /// The space in which code of the kernel domain runs: that of the first domain below that has one, of a thread that began
    /// in the kernel domain the kernel's. Not where a test has put a frame that stands on none.
    pub fn check_space(&self) {
        let frames = self.frames();
        if frames.last().is_some_and(|frame| frame.kind == Kind::Base) {
            let mut into = frames.iter().map(|frame| usize::from(frame.into.0));
            let space = self.space_of(into.find(|into| !is_kernel(*into)).unwrap_or(0));
            assert_eq!(self.machine.csr.satp, space, "the space of the caller, {}", self.trace());
        }
    }

    /// Whether a caller in the kernel domain has just begun a call by index, or is about to go on behind what stays for good.
    fn is_threshold(&self, address: u64) -> bool {
        let is_end = || self.short_circuits.iter().any(|code| code.contains(&address));
        self.landmarks.calling.contains(&address) || is_end()
    }

    fn instruction(&self, address: u64) -> u32 {
        (self.word(address & !7) >> (8 * (address & 7))) as u32
    }

    /// Whether a portal is about to leave to the kernel domain.
    fn leaves_to_kernel(&self, address: u64) -> bool {
        if !(PORTAL_CODE..THREADS).contains(&address) || self.instruction(address) != encode::SRET {
            return false;
        }
        let table = self.word(self.machine.csr.sscratch.wrapping_add_signed(FRAME_TABLE));
        Tables::LEAST.domain(table).is_some_and(|domain| is_kernel(domain.index()))
    }

    /// What a thread goes on with: where it was stopped in the kernel, `tp` is its topmost frame.
    pub fn check_trap_frame(&self, frame: u64) {
        let word = |offset| self.word(frame.wrapping_add_signed(offset));
        let status = word(TRAP_STATUS);
        if status & STATUS_SPP == 0 {
            assert_eq!(status & STATUS_SUM, 0, "user memory is closed in a saved status");
        } else {
            assert_ne!(status & STATUS_SPIE, 0, "only code with interrupts on is stopped");
            let below = frame.wrapping_add_signed(-TRAP_FRAME);
            assert_eq!(word(trap_register(TP.into())), below, "tp of stopped kernel code");
        }
        assert!(self.is_space(word(TRAP_SPACE)), "the space of who was stopped");
    }
}

/// A jump from `from` to `to` by `t1`.
pub fn far(from: u64, to: u64) -> [u32; 2] {
    let distance = to.wrapping_sub(from) as i64;
    let low = (distance << 52 >> 52) as i32;
    [encode::auipc(T1, (distance - i64::from(low)) as i32), encode::jalr(0, T1, low)]
}

/// Whether an interrupt and the way back pass, with `program` in the place of what is at `address`.
fn breaks(address: u64, program: &[u32], scenario: impl Fn(&mut World)) -> bool {
    let mut world = World::new(101);
    world.write_bytes(address, &encode::bytes(program));
    catch_unwind(AssertUnwindSafe(|| scenario(&mut world))).is_err()
}

/// A call with a copy, one with a copy that faults, an interrupt.
fn scenario(world: &mut World) {
    let connection = world.connect("nmr", CLIENT, SERVER);
    let stack = world.usual_stack(&connection);
    for pointer in [at(CLIENT, DATA), at(CLIENT, NOTHING)] {
        world.call(connection.index, stack, [pointer, 8, 0, 0, 0, 0, 0, 0]);
        if world.running() == SERVER {
            world.reply(0, 0);
        }
    }
    world.machine.csr.stimecmp = 0;
    world.cross();
    world.machine.csr.stimecmp = u64::MAX;
    world.reply(0, 0);
    assert_eq!(world.machine.privilege, Privilege::User);
}

#[test]
fn every_broken_rule_is_noticed() {
    use cairn_emulator::csr::{SATP, SSCRATCH, SSTATUS};
    use encode::*;
    let nucleus = World::new(101).nucleus;
    let symbol = |name| nucleus.symbol(name);
    let (entry, back) = (symbol("trap_return_portal"), symbol("trap_return"));
    assert!(!breaks(back - 4, &[], scenario), "as it is, nothing is wrong");
    // Each is undone by what follows, or without effect on what user mode finds: only the check at the step sees it.
    let flash = |bits: u64| {
        let mut program = constant(T1, bits);
        program.extend([csrrs(0, SSTATUS, T1), csrrc(0, SSTATUS, T1)]);
        program
    };
    let load = ld(T1, TP, FRAME_RETURN as i32);
    for (what, mut program) in [
        ("SPP", flash(STATUS_SPP)),
        ("SUM", flash(STATUS_SUM)),
        ("SIE", flash(STATUS_SIE)),
        ("satp", vec![csrrs(T1, SATP, 0), csrrw(0, SATP, 0), csrrw(0, SATP, T1)]),
    ] {
        program.extend([load, jalr(0, T1, 0)]);
        let mut world = World::new(101);
        // In code of portals' pages that no portal has: as a portal, on the way of every return.
        let spare = PORTAL_CODE + (PORTAL_PAGES - 1) * PAGE_SIZE;
        world.write_bytes(spare, &bytes(&program));
        world.write_bytes(entry, &bytes(&far(entry, spare)));
        let noticed = catch_unwind(AssertUnwindSafe(|| scenario(&mut world))).is_err();
        assert!(noticed, "nobody notices {what}");
    }
    // A copy whose frame is not in sscratch, should it fault: `csrw sscratch, tp` before it.
    let begin = symbol("copy_begin");
    let start = (1..6).map(|step| begin - 4 * step).find(|address| {
        let word = World::new(101).word(*address & !7) >> (8 * (address & 7));
        word as u32 == csrrw(0, SSCRATCH, TP)
    });
    assert!(breaks(start.expect("the copy says where its frame is"), &[NOP], scenario));
    // SPP left by a copy that faulted.
    assert!(breaks(symbol("copy_fault") + 20, &[NOP], scenario));
}

/// The word of the table by which such calls find `kernel_call` is no portal: it comes by itself once more, and no more than that.
#[test]
fn a_call_by_the_index_of_all_such_calls_ends() {
    let mut world = World::new(29);
    let call = world.nucleus.symbol("kernel_call");
    world.install(KERNEL_SERVER, PORTAL_KERNEL_CALL as u64, call);
    world.start(KERNEL_SERVER, &[]);
    world.prepare_call(16, kernel_stack(THREAD) - 64, [7; 8]);
    world.machine.set(T0, PORTAL_KERNEL_CALL as u64);
    world.machine.set(T1, call);
    for _ in 0..24 {
        if world.machine.program_counter == at(KERNEL_SERVER, RESUME) {
            break;
        }
        world.machine.step();
    }
    world.assert_at(KERNEL_SERVER, RESUME);
    assert_eq!(world.machine.get(A0), Error::NoPortal.status() as u64);
    let status = world.machine.csr.read(SSTATUS, Privilege::Supervisor).unwrap();
    assert_eq!(status & STATUS_SIE, STATUS_SIE, "interrupts are on");
}
