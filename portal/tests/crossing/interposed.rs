//! Calls that go through an interposer: whom the server finds as its caller, what is passed on, who is refused, who dies.

use crate::calls::Buffer;
use crate::mutation::{noticed, without};
use crate::run::*;
use crate::world::*;
use cairn_abi::address::*;
use cairn_abi::{Error, InstanceId};
use cairn_emulator::encode;
use cairn_emulator::register::*;
use cairn_portal::literal::LITERALS_SIZE;
use cairn_portal::{Behalf, GenerateError, Letter, SemaphoreOperation, Specification, generate};

/// The client's portal leads to the server, which stands between it and the backend, and calls that on its behalf.
struct Interposed {
    wrapped: Connection,
    original: Connection,
}

/// All letters, and as much memory as a call has.
const LETTERS: [&str; 9] = ["c", "ciii", "cat=h", "cr", "cw", "crw", "cwrw", "ciriw3", "caw4"];

impl World {
    /// The second connection goes to whoever the specification of the original says.
    fn interpose(&mut self, original: &str) -> Interposed {
        let letters = &original[2..];
        let wrapped = self.connect(&format!("np{letters}"), CLIENT, SERVER);
        let original = self.connect_behalf(original, &wrapped);
        Interposed { wrapped, original }
    }

    fn connect_behalf(&mut self, original: &str, wrapped: &Connection) -> Connection {
        let specification = Specification::parse(original).unwrap();
        let callee = World::callee(original, BACKEND);
        let (mut crossing, activations) = self.crossing(&specification, SERVER, callee, 2);
        let index = crossing.index;
        crossing.index = wrapped.index;
        crossing.behalf = Some(Behalf {
            client: InstanceId(CLIENT as u16),
            queue: wrapped.crossing.queue,
            fault: None,
        });
        let code = self
            .generate(|words, address| generate::pair(&specification, &crossing, words, address));
        self.install(SERVER, index, code.call);
        Connection { specification, caller: SERVER, callee, index, crossing, code, activations }
    }

    /// The interposer passes on what it found in its registers, and lies where portals fill in.
    fn pass_on(&mut self, original: &Connection) -> Crossed {
        let mut arguments = ARGUMENTS.map(|register| self.machine.get(register));
        let mut position = 0;
        for letter in original.specification.letters() {
            if letter.words() == 1 && *letter != Letter::Word {
                arguments[position] = self.random.u64(..);
            }
            position += letter.words();
        }
        self.call(original.index, self.machine.get(SP), arguments)
    }

    /// The call is answered with an error, by the portal itself: it touched nothing.
    fn assert_stopped(&self, original: &Connection, crossed: &Crossed, error: Error) {
        self.assert_at(SERVER, RESUME);
        assert_eq!(self.machine.get(A0) as i64, error.status());
        for register in SAVED.iter().chain(&ARGUMENTS[1..]).filter(|_| error == Error::NotAllowed) {
            let before = crossed.before[usize::from(*register)];
            assert_eq!(self.machine.get(*register), before, "{}", name(*register));
        }
        for register in TEMPORARY {
            assert!(
                error != Error::NotAllowed || register == T0 || {
                    let found = self.machine.get(register);
                    found == 0 || found == crossed.before[usize::from(register)]
                }
            );
        }
        let free = original.activations.first().map(|first| first.descriptor);
        assert_eq!(free.map(|_| self.word(original.crossing.queue)), free);
        original.activations.iter().for_each(|one| self.assert_windows_closed(one));
    }
}

