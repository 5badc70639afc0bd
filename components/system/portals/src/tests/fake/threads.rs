//! Threads that are inside of calls.

use super::*;

impl Fake {
    /// Lets a thread be inside the portal at an index, called by `instance`: the value is what it took.
    pub fn enter(&self, instance: InstanceId, index: usize) -> (u16, u32) {
        let queue = self.load(self.back(instance, index).wrapping_add_signed(LITERAL_QUEUE));
        let queue = ((queue.unwrap() - stack_queue(0)) / QUEUE_SIZE) as u16;
        (queue, self.queues.borrow_mut().get_mut(&queue).unwrap().remove(0))
    }

    /// Lets it be back.
    pub fn leave(&self, (queue, activation): (u16, u32)) {
        self.queues.borrow_mut().get_mut(&queue).unwrap().insert(0, activation);
    }
}
