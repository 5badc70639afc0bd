//! How a component that runs to completion gives way to another version of itself, while both are in its domain: portals that lead to it
//! cannot all be changed at an instant, so they first lead to a *face*, a place for each method, from which threads go on to one or the other. Which one
//! a single word says; the operation in which it changes is the last of the one and the first of the other.
//!
//! In the face a call takes four instructions more. So portals lead there only as long as it takes.
#![allow(unsafe_code)]

use cairn_abi::descriptor::{EntryPoint, Reply};
use core::ptr::{from_ref, null_mut};
// Relaxed: one hart; the portals lead to the face after the tables are filled.
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering::Relaxed};

/// Places of a face: most methods of all exports of such a component.
pub const PLACES: usize = 64;
/// Bytes of a place.
pub const PLACE_SIZE: u64 = 16;

type Entries = [AtomicU64; PLACES];

/// Where threads go on from the face.
#[repr(C)]
pub(crate) struct Leads {
    /// One of the two below. First, for the face.
    active: AtomicPtr<Entries>,
    own: Entries,
    successors: Entries,
}

pub(crate) static LEADS: Leads = Leads {
    active: AtomicPtr::new(null_mut()),
    own: [const { AtomicU64::new(0) }; PLACES],
    successors: [const { AtomicU64::new(0) }; PLACES],
};

/// Address of the first place of the face, which leads to this component's own methods.
pub fn face() -> u64 {
    LEADS.active.store(from_ref(&LEADS.own).cast_mut(), Relaxed);
    crate::arch::succession::face()
}

/// Where a place leads: to a method of this component, and of its successor when that has taken over. False: there is no such place.
pub fn lead(place: u64, own: u64, successors: u64) -> bool {
    let at = usize::try_from(place).unwrap_or(PLACES);
    let (Some(one), Some(other)) = (LEADS.own.get(at), LEADS.successors.get(at)) else {
        return false;
    };
    one.store(own, Relaxed);
    other.store(successors, Relaxed);
    true
}

/// What the successor is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// What it can do before it knows the present state.
    Prepare,
    /// It takes over.
    TakeOver,
}

/// Calls the method of the successor by which it takes over, as a portal would: it finds the thread, and the addresses of `estate` and of where the face leads, 0: it only
/// prepares. From taking over it comes back only if it refuses.
///
/// Whoever says where that is, is trusted as the memory manager is, which mapped the code there.
pub fn offer<T>(method: u64, thread: u64, estate: &T, step: Step) -> Reply {
    // SAFETY: the supervisor alone says where the method is, from the record of what was loaded for this region, and its letters are compared
    // as those of every export. It runs on this stack, and what it borrows is not used while it runs.
    let method: EntryPoint = unsafe { core::mem::transmute(method as *const ()) };
    let estate = from_ref(estate) as u64;
    let leads = match step {
        Step::Prepare => 0,
        Step::TakeOver => from_ref(&LEADS) as u64,
    };
    method(0, thread, estate, leads, 0, 0, 0, 0)
}

/// What the predecessor offers, in the successor's method.
///
/// # Panics
/// If it is not aligned: then it is none.
pub fn offered<T>(estate: u64) -> &'static T {
    let estate = estate as *const T;
    assert!(!estate.is_null() && estate.is_aligned(), "no predecessor calls");
    // SAFETY: the component is called only by its predecessor before it has taken over, which its own state says. What is there
    // begins with a word that says whether both mean the same.
    unsafe { &*estate }
}

/// From now on the face of the predecessor leads to this component.
pub fn take_lead(leads: u64) {
    // SAFETY: as above.
    let leads = unsafe { &*(leads as *const Leads) };
    leads.active.store(from_ref(&leads.successors).cast_mut(), Relaxed);
}
