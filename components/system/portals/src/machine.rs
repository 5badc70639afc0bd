//! What the manager reaches: the layout's tables, what the nucleus trusts, and the two components that it calls.
//! The component has the real one, the tests one of their own.

use crate::area::{self, GRANULE};
use crate::blocks::Kind;
use cairn_abi::descriptor::is_name;
use cairn_abi::domain::{FIELD_ALIVE, FIELD_GENERATION, Tables};
use cairn_abi::parameter_data::DATA_WORDS;
use cairn_abi::record::{
    Activation, Export, Header, Instance, Interrupt, Method, PagedRange, Portal,
};
use cairn_abi::{DomainId, Error, InstanceId};
use cairn_portal::Limits;
use cairn_portal::invocation::Words;
use core::sync::atomic::AtomicI64;

/// Tables of the layout's record.
#[derive(Clone, Copy)]
pub struct Layout {
    /// The record's beginning.
    pub header: &'static Header,
    /// Of the description.
    pub instances: &'static [Instance],
    /// Of all instances.
    pub exports: &'static [Export],
    /// Of all exports.
    pub methods: &'static [Method],
    /// Of the description's connections, by client and index.
    pub portals: &'static [Portal],
    /// Stacks of callees.
    pub activations: &'static [Activation],
    /// Of all devices.
    pub interrupts: &'static [Interrupt],
    /// Whose pages pagers provide.
    pub ranges: &'static [PagedRange],
}

impl Layout {
    /// Address of a granule of portal code.
    pub fn granule(&self, number: u16) -> u64 {
        area::base(self.header.free_portal_code.start) + u64::from(number) * GRANULE
    }

    /// The domain blocks.
    pub fn tables(&self) -> Tables {
        Tables::of(self.header.table_entries)
    }

    /// Those that the description has. The first call of all can come after another was loaded, and be to add that.
    pub fn described(&self) -> impl Iterator<Item = &'static Instance> {
        self.instances.iter().filter(|one| one.is_described())
    }

    /// The places where instances are that move, but for those in which they are now.
    pub fn other_places(&self) -> impl Iterator<Item = &'static Instance> {
        self.instances.iter().filter(|one| one.is_other_place())
    }

    /// What the record says of an instance that there is, for the manager or not yet.
    pub fn instance(&self, number: InstanceId) -> Result<&'static Instance, Error> {
        let place = number.index().checked_sub(1).ok_or(Error::BadArgument)?;
        let found = self.instances.get(place).filter(|record| record.number == number);
        found.ok_or(Error::BadArgument)
    }

    /// An export.
    pub fn export(&self, number: usize) -> Result<&'static Export, Error> {
        self.exports.get(number).ok_or(Error::NotFound)
    }

    /// The number of a server's object interface of that name: the trait's, or the component's own.
    pub fn object_export(&self, server: InstanceId, interface: &[u8]) -> Result<u32, Error> {
        let is_wanted = |export: &Export| {
            export.instance == server
                && export.is_object != 0
                && (is_name(&export.interface, interface) || is_name(&export.name, interface))
        };
        let position = self.exports.iter().position(is_wanted);
        position.map(|position| position as u32).ok_or(Error::NotFound)
    }

    /// The export by which an instance provides pages: its number.
    pub fn pager(&self, instance: InstanceId) -> Option<usize> {
        let is_pager =
            |export: &Export| export.instance == instance && is_name(&export.interface, b"Pager");
        self.exports.iter().position(is_pager)
    }

    /// What the description connected at an index of a client's table.
    pub fn connection(&self, client: InstanceId, index: usize) -> Option<&'static Portal> {
        let key = (client, u32::try_from(index).ok()?);
        let place = self.portals.binary_search_by_key(&key, |portal| (portal.client, portal.index));
        self.portals.get(place.ok()?)
    }

    /// What the description connected for a client.
    pub fn portals_of(&self, client: InstanceId) -> &'static [Portal] {
        let first = self.portals.partition_point(|portal| portal.client < client);
        let end = self.portals.partition_point(|portal| portal.client <= client);
        &self.portals[first..end]
    }

    /// Methods of an export.
    pub fn methods_of(&self, export: &Export) -> &'static [Method] {
        let first = export.first_method as usize;
        self.methods.get(first..first + export.method_count as usize).unwrap_or(&[])
    }

    /// What the export of a block declares.
    pub fn limits(&self, kind: Kind) -> Limits {
        let (Kind::Export(number) | Kind::Object(number, _)) = kind else {
            return Limits::default();
        };
        let limited = |export: &&Export| {
            export.longest_execution | export.longest_call | export.cancelled_for != 0
        };
        let Some(export) = self.exports.get(number as usize).filter(limited) else {
            return Limits::default();
        };
        let limits = [export.longest_execution, export.longest_call, export.cancelled_for];
        Limits::new(limits, self.header.time_base)
    }
}

