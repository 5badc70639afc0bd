//! All that can become of a call: it comes back, is refused, waits; its callee dies, its caller does, those below.

use crate::world::*;
use cairn_abi::Error;
use cairn_abi::address::*;
use cairn_abi::thread::*;
use cairn_emulator::register::*;
use cairn_portal::specification::Stack;

/// The portal under test goes from the server to the backend, or from one in the kernel domain; the client calls the server
/// or that one first.
pub struct Pair {
    pub outer: Connection,
    pub inner: Connection,
    /// From who was called out of the kernel domain back into it.
    pub again: Option<Connection>,
    /// From the client to another one there, and from that to the caller.
    pub between: Option<[Connection; 2]>,
}

impl Pair {
    /// Calls with buffers of all lengths and kinds.
    fn round_trips(&self, world: &mut World) {
        for time in 0..12 {
            let (buffers, before) = world.checked_call(&self.inner);
            let queue = self.inner.crossing.queue;
            if queue != 0 && time == 0 {
                // The rest of the queue was taken by someone else meanwhile.
                world.set_word(queue, 0);
            }
            world.checked_return(&self.inner, buffers, &before);
            if queue != 0 && time == 0 {
                assert_eq!(
                    world.word(self.inner.activations[0].descriptor),
                    0,
                    "the next free one"
                );
                world.fill_queue(queue, &self.inner.activations);
            }
        }
    }

    /// A return while threads wait for its activation, and one while none does.
    fn wakes(&self, world: &mut World) {
        if !self.inner.specification.takes_activation() {
            return;
        }
        for waiters in [1, 0] {
            world.set_word(self.inner.crossing.waiters, waiters);
            let (buffers, before) = world.checked_call(&self.inner);
            world.checked_return(&self.inner, buffers, &before);
            assert_eq!(world.machine.csr.software_pending, waiters == 1);
            world.machine.csr.software_pending = false;
        }
    }

    /// The callee dies; then the caller, while it is in the callee.
    fn dies(&self, world: &mut World, waiters: u64) {
        let (_, before) = world.checked_call(&self.inner);
        let callee = self.inner.callee;
        // What the callee leaves in registers is not what the caller had there.
        world.scramble_what_runs();
        world.machine.set(A1, at(callee, NOTHING));
        world.machine.program_counter = at(callee, LOAD);
        world.cross();
        world.mark_dead(world.machine.csr.sscratch);
        let scheduler = world.reply(7, 7).before;
        world.assert_dead(&self.inner, &before, &[], &scheduler);

        if self.inner.specification.takes_activation() {
            world.set_word(self.inner.crossing.waiters, waiters);
        }
        world.checked_call(&self.inner);
        world.mark_dead(world.machine.csr.sscratch);
        if self.inner.specification.only_pops() {
            // Such a frame's dead entry is the callee's, which dies as well.
            world.machine.set(A1, at(callee, NOTHING));
            world.machine.program_counter = at(callee, LOAD);
            world.cross();
            world.mark_dead(world.machine.csr.sscratch);
        }
        if self.inner.specification.takes_activation() {
            world.set_word(self.inner.crossing.queue, 0);
        }
        world.reply(7, 7);
        world.assert_at(CLIENT, RESUME);
        let reply = (world.machine.get(A0) as i64, world.machine.get(A1));
        assert_eq!(reply, (Error::Dead.status(), 0));
        assert_eq!(world.machine.csr.sscratch, base_header());
        let wakes = waiters != 0 && self.inner.specification.takes_activation();
        assert_eq!(world.machine.csr.software_pending, wakes);
        world.machine.csr.software_pending = false;
        if let Some(first) = self.inner.activations.first() {
            world.assert_windows_closed(first);
            assert_eq!(world.word(self.inner.crossing.queue), first.descriptor);
            assert_eq!(world.word(first.descriptor), 0);
            world.set_word(self.inner.crossing.waiters, 0);
            world.fill_queue(self.inner.crossing.queue, &self.inner.activations);
        }
        world.call_any(&self.outer);
        if is_kernel(self.inner.caller) {
            assert_eq!(world.machine.get(SP), kernel_stack(THREAD), "nothing of it is in use");
        }
    }

