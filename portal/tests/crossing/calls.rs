//! Calls and returns, for every kind of portal: what the callee finds, what the caller gets back,
//! and that nothing else was read or written.

use crate::run::*;
use crate::world::*;
use cairn_abi::address::*;
use cairn_abi::domain::{ACTIVATION_ALIAS, ACTIVATION_NEXT, QUEUE_SIZE};
use cairn_abi::thread::{FIELD_KERNEL_STACK, FRAME_SCRATCH, thread_block};
use cairn_emulator::csr::STATUS_SUM;
use cairn_emulator::register::*;
use cairn_portal::generate::frame_size;
use cairn_portal::{Letter, Specification, Stack, State};

/// A parameter of `r` or `w` in a call.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub writable: bool,
    pub slot: u64,
    pub register: u8,
    pub pointer: u64,
    pub content: Vec<u8>,
}

impl Buffer {
    pub fn length(&self) -> u64 {
        self.content.len() as u64
    }

    pub fn mapped(&self) -> bool {
        self.length() > COPY_MAXIMUM
    }

    /// Where the callee finds it.
    pub fn place(&self, activation: &Activation) -> u64 {
        if self.mapped() {
            activation.stack + PAGE_SIZE + self.slot * WINDOW_SLOT_STRIDE
        } else {
            // As far behind a word's beginning as the caller's bytes are.
            activation.stack - COPY_STRIDE * (self.slot + 1) + self.pointer % 8
        }
    }

    /// The page-table entries of its window, as (kernel address, bytes).
    fn entries(&self, activation: &Activation) -> (u64, u64) {
        let first = window_entries(activation, self.slot).start;
        (first, self.window_size() / PAGE_SIZE * 8)
    }

    /// Bytes of its window: whole pages.
    fn window_size(&self) -> u64 {
        self.length().next_multiple_of(PAGE_SIZE)
    }
}

/// Kernel addresses of the page-table entries of a slot.
pub fn window_entries(activation: &Activation, slot: u64) -> std::ops::Range<u64> {
    let pool = activation.entries - physical(PAGE_TABLES) + PAGE_TABLES;
    let first = pool + slot * (WINDOW_SLOT_STRIDE / PAGE_SIZE) * 8;
    first..first + WINDOW_MAXIMUM / PAGE_SIZE * 8
}

impl World {
    /// No window of any slot is open.
    pub fn assert_windows_closed(&self, activation: &Activation) {
        for slot in 0..WINDOW_SLOTS as u64 {
            for entry in window_entries(activation, slot).step_by(8) {
                assert_eq!(self.word(entry), 0, "entry of slot {slot} after the call");
            }
        }
    }

    /// A random buffer of the caller for `slot`: copied or mapped.
    fn buffer(&mut self, caller: usize, slot: u64, register: u8, writable: bool) -> Buffer {
        let random = &mut self.random;
        // Five pages for each slot, so that buffers do not overlap.
        let area = at(caller, DATA) + slot * 5 * PAGE_SIZE;
        let (pointer, length) = match random.u8(..8) {
            0 => (area + random.u64(..=1) * PAGE_SIZE, random.u64(1..=4) * PAGE_SIZE),
            6 => (area, random.u64(COPY_MAXIMUM + 1..=WINDOW_MAXIMUM)),
            7 => (area, random.u64(..4) * PAGE_SIZE + [65, 4095, 4096][random.usize(..3)]),
            // Across a page boundary.
            1 => (area + PAGE_SIZE - random.u64(..COPY_MAXIMUM), COPY_MAXIMUM),
            2 => (area + random.u64(..PAGE_SIZE), [0, 1, 63, 64][random.usize(..4)]),
            _ => (area + random.u64(..PAGE_SIZE), random.u64(..=COPY_MAXIMUM)),
        };
        let content: Vec<u8> = (0..length).map(|_| random.u8(..)).collect();
        if length > 0 {
            self.write_bytes(pointer, &content);
        }
        Buffer { writable, slot, register, pointer, content }
    }

    /// Random arguments for a connection, and the buffers among them.
    pub fn arguments(&mut self, connection: &Connection) -> ([u64; 8], Vec<Buffer>) {
        let mut arguments = std::array::from_fn(|_| self.random.u64(..));
        let mut buffers: Vec<Buffer> = Vec::new();
        let mut position = 0;
        for letter in connection.specification.letters() {
            if letter.is_window() {
                let slot = buffers.len() as u64;
                let register = A0 + position as u8;
                let buffer =
                    self.buffer(connection.caller, slot, register, *letter == Letter::Write);
                arguments[position] = buffer.pointer;
                arguments[position + 1] = buffer.length();
                buffers.push(buffer);
            }
            position += letter.words();
        }
        (arguments, buffers)
    }

