//! Generates the portals of a wrap: copies of templates, as all portals.

use super::Maker;
use crate::area::GRANULE;
use crate::blocks::{Code, Kind};
use crate::crossing::{Entry, write};
use crate::machine::Machine;
use crate::refusals::Missing;
use crate::returns::List;
use crate::templates::{Half, InUse};
use cairn_abi::descriptor::{LETTERS_SIZE, METHODS_MAXIMUM};
use cairn_abi::domain::stack_queue;
use cairn_abi::record::Instance;
use cairn_abi::{Error, InstanceId};
use cairn_portal::generate::{LITERALS, call_literals};
use cairn_portal::literal::LITERALS_SIZE;
use cairn_portal::{Behalf, Crossing, Parameters, Source, Trust, plan};

/// Between whom portals are made.
pub(super) struct Between {
    pub caller: &'static Instance,
    pub callee: &'static Instance,
    /// Whose stacks are taken in the callee.
    pub client: InstanceId,
    /// The client's stack queue in the caller, if it calls on behalf of the client.
    pub came: Option<u16>,
    /// Who pays.
    pub payer: InstanceId,
    /// Its first index, as the client knows it.
    pub first: usize,
    /// Whose limits, and which semaphore; none: the callee is an interposer.
    pub kind: Option<Kind>,
    /// Address of the words of a limited grant; zero: none.
    pub limits: u64,
}

/// A method's letters where the interposer is the callee: it finds parameters of registered types as the client passed them.
fn plain(letters: &[u8; LETTERS_SIZE], types: &Parameters) -> Result<[u8; LETTERS_SIZE], Error> {
    let mut plain = [0; LETTERS_SIZE];
    let mut places = plain.iter_mut();
    for letter in letters.iter().filter(|letter| **letter != 0) {
        let words = types.get(*letter).map(|parameter| parameter.words);
        for _ in 0..words.unwrap_or(1) {
            let place = places.next().ok_or(Error::NotSupported)?;
            *place = if words.is_some() { b'i' } else { *letter };
        }
    }
    Ok(plain)
}

impl Maker {
    /// Generates a portal for each of `calls`, which gets its address; the code, and the distance between two of them where an
    /// interposer is the callee.
    pub(super) fn generate_between<M: Machine>(
        &mut self,
        machine: &M,
        between: &Between,
        entry: &dyn Fn(usize) -> (Entry, u64),
        calls: &mut [u64],
    ) -> Result<(Code, u16), Error> {
        let mut code = Code::NONE;
        let made = self.generate_portals(machine, between, entry, calls, &mut code);
        if made.is_err() {
            self.pools.left(code.queue);
        }
        made.map(|stride| (code, stride))
    }

    /// The same; the stack queue that was taken for it is in `code` in any case.
    fn generate_portals<M: Machine>(
        &mut self,
        machine: &M,
        between: &Between,
        entry: &dyn Fn(usize) -> (Entry, u64),
        calls: &mut [u64],
        code: &mut Code,
    ) -> Result<u16, Error> {
        let Between { caller, callee, client, came, payer, first, kind, limits } = *between;
        let layout = machine.layout();
        let mut plan = plan(caller, callee, Trust::default());
        let (specification, crossing) = (&plan.specification, &mut plan.crossing);
        crossing.services = layout.header.services;
        crossing.asids = layout.header.asid_bits != 0;
        crossing.limits = kind.map(|kind| layout.limits(kind)).unwrap_or_default();
        if let Some(Kind::Semaphore(index)) = kind {
            crossing.source = Source::Semaphore(index.into());
        }
        crossing.behalf =
            came.map(|came| Behalf { client, queue: stack_queue(came.into()), fault: None });

        let (mut in_use, mut stride, mut size) = (InUse::default(), 0, 0);
        let mut places = [0u8; METHODS_MAXIMUM];
        let (mut shape, mut back) = (0, 0);
        for (index, (found_at, call)) in places.iter_mut().zip(&mut *calls).enumerate() {
            crossing.index = (first + index) as u64;
            let (mut method, _) = entry(index);
            if kind.is_none() {
                method.letters = plain(&method.letters, &self.types)?;
            }
            crossing.grant = if kind.is_some() { method.limits(limits) } else { 0 };
            let of = (specification, &self.types);
            let found = self.templates.find(of, (&method, Half::Call), crossing, &mut in_use)?;
            let template = self.templates.get(found);
            stride = stride.max(template.size);
            size += template.size;
            if template.shape != shape {
                shape = template.shape;
                if template.takes_activation && code.queue == u16::MAX {
                    let missing = Missing::Stacks(callee.number);
                    let queue = self.pools.queue(machine, client, callee);
                    code.queue = queue.map_err(|error| self.refuse(payer, missing, error))?;
                    crossing.take_from(code.queue.into());
                }
                let list = List::of(caller.number, code.queue);
                back = match self.pools.find_return(machine, list, shape, crossing) {
                    Some(back) => back,
                    None => {
                        let half = (specification, &method, Half::Back(shape));
                        self.make_return(machine, payer, list, half, crossing, &mut in_use)?
                    }
                };
            }
            (*found_at, *call) = (found as u8, back);
        }
        // Those in the client's table are found again by their distance.
        let is_even = kind.is_none();
        let size = if is_even { stride * calls.len() } else { size };
        let granules = (size as u64).div_ceil(GRANULE) as u16;
        let start = self.pools.room(machine, payer, granules);
        let start = start.map_err(|error| self.refuse(payer, Missing::Portals, error))?;
        let mut at = layout.granule(start);
        for (index, (found, call)) in places.iter().zip(&mut *calls).enumerate() {
            let (method, constant) = entry(index);
            crossing.grant = if kind.is_some() { method.limits(limits) } else { 0 };
            crossing.index = (first + index) as u64;
            (crossing.entry, crossing.constant) = (method.entry, constant);
            self.write_call(machine, usize::from(*found), crossing, *call, at);
            *call = at + LITERALS_SIZE as u64;
            let size = self.templates.get(usize::from(*found)).size;
            at += if is_even { stride } else { size } as u64;
        }
        machine.publish()?;
        (code.start, code.granules) = (start, granules);
        self.pools.take(payer, start, granules);
        Ok(stride as u16)
    }

    /// Writes a copy of a template, whose return portal is at `back`.
    fn write_call<M: Machine>(
        &self,
        machine: &M,
        template: usize,
        crossing: &Crossing,
        back: u64,
        at: u64,
    ) {
        let template = self.templates.get(template);
        let words = machine.code(at, template.size);
        write(words, &call_literals(crossing, back));
        write(words.get(LITERALS..).unwrap_or(&[]), template.code());
    }
}
