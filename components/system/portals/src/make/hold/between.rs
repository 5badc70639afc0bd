//! Who is held stands between others: calls that go through it wait as well, and page faults.
//!
//! Where an interposer is entered is its content's own, and nobody knows it of a successor before that has registered it. Until then those
//! portals stay held, whoever releases: else a call would enter the next content where the one before had its entrance.

use super::callee;
use crate::blocks::NO_INSTANCE;
use crate::machine::Machine;
use crate::make::Maker;
use crate::make::leads::{Lead, entry};
use crate::wraps::Wrap;
use cairn_abi::{DomainId, Error, InstanceId};

/// Where who is held is entered as an interposer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entrance {
    /// Where it was when it came to be held.
    AsBefore,
    /// It has other content, which has not registered it.
    Unknown,
    /// There.
    At(u64),
}

impl Entrance {
    /// What portals are to have.
    fn known(self) -> Option<u64> {
        if let Entrance::At(entry) = self { Some(entry) } else { None }
    }
}

impl Maker {
    /// Whether an instance stands between others.
    pub(in crate::make) fn is_interposer(&self, instance: InstanceId) -> bool {
        self.wraps.rules.all().iter().any(|rule| rule.interposer == instance)
    }

    /// Whether each call that goes through an instance can wait: who replaces it must not call through it, nor miss a page, and copies of it
    /// have nothing but what its content made for them.
    pub(super) fn can_leave_between(&self, instance: InstanceId, holder: InstanceId) -> bool {
        let mut wraps = self.wraps.wraps.all().iter();
        !wraps.any(|wrap| {
            let is_in_the_way = wrap.client == holder || wrap.rule.is_of_copy;
            wrap.rule.interposer == instance && is_in_the_way
        })
    }

    /// Who is held, and has other content, is entered at its `entrance` where it stands between others; none: it has not registered it.
    pub fn enter_between(&mut self, held: InstanceId, entrance: Option<u64>) -> Result<(), Error> {
        if !self.is_interposer(held) {
            return Ok(());
        }
        if self.held() != Some(held) {
            return Err(Error::NotAllowed);
        }
        let entrance = entrance.ok_or(Error::NotReady)?;
        self.hold.entrance = Entrance::At(entrance);
        let rules = self.wraps.rules.all_mut().iter_mut();
        let wraps = self.wraps.wraps.all_mut().iter_mut().map(|wrap| &mut wrap.rule);
        // What is made to lead on to a wrap goes by the rule that this one keeps.
        for rule in rules.chain(wraps).filter(|rule| rule.interposer == held && !rule.ends()) {
            rule.entry = entrance;
        }
        Ok(())
    }

    /// Whether who is held can be released. If not, nobody holds it any more, and it goes on when it has registered its entrance.
    pub(super) fn can_go_on(&mut self, held: InstanceId, entrance: Option<u64>) -> bool {
        let can =
            self.hold.entrance != Entrance::Unknown || self.enter_between(held, entrance).is_ok();
        if !can {
            self.hold.holder = NO_INSTANCE;
        }
        can
    }

    /// Whether an instance is held by nobody, and goes on when it has registered its entrance.
    pub fn is_left_held(&self, instance: InstanceId) -> bool {
        !self.hold.in_place() && self.is_held_by(NO_INSTANCE, instance)
    }

    /// The portals of a wrap that lead to this server: those by which its interposer calls it on behalf of a client, or, if it is an interposer
    /// itself, goes on to it; and those by which clients call it as an interposer.
    pub(in crate::make) fn leads_of_wrap<'a, M: Machine>(
        &'a self,
        machine: &'a M,
        (server, is_interposer): (InstanceId, bool),
        wrap: &'a Wrap,
    ) -> impl Iterator<Item = Lead> {
        let interposer = self.instances.get(wrap.rule.interposer).ok();
        let domain = self.instances.get(server).ok().map(|record| record.domain);
        let entrance = self.hold.entrance.known();
        let count = usize::from(wrap.count);
        let leads = (0..count).filter(move |_| wrap.server == server || is_interposer);
        let inner = leads.filter_map(move |method| {
            let index = usize::from(wrap.inner) + method;
            let code = machine.entry(interposer?.domain, index);
            // What stands before another interposer leads to that.
            let entry = match wrap.server == server {
                true => entry(machine, wrap.kind, method),
                false => entrance,
            };
            (Some(callee(machine, code)) == domain).then_some(Lead {
                code,
                elsewhere: 0,
                client: wrap.client,
                server,
                at: (interposer?.domain, wrap.inner.into(), method),
                entry,
            })
        });
        let stands = !wrap.leaves && wrap.rule.interposer == server;
        let table = self.instances.get(wrap.client).map_or(DomainId(0), |client| client.domain);
        let wrapping = (0..count).filter(move |_| stands).map(move |method| Lead {
            code: wrap.code(machine, method),
            elsewhere: 0,
            client: wrap.client,
            server,
            at: (table, wrap.first.into(), method),
            entry: entrance,
        });
        wrapping.chain(inner)
    }
}
