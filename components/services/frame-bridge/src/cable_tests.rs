use crate::cable::{Cable, FRAMES, address};
use cairn::{Error, InstanceId};

const ENDS: usize = 3;

/// A cable, and three clients that listen.
fn cable() -> Box<Cable<ENDS>> {
    let mut cable = Box::new(Cable::new());
    for number in 0..ENDS {
        let end = cable.end_of(client(number)).expect("an end");
        assert_eq!(end, number);
        cable.begin(end);
    }
    cable
}

fn client(number: usize) -> InstanceId {
    InstanceId(10 + number as u16)
}

fn taken(cable: &mut Cable<ENDS>, end: usize) -> Option<Vec<u8>> {
    cable.take(end, <[u8]>::to_vec)
}

fn kept(cable: &mut Cable<ENDS>, from: usize, frame: &[u8]) -> Vec<usize> {
    let mut ends = Vec::new();
    cable.send(from, frame, |end| ends.push(end));
    ends
}

#[test]
fn all_others_receive_in_order() {
    let mut cable = cable();
    assert_eq!(kept(&mut cable, 1, b"first"), [0, 2]);
    assert_eq!(kept(&mut cable, 2, b"second, which is longer"), [0, 1]);
    assert_eq!(taken(&mut cable, 0).as_deref(), Some(&b"first"[..]));
    assert_eq!(taken(&mut cable, 0).as_deref(), Some(&b"second, which is longer"[..]));
    assert_eq!(taken(&mut cable, 0), None);
    assert_eq!(taken(&mut cable, 1).as_deref(), Some(&b"second, which is longer"[..]));
    assert_eq!(taken(&mut cable, 1), None);
}

#[test]
fn what_does_not_fit_is_lost_for_one_alone() {
    let mut cable = cable();
    for number in 0..FRAMES + 5 {
        let ends = kept(&mut cable, 0, &[number as u8]);
        assert_eq!(ends, if number < FRAMES { vec![1, 2] } else { vec![2] });
        assert_eq!(taken(&mut cable, 2), Some(vec![number as u8]));
    }
    for number in 0..FRAMES {
        assert_eq!(taken(&mut cable, 1), Some(vec![number as u8]));
    }
    assert_eq!(taken(&mut cable, 1), None);
    assert_eq!(kept(&mut cable, 0, &[9]), [1, 2]);
    assert_eq!(kept(&mut cable, 0, &[0; 1515]), [0usize; 0]);
    assert_eq!(kept(&mut cable, 0, &[7; 1514]), [1, 2]);
}

#[test]
fn who_leaves_loses_its_queue_and_keeps_its_end() {
    let mut cable = cable();
    kept(&mut cable, 0, b"old");
    assert_eq!(cable.leave(1), 1);
    assert_eq!(kept(&mut cable, 0, b"to nobody"), [2]);
    assert_eq!(cable.end_of(client(1)), Ok(1));
    cable.begin(1);
    assert_eq!(taken(&mut cable, 1), None);
    assert_eq!(kept(&mut cable, 0, b"new"), [1, 2]);
    assert_eq!(taken(&mut cable, 1).as_deref(), Some(&b"new"[..]));
    // Who begins anew without having left gets nothing old either.
    kept(&mut cable, 0, b"old");
    kept(&mut cable, 2, b"old");
    assert_eq!(cable.begin(1), 2);
    assert_eq!(taken(&mut cable, 1), None);
}

#[test]
fn an_end_of_one_that_is_gone_is_another_s() {
    let mut cable = cable();
    assert_eq!(cable.end_of(client(3)), Err(Error::Exhausted));
    kept(&mut cable, 0, b"not for the next");
    cable.leave(2);
    assert_eq!(cable.end_of(client(3)), Ok(2));
    assert_eq!(taken(&mut cable, 2), None);
    cable.begin(2);
    assert_eq!(cable.end_of(client(2)), Err(Error::Exhausted));
}

#[test]
fn addresses_are_the_network_s_own_and_of_one_each() {
    assert_eq!(address(0).to_le_bytes(), [2, 0, 0, 0, 0, 1, 0, 0]);
    assert_ne!(address(0), address(1));
}
