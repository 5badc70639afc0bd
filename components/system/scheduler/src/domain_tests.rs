//! Instances come and go, and others come under their numbers: nothing of the first ones remains.

use crate::testing::*;
use crate::*;
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::Ordering::Relaxed;

const START: Start = Start { entry: 0x1000, stack: 0x2000, argument: 3 };
const NEW: InstanceId = InstanceId(7);
const DEVICE: u16 = 40;
const SMALL: Quota = Quota { threads: 2, semaphores: 2, locks: 1, priority: 30 };

/// Ends all threads of an instance, and reclaims it.
fn end(s: &mut TestScheduler, instance: InstanceId) {
    for thread in 1..=255 {
        if let (true, Ok(handle)) = (s.home(thread) == instance, s.handle(thread)) {
            s.kill(1, handle, 0);
        }
    }
    let mut cursor = 0;
    loop {
        let value = match s.reclaim(1, instance, cursor, 0) {
            Outcome::Reply { status: 0, value } => value,
            other => panic!("{other:?}"),
        };
        cursor = value;
        if cursor == 0 {
            return;
        }
    }
}

/// An interrupt of it is not for the next driver.
fn remove_device(s: &mut TestScheduler, instance: InstanceId) {
    s.v(1, DEVICE.into(), 0);
    assert_eq!(s.remove_device(instance, DEVICE), Ok(()));
    assert_eq!(s.add_device(TWO, DEVICE), Ok(()));
    assert_eq!(s.machine().semaphore(DEVICE)[0].load(Relaxed), 0);
    assert_eq!(s.remove_device(TWO, DEVICE), Ok(()));
}

