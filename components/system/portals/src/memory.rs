//! The machine as the portal manager reaches it: portal code, domain blocks, stack queues, the record; the scheduler and the name server.

use crate::component::{NAME_CONTROL, SCHEDULER};
use cairn::record::Record;
use cairn::{DomainId, Error, InstanceId, environment, privileged};
use cairn_abi::address::{ACTIVATIONS, DOMAINS, PORTAL_CODE};
use cairn_abi::domain::{ACTIVATION_NEXT, ACTIVATION_SIZE, activation, client_row, stack_queue};
use cairn_abi::grant::limits;
use cairn_abi::parameter_data::{DATA_WORDS, data_word};
use cairn_portal::invocation::Words;
use cairn_portals::blocks::Kind;
use cairn_portals::machine::{Layout, Machine, Published};
use core::sync::atomic::{AtomicI64, Ordering};

/// Views of memory, and tables of the record.
#[derive(Clone, Copy)]
pub struct Memory {
    layout: Layout,
    code: &'static [AtomicI64],
    domains: &'static [AtomicI64],
    queues: &'static [AtomicI64],
    clients: &'static [AtomicI64],
}

fn load(words: &[AtomicI64], offset: u64) -> u64 {
    words.get((offset / 8) as usize).map_or(0, |word| word.load(Ordering::Relaxed) as u64)
}

fn store(words: &[AtomicI64], offset: u64, value: u64) {
    if let Some(word) = words.get((offset / 8) as usize) {
        word.store(value as i64, Ordering::Relaxed);
    }
}

/// Portal code.
impl Words for Memory {
    fn load(&self, address: u64) -> Option<u64> {
        if !address.is_multiple_of(8) {
            return None;
        }
        match address {
            PORTAL_CODE.. => {
                let word = self.code.get(((address - PORTAL_CODE) / 8) as usize)?;
                Some(word.load(Ordering::Relaxed) as u64)
            }
            _ => None,
        }
    }
}

impl Memory {
    /// Finds what the role maps.
    pub fn find() -> Result<Memory, Error> {
        let record = Record::find().ok_or(Error::NotFound)?;
        let words = |name: &str| {
            let section = environment::section(name).ok_or(Error::NotFound)?;
            Ok(section.words(section.size() / 8))
        };
        let header = record.header;
        Ok(Memory {
            layout: Layout {
                header,
                instances: record.table(header.instances),
                exports: record.table(header.exports),
                methods: record.table(header.methods),
                portals: record.table(header.portals),
                activations: record.table(header.activations),
                interrupts: record.table(header.interrupts),
                ranges: record.table(header.ranges),
            },
            code: words("portal-code")?,
            domains: words("domains")?,
            queues: words("activations")?,
            clients: words("clients")?,
        })
    }

    fn field(&self, domain: DomainId, field: i64) -> u64 {
        (self.layout.tables().portal_table(domain) - DOMAINS).wrapping_add_signed(field)
    }
}

impl Machine for Memory {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn code(&self, address: u64, size: usize) -> &[AtomicI64] {
        let at = ((address - PORTAL_CODE) / 8) as usize;
        self.code.get(at..at + size / 8).unwrap_or(&[])
    }

    fn entry(&self, domain: DomainId, index: usize) -> u64 {
        load(self.domains, self.field(domain, index as i64 * 8))
    }

    fn set_entry(&self, domain: DomainId, index: usize, code: u64, _: Published) {
        store(self.domains, self.field(domain, index as i64 * 8), code);
    }

    fn domain_word(&self, domain: DomainId, offset: i64) -> u64 {
        load(self.domains, self.field(domain, offset))
    }

    fn set_domain_word(&self, domain: DomainId, offset: i64, word: u64) {
        store(self.domains, self.field(domain, offset), word);
    }

    fn describe_activation(&self, index: u32, words: &[(i64, u64)]) {
        let descriptor = activation(index as usize) - ACTIVATIONS;
        for (offset, word) in words {
            store(self.queues, descriptor.wrapping_add_signed(*offset), *word);
        }
    }

    fn fill_queue(&self, queue: u16, free: impl Iterator<Item = u32>) {
        let mut first = 0;
        for index in free {
            let descriptor = activation(index as usize);
            store(self.queues, descriptor - ACTIVATIONS + ACTIVATION_NEXT as u64, first);
            first = descriptor;
        }
        store(self.queues, stack_queue(queue.into()) - ACTIVATIONS, first);
    }

    fn set_client(&self, place: usize, client: InstanceId, is: bool) {
        let word = client_row(client.into()) / 8 + place as u64 / 64;
        let Some(word) = self.clients.get(word as usize) else { return };
        let bit = 1 << (place % 64);
        match is {
            true => word.fetch_or(bit, Ordering::Relaxed),
            false => word.fetch_and(!bit, Ordering::Relaxed),
        };
    }

    fn free_activation(&self, queue: u16, behind: Option<u32>) -> Option<u32> {
        let address = match behind {
            Some(index) => activation(index as usize) + ACTIVATION_NEXT as u64,
            None => stack_queue(queue.into()),
        };
        let first = load(self.queues, address - ACTIVATIONS);
        Some((first.checked_sub(activation(0))? / ACTIVATION_SIZE) as u32)
    }

    fn limits(&self, grant: usize) -> Option<&[AtomicI64; 2]> {
        let words = self.queues.get(((limits(grant) - ACTIVATIONS) / 8) as usize..)?;
        words.first_chunk()
    }

    fn parameter_data(&self) -> Option<&[AtomicI64; DATA_WORDS]> {
        self.queues.get(((data_word(0) - ACTIVATIONS) / 8) as usize..)?.first_chunk()
    }

    fn fence_instruction(&self) -> Result<(), Error> {
        privileged::fence_instruction()
    }

    fn allocate(&self, owner: InstanceId, initial: Option<u64>) -> Result<u64, Error> {
        match initial {
            Some(initial) => SCHEDULER.allocate_semaphore(owner, initial),
            None => SCHEDULER.allocate_lock(owner),
        }
    }

    fn free(&self, owner: InstanceId, kind: Kind) -> Result<(), Error> {
        match kind {
            Kind::Semaphore(index) => SCHEDULER.free_semaphore(owner, index.into()),
            Kind::Lock(index) => SCHEDULER.free_lock(owner, index.into()),
            _ => Err(Error::BadArgument),
        }
    }

    fn look_at_stacks(&self, queue: u16) -> Result<(), Error> {
        SCHEDULER.look_at_stacks(queue.into())
    }

    fn stack_waiters(&self, queue: u16) -> Result<u64, Error> {
        SCHEDULER.stack_waiters(queue.into())
    }

    fn add_name(&self, server: InstanceId, name: &str, policy: &str) -> Result<u64, Error> {
        NAME_CONTROL.add(server, name, policy)
    }

    fn remove_name(&self, server: InstanceId, name: &str) -> Result<u64, Error> {
        NAME_CONTROL.remove(server, name)
    }

    fn admit(
        &self,
        server: InstanceId,
        name: &str,
        client: InstanceId,
        admitted: bool,
    ) -> Result<(), Error> {
        NAME_CONTROL.admit(server, name, client, admitted)
    }

    fn add_instance(&self, instance: InstanceId) -> Result<(), Error> {
        NAME_CONTROL.add_domain(instance)
    }

    fn retire_instance(&self, instance: InstanceId) {
        // One that it does not know has no names.
        let _ = NAME_CONTROL.retire_domain(instance);
    }

    fn remove_names(&self, server: InstanceId) {
        // Without a name server there are no names.
        let _ = NAME_CONTROL.remove_all(server);
    }
}
