//! The control and status registers of supervisor mode (privileged manual, chapter 4; Sstc).

use crate::trap::{Interrupt, Privilege};

#[allow(missing_docs)] // the names are the registers
mod number {
    pub const FFLAGS: u16 = 0x001;
    pub const FRM: u16 = 0x002;
    pub const FCSR: u16 = 0x003;
    pub const SSTATUS: u16 = 0x100;
    pub const SIE: u16 = 0x104;
    pub const STVEC: u16 = 0x105;
    pub const SCOUNTEREN: u16 = 0x106;
    pub const SENVCFG: u16 = 0x10a;
    pub const SSCRATCH: u16 = 0x140;
    pub const SEPC: u16 = 0x141;
    pub const SCAUSE: u16 = 0x142;
    pub const STVAL: u16 = 0x143;
    pub const SIP: u16 = 0x144;
    pub const STIMECMP: u16 = 0x14d;
    pub const SATP: u16 = 0x180;
    pub const CYCLE: u16 = 0xc00;
    pub const TIME: u16 = 0xc01;
    pub const INSTRET: u16 = 0xc02;
}
pub use number::*;

/// `sstatus`: interrupts enabled in supervisor mode.
pub const STATUS_SIE: u64 = 1 << 1;
/// `sstatus`: SIE before the trap.
pub const STATUS_SPIE: u64 = 1 << 5;
/// `sstatus`: the trap came from supervisor mode.
pub const STATUS_SPP: u64 = 1 << 8;
/// `sstatus`: state of the floating-point unit: off (0), initial, clean, dirty (all bits).
pub const STATUS_FS: u64 = 3 << 13;
/// `sstatus`: the supervisor may load from and store to user pages.
pub const STATUS_SUM: u64 = 1 << 18;
/// `sstatus`: loads may read pages that are only executable.
pub const STATUS_MXR: u64 = 1 << 19;
/// `sstatus`: 64-bit user mode (read-only).
pub const STATUS_UXL: u64 = 2 << 32;
/// `sstatus`: FS is dirty (read-only).
pub const STATUS_SD: u64 = 1 << 63;
/// Of `fcsr`: the flags of exceptions, behind which the rounding mode lies.
const FLAGS: u64 = 0x1f;
const ROUNDING_SHIFT: u32 = 5;
const STATUS_WRITABLE: u64 =
    STATUS_SIE | STATUS_SPIE | STATUS_SPP | STATUS_FS | STATUS_SUM | STATUS_MXR;

/// `satp`: mode field of Sv39.
pub const SATP_SV39: u64 = 8 << 60;
const SATP_MODE: u64 = 15 << 60;
/// `satp`: position of the ASID.
pub const SATP_ASID_SHIFT: u32 = 44;
const SATP_PAGE: u64 = (1 << 44) - 1;

const INTERRUPTS: u64 =
    Interrupt::Software.bit() | Interrupt::Timer.bit() | Interrupt::External.bit();

/// The registers. Fields are the values after the rules for illegal values; a test that sets one
/// directly is not held to them, [`ControlRegisters::write`] is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are the registers
pub struct ControlRegisters {
    pub fcsr: u64,
    pub sstatus: u64,
    pub sie: u64,
    pub stvec: u64,
    pub scounteren: u64,
    /// None: a hart of before version 1.12 of the manual. Stored, without effect.
    pub senvcfg: Option<u64>,
    pub sscratch: u64,
    pub sepc: u64,
    pub scause: u64,
    pub stval: u64,
    pub stimecmp: u64,
    pub satp: u64,
    /// `sip.SSIP`, the only bit of `sip` that is stored.
    pub software_pending: bool,
    /// The line of the external interrupt, for the test to set.
    pub external_pending: bool,
    /// `time`, in ticks.
    pub time: u64,
    /// `instret`: instructions that completed, traps not among them.
    pub instret: u64,
    /// `cycle`: one per instruction, trapping ones included.
    pub cycle: u64,
    /// ASID bits that the hart has, at most 16.
    pub asid_bits: u32,
}

