//! What servers registered or published at run time.

use crate::blocks::Kind;
use cairn_abi::Error;
use cairn_abi::descriptor::{LETTERS_SIZE, METHODS_MAXIMUM};

/// Most bytes of a name `instance.export`.
pub const NAME_MAXIMUM: usize = 63;
/// Most registrations of the system.
pub const REGISTRATIONS_MAXIMUM: usize = 64;
/// Most of one server, so that one cannot take them all.
const REGISTRATIONS_OF_SERVER: usize = 8;

/// A registration.
#[derive(Clone, Copy)]
pub struct Registration {
    /// The name server's number for it; zero: unused.
    pub number: u64,
    /// Who serves it.
    pub server: u8,
    /// A semaphore or lock that is published; else entry points of the server's own.
    pub published: Option<Kind>,
    /// Version of the interface.
    pub version: u64,
    /// Its methods.
    pub count: usize,
    /// Letters and entry point of each.
    pub methods: [([u8; LETTERS_SIZE], u64); METHODS_MAXIMUM],
    name: [u8; NAME_MAXIMUM],
    name_length: usize,
}

impl Registration {
    /// Unused.
    pub const FREE: Registration = Registration {
        number: 0,
        server: 0,
        published: None,
        version: 0,
        count: 0,
        methods: [([0; LETTERS_SIZE], 0); METHODS_MAXIMUM],
        name: [0; NAME_MAXIMUM],
        name_length: 0,
    };

    /// An empty one of a server.
    pub fn of(server: u8) -> Registration {
        Registration { server, ..Registration::FREE }
    }

    /// Whether this is its name `instance.name`, or `name`.
    pub fn is_called(&self, name: &str) -> bool {
        let own = &self.name[..self.name_length];
        own == name.as_bytes()
            || own
                .iter()
                .position(|byte| *byte == b'.')
                .is_some_and(|dot| &own[dot + 1..] == name.as_bytes())
    }

    /// The name.
    pub fn name(&self) -> &str {
        core::str::from_utf8(&self.name[..self.name_length]).unwrap_or("?")
    }
}

/// All registrations.
pub struct Registrations([Registration; REGISTRATIONS_MAXIMUM]);

impl Registrations {
    /// None.
    pub const EMPTY: Registrations = Registrations([Registration::FREE; REGISTRATIONS_MAXIMUM]);

    /// The registration that `which` accepts.
    pub fn find(&self, which: impl Fn(&Registration) -> bool) -> Option<&Registration> {
        self.0.iter().find(|registration| registration.number != 0 && which(registration))
    }

    /// A free place, within the server's quota: at most `part`, its part of the table.
    pub fn free(&self, server: u8, part: usize) -> Result<usize, Error> {
        let used = self
            .0
            .iter()
            .filter(|registration| registration.number != 0 && registration.server == server);
        if used.count() >= REGISTRATIONS_OF_SERVER.min(part) {
            return Err(Error::Exhausted);
        }
        self.0.iter().position(|registration| registration.number == 0).ok_or(Error::Exhausted)
    }

    /// Puts one into a free place.
    pub fn put(&mut self, place: usize, name: &str, registration: Registration) {
        let slot = &mut self.0[place];
        *slot = registration;
        slot.name_length = name.len().min(NAME_MAXIMUM);
        slot.name[..slot.name_length].copy_from_slice(&name.as_bytes()[..slot.name_length]);
    }

    /// Forgets those that `which` accepts.
    pub fn forget(&mut self, which: impl Fn(&Registration) -> bool) {
        for registration in &mut self.0 {
            if registration.number != 0 && which(registration) {
                registration.number = 0;
            }
        }
    }
}