    /// Calls with random arguments and checks all that the callee finds. Returns the buffers and
    /// the registers of the caller.
    pub fn checked_call(&mut self, connection: &Connection) -> (Vec<Buffer>, [u64; 32]) {
        let (arguments, buffers) = self.arguments(connection);
        let stack = self.usual_stack(connection);
        let head = connection.crossing.queue;
        let next = connection.activations.get(1).map_or(0, |activation| activation.descriptor);
        let time = self.machine.csr.time;
        let uses = connection.uses().map(|address| (address, self.word(address)));
        let crossed = self.call(connection.index, stack, arguments);
        self.assert_at(connection.callee, ENTRY);
        self.check_arguments(connection, &crossed, &buffers, time);
        self.check_registers(connection, &crossed, &buffers);

        let frame = crossed.frame_before + frame_size(&connection.specification) as u64;
        assert_eq!(self.machine.csr.sscratch, frame, "the frame's size is the one that is named");
        let mut allowed = Vec::new();
        let mut readable = Vec::new();
        if connection.specification.takes_activation() {
            allowed.push((head, QUEUE_SIZE));
            assert_eq!(self.word(head), next, "the next activation is at the queue's head");
        }
        if let Some((address, before)) = uses {
            assert_eq!(self.word(address), before - 1, "a call is used");
            allowed.push((address, 8));
        }
        allowed.extend(connection.kernel_stack_word());
        for buffer in buffers.iter().filter(|_| !connection.is_in_place()) {
            let activation = &connection.activations[0];
            if buffer.mapped() {
                allowed.push(buffer.entries(activation));
            } else {
                allowed.push((buffer.place(activation), buffer.length()));
                readable.push((buffer.pointer, buffer.length()));
            }
        }
        crossed.assert_writes((crossed.frame_before, frame), &allowed);
        assert_eq!(crossed.journal.user_reads_outside(&readable), []);
        (buffers, crossed.before)
    }

    fn check_arguments(
        &mut self,
        connection: &Connection,
        crossed: &Crossed,
        buffers: &[Buffer],
        time: u64,
    ) {
        let mut register = A0;
        for letter in connection.specification.letters() {
            let found = self.machine.get(register);
            let passed = crossed.before[usize::from(register)];
            match letter {
                Letter::Word => assert_eq!(found, passed),
                Letter::Constant => assert_eq!(found, connection.crossing.constant),
                Letter::Index => assert_eq!(found, connection.index),
                Letter::Caller => assert_eq!(found, connection.caller as u64),
                Letter::Thread if connection.specification.stack == Stack::RunToCompletion => {
                    assert_eq!(found, thread_block(THREAD) >> 12);
                }
                Letter::Thread => assert_eq!(found, THREAD as u64),
                Letter::Registered { .. } => unreachable!("`types` has these"),
                Letter::Time => assert!((time..=self.machine.csr.time).contains(&found)),
                Letter::Read | Letter::Write if connection.is_in_place() => {
                    assert_eq!(found, passed);
                    let length = crossed.before[usize::from(register) + 1];
                    assert_eq!(self.machine.get(register + 1), length);
                }
                Letter::Read | Letter::Write => {
                    let buffer = buffers.iter().find(|buffer| buffer.register == register).unwrap();
                    let activation = &connection.activations[0];
                    assert_eq!(
                        found,
                        buffer.place(activation),
                        "where the callee finds {letter:?}"
                    );
                    assert_eq!(self.machine.get(register + 1), buffer.length());
                    self.check_content(buffer, activation);
                }
            }
            register += letter.words() as u8;
        }
    }

    /// What the callee can do with a buffer, at its first and last bytes and behind them.
    fn check_content(&mut self, buffer: &Buffer, activation: &Activation) {
        let place = buffer.place(activation);
        let length = buffer.length();
        if !buffer.mapped() {
            assert_eq!(self.bytes(place, length), buffer.content, "the copy");
            return;
        }
        for offset in [0, 1, (PAGE_SIZE - 1).min(length - 1), length / 2, length - 1] {
            let expected = u64::from(buffer.content[offset as usize]);
            assert_eq!(self.load(place + offset), Ok(expected), "offset {offset} of a window");
            let stored = self.store(place + offset, buffer.content[offset as usize]);
            assert_eq!(stored.is_ok(), buffer.writable, "storing to {buffer:?}");
        }
        assert!(self.load(place + buffer.window_size()).is_err(), "behind the window");
        assert!(self.load(place - 1).is_err(), "before the window");
    }