fn begin(s: &mut TestScheduler, instance: InstanceId, priority: u64) -> Handle {
    match s.start_first(1, instance, START, priority, 0) {
        Outcome::Reply { status: 0, value } => Handle(value),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_number_has_one_instance_at_a_time() {
    let mut s = scheduler(&[50]);
    assert_eq!(s.add_domain(ONE, QUOTA), Err(Error::Busy), "the layout's");
    assert_eq!(s.add_domain(NEW, SMALL), Ok(()));
    assert_eq!(s.add_domain(NEW, QUOTA), Err(Error::Busy));
    assert_eq!(s.retire_domain(NEW), Ok(()));
    assert_eq!(s.add_domain(NEW, QUOTA), Ok(()));
    let beyond = InstanceId(INSTANCES_MAXIMUM as u16);
    assert_eq!(s.add_domain(beyond, QUOTA), Err(Error::BadArgument));
    assert_eq!(s.retire_domain(beyond), Err(Error::BadArgument));
    // Without a quota, too.
    let without = InstanceId(8);
    assert_eq!(s.add_domain(without, Quota::NONE), Ok(()));
    assert_eq!(s.add_domain(without, Quota::NONE), Err(Error::Busy));
}

#[test]
fn nothing_of_a_retired_instance_remains() {
    let mut s = scheduler(&[50]);
    s.add_domain(NEW, SMALL).unwrap();
    s.add_device(NEW, DEVICE).unwrap();
    let first = begin(&mut s, NEW, 20);
    let semaphore = s.create_semaphore(NEW, 1).unwrap();
    let lock = s.create_lock(NEW).unwrap();
    assert_eq!(s.held(NEW), Ok([1, 1, 1]));
    // A thread of another instance waits in it, and one for its device.
    let begun = [20, 20].map(|priority| match s.spawn(1, ONE, START, priority, 0) {
        Outcome::Reply { status: 0, value } => Handle(value),
        other => panic!("{other:?}"),
    });
    s.p(1, NEW, semaphore.into(), 0);
    s.stop(1, first, 0);
    s.p(1, NEW, DEVICE.into(), 0);
    s.p(begun[0].thread(), NEW, semaphore.into(), 0);

    assert_eq!(s.remove_device(NEW, DEVICE), Err(Error::Busy), "its threads are there");
    assert_eq!(s.retire_domain(NEW), Err(Error::Busy), "it is still there");
    s.v(begun[1].thread(), DEVICE.into(), 0);
    end(&mut s, NEW);
    assert_eq!(s.held(NEW), Ok([0, 0, 0]));
    remove_device(&mut s, NEW);
    assert_eq!(s.retire_domain(NEW), Ok(()));
    assert_eq!(s.handle(first.thread()), Err(Error::NotFound));

    // Another owner, of another size.
    s.add_domain(NEW, Quota { threads: 1, semaphores: 1, locks: 0, priority: 10 }).unwrap();
    assert_eq!(
        s.next_returned(),
        Err(Error::NotFound),
        "that its predecessor's first thread ended"
    );
    assert_eq!(s.held(NEW), Ok([0, 0, 0]));
    assert_eq!(s.create_lock(NEW), Err(Error::Exhausted));
    assert_eq!(s.free_lock(NEW, lock.into()), Err(Error::NotFound));
    assert_eq!(s.free_semaphore(NEW, semaphore.into()), Err(Error::NotFound));
    assert_eq!(s.start_first(1, NEW, START, 11, 0), refused(Error::NotAllowed));
    let second = begin(&mut s, NEW, 10);
    assert_ne!(first, second);
    assert_eq!(s.join(1, ONE, first, 0), OK, "another thread has its number, none its name");
    assert_eq!(s.spawn(1, NEW, START, 10, 0), refused(Error::Exhausted));
    // The device's semaphore is whose driver comes next.
    assert_eq!(s.add_device(TWO, DEVICE), Ok(()));
    assert_eq!(s.add_device(NEW, DEVICE), Err(Error::Busy));
}

#[test]
fn a_death_keeps_the_devices_of_an_instance() {
    let mut s = scheduler(&[50]);
    s.add_domain(NEW, SMALL).unwrap();
    s.add_device(NEW, DEVICE).unwrap();
    assert_eq!(s.held(NEW), Ok([0, 0, 0]), "beside its quota");
    end(&mut s, NEW);
    assert_eq!(s.add_device(NEW, DEVICE), Err(Error::Busy));
    assert_eq!(s.retire_domain(NEW), Err(Error::Busy));
    remove_device(&mut s, NEW);
    assert_eq!(s.retire_domain(NEW), Ok(()));
    assert_eq!(s.add_domain(NEW, SMALL), Ok(()));
    assert_eq!(s.add_device(NEW, DEVICE), Ok(()));
}

/// Whatever of an instance is still there when it is to retire: it can go on as if nobody had asked.
#[test]
fn who_cannot_retire_is_as_before() {
    let takes: [fn(&mut TestScheduler); 4] = [
        |s| _ = begin(s, NEW, 20),
        |s| _ = s.create_semaphore(NEW, 0).unwrap(),
        |s| _ = s.create_lock(NEW).unwrap(),
        |s| s.add_device(NEW, DEVICE).unwrap(),
    ];
    for (number, take) in takes.into_iter().enumerate() {
        let mut s = scheduler(&[50]);
        s.add_domain(NEW, SMALL).unwrap();
        take(&mut s);
        assert_eq!(s.retire_domain(NEW), Err(Error::Busy), "{number}");
        assert_eq!(s.add_domain(NEW, QUOTA), Err(Error::Busy), "{number}: it is there");
        // Its devices stay when it starts again.
        end(&mut s, NEW);
        assert_eq!(s.retire_domain(NEW), if number == 3 { Err(Error::Busy) } else { Ok(()) });
        if number == 3 {
            assert_eq!(s.v(1, DEVICE.into(), 0), OK);
        } else {
            s.add_domain(NEW, SMALL).unwrap();
        }
        let made = [0; 3].map(|initial| s.create_semaphore(NEW, initial).is_ok());
        assert_eq!(made, [true, true, false], "{number}: its quota");
        assert!(s.create_lock(NEW).is_ok());
        begin(&mut s, NEW, 30);
    }
    // Its first thread's end is told after that.
    let mut s = scheduler(&[50]);
    s.add_domain(NEW, SMALL).unwrap();
    s.create_semaphore(NEW, 0).unwrap();
    let first = begin(&mut s, NEW, 20);
    s.kill(1, first, 0);
    assert_eq!(s.retire_domain(NEW), Err(Error::Busy));
    assert_eq!(s.next_returned(), Ok(NEW));
}

#[test]
fn only_a_dead_drivers_device_is_removed() {
    let mut s = scheduler(&[50, 40]);
    s.add_domain(NEW, SMALL).unwrap();
    s.add_device(NEW, DEVICE).unwrap();
    let own = s.create_semaphore(NEW, 0).unwrap();
    let refused = [
        (ONE, DEVICE, Error::NotAllowed),
        (NEW, own, Error::NotAllowed),
        (NEW, DEVICE + 1, Error::NotFound),
        (NEW, u16::MAX, Error::BadArgument),
        (InstanceId(INSTANCES_MAXIMUM as u16), DEVICE, Error::BadArgument),
    ];
    for (instance, semaphore, error) in refused {
        assert_eq!(s.remove_device(instance, semaphore), Err(error), "{instance} {semaphore}");
    }
    // A thread of another instance waits for it.
    s.p(1, ONE, DEVICE.into(), 0);
    assert_eq!(s.remove_device(NEW, DEVICE), Err(Error::Busy));
    s.v(2, DEVICE.into(), 0);
    end(&mut s, NEW);
    remove_device(&mut s, NEW);
    assert_eq!(s.remove_device(NEW, DEVICE), Err(Error::NotFound));
    assert_eq!(s.retire_domain(NEW), Ok(()));
}

#[test]
fn many_instances_come_and_go_under_all_numbers() {
    let mut s = scheduler(&[50]);
    for round in 0..3u8 {
        for number in 3..INSTANCES_MAXIMUM as u16 {
            let quota =
                Quota { threads: 1, semaphores: u16::from(round) + 1, locks: 1, priority: 10 };
            s.add_domain(InstanceId(number), quota).unwrap();
            let semaphores =
                (0..10).take_while(|_| s.create_semaphore(InstanceId(number), 0).is_ok());
            assert_eq!(semaphores.count(), usize::from(round) + 1, "{number}");
            begin(&mut s, InstanceId(number), 10);
            assert_eq!(s.retire_domain(InstanceId(number)), Err(Error::Busy));
            end(&mut s, InstanceId(number));
            s.retire_domain(InstanceId(number)).unwrap();
        }
    }
    assert_eq!(s.next_returned(), Err(Error::NotFound));
}

#[test]
fn a_child_has_its_quota_from_its_parent() {
    let mut s = scheduler(&[50]);
    let (parent, child, grandchild) = (NEW, InstanceId(8), InstanceId(9));
    let quota = Quota { threads: 5, semaphores: 4, locks: 3, priority: 30 };
    assert_eq!(s.add_domain(parent, quota), Ok(()));
    let least = Quota { threads: 1, semaphores: 1, locks: 1, priority: 30 };
    for (wanted, error) in [
        (Quota { threads: 6, ..SMALL }, Error::Exhausted),
        (Quota { semaphores: 5, ..SMALL }, Error::Exhausted),
        (Quota { locks: 4, ..SMALL }, Error::Exhausted),
        (Quota { priority: 31, ..SMALL }, Error::NotAllowed),
    ] {
        assert_eq!(s.add_child(child, parent, wanted), Err(error), "{wanted:?}");
    }
    for nobody in [child, InstanceId(0), InstanceId(200)] {
        assert_eq!(s.add_child(child, nobody, least), Err(Error::BadArgument));
    }
    // What the parent uses it does not give.
    let locks = [(); 2].map(|()| s.create_lock(parent).unwrap());
    assert_eq!(s.add_child(child, parent, Quota { locks: 2, ..least }), Err(Error::Exhausted));
    assert_eq!(s.add_child(child, parent, SMALL), Ok(()));
    assert_eq!(s.add_child(child, parent, Quota::NONE), Err(Error::Busy));
    assert_eq!(s.create_lock(parent), Err(Error::Exhausted), "its child may have it");
    assert_eq!(s.add_child(grandchild, child, least), Ok(()));
    assert_eq!(s.create_lock(child), Err(Error::Exhausted), "its own has it");
    let lock = s.create_lock(grandchild).unwrap();
    assert_eq!(s.retire_child(grandchild, child), Err(Error::Busy));
    s.free_lock(grandchild, lock.into()).unwrap();
    assert_eq!(s.retire_child(grandchild, child), Ok(()));
    assert_eq!(s.retire_child(child, parent), Ok(()));
    for lock in locks {
        s.free_lock(parent, lock.into()).unwrap();
    }
    // All of it is there again.
    let all = s.add_child(child, parent, quota);
    assert_eq!(all, Ok(()));
    assert_eq!(s.add_child(grandchild, child, quota), Ok(()));
}