/// Proof that every hart sees code as it was written: an entry of a portal table never leads to what was there before.
/// With several harts [`Machine::publish`] waits for all of them.
#[derive(Clone, Copy)]
pub struct Published(());

impl Published {
    /// The layout wrote the code.
    pub fn by_layout() -> Published {
        Published(())
    }
}

/// The machine, as far as the manager reaches it.
pub trait Machine: Words {
    /// The layout's tables.
    fn layout(&self) -> &Layout;

    /// Portal code at an address, for writing.
    fn code(&self, address: u64, size: usize) -> &[AtomicI64];
    /// An entry of a portal table.
    fn entry(&self, domain: DomainId, index: usize) -> u64;
    /// Writes an entry of a portal table.
    fn set_entry(&self, domain: DomainId, index: usize, code: u64, published: Published);
    /// A word of a domain block, by its offset from the portal table.
    fn domain_word(&self, domain: DomainId, offset: i64) -> u64;
    /// Writes it. What it leads to is published.
    fn set_domain_word(&self, domain: DomainId, offset: i64, word: u64);
    /// Writes words of an activation's descriptor, by their offsets. Nothing may use it.
    fn describe_activation(&self, index: u32, words: &[(i64, u64)]);
    /// Makes a stack queue of these activations. Nothing may use it.
    fn fill_queue(&self, queue: u16, free: impl Iterator<Item = u32>);
    /// Says whether an activation, by its place in the layout's table, is in a queue of this client.
    fn set_client(&self, place: usize, client: InstanceId, is: bool);
    /// The first activation of a stack queue, or the one behind another in the list.
    fn free_activation(&self, queue: u16, behind: Option<u32>) -> Option<u32>;
    /// The words of a limited grant, by its place: calls that are left, and the tick from which on there are none.
    fn limits(&self, grant: usize) -> Option<&[AtomicI64; 2]>;
    /// The words of private data that the code of parameter types reads, where there are such.
    fn parameter_data(&self) -> Option<&[AtomicI64; DATA_WORDS]> {
        None
    }
    /// Lets the hart see new portal code.
    fn fence_instruction(&self) -> Result<(), Error>;

    /// Has the scheduler make a semaphore, with a first value, or a lock (`None`) of `owner`'s; its index.
    fn allocate(&self, owner: InstanceId, initial: Option<u64>) -> Result<u64, Error>;
    /// Has the scheduler end a semaphore or a lock of `owner`'s: `Busy` while threads wait for it.
    fn free(&self, owner: InstanceId, kind: Kind) -> Result<(), Error>;

    /// Has the scheduler let those go on who wait for an activation of a stack queue that has none.
    fn look_at_stacks(&self, queue: u16) -> Result<(), Error>;
    /// How many threads wait for one.
    fn stack_waiters(&self, queue: u16) -> Result<u64, Error>;

    /// Has the name server add a name; its number.
    fn add_name(&self, server: InstanceId, name: &str, policy: &str) -> Result<u64, Error>;
    /// Has the name server take a name back; its number.
    fn remove_name(&self, server: InstanceId, name: &str) -> Result<u64, Error>;
    /// Has the name server let a client open a name, or not any more.
    fn admit(
        &self,
        server: InstanceId,
        name: &str,
        client: InstanceId,
        admitted: bool,
    ) -> Result<(), Error>;
    /// Has the name server know an instance that comes while the system runs.
    fn add_instance(&self, instance: InstanceId) -> Result<(), Error>;
    /// Has the name server forget it, or one of the description, for good.
    fn retire_instance(&self, instance: InstanceId);
    /// Has the name server forget what a dead instance had registered.
    fn remove_names(&self, server: InstanceId);

    /// Lets every hart see the portal code that was written.
    fn publish(&self) -> Result<Published, Error> {
        self.fence_instruction().map(|()| Published(()))
    }

    /// The ranges that an instance provides with pages, of clients that there are.
    fn provided_by(&self, pager: InstanceId) -> impl Iterator<Item = &'static PagedRange> {
        let ranges = self.layout().ranges.iter();
        ranges.filter(move |range| range.client != InstanceId(0) && range.pager == pager)
    }

    /// The domain lives.
    fn check_alive(&self, domain: DomainId) -> Result<(), Error> {
        if self.domain_word(domain, FIELD_ALIVE) != 0 { Ok(()) } else { Err(Error::Dead) }
    }

    /// The domain lives, and was started `generation` times before.
    fn check_life(&self, domain: DomainId, generation: u64) -> Result<(), Error> {
        let now = self.domain_word(domain, FIELD_GENERATION);
        self.check_alive(domain).and(if now == generation { Ok(()) } else { Err(Error::Dead) })
    }
}