    fn check_registers(&self, connection: &Connection, crossed: &Crossed, buffers: &[Buffer]) {
        let specification = &connection.specification;
        let copies = COPY_STRIDE * buffers.len() as u64;
        let stack = match specification.stack {
            Stack::Shared => crossed.before[usize::from(SP)],
            Stack::New => connection.activations[0].stack - copies,
            Stack::RunToCompletion => connection.crossing.ground.address(),
            Stack::Kernel if is_kernel(connection.caller) => crossed.before[usize::from(SP)],
            Stack::Kernel => kernel_stack(THREAD),
        };
        assert_eq!(self.machine.get(SP), stack, "the callee's stack");
        let inside = self.nucleus.symbol("kernel_inside_return");
        let back = if specification.only_pops() { inside } else { connection.crossing.stub };
        assert_eq!(self.machine.get(RA), back);
        let unused = &ARGUMENTS[specification.words()..];
        let kernel = is_kernel(connection.callee);
        let keeps = matches!(specification.state, State::Partial | State::Kernel);
        let scrubbed = keeps && connection.callee != SCHEDULER && !kernel;
        for register in SAVED.iter().chain(unused) {
            let before = crossed.before[usize::from(*register)];
            let expected = match *register {
                _ if scrubbed => 0,
                TP if keeps || kernel => self.machine.csr.sscratch,
                _ => before,
            };
            assert_eq!(self.machine.get(*register), expected, "{} at the callee", name(*register));
        }
        if scrubbed {
            for register in TEMPORARY {
                assert_eq!(self.machine.get(register), 0, "{} at the callee", name(register));
            }
        } else {
            self.check_public(connection, &TEMPORARY, &[&crossed.before]);
        }
    }

    /// In these registers is what `m` leaves there, or `p` on the way into the scheduler: what was in registers of
    /// `owners`, who trust each other, addresses, small numbers, an entry or a word of the caller's memory. Nothing
    /// that another domain has put anywhere.
    fn check_public(&self, connection: &Connection, registers: &[u8], owners: &[&[u64; 32]]) {
        let ends = [connection.crossing.caller, connection.crossing.callee];
        for register in registers {
            let found = self.machine.get(*register);
            let is_address = |number: u64| {
                let start = at(number as usize, 0);
                (start..start + SOURCE_SIZE).contains(&found)
            };
            let distance = |activation: &Activation| {
                self.word(activation.descriptor.wrapping_add_signed(ACTIVATION_ALIAS))
            };
            let public = found <= WINDOW_MAXIMUM
                || found >= KERNEL
                || found == STATUS_SUM
                || ends
                    .iter()
                    .any(|end| end.space.word() == found || is_address(end.domain.into()))
                || connection.activations.iter().any(|taken| distance(taken) == found)
                || owners.iter().any(|owner| owner.contains(&found))
                || self.is_of_memory(connection.caller, found);
            assert!(public, "{} holds {found:#x}, {}", name(*register), connection.specification);
        }
    }

    /// Whether it is a page-table entry of the domain's memory, or eight bytes of its data.
    fn is_of_memory(&self, domain: usize, word: u64) -> bool {
        let first = physical(at(domain, 0));
        let data = self.bytes(at(domain, DATA), DATA_PAGES * PAGE_SIZE);
        (first..first + SOURCE_SIZE).contains(&(word >> 10 << 12))
            || data.windows(8).any(|bytes| bytes == word.to_le_bytes())
    }

    /// The callee writes what it may, destroys its registers and returns; checks all that the
    /// caller finds.
    pub fn checked_return(
        &mut self,
        connection: &Connection,
        mut buffers: Vec<Buffer>,
        before: &[u64; 32],
    ) {
        let mut allowed = Vec::new();
        for buffer in buffers.iter_mut().filter(|buffer| buffer.writable) {
            if connection.is_in_place() {
                buffer.content.fill_with(|| self.random.u8(..));
                if buffer.length() > 0 {
                    self.write_bytes(buffer.pointer, &buffer.content);
                }
                continue;
            }
            self.change(buffer, &connection.activations[0]);
            if !buffer.mapped() {
                allowed.push((buffer.pointer, buffer.length()));
            }
        }
        let (status, value) = (self.random.u64(..), self.random.u64(..));
        let crossed = self.reply(status, value);
        self.assert_at(connection.caller, RESUME);
        assert_eq!((self.machine.get(A0), self.machine.get(A1)), (status, value), "the reply");
        self.check_caller(connection, before, &crossed.before);
        for register in words_beside_the_value(&connection.specification) {
            let said = crossed.before[usize::from(*register)];
            assert_eq!(self.machine.get(*register), said, "{} of the reply", name(*register));
        }

        for buffer in buffers.iter().filter(|buffer| buffer.length() > 0) {
            let content = self.bytes(buffer.pointer, buffer.length());
            assert_eq!(content, buffer.content, "the caller's buffer in slot {}", buffer.slot);
        }
        let is_mapped = |buffer: &&Buffer| buffer.mapped() && !connection.is_in_place();
        for buffer in buffers.iter().filter(is_mapped) {
            allowed.push(buffer.entries(&connection.activations[0]));
        }
        if connection.specification.takes_activation() {
            let first = connection.activations[0].descriptor;
            allowed.push((connection.crossing.queue, QUEUE_SIZE));
            allowed.push((first.wrapping_add_signed(ACTIVATION_NEXT), 8));
        }
        allowed.extend(connection.kernel_stack_word());
        // Only the scratch words above the callee's frame.
        let top = crossed.frame_before + FRAME_SCRATCH as u64 - 32;
        crossed.assert_writes((top, top), &allowed);
        assert_eq!(crossed.journal.user_reads, [], "returning reads no user memory");
    }

