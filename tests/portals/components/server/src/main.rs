//! Serves exports, objects and a registration.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::object::ObjectTable;
use cairn::window::ReadWindow;
use cairn::{Error, Object, Place};
use cairn_abi::InstanceId;
use cairn_abi::descriptor::Reply;
use cairn_interfaces::{Portals, SemaphoreProxy};
use cairn_test_portals_contract::{Counter, Harmless, Late, Service, Slow};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

struct Server;
static SERVER: Server = Server;
struct Count {
    next: AtomicU64,
    control: AtomicU64,
}
static COUNTERS: ObjectTable<Count, 256> = ObjectTable::new();
static INSIDE: AtomicU64 = AtomicU64::new(0);
static GATE: AtomicU32 = AtomicU32::new(0);
static PROGRESS: AtomicU64 = AtomicU64::new(0);

cairn::component! {
    name: "portal-test-server",
    imports: { portals: Portals },
    exports: { service: Service = SERVER, slow: Slow = SERVER, secret: Service = SERVER },
    objects: { counter: Counter = COUNTERS },
}

extern "C" fn multiply(
    _: u64,
    left: u64,
    right: u64,
    _: u64,
    _: u64,
    _: u64,
    _: u64,
    _: u64,
) -> Reply {
    Reply { status: 0, value: left.wrapping_mul(right) }
}

/// Letters of two methods, beside the version of [`Harmless`].
const HOSTILE: [[&[u8]; 2]; 5] =
    [[b"cii", b"cr"], [b"cr", b"cr"], [b"cii", b"cw"], [b"cii", b"cii"], [b"ciii", b"cr"]];

fn register_hostile(letters: &[&[u8]; 2]) -> Result<(), Error> {
    let version = <dyn Harmless as cairn::component::Interface>::DESCRIPTOR.version;
    let mut methods = [0; 8 + 2 * 24];
    methods[..8].copy_from_slice(&version.to_le_bytes());
    for (method, letters) in methods[8..].chunks_exact_mut(24).zip(letters) {
        method[..letters.len()].copy_from_slice(letters);
        method[16..].copy_from_slice(&(multiply as *const () as u64).to_le_bytes());
    }
    // The one of the attempt before, if there is one.
    let _ = imports::PORTALS.unregister("server.hostile");
    imports::PORTALS.register("server.hostile", "*", &methods)
}

impl Service for Server {
    fn add(&self, left: u64, right: u64) -> Result<u64, Error> {
        left.checked_add(right).ok_or(Error::BadArgument)
    }

    fn sum(&self, bytes: ReadWindow<'_>) -> Result<u64, Error> {
        let mut sum = 0;
        bytes.pieces::<64>(|piece| {
            sum += piece.iter().map(|byte| u64::from(*byte)).sum::<u64>();
            Ok(())
        })?;
        Ok(sum)
    }

    fn counter(&self, place: Place, first: u64) -> Result<Object<dyn Counter>, Error> {
        let control =
            COUNTERS.insert(Count { next: AtomicU64::new(first), control: AtomicU64::new(0) })?;
        COUNTERS.with(control, |count| count.control.store(control, Ordering::Relaxed))?;
        imports::PORTALS.grant(place, control).inspect_err(|_| {
            // Nobody knows it.
            let _ = COUNTERS.remove(control);
        })
    }

    fn claim(&self, _place: Place) -> Result<Object<dyn Counter>, Error> {
        Ok(Object::from_first_portal(0))
    }

    fn counter_for(&self, victim: u64, place: u64) -> Result<(), Error> {
        imports::PORTALS.make_object(InstanceId(victim as u16), place, "Counter", 0)
    }

    fn end_counter(&self, control: u64) -> Result<u64, Error> {
        imports::PORTALS.end_object("Counter", control)
    }

    fn revoke_slow(&self, client: u64) -> Result<u64, Error> {
        imports::PORTALS.revoke("slow", InstanceId(client as u16))
    }

