//! A server finds the operations of a transaction as its client wrote them, and nothing where the two do not fit together.

use cairn::Error;
use cairn_driver_interfaces::{Operation, OperationKind, operations};

fn list(all: &[(OperationKind, u32)]) -> Vec<u8> {
    all.iter()
        .flat_map(|(kind, amount)| Operation { kind: *kind, amount: *amount }.to_bytes())
        .collect()
}

#[test]
fn operations_come_with_the_places_of_their_bytes() {
    use OperationKind::*;
    let list = list(&[(Write, 2), (Delay, 1_000_000), (Read, 0), (Transfer, 3)]);
    let found: Vec<_> = operations(&list, 5).unwrap().collect();
    assert_eq!(found.len(), 4);
    assert_eq!(found[1].0, Operation { kind: Delay, amount: 1_000_000 });
    let places: Vec<_> = found.into_iter().map(|(_, place)| place).collect();
    assert_eq!(places, [0..2, 2..2, 2..2, 2..5]);
}

#[test]
fn a_list_that_does_not_fit_its_bytes_is_malformed() {
    use OperationKind::*;
    let malformed = |list: &[u8], length| operations(list, length).err() == Some(Error::Malformed);
    let good = list(&[(Write, 2), (Read, 3)]);
    assert!(!malformed(&good, 5) && !malformed(&[], 0));
    assert!(malformed(&good, 4) && malformed(&good, 6) && malformed(&[], 1));
    assert!(malformed(&good[..9], 5), "half an operation");
    assert!(malformed(&[4, 0, 0, 0, 0], 0), "no such kind");
    let huge = list(&[(Read, u32::MAX), (Read, u32::MAX)]);
    assert!(malformed(&huge, u32::MAX as usize));
}
