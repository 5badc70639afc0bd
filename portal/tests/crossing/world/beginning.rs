//! What the world begins with: what is mapped in the kernel's half and in the domains, their programs, tables and blocks, the
//! thread.

use super::*;
use cairn_abi::arch::call::INTERRUPTS_OFF;
use cairn_abi::arch::trap::{ACCESS_FAULTS, slots};
use cairn_abi::parameters::Parameters;
use cairn_abi::{privileged, semaphore};
use cairn_emulator::mmu::{ACCESSED, DIRTY, EXECUTE, GLOBAL, READ, USER, WRITE};
use cairn_portal::{ShortCircuit, fences};
use std::mem::offset_of;

impl World {
    pub fn map_new(&mut self, space: usize, address: u64, physical: u64, pages: u64, flags: u64) {
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

    pub(super) fn map_kernel(&mut self) {
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
            (DEVICES, 3),
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

    pub(super) fn add_domain(&mut self, number: usize) {
        if self.has_guest && number == SERVER {
            self.spaces.push(self.spaces[CLIENT]);
            self.map_domain(number);
            return self.fill_domain(number);
        }
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
        self.map_domain(number);
        if number == CLIENT || number == SERVER {
            let pages = (GROUP_STACK - STACK_GROUPS) / PAGE_SIZE;
            self.map_new(number, STACK_GROUPS, GROUP_PHYSICAL, pages, USER_DATA);
        }
        self.fill_domain(number);
    }

    /// The memory of a domain in user mode.
    fn map_domain(&mut self, number: usize) {
        let execute = EXECUTE | USER | ACCESSED | OWN;
        let map = |world: &mut World, offset, pages, flags| {
            world.map_new(number, at(number, offset), physical(at(number, offset)), pages, flags);
        };
        map(self, IMAGE_OFFSET, 1, execute | READ);
        map(self, DATA, DATA_PAGES, OWN_DATA);
        map(self, READ_ONLY, 1, READ | USER | ACCESSED | OWN);
        map(self, EXECUTE_ONLY, 1, execute);
        map(self, STACK - 2 * PAGE_SIZE, 2, OWN_DATA);
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

        let table = domain::Tables::LEAST.portal_table(DomainId(number as u16));
        let space = if is_kernel(number) { 0 } else { self.spaces[number].satp() };
        self.set_word(table.wrapping_add_signed(domain::FIELD_SPACE), space);
        self.set_word(table.wrapping_add_signed(domain::FIELD_NUMBER), number as u64);
        self.set_word(table.wrapping_add_signed(domain::FIELD_ALIVE), 1);
        let entry = if is_kernel(number) { at(number, ENTRY) } else { 0 };
        self.set_word(table.wrapping_add_signed(domain::FIELD_KERNEL_ENTRIES), entry);
    }

    pub(super) fn fill_tables(&mut self) {
        let empty = Crossing::NONE;
        let none = self.generate(|words, address| {
            generate::short_circuit(ShortCircuit::NoPortal, &empty, words, address)
        });
        for number in 1..DOMAINS_END {
            for index in 0..domain::PORTALS_DESCRIBED as u64 {
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
            let table = domain::Tables::LEAST.portal_table(DomainId(number as u16));
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
    pub(super) fn begin(&mut self) {
        let exit = self.upcall_portal(None);
        let parameters = self.nucleus.symbol("NUCLEUS_PARAMETERS");
        for (offset, value) in [
            (offset_of!(Parameters, threads), THREAD_COUNT as u64),
            (offset_of!(Parameters, domains), DOMAINS_END as u64),
            (offset_of!(Parameters, portals), domain::PORTALS_DESCRIBED as u64),
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
            domain::Tables::LEAST.portal_table(DomainId(CLIENT as u16)),
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
}