    fn inside(&self) -> Result<u64, Error> {
        Ok(INSIDE.load(Ordering::Relaxed))
    }

    fn release(&self) -> Result<(), Error> {
        SemaphoreProxy::at(GATE.load(Ordering::Relaxed)).v()
    }

    fn register(&self, attempt: u64) -> Result<(), Error> {
        if attempt == 110 {
            // A handle of the registered type, and a word.
            let mut methods = [0; 32];
            methods[8..11].copy_from_slice(b"cHi");
            methods[24..].copy_from_slice(&(multiply as *const () as u64).to_le_bytes());
            return imports::PORTALS.register("server.handles", "*", &methods);
        }
        if attempt == 111 {
            let mut methods = [0; 32];
            methods[8..11].copy_from_slice(b"cDi");
            methods[24..].copy_from_slice(&(multiply as *const () as u64).to_le_bytes());
            return imports::PORTALS.register("server.table", "*", &methods);
        }
        if attempt == 99 {
            return imports::PORTALS.unregister("server.hostile");
        }
        if let Some(letters) = HOSTILE.get((attempt as usize).wrapping_sub(100)) {
            return register_hostile(letters);
        }
        let version = <dyn Late as cairn::component::Interface>::DESCRIPTOR.version;
        let entry = multiply as *const () as u64;
        let (name, letters, entry): (&str, &[u8; 12], u64) = match attempt {
            0 => ("server.late", b"cii\0\0\0\0\0\0\0\0\0", entry),
            1 => ("tester.late", b"cii\0\0\0\0\0\0\0\0\0", entry),
            2 => ("server.bad", b"cix\0\0\0\0\0\0\0\0\0", entry),
            3 => ("server.bad", b"ii\0\0\0\0\0\0\0\0\0\0", entry),
            4 => ("server.bad", b"crrrr\0\0\0\0\0\0\0", entry),
            5 => ("server.bad", b"c\0i\0\0\0\0\0\0\0\0\0", entry),
            6 => ("server.bad", b"cii\0\0\0\0\0\0\0\0\0", 0x1000),
            _ => ("server.service", b"cii\0\0\0\0\0\0\0\0\0", entry),
        };
        let mut methods = [0; 32];
        methods[..8].copy_from_slice(&version.to_le_bytes());
        methods[8..20].copy_from_slice(letters);
        methods[24..].copy_from_slice(&entry.to_le_bytes());
        imports::PORTALS.register(name, "tester partner", &methods)
    }

    fn unregister(&self) -> Result<(), Error> {
        imports::PORTALS.revoke("late", InstanceId(0))?;
        imports::PORTALS.unregister("server.late")
    }

    fn report(&self, progress: u64) -> Result<(), Error> {
        PROGRESS.store(progress, Ordering::Relaxed);
        Ok(())
    }

    fn progress(&self) -> Result<u64, Error> {
        Ok(PROGRESS.load(Ordering::Relaxed))
    }
}

impl Slow for Server {
    fn hold(&self) -> Result<u64, Error> {
        if GATE.load(Ordering::Relaxed) == 0 {
            GATE.store(imports::PORTALS.semaphore(0)?.first_portal(), Ordering::Relaxed);
        }
        INSIDE.fetch_add(1, Ordering::Relaxed);
        let result = SemaphoreProxy::at(GATE.load(Ordering::Relaxed)).p();
        INSIDE.fetch_sub(1, Ordering::Relaxed);
        result.map(|()| 42)
    }
}

impl Counter for Count {
    fn next(&self) -> Result<u64, Error> {
        Ok(self.next.fetch_add(1, Ordering::Relaxed))
    }

    fn control(&self) -> Result<u64, Error> {
        Ok(self.control.load(Ordering::Relaxed))
    }

    fn close(&self) -> Result<(), Error> {
        COUNTERS.remove(self.control.load(Ordering::Relaxed))
    }
}