    fn refusals(&self, world: &mut World) {
        let connection = &self.inner;
        let stack = world.usual_stack(connection);
        let (arguments, _) = world.arguments(connection);
        if connection.specification.takes_activation() {
            let queue = connection.crossing.queue;
            world.fill_queue(queue, &[]);
            let crossed = world.call(connection.index, stack, arguments);
            world.assert_upcall(Upcall::StackWait, THREAD, 8, queue);
            assert_eq!(world.machine.csr.sscratch, crossed.frame_before + TRAP_FRAME as u64);
            if is_kernel(connection.caller) {
                // It calls again.
                world.check_trap_frame(world.machine.csr.sscratch);
                world.fill_queue(queue, &connection.activations);
                world.reply(0, 0);
                world.assert_at(connection.callee, ENTRY);
                let back = world.reply(0, 0);
                world.check_caller(connection, &crossed.before, &back.before);
            } else {
                world.reply(0, 0);
                world.fill_queue(queue, &connection.activations);
                world.assert_at(SERVER, CALL);
            }
        }
        let (arguments, buffers) = world.arguments(connection);
        for buffer in &buffers {
            // Only this one is bad.
            let in_place = [
                (0, 1 << USER_ADDRESS_BITS, Error::BadPointer),
                (1, u64::MAX, Error::BadPointer),
                (1, WINDOW_MAXIMUM + 1, Error::TooLarge),
            ];
            let bad = match is_kernel(connection.callee) {
                true => &in_place[..],
                false => &[(1, u64::MAX, Error::TooLarge)],
            };
            for (word, value, error) in bad {
                let mut arguments = arguments;
                arguments[usize::from(buffer.register - A0) + word] = *value;
                let crossed = world.call(connection.index, stack, arguments);
                world.assert_at(connection.caller, RESUME);
                assert_eq!(world.machine.get(A0) as i64, error.status());
                assert_eq!(world.machine.get(A1), 0);
                world.check_caller(connection, &crossed.before, &crossed.before);
            }
        }
        if is_kernel(connection.callee) && !buffers.is_empty() {
            world.call_out_of_reach(connection, arguments);
        }
        // A second frame of any size does not fit here.
        let below = world.machine.csr.sscratch;
        let top = world.fill_invocation_stack();
        let crossed = world.call(connection.index, stack, arguments);
        world.assert_at(connection.caller, RESUME);
        assert_eq!(world.machine.get(A0) as i64, Error::InvocationOverflow.status());
        assert_eq!(world.machine.csr.sscratch, top);
        if is_kernel(connection.caller) {
            assert_eq!(world.machine.get(RA), crossed.before[usize::from(RA)]);
        } else {
            assert_eq!([T1, T2].map(|register| world.machine.get(register)), [0; 2]);
        }
        crossed.assert_writes((top, top), &[]);
        world.machine.csr.sscratch = below;
        if is_kernel(connection.caller) && connection.specification.stack != Stack::RunToCompletion
        {
            // Less than half of the thread's stack there is left.
            let low = kernel_stack(THREAD) - KERNEL_STACK_SIZE / 2;
            world.machine.set(TP, below);
            world.call(connection.index, low, arguments);
            world.assert_at(connection.caller, RESUME);
            assert_eq!(world.machine.get(A0) as i64, Error::InvocationOverflow.status());
            assert_eq!(world.machine.csr.sscratch, below);
        }
    }

    /// What is called in the kernel domain meanwhile begins below who waits there.
    fn enters_again(&self, world: &mut World) {
        let Some(again) = &self.again else { return };
        let (buffers, before) = world.checked_call(&self.inner);
        world.call_any(again);
        assert_eq!(world.machine.get(SP), before[usize::from(SP)]);
        world.reply(0, 0);
        world.checked_return(&self.inner, buffers, &before);
    }

    /// The caller, which another one in the kernel domain has called, dies while it is in the callee.
    fn dies_above_another(&self, world: &mut World) {
        let Some([first, second]) = &self.between else { return };
        let (_, before) = world.checked_call(first);
        world.checked_call(second);
        world.checked_call(&self.inner);
        world.mark_dead(world.machine.csr.sscratch);
        world.reply(7, 7);
        world.assert_at(second.caller, RESUME);
        world.put_back(&before);
        world.checked_return(first, vec![], &before);
        world.machine.csr.software_pending = false;
    }

    /// All of it.
    pub fn everything(&self, world: &mut World) {
        self.dies_above_another(world);
        world.call_any(&self.outer);
        self.enters_again(world);
        self.refusals(world);
        self.round_trips(world);
        self.wakes(world);
        for time in 0..8 {
            self.dies(world, time % 2);
        }
    }
}