impl Interposed {
    /// There and back, everything checked.
    fn everything(&self, world: &mut World) {
        let Interposed { wrapped, original } = self;
        let (mut buffers, before) = world.checked_call(wrapped);
        let found = ARGUMENTS.map(|register| world.machine.get(register));
        let crossed = world.pass_on(original);
        world.assert_at(original.callee, ENTRY);
        for register in SAVED.iter().chain(&TEMPORARY) {
            assert_eq!(world.machine.get(*register), 0, "{} at the server", name(*register));
        }
        let mut register = A0;
        for letter in original.specification.letters() {
            let number = world.machine.get(register);
            match letter {
                Letter::Constant => assert_eq!(number, original.crossing.constant),
                Letter::Index => assert_eq!(number, wrapped.index, "the client's own"),
                Letter::Caller => assert_eq!(number, CLIENT as u64, "the real caller"),
                Letter::Thread => assert_eq!(number, THREAD as u64),
                Letter::Read | Letter::Write => {
                    let buffer = buffers.iter().find(|one| one.register == register).unwrap();
                    self.check_buffer(world, buffer, number);
                }
                _ => {}
            }
            register += letter.words() as u8;
        }
        for buffer in buffers.iter_mut().filter(|one| one.writable && one.length() > 0) {
            let place = world.machine.get(buffer.register);
            let last = buffer.length() - 1;
            buffer.content[last as usize] ^= 0xff;
            let byte = buffer.content[last as usize];
            match buffer.mapped() {
                true => world.store(place + last, byte).unwrap(),
                false => world.write_bytes(place + last, &[byte]),
            }
        }
        let back = world.reply(5, 6);
        world.assert_at(SERVER, RESUME);
        world.check_caller(original, &crossed.before, &back.before);
        let writable = |buffer: &Buffer| buffer.writable && buffer.length() > 0;
        for buffer in buffers.iter().filter(|buffer| writable(buffer)) {
            let place = found[usize::from(buffer.register - A0)];
            let end = place + buffer.length() - 1;
            assert_eq!(world.load(end), Ok(u64::from(*buffer.content.last().unwrap())));
        }
        let back = world.reply(5, 6);
        world.assert_at(CLIENT, RESUME);
        assert_eq!((world.machine.get(A0), world.machine.get(A1)), (5, 6));
        world.check_caller(wrapped, &before, &back.before);
        for buffer in buffers.iter().filter(|buffer| buffer.length() > 0) {
            let content = world.bytes(buffer.pointer, buffer.length());
            assert!(content == buffer.content, "the client's buffer in slot {}", buffer.slot);
        }
    }

    /// The server gets at a buffer of the client's as if the client had called it.
    fn check_buffer(&self, world: &mut World, buffer: &Buffer, place: u64) {
        let activation = &self.original.activations[0];
        if !buffer.mapped() {
            assert_eq!(world.bytes(place, buffer.length()), buffer.content, "the copy");
            return;
        }
        assert_eq!(place, buffer.place(activation));
        let last = buffer.length() - 1;
        for offset in [0, PAGE_SIZE.min(last), last] {
            let byte = buffer.content[offset as usize];
            assert_eq!(world.load(place + offset), Ok(byte.into()));
            assert_eq!(world.store(place + offset, byte).is_ok(), buffer.writable);
        }
        assert!(world.load(place + buffer.length().next_multiple_of(PAGE_SIZE)).is_err());
        assert!(world.load(place - 1).is_err());
    }
}

#[test]
fn a_server_finds_the_real_caller_and_its_memory() {
    for letters in LETTERS {
        for seed in 0..8 {
            let mut world = World::new(seed);
            let interposed = world.interpose(&format!("np{letters}"));
            interposed.everything(&mut world);
            interposed.everything(&mut world);
            assert_eq!(world.machine.csr.sscratch, base_header());
        }
    }
}

/// Where the call comes into the kernel domain, memory is read in place: in the windows of the interposer.
#[test]
fn a_server_in_the_kernel_domain_finds_the_caller() {
    for letters in ["ci", "ca", "cr", "cwr"] {
        for seed in 0..6 {
            let mut world = World::new(seed);
            let Interposed { wrapped, original } = world.interpose(&format!("kp{letters}"));
            let (buffers, before) = world.checked_call(&wrapped);
            let found = ARGUMENTS.map(|register| world.machine.get(register));
            let crossed = world.pass_on(&original);
            world.assert_at(KERNEL_SERVER, ENTRY);
            for buffer in &buffers {
                let place = found[usize::from(buffer.register - A0)];
                assert_eq!(world.machine.get(buffer.register), place);
            }
            if letters == "ca" {
                assert_eq!(world.machine.get(A1), CLIENT as u64);
            }
            world.put_back(&crossed.before);
            world.reply(1, 2);
            world.assert_at(SERVER, RESUME);
            let back = world.reply(1, 2);
            world.assert_at(CLIENT, RESUME);
            world.check_caller(&wrapped, &before, &back.before);
        }
    }
}