    /// What the caller finds after a call, whatever its outcome. `callee`: the registers with
    /// which the callee left.
    pub fn check_caller(
        &mut self,
        connection: &Connection,
        before: &[u64; 32],
        callee: &[u64; 32],
    ) {
        let specification = &connection.specification;
        let kept = |register: u8| match specification.state {
            State::Partial | State::Kernel => before[usize::from(register)],
            _ if register == TP && is_kernel(connection.callee) => before[usize::from(register)],
            _ => callee[usize::from(register)],
        };
        for register in SAVED {
            assert_eq!(
                self.machine.get(register),
                kept(register),
                "{} after {specification}",
                name(register)
            );
        }
        assert_eq!(self.machine.get(RA), before[usize::from(RA)]);
        // `s` with `m`: the callee must keep the pointer.
        let trusted = specification.stack == Stack::Shared && specification.state == State::Minimal;
        let stack = if trusted { callee } else { before };
        assert_eq!(self.machine.get(SP), stack[usize::from(SP)], "sp after {specification}");
        if specification.state == State::Partial {
            for register in words_beside_the_value(specification) {
                self.check_public(connection, &[*register], &[callee]);
            }
            for register in TEMPORARY.iter().chain(&ARGUMENTS[1 + specification.reply()..]) {
                assert_eq!(
                    self.machine.get(*register),
                    0,
                    "{} after {specification}",
                    name(*register)
                );
            }
        } else if specification.state != State::Kernel {
            // Nothing is hidden from the kernel domain.
            self.check_public(connection, &TEMPORARY, &[before, callee]);
            self.check_public(connection, &ARGUMENTS[2..], &[before, callee]);
        }
        if let Some(first) = connection.activations.first() {
            let queue = self.word(connection.crossing.queue);
            assert_eq!(queue, first.descriptor, "the activation is back in its queue");
        }
        for activation in &connection.activations.clone() {
            self.assert_windows_closed(activation);
        }
    }

    /// The callee changes a buffer: `content` follows.
    fn change(&mut self, buffer: &mut Buffer, activation: &Activation) {
        let place = buffer.place(activation);
        if buffer.mapped() {
            for offset in [0, PAGE_SIZE, buffer.content.len() as u64 - 1] {
                let offset = offset % buffer.length();
                let byte = self.random.u8(..);
                self.store(place + offset, byte).expect("a writable window");
                buffer.content[offset as usize] = byte;
            }
        } else {
            for byte in &mut buffer.content {
                *byte = self.random.u8(..);
            }
            // All of the slot, more than the caller gave.
            let mut copy = buffer.content.clone();
            copy.resize(COPY_MAXIMUM as usize, 0xee);
            self.write_bytes(place, &copy);
        }
    }

    /// A call and its return, everything checked.
    pub fn round_trip(&mut self, connection: &Connection) {
        let (buffers, before) = self.checked_call(connection);
        self.checked_return(connection, buffers, &before);
        assert_eq!(self.machine.csr.sscratch, base_header());
    }
}

impl Connection {
    /// Whether the callee gets at the caller's memory where it is.
    fn is_in_place(&self) -> bool {
        is_kernel(self.callee)
    }

    /// The word that says where the thread's stack in the kernel domain goes on below a caller there.
    pub fn kernel_stack_word(&self) -> Option<(u64, u64)> {
        let is_below = is_kernel(self.caller) && !self.activations.is_empty();
        is_below.then(|| (thread_block(THREAD).wrapping_add_signed(FIELD_KERNEL_STACK), 8))
    }
}

/// The registers of a reply behind status and value.
pub fn words_beside_the_value(specification: &Specification) -> &'static [u8] {
    &ARGUMENTS[2..=specification.reply()]
}
