//! An object that is passed on, who makes it, and who gets it.
#![no_std]
#![forbid(unsafe_code)]

use cairn::{Caller, Error, Grant, Object, Place};
use cairn_interfaces::{Lock, Semaphore, Threads};

/// Who makes coins.
#[cairn::interface]
pub trait Bank {
    /// A coin of this value.
    fn coin(&self, place: Place, value: u64) -> Result<Object<dyn Coin>, Error>;
    /// Ends the coins of this value; the value is how many blocks of portals led to them.
    fn melt(&self, value: u64) -> Result<u64, Error>;
    /// Lets one thread go on that waits in a coin.
    fn release(&self) -> Result<(), Error>;
    /// How many threads have come to wait in one, in all.
    fn waiting(&self) -> Result<u64, Error>;
    /// Passes a coin on to who serves it.
    fn deposit(&self, coin: Object<dyn Coin>) -> Result<(), Error>;
    /// Answers with a coin of another bank, which it is passed, where the client wants one of this bank's. It holds it until it is told.
    fn change(&self, place: Place, coin: Object<dyn Coin>) -> Result<Object<dyn Coin>, Error>;
    /// Gives up the coin of another bank.
    fn close(&self) -> Result<(), Error>;
}

/// What is passed on.
#[cairn::interface]
pub trait Coin {
    /// Its value.
    fn value(&self) -> Result<u64, Error>;
    /// The value and a number.
    fn add(&self, number: u64) -> Result<u64, Error>;
    /// The instance that calls.
    fn caller(&self, caller: Caller) -> Result<u64, Error>;
    /// Waits until the bank is told; then the value.
    fn wait(&self) -> Result<u64, Error>;
    /// The sum of bytes.
    fn sum(&self, bytes: &[u8]) -> Result<u64, Error>;
}

/// Who gets coins, and does with them what it is told, whatever it may.
#[cairn::interface]
pub trait Agent {
    /// Accepts a coin; the value is the place where it has it.
    fn keep(&self, coin: Object<dyn Coin>) -> Result<u64, Error>;
    /// Accepts a semaphore, raises it, and gives it up.
    fn raise(&self, semaphore: Object<dyn Semaphore>) -> Result<(), Error>;
    /// Accepts a semaphore; the value is the place where it has it.
    fn keep_semaphore(&self, semaphore: Object<dyn Semaphore>) -> Result<u64, Error>;
    /// The same of a lock.
    fn keep_lock(&self, lock: Object<dyn Lock>) -> Result<u64, Error>;
    /// The same of the scheduler's service for threads.
    fn keep_threads(&self, threads: Object<dyn Threads>) -> Result<u64, Error>;
    /// Does one of these [`operations`] with what it has at a place, so often; the value is how many were successful if any were, and else
    /// the last one's error.
    fn operate(&self, place: u64, operation: u64, times: u64) -> Result<u64, Error>;
    /// Takes the lock at a place, and faults.
    fn fall(&self, place: u64) -> Result<(), Error>;
    /// Accepts a bank, asks it how many have waited there, and gives it up.
    fn ask(&self, bank: Object<dyn Bank>) -> Result<u64, Error>;
    /// Accepts what `granter` is said to have granted by this word.
    fn keep_word(&self, granter: u64, word: u64) -> Result<u64, Error>;
    /// Tries so many words from one on, as if each of the first `granters` instances had granted it; the value is how many it got.
    fn guess(&self, from: u64, words: u64, granters: u64) -> Result<u64, Error>;
    /// Calls a method of the coin at a place, by its number; the value is what that answers.
    fn call(&self, place: u64, method: u64) -> Result<u64, Error>;
    /// Calls it so often; the value is how many of these calls were answered.
    fn hammer(&self, place: u64, times: u64) -> Result<u64, Error>;
    /// Gives a coin up.
    fn drop(&self, place: u64) -> Result<(), Error>;
    /// Grants the coin at a place to an instance; the word that names the grant.
    fn pass(&self, place: u64, to: u64, passes: u64, calls: u64) -> Result<u64, Error>;
    /// Takes a grant back.
    fn revoke(&self, word: u64) -> Result<(), Error>;
    /// Grants the coin at a place to its caller, as a method returns what it holds.
    fn lend(&self, caller: Caller, place: u64) -> Result<Grant<dyn Coin>, Error>;
    /// Grants a coin of its own to an instance until it may grant no more; the value is how often it did, and the error is another.
    fn flood(&self, to: u64) -> Result<u64, Error>;
}

/// What an agent does with a semaphore, a lock, or the scheduler.
pub mod operations {
    pub const P: u64 = 0;
    pub const V: u64 = 1;
    pub const TRY_P: u64 = 2;
    pub const P_UNTIL_NOW: u64 = 3;
    pub const LOCK: u64 = 4;
    pub const UNLOCK: u64 = 5;
    pub const OWN_NAME: u64 = 6;
}