#[test]
fn only_the_clients_threads_get_through_in_the_call_by_which_they_came() {
    for original in ["npci", "npcr", "rpci", "kpci"] {
        let mut world = World::new(3);
        let Interposed { wrapped, original } = world.interpose(original);
        // The client is there by a call of its own, with stacks of their own.
        let other = world.connect("npi", CLIENT, SERVER);
        let (_, before) = world.checked_call(&other);
        let crossed = world.pass_on(&original);
        world.assert_stopped(&original, &crossed, Error::NotAllowed);
        // And again below a call that came by the right way.
        let back = world.reply(0, 0);
        world.check_caller(&other, &before, &back.before);
        world.checked_call(&wrapped);
        let through = world.connect("npi", SERVER, BACKEND);
        let again = world.connect("npi", BACKEND, SERVER);
        world.checked_call(&through);
        world.checked_call(&again);
        let crossed = world.pass_on(&original);
        world.assert_stopped(&original, &crossed, Error::NotAllowed);
        world.reply(0, 0);
        world.reply(0, 0);
        // Its client has died meanwhile.
        let mut dead = world.clone();
        dead.mark_dead(dead.machine.csr.sscratch);
        let crossed = dead.pass_on(&original);
        dead.assert_stopped(&original, &crossed, Error::NotAllowed);
        world.pass_on(&original);
        world.assert_at(original.callee, ENTRY);
    }
}

#[test]
fn a_thread_of_the_interposers_own_is_refused() {
    let mut world = World::new(4);
    let wrapped = world.connect("npci", SERVER, BACKEND);
    let specification = Specification::parse("npci").unwrap();
    let (mut crossing, activations) = world.crossing(&specification, CLIENT, BACKEND, 2);
    crossing.behalf = Some(Behalf {
        client: InstanceId(SERVER as u16),
        queue: wrapped.crossing.queue,
        fault: None,
    });
    let code =
        world.generate(|words, address| generate::pair(&specification, &crossing, words, address));
    world.install(CLIENT, crossing.index, code.call);
    // The thread began in the client, which stands between others here.
    let crossed = world.call(crossing.index, at(CLIENT, STACK), [0; 8]);
    world.assert_at(CLIENT, RESUME);
    assert_eq!(world.machine.get(A0) as i64, Error::NotAllowed.status());
    assert_eq!(world.word(crossing.queue), activations[0].descriptor);
    assert_eq!(crossed.frame_before, world.machine.csr.sscratch);
}