impl ControlRegisters {
    /// After reset: interrupts off, no translation, no timer.
    pub fn new(asid_bits: u32) -> ControlRegisters {
        ControlRegisters {
            fcsr: 0,
            sstatus: STATUS_UXL,
            sie: 0,
            stvec: 0,
            scounteren: 0,
            senvcfg: Some(0),
            sscratch: 0,
            sepc: 0,
            scause: 0,
            stval: 0,
            stimecmp: u64::MAX,
            satp: 0,
            software_pending: false,
            external_pending: false,
            time: 0,
            instret: 0,
            cycle: 0,
            asid_bits,
        }
    }

    /// `sip`.
    pub fn pending(&self) -> u64 {
        let bit = |interrupt: Interrupt, on: bool| if on { interrupt.bit() } else { 0 };
        bit(Interrupt::Software, self.software_pending)
            | bit(Interrupt::Timer, self.time >= self.stimecmp)
            | bit(Interrupt::External, self.external_pending)
    }

    /// What an instruction in mode `privilege` reads; none: illegal.
    pub fn read(&self, number: u16, privilege: Privilege) -> Option<u64> {
        if needs_supervisor(number) && privilege == Privilege::User {
            return None;
        }
        if (CYCLE..=INSTRET).contains(&number)
            && privilege == Privilege::User
            && self.scounteren >> (number - CYCLE) & 1 == 0
        {
            return None;
        }
        Some(match number {
            FFLAGS..=FCSR if !self.has_float() => return None,
            FFLAGS => self.fcsr & FLAGS,
            FRM => self.fcsr >> ROUNDING_SHIFT,
            FCSR => self.fcsr,
            SSTATUS => {
                let dirty = if self.sstatus & STATUS_FS == STATUS_FS { STATUS_SD } else { 0 };
                self.sstatus & STATUS_WRITABLE | STATUS_UXL | dirty
            }
            SIE => self.sie,
            STVEC => self.stvec,
            SCOUNTEREN => self.scounteren,
            SENVCFG => self.senvcfg?,
            SSCRATCH => self.sscratch,
            SEPC => self.sepc,
            SCAUSE => self.scause,
            STVAL => self.stval,
            SIP => self.pending(),
            STIMECMP => self.stimecmp,
            SATP => self.satp,
            CYCLE => self.cycle,
            TIME => self.time,
            INSTRET => self.instret,
            _ => return None,
        })
    }

    /// What an instruction in mode `privilege` writes; none: illegal.
    pub fn write(&mut self, number: u16, privilege: Privilege, value: u64) -> Option<()> {
        let read_only = number >> 10 == 3;
        if read_only || needs_supervisor(number) && privilege == Privilege::User {
            return None;
        }
        match number {
            FFLAGS..=FCSR => {
                self.change_float()?;
                let rounding = self.fcsr & !FLAGS;
                self.fcsr = match number {
                    FFLAGS => rounding | value & FLAGS,
                    FRM => (value & 7) << ROUNDING_SHIFT | self.fcsr & FLAGS,
                    _ => value & 0xff,
                };
            }
            SSTATUS => self.sstatus = value & STATUS_WRITABLE | STATUS_UXL,
            SIE => self.sie = value & INTERRUPTS,
            // Modes above 1 (vectored) are reserved; such a write changes nothing.
            STVEC if value & 3 < 2 => self.stvec = value,
            STVEC => {}
            SCOUNTEREN => self.scounteren = value & 7,
            SENVCFG => *self.senvcfg.as_mut()? = value,
            SSCRATCH => self.sscratch = value,
            // Instructions begin at even addresses.
            SEPC => self.sepc = value & !1,
            SCAUSE => self.scause = value,
            STVAL => self.stval = value,
            SIP => self.software_pending = value & Interrupt::Software.bit() != 0,
            STIMECMP => self.stimecmp = value,
            SATP => self.write_satp(value),
            _ => return None,
        }
        Some(())
    }

    /// Whether the floating-point unit is on.
    pub fn has_float(&self) -> bool {
        self.sstatus & STATUS_FS != 0
    }

    /// A floating-point register is about to be written: the unit is dirty. None: it is off.
    pub(crate) fn change_float(&mut self) -> Option<()> {
        self.has_float().then(|| self.sstatus |= STATUS_FS)
    }

    fn write_satp(&mut self, value: u64) {
        let asid_mask = ((1u64 << self.asid_bits) - 1) << SATP_ASID_SHIFT;
        // A write with a mode that the hart does not have changes nothing at all.
        if matches!(value & SATP_MODE, 0 | SATP_SV39) {
            self.satp = value & (SATP_MODE | asid_mask | SATP_PAGE);
        }
    }

