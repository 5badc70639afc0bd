//! Gets coins, and does with them what its client tells it: what it may not, it tries.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::abi::grant::Peer;
use cairn::{Caller, Error, Grant, InstanceId, Object, Passed};
use cairn_interfaces::{Grants, Lock, LockError, Portals, Rights, Semaphore, Threads};
use cairn_test_hostile_capabilities_contract::{Agent, Bank, Coin, CoinProxy, operations};
use core::sync::atomic::{AtomicU32, Ordering};

cairn::component! {
    name: "capabilities-agent",
    imports: { portals: Portals, grants: Grants, bank: Bank },
    exports: { agent: Agent = AGENT },
}

use imports::GRANTS;

struct Server;
static AGENT: Server = Server;

/// The first portals of its coins; zero: none.
// Relaxed: the number is all that there is.
static COINS: [AtomicU32; 160] = [const { AtomicU32::new(0) }; 160];

fn coin(place: u64) -> Result<Object<dyn Coin>, Error> {
    at(place)
}

/// What it has at a place, of whatever interface it is said to be.
fn at<I: ?Sized>(place: u64) -> Result<Object<I>, Error> {
    let first = COINS.get(place as usize).map(|first| first.load(Ordering::Relaxed));
    first.filter(|first| *first != 0).map(Object::from_first_portal).ok_or(Error::NotFound)
}

fn put<I: ?Sized>(object: Object<I>) -> Result<u64, Error> {
    let take = |place: &AtomicU32| {
        let first = object.first_portal();
        place.compare_exchange(0, first, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    };
    COINS.iter().position(take).map(|place| place as u64).ok_or(Error::Exhausted)
}

fn granted_by(granter: u64, word: u64) -> Passed<dyn Coin> {
    Passed::new(Caller(InstanceId(granter as u16)), Grant::from_word(word))
}

fn call(coin: CoinProxy, method: u64) -> Result<u64, Error> {
    match method {
        0 => coin.value(),
        1 => coin.add(1),
        2 => coin.caller(),
        3 => coin.wait(),
        _ => coin.sum(&[1, 2, 3]),
    }
}

fn operate(place: u64, operation: u64) -> Result<(), Error> {
    let semaphore = || Ok::<_, Error>(at::<dyn Semaphore>(place)?.proxy());
    match operation {
        operations::P => semaphore()?.p(),
        operations::V => semaphore()?.v(),
        operations::TRY_P => semaphore()?.try_p(),
        operations::P_UNTIL_NOW => semaphore()?.p_until(cairn::time::now()),
        operations::LOCK => at::<dyn Lock>(place)?.proxy().lock().map_err(|error| match error {
            LockError::OwnerEnded => Error::Dead,
            LockError::Portal(error) => error,
        }),
        operations::UNLOCK => at::<dyn Lock>(place)?.proxy().unlock(),
        _ => at::<dyn Threads>(place)?.proxy().own_name().map(drop),
    }
}

impl Agent for Server {
    fn keep(&self, coin: Passed<dyn Coin>) -> Result<u64, Error> {
        put(GRANTS.take(coin)?)
    }

    fn raise(&self, semaphore: Passed<dyn Semaphore>) -> Result<(), Error> {
        let semaphore = GRANTS.take(semaphore)?;
        let raised = semaphore.proxy().v();
        imports::PORTALS.close(semaphore.first_portal().into()).and(raised)
    }

    fn keep_semaphore(&self, semaphore: Passed<dyn Semaphore>) -> Result<u64, Error> {
        put(GRANTS.take(semaphore)?)
    }

    fn keep_lock(&self, lock: Passed<dyn Lock>) -> Result<u64, Error> {
        put(GRANTS.take(lock)?)
    }

    fn keep_threads(&self, threads: Passed<dyn Threads>) -> Result<u64, Error> {
        put(GRANTS.take(threads)?)
    }

    fn operate(&self, place: u64, operation: u64, times: u64) -> Result<u64, Error> {
        let (mut successful, mut last) = (0, Ok(()));
        for _ in 0..times {
            last = operate(place, operation);
            successful += u64::from(last.is_ok());
        }
        if successful == 0 { last.map(|()| 0) } else { Ok(successful) }
    }

    fn fall(&self, place: u64) -> Result<(), Error> {
        operate(place, operations::LOCK)?;
        panic!("it holds a lock");
    }

    fn ask(&self, bank: Passed<dyn Bank>) -> Result<u64, Error> {
        let bank = GRANTS.take(bank)?;
        let asked = bank.proxy().waiting();
        imports::PORTALS.close(bank.first_portal().into()).and(asked)
    }

    fn keep_word(&self, granter: u64, word: u64) -> Result<u64, Error> {
        put(GRANTS.take(granted_by(granter, word))?)
    }

    fn guess(&self, from: u64, words: u64, granters: u64) -> Result<u64, Error> {
        let mut got = 0;
        for word in from..from + words {
            for granter in 1..=granters {
                got += u64::from(GRANTS.take(granted_by(granter, word)).is_ok());
            }
        }
        Ok(got)
    }

    fn call(&self, place: u64, method: u64) -> Result<u64, Error> {
        call(coin(place)?.proxy(), method)
    }

    fn hammer(&self, place: u64, times: u64) -> Result<u64, Error> {
        let coin = coin(place)?.proxy();
        let answered = |time: &u64| call(coin, time % 3).is_ok();
        Ok((0..times).filter(answered).count() as u64)
    }

    fn drop(&self, place: u64) -> Result<(), Error> {
        let coin = coin(place)?;
        COINS[place as usize].store(0, Ordering::Relaxed);
        imports::PORTALS.close(coin.first_portal().into())
    }

    fn pass(&self, place: u64, to: u64, passes: u64, calls: u64) -> Result<u64, Error> {
        // With 0 all that are left, as an agent that does not know how many it has.
        let rights = Rights { uses: calls as u32, ..Rights::ALL.passed_on(passes as u16) };
        let to = Caller(InstanceId(to as u16));
        GRANTS.pass_to(&coin(place)?, to, rights).map(|grant| grant.word())
    }

    fn revoke(&self, word: u64) -> Result<(), Error> {
        GRANTS.take_back(Grant::<dyn Coin>::from_word(word))
    }

    fn lend(&self, caller: Caller, place: u64) -> Result<Grant<dyn Coin>, Error> {
        GRANTS.pass_to(&coin(place)?, caller, Rights::ALL)
    }

    fn flood(&self, to: u64) -> Result<u64, Error> {
        let own = imports::BANK.coin(imports::PORTALS, 1_000)?;
        let to = Peer::Instance(InstanceId(to as u16)).word();
        let mut count = 0;
        loop {
            match GRANTS.grant(own.first_portal().into(), to, Rights::ALL) {
                Ok(_) => count += 1,
                Err(Error::Exhausted) => return Ok(count),
                Err(error) => return Err(error),
            }
        }
    }
}