#[test]
fn nothing_but_windows_of_this_call_is_passed_on() {
    let mut world = World::new(5);
    let Interposed { wrapped, original } = world.interpose("npcwr");
    let data = at(CLIENT, DATA);
    // Two pages, and one.
    let arguments = [0, data, 2 * PAGE_SIZE, data + 8 * PAGE_SIZE, PAGE_SIZE, 0, 0, 0];
    world.call(wrapped.index, at(CLIENT, STACK), arguments);
    let (first, second) = (world.machine.get(A1), world.machine.get(A3));
    let other = original.activations[1].stack + PAGE_SIZE;
    let taken = wrapped.activations[1].stack + PAGE_SIZE;
    for (pointer, length, error) in [
        (at(SERVER, DATA), PAGE_SIZE, Error::BadPointer),
        (data, PAGE_SIZE, Error::BadPointer),
        (first - PAGE_SIZE, PAGE_SIZE, Error::BadPointer),
        (first, 3 * PAGE_SIZE, Error::BadPointer),
        (first + PAGE_SIZE, 2 * PAGE_SIZE, Error::BadPointer),
        (second, 2 * PAGE_SIZE, Error::BadPointer),
        // It is read-only.
        (second, PAGE_SIZE, Error::BadPointer),
        (second + WINDOW_SLOT_STRIDE, PAGE_SIZE, Error::BadPointer),
        (second + 2 * WINDOW_SLOT_STRIDE - PAGE_SIZE, 4 * PAGE_SIZE, Error::BadPointer),
        (second + 2 * WINDOW_SLOT_STRIDE, PAGE_SIZE, Error::BadPointer),
        (other, PAGE_SIZE, Error::BadPointer),
        (taken, PAGE_SIZE, Error::BadPointer),
        (0, PAGE_SIZE, Error::BadPointer),
        (KERNEL, PAGE_SIZE, Error::BadPointer),
        (u64::MAX << 12, PAGE_SIZE, Error::BadPointer),
        (first + 8, PAGE_SIZE, Error::NotPageAligned),
        (first, WINDOW_MAXIMUM + 1, Error::TooLarge),
        (first, u64::MAX, Error::TooLarge),
        // Nothing is there to be copied.
        (second + WINDOW_SLOT_STRIDE, 8, Error::BadPointer),
    ] {
        let arguments = [0, pointer, length, first, PAGE_SIZE, 0, 0, 0];
        let crossed = world.call(original.index, at(SERVER, STACK), arguments);
        world.assert_stopped(&original, &crossed, error);
    }
    // Parts of what came, in any order, and copies of the interposer's own.
    let own = at(SERVER, DATA);
    for (first, first_length, second, second_length) in [
        (first + PAGE_SIZE, PAGE_SIZE, second, PAGE_SIZE),
        (first, 2 * PAGE_SIZE, first, PAGE_SIZE),
        (own, 8, second, 100),
        (own + 1, 64, own, 0),
    ] {
        let arguments = [0, first, first_length, second, second_length, 0, 0, 0];
        world.call(original.index, at(SERVER, STACK), arguments);
        world.assert_at(BACKEND, ENTRY);
        let passed = [A1, A3].map(|register| world.machine.get(register));
        assert!(second_length <= 64 || world.store(passed[1], 1).is_err(), "it is for reading");
        world.reply(0, 0);
        world.assert_at(SERVER, RESUME);
    }
    world.reply(0, 0);
    world.assert_at(CLIENT, RESUME);
    wrapped.activations.iter().for_each(|one| world.assert_windows_closed(one));
}

#[test]
fn whoever_dies_in_between_windows_are_closed_in_order() {
    for letters in ["ci", "crw", "cwwr"] {
        for seed in 0..6 {
            let mut world = World::new(seed);
            let Interposed { wrapped, original } = world.interpose(&format!("np{letters}"));
            // The server.
            let (_, before) = world.checked_call(&wrapped);
            let crossed = world.pass_on(&original);
            world.machine.set(A1, at(BACKEND, NOTHING));
            world.machine.program_counter = at(BACKEND, LOAD);
            world.cross();
            world.mark_dead(world.machine.csr.sscratch);
            let back = world.reply(0, 0);
            world.assert_dead(&original, &crossed.before, &[], &back.before);
            // The interposer, while the server has the call, and while nobody has.
            world.pass_on(&original);
            world.mark_dead(world.machine.csr.sscratch);
            let back = world.reply(0, 0);
            world.assert_dead(&wrapped, &before, &[], &back.before);
            original.activations.iter().for_each(|one| world.assert_windows_closed(one));
            assert_eq!(world.word(original.crossing.queue), original.activations[0].descriptor);
            // The client: the other two end as ever.
            world.checked_call(&wrapped);
            let frame = world.machine.csr.sscratch;
            world.pass_on(&original);
            world.mark_dead(frame);
            world.reply(0, 0);
            world.assert_at(SERVER, RESUME);
            let crossed = world.pass_on(&original);
            world.assert_stopped(&original, &crossed, Error::NotAllowed);
        }
    }
}

