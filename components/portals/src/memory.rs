//! What the nucleus trusts, as the portal manager reaches it: portal code, domain blocks, stack
//! queues, thread blocks; and the record.

use cairn::record::Record;
use cairn::section::Section;
use cairn::{Error, environment};
use cairn_abi::address::{ACTIVATIONS, DOMAINS, PORTAL_CODE, THREADS};
use cairn_abi::domain::{
    ACTIVATION_NEXT, FIELD_ALIVE, FIELD_GENERATION, activation, portal_table, stack_queue,
};
use cairn_abi::record::{Activation, Export, Header, Instance, Interrupt, Method, Portal};
use cairn_abi::thread::{FIELD_FRAME, THREAD_BLOCK_SIZE};
use cairn_portal::invocation::Words;
use cairn_portals::blocks::Kind;
use core::sync::atomic::{AtomicI64, Ordering};

/// Views of memory, and tables of the record.
#[derive(Clone, Copy)]
pub struct Memory {
    pub header: &'static Header,
    pub instances: &'static [Instance],
    pub exports: &'static [Export],
    pub methods: &'static [Method],
    pub portals: &'static [Portal],
    pub activations: &'static [Activation],
    pub interrupts: &'static [Interrupt],
    code: &'static [AtomicI64],
    domains: &'static [AtomicI64],
    queues: &'static [AtomicI64],
    threads: Section,
}

fn load(words: &[AtomicI64], offset: u64) -> u64 {
    words.get((offset / 8) as usize).map_or(0, |word| word.load(Ordering::Relaxed) as u64)
}

fn store(words: &[AtomicI64], offset: u64, value: u64) {
    if let Some(word) = words.get((offset / 8) as usize) {
        word.store(value as i64, Ordering::Relaxed);
    }
}

/// Thread blocks and portal code, by the addresses that frames hold.
impl Words for Memory {
    fn load(&self, address: u64) -> Option<u64> {
        if !address.is_multiple_of(8) {
            return None;
        }
        match address {
            THREADS.. => {
                let at = (address - THREADS) as usize;
                (at < self.threads.size()).then(|| self.threads.load(at))
            }
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
            header,
            instances: record.table(header.instances),
            exports: record.table(header.exports),
            methods: record.table(header.methods),
            portals: record.table(header.portals),
            activations: record.table(header.activations),
            interrupts: record.table(header.interrupts),
            code: words("portal-code")?,
            domains: words("domains")?,
            queues: words("activations")?,
            threads: environment::section("threads").ok_or(Error::NotFound)?,
        })
    }

    /// The instance with this number.
    pub fn instance(&self, number: u8) -> Result<&'static Instance, Error> {
        let number = u32::from(number);
        // They are numbered from 1, in order.
        let guess = self.instances.get((number as usize).wrapping_sub(1));
        guess.filter(|instance| instance.number == number).ok_or(Error::BadArgument)
    }

    /// The longest execution that the export of a block declares, in ticks; zero: none.
    pub fn longest_execution(&self, kind: Kind) -> u64 {
        let (Kind::Export(number) | Kind::Object(number, _)) = kind else { return 0 };
        let nanoseconds =
            self.exports.get(number as usize).map_or(0, |export| export.longest_execution);
        if nanoseconds == 0 {
            return 0;
        }
        (u128::from(nanoseconds) * u128::from(self.header.time_base)).div_ceil(1_000_000_000) as u64
    }

    /// Methods of an export.
    pub fn methods_of(&self, export: &Export) -> &'static [Method] {
        let first = export.first_method as usize;
        self.methods.get(first..first + export.method_count as usize).unwrap_or(&[])
    }

    /// Portal code at an address, for writing.
    pub fn code_words(&self, address: u64, size: usize) -> &'static [AtomicI64] {
        let at = ((address - PORTAL_CODE) / 8) as usize;
        self.code.get(at..at + size / 8).unwrap_or(&[])
    }

    /// A word of portal code, by its offset in the area.
    pub fn code(&self, offset: u64) -> u64 {
        load(self.code, offset)
    }

    fn field(domain: u8, field: i64) -> u64 {
        (portal_table(domain.into()) - DOMAINS).wrapping_add_signed(field)
    }

    /// An entry of a portal table; negative indexes are the domain's other words.
    pub fn entry(&self, domain: u8, index: usize) -> u64 {
        load(self.domains, Self::field(domain, index as i64 * 8))
    }

    /// A word of the domain block, by its offset from the portal table.
    pub fn domain_word(&self, domain: u8, offset: i64) -> u64 {
        load(self.domains, Self::field(domain, offset))
    }

    /// Writes an entry of a portal table.
    pub fn set_entry(&self, domain: u8, index: usize, code: u64) {
        store(self.domains, Self::field(domain, index as i64 * 8), code);
    }

    /// The domain lives, and was started `generation` times before.
    pub fn check_alive(&self, domain: u8, generation: Option<u64>) -> Result<(), Error> {
        self.instance(domain)?;
        let alive = load(self.domains, Self::field(domain, FIELD_ALIVE)) != 0;
        let now = load(self.domains, Self::field(domain, FIELD_GENERATION));
        if alive && generation.is_none_or(|then| then == now) { Ok(()) } else { Err(Error::Dead) }
    }

    /// Makes a stack queue of these activations. Nothing may use it.
    pub fn fill_queue(&self, queue: u16, free: impl Iterator<Item = u32>) {
        let mut first = 0;
        for index in free {
            let descriptor = activation(index as usize);
            store(self.queues, descriptor - ACTIVATIONS + ACTIVATION_NEXT as u64, first);
            first = descriptor;
        }
        store(self.queues, stack_queue(queue.into()) - ACTIVATIONS, first);
    }

    /// Threads that there may be.
    pub fn threads(&self) -> u64 {
        self.threads.size() as u64 / THREAD_BLOCK_SIZE
    }

    /// A word of a thread's block.
    pub fn thread_word(&self, thread: u64, offset: u64) -> u64 {
        let at = (thread * THREAD_BLOCK_SIZE + offset) as usize;
        if offset < THREAD_BLOCK_SIZE && at < self.threads.size() {
            self.threads.load(at)
        } else {
            0
        }
    }

    /// Offset of the topmost frame of a thread that does not run; zero: there was never a thread of
    /// this number. Of one that ended, this is its lowest frame.
    pub fn thread_top(&self, thread: u64) -> u64 {
        self.thread_word(thread, FIELD_FRAME as u64) % THREAD_BLOCK_SIZE
    }
}
