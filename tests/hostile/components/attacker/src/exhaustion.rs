//! Takes all there is.

use crate::imports::{MEMORY, NAMES, PORTALS};
use crate::threads;
use cairn::Error;
use cairn_test_hostile_contract::Victim;

/// More attempts than any quota allows.
const ATTEMPTS: u64 = 5000;

/// Repeats until it fails; answers that status.
fn until_refused(mut attempt: impl FnMut(u64) -> Result<(), Error>) -> Result<u64, Error> {
    for number in 0..ATTEMPTS {
        if let Err(error) = attempt(number) {
            return Ok(error.status() as u64);
        }
    }
    Ok(0)
}

fn forever() {
    loop {
        core::hint::spin_loop();
    }
}

pub fn threads() -> Result<u64, Error> {
    // At the lowest priority there is, so that they do not run.
    until_refused(|_| match threads::spawn(forever as *const () as u64, 0, 1) {
        (0, _) => Ok(()),
        (status, _) => Err(Error::from_status(status)),
    })
}

pub fn memory() -> Result<u64, Error> {
    until_refused(|_| MEMORY.allocate(1).map(drop))
}

pub fn portals() -> Result<u64, Error> {
    until_refused(|_| PORTALS.open_object::<dyn Victim>("victim.victim").map(drop))
}

pub fn names() -> Result<u64, Error> {
    let mut methods = [0; 32];
    methods[8] = b'c';
    methods[24..].copy_from_slice(&(forever as *const () as u64).to_le_bytes());
    let refused = until_refused(|number| {
        let digits = [b'a' + (number / 26 % 26) as u8, b'a' + (number % 26) as u8];
        let mut name = *b"attacker.__";
        name[9..].copy_from_slice(&digits);
        PORTALS.register(core::str::from_utf8(&name).map_err(|_| Error::Malformed)?, "*", &methods)
    });
    let mut text = [0; 64];
    NAMES.list(0, &mut text)?;
    refused
}

pub fn semaphores() -> Result<u64, Error> {
    until_refused(|_| PORTALS.semaphore(0).map(drop))
}

pub fn locks() -> Result<u64, Error> {
    until_refused(|_| PORTALS.lock().map(drop))
}