#[test]
fn a_semaphore_is_the_clients() {
    for operation in [SemaphoreOperation::P, SemaphoreOperation::V] {
        let mut world = World::new(7);
        let (semaphore, word) = world.connect_semaphore(operation, CLIENT, 3);
        let wrapped = world.connect("npc", CLIENT, SERVER);
        let mut crossing = semaphore.crossing;
        crossing.caller = world.end(SERVER);
        crossing.behalf = Some(Behalf {
            client: InstanceId(CLIENT as u16),
            queue: wrapped.crossing.queue,
            fault: None,
        });
        let specification = semaphore.specification;
        let code = world.generate(|words, address| {
            generate::semaphore(operation, &specification, &crossing, words, address)
        });
        let index = 100;
        world.install(SERVER, index, code.call);
        let other = world.connect("npi", CLIENT, SERVER);
        world.checked_call(&other);
        world.call(index, at(SERVER, STACK), [0; 8]);
        assert_eq!(world.machine.get(A0) as i64, Error::NotAllowed.status());
        assert_eq!(world.word(word), 3, "nothing was counted");
        world.reply(0, 0);
        world.checked_call(&wrapped);
        world.call(index, at(SERVER, STACK), [0; 8]);
        world.assert_at(SERVER, RESUME);
        assert_eq!(world.machine.get(A0), 0);
        let counted = if operation == SemaphoreOperation::P { 2 } else { 4 };
        assert_eq!(world.word(word), counted);
    }
}

#[test]
fn who_shares_a_stack_or_is_in_the_kernel_domain_calls_for_nobody() {
    for text in ["smci", "nkci", "nmci", "spci", "kkci"] {
        let mut world = World::new(1);
        let specification = Specification::parse(text).unwrap();
        let (mut crossing, _) = world.crossing(&specification, SERVER, BACKEND, 1);
        crossing.behalf = Some(Behalf { client: InstanceId(CLIENT as u16), queue: 8, fault: None });
        let made = generate::pair(&specification, &crossing, &mut [0; 1024], PORTAL_CODE);
        assert_eq!(made, Err(GenerateError::DoesNotFit), "{text}");
    }
}

#[test]
fn every_instruction_of_a_call_for_another_matters() {
    for kind in ["npci", "npca", "npcw", "npcrr"] {
        let mut world = World::new(94);
        let interposed = world.interpose(kind);
        let other = world.connect("npi", CLIENT, SERVER);
        let scenario = |world: &mut World| {
            for _ in 0..12 {
                interposed.everything(world);
            }
            let original = &interposed.original;
            world.checked_call(&other);
            let crossed = world.pass_on(original);
            world.assert_stopped(original, &crossed, Error::NotAllowed);
            assert_eq!(world.machine.get(RA), crossed.before[usize::from(RA)]);
            for register in [T1, T2, T3] {
                assert_eq!(world.machine.get(register), 0);
            }
            world.reply(0, 0);
            world.assert_at(CLIENT, RESUME);
        };
        scenario(&mut world.clone());
        // What is not in a portal of the same letters without it.
        let plain = world.connect(kind, SERVER, BACKEND);
        let code = |connection: &Connection| {
            let Connection { code, .. } = connection;
            (code.call..code.back - LITERALS_SIZE as u64).step_by(4)
        };
        let words = |connection| -> Vec<u32> {
            code(connection)
                .map(|address| world.word(address & !7) >> (8 * (address & 7)))
                .map(|word| word as u32)
                .collect()
        };
        let (plain, own) = (words(&plain), words(&interposed.original));
        assert!(own.len() > plain.len(), "{kind}");
        let first = interposed.original.code.call;
        let stranger = code(&interposed.original)
            .zip(&own)
            // Branches are only longer or shorter there.
            .filter(|(address, word)| {
                *address < first + 16 || **word & 0x7f != 0x63 && !plain.contains(word)
            });
        for (address, word) in stranger {
            let is_padding = *word == 0 || *word == encode::NOP || *word == 0x6f;
            assert!(
                is_padding || noticed(&without(&world, address), scenario),
                "{kind}: nobody notices the absence of {word:#010x} at {:#x}",
                address - first
            );
        }
    }
}