    /// The current ASID.
    pub fn asid(&self) -> u16 {
        (self.satp >> SATP_ASID_SHIFT) as u16
    }

    /// Physical address of the root page table; none while there is no translation.
    pub fn root(&self) -> Option<u64> {
        (self.satp & SATP_MODE == SATP_SV39).then_some((self.satp & SATP_PAGE) << 12)
    }
}

fn needs_supervisor(number: u16) -> bool {
    number >> 8 & 3 != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use Privilege::{Supervisor, User};

    #[test]
    fn user_mode_reaches_only_counters_that_are_enabled() {
        let mut csr = ControlRegisters::new(16);
        csr.time = 5;
        assert_eq!(csr.read(SSTATUS, User), None);
        assert_eq!(csr.write(SSCRATCH, User, 1), None);
        assert_eq!(csr.read(TIME, User), None);
        csr.write(SCOUNTEREN, Supervisor, 0b010).unwrap();
        assert_eq!(csr.read(TIME, User), Some(5));
        assert_eq!(csr.read(CYCLE, User), None);
        assert_eq!(csr.read(CYCLE, Supervisor), Some(0));
    }

    #[test]
    fn absent_and_read_only_registers_are_illegal() {
        let mut csr = ControlRegisters::new(16);
        assert_eq!(csr.read(0x300, Supervisor), None);
        assert_eq!(csr.read(0x001, Supervisor), None);
        assert_eq!(csr.write(TIME, Supervisor, 1), None);
    }

    #[test]
    fn the_unit_is_dirty_when_it_was_written() {
        let mut csr = ControlRegisters::new(16);
        assert_eq!((csr.read(FCSR, User), csr.write(FCSR, User, 1)), (None, None), "it is off");
        csr.write(SSTATUS, Supervisor, 2 << 13).unwrap();
        assert_eq!(csr.read(FCSR, User), Some(0));
        assert_eq!(csr.read(SSTATUS, Supervisor), Some(2 << 13 | STATUS_UXL));
        csr.write(FRM, User, 0x1a).unwrap();
        csr.write(FFLAGS, User, 0x23).unwrap();
        assert_eq!((csr.read(FCSR, User), csr.read(FRM, User)), (Some(2 << 5 | 3), Some(2)));
        assert_eq!(csr.read(SSTATUS, Supervisor), Some(STATUS_FS | STATUS_UXL | STATUS_SD));
    }

    #[test]
    fn fields_keep_only_legal_values() {
        let mut csr = ControlRegisters::new(2);
        csr.write(SSTATUS, Supervisor, u64::MAX).unwrap();
        assert_eq!(csr.read(SSTATUS, Supervisor), Some(STATUS_WRITABLE | STATUS_UXL | STATUS_SD));
        csr.write(STVEC, Supervisor, 0x1001).unwrap();
        csr.write(STVEC, Supervisor, 0x2002).unwrap();
        assert_eq!(csr.stvec, 0x1001);
        csr.write(SEPC, Supervisor, 0x1003).unwrap();
        assert_eq!(csr.sepc, 0x1002);
        csr.write(SATP, Supervisor, SATP_SV39 | 7 << SATP_ASID_SHIFT | 0x80000).unwrap();
        assert_eq!((csr.asid(), csr.root()), (3, Some(0x8000_0000)));
        csr.write(SATP, Supervisor, 9 << 60 | 1).unwrap();
        assert_eq!(csr.root(), Some(0x8000_0000), "Sv48 is not there");
        csr.write(SIP, Supervisor, u64::MAX).unwrap();
        assert_eq!(csr.pending(), Interrupt::Software.bit());
        csr.write(SIE, Supervisor, u64::MAX).unwrap();
        assert_eq!(csr.sie, 0x222);
    }

    #[test]
    fn the_timer_is_pending_from_its_time_on() {
        let mut csr = ControlRegisters::new(16);
        assert_eq!(csr.pending(), 0);
        csr.write(STIMECMP, Supervisor, 10).unwrap();
        csr.time = 9;
        assert_eq!(csr.pending(), 0);
        csr.time = 10;
        assert_eq!(csr.pending(), Interrupt::Timer.bit());
    }
}
