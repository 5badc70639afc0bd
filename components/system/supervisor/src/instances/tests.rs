//! Instances come and go.

use super::*;

const ONE: InstanceId = InstanceId(1);
const LAST: InstanceId = InstanceId(INSTANCES_MAXIMUM as u16 - 1);

#[test]
fn an_instance_is_there_from_its_adding_to_its_retiring() {
    let instances = Instances::new();
    for nobody in [InstanceId(0), InstanceId(INSTANCES_MAXIMUM as u16), InstanceId(u16::MAX)] {
        assert_eq!(instances.add_domain(nobody), Err(Error::BadArgument));
    }
    for instance in [ONE, LAST] {
        assert_eq!(instances.state(instance).phase(), Phase::Absent);
        assert_eq!(instances.retire_domain(instance, instance), Err(Error::NotFound));
        assert_eq!(instances.add_domain(instance), Ok(()));
        assert!(instances.state(instance).is_alive());
        assert_eq!(instances.add_domain(instance), Err(Error::Busy));
    }
    assert_eq!(instances.undone().count(), 0);
    instances.enter(LAST, Phase::Closing);
    assert!(instances.undone().eq([LAST]));
    assert_eq!(instances.add_domain(LAST), Err(Error::Busy), "it is not cleaned up");
}

#[test]
fn only_who_is_dead_for_good_retires_and_leaves_nothing() {
    let instances = Instances::new();
    instances.add_domain(ONE).unwrap();
    let state = instances.state(ONE);
    let others = (1..=Phase::Quarantined as u8).map(Phase::of);
    for phase in others {
        instances.enter(ONE, phase);
        state.due.store(7, Relaxed);
        assert_eq!(instances.retire_domain(ONE, ONE), Err(Error::Busy), "{phase:?}");
        let is_dead = matches!(phase, Phase::Dead | Phase::Renewing | Phase::Sweeping);
        let begun = if is_dead { Ok(()) } else { Err(Error::Busy) };
        assert_eq!(instances.retire(ONE), begun, "{phase:?}");
        let next = if is_dead { Phase::Retiring } else { phase };
        assert_eq!(state.phase(), next, "{phase:?}");
    }
    instances.enter(ONE, Phase::Dead);
    assert_eq!(instances.retire(ONE), Ok(()));
    assert_eq!(instances.retire(ONE), Ok(()), "it does");
    assert_eq!(state.due.load(Relaxed), u64::MAX, "no next life");
    for word in [&state.started, &state.died, &state.look, &state.look_interval] {
        word.store(7, Relaxed);
    }
    for count in [&state.pages, &state.page_quota] {
        count.store(7, Relaxed);
    }
    state.faults.store(7, Relaxed);
    state.restarts.store(7, Relaxed);
    state.wanted.store(7, Relaxed);
    state.sleeps.store(true, Relaxed);
    assert_eq!(instances.retire_domain(ONE, ONE), Ok(()));
    assert_eq!(instances.retire_domain(ONE, ONE), Err(Error::NotFound));
    assert_eq!(instances.undone().count(), 0);
    assert_eq!(instances.add_domain(ONE), Ok(()));
    let fresh = InstanceState::new();
    fresh.phase.store(Phase::Alive as u8, Relaxed);
    fresh.at.store(ONE.0, Relaxed);
    fresh.due.store(u64::MAX, Relaxed);
    assert_eq!(format!("{state:?}"), format!("{fresh:?}"));
}

#[test]
fn who_ends_with_others_is_no_more_when_their_leader_retires() {
    let instances = Instances::new();
    let [leader, fellow] = [ONE, LAST];
    [leader, fellow].into_iter().for_each(|one| instances.add_domain(one).unwrap());
    assert_eq!(instances.retire_domain(fellow, leader), Err(Error::Busy), "they live");
    instances.enter(leader, Phase::Dead);
    assert_eq!(instances.retire_domain(fellow, leader), Err(Error::Busy), "they will");
    instances.retire(leader).unwrap();
    assert_eq!(instances.retire_domain(fellow, leader), Ok(()));
    assert_eq!(instances.add_domain(fellow), Ok(()), "the number is another's");
    assert_eq!(instances.retire_domain(fellow, fellow), Err(Error::Busy));
    assert_eq!(instances.retire_domain(leader, leader), Ok(()));
}
