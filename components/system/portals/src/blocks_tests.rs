use super::*;

fn domain_of(client: u16) -> DomainId {
    DomainId(client + 5)
}

fn wanted(client: u16, count: usize) -> Wanted {
    let (domain, client, server) = (domain_of(client), InstanceId(client), InstanceId(2));
    Wanted {
        kind: Kind::Object(5, 1),
        client,
        domain,
        server,
        owner: server,
        count,
        is_import: false,
    }
}

fn code(start: u16) -> Forms {
    Forms::of(Code { start, granules: 10, queue: u16::MAX })
}

/// Instances 1 to 5, in domains 6 to 10, with all entries behind the first import.
fn blocks() -> Box<Blocks> {
    let mut blocks = Box::new(Blocks::EMPTY);
    (1..6).for_each(|client| blocks.add_table(domain_of(client), 1024, 0..16));
    blocks
}

fn add(blocks: &mut Blocks, client: u16, count: usize) -> usize {
    let first = blocks.room(domain_of(client), count).unwrap();
    blocks.add(first, &wanted(client, count), code(first as u16 * 10));
    blocks.at(InstanceId(client), first as u64).unwrap()
}

#[test]
fn an_index_is_its_holders_until_it_gives_it_up() {
    let mut blocks = blocks();
    let (one, two) = (add(&mut blocks, 1, 4), add(&mut blocks, 1, 4));
    assert_eq!((blocks.get(one).first(), blocks.get(two).first()), (16, 20));
    assert_eq!(blocks.end(one), code(160).code);
    assert_eq!(
        (blocks.get(one).state(), blocks.open_at(InstanceId(1), 17).is_none()),
        (State::Ended, true)
    );
    assert_eq!((blocks.room(domain_of(1), 4), blocks.at(InstanceId(1), 16)), (Ok(24), Ok(one)));
    assert_eq!(blocks.close(one), Code::NONE, "its code went when it ended");
    assert_eq!(
        (blocks.room(domain_of(1), 4), blocks.at(InstanceId(1), 16)),
        (Ok(16), Err(Error::NotFound))
    );
    blocks.close(two);
    assert_eq!((blocks.room(domain_of(1), 8), blocks.held(InstanceId(1))), (Ok(16), 0));
}

#[test]
fn a_reservation_is_filled_once_by_its_name() {
    let mut blocks = blocks();
    let word = blocks.reserve(&wanted(1, 3)).unwrap();
    let other = blocks.reserve(&wanted(1, 3)).unwrap();
    assert_eq!((word & 0xffff, other & 0xffff), (16, 19));
    let place = blocks.reserved(InstanceId(1), word).unwrap();
    assert!(blocks.open_at(InstanceId(1), 16).is_none());
    for wrong in [16, word + 1, word & 0xffff | 5 << 16, other & !0xffff | 16, u64::MAX] {
        assert_eq!(blocks.reserved(InstanceId(1), wrong), Err(Error::NotFound), "{wrong:#x}");
    }
    assert_eq!(blocks.reserved(InstanceId(2), word), Err(Error::NotFound));
    blocks.fill(place, Kind::Object(5, 77), code(0));
    assert_eq!(blocks.reserved(InstanceId(1), word), Err(Error::NotFound));
    assert_eq!(blocks.open_at(InstanceId(1), 18).unwrap().kind, Kind::Object(5, 77));
    // One that ended, and one that was closed and reserved again, are not filled.
    let place = blocks.reserved(InstanceId(1), other).unwrap();
    blocks.end(place);
    assert_eq!(blocks.reserved(InstanceId(1), other), Err(Error::NotFound));
    blocks.close(place);
    let again = blocks.reserve(&wanted(1, 3)).unwrap();
    assert_eq!((again & 0xffff, blocks.reserved(InstanceId(1), other)), (19, Err(Error::NotFound)));
    // A control word that looks like the name of a reservation is none.
    let place = blocks.reserved(InstanceId(1), again).unwrap();
    blocks.fill(place, Kind::Object(5, again), code(100));
    assert_eq!(blocks.reserved(InstanceId(1), again), Err(Error::NotFound));
}

#[test]
fn what_a_client_holds_is_counted_for_it_alone() {
    let mut blocks = blocks();
    let first = add(&mut blocks, 1, 1);
    let places: Vec<usize> = (0..5).map(|_| add(&mut blocks, 2, 2)).collect();
    let place = blocks.reserve(&wanted(3, 400)).unwrap();
    assert_eq!(
        (blocks.held(InstanceId(1)), blocks.held(InstanceId(2)), blocks.held(InstanceId(3))),
        (1, 5, 1)
    );
    assert_eq!(blocks.room(domain_of(3), 912), Err(Error::Exhausted));
    // From the middle, the beginning and the end of the list.
    for (number, place) in [2, 4, 0, 1, 3].into_iter().enumerate() {
        blocks.close(places[place]);
        assert_eq!((blocks.held(InstanceId(1)), blocks.held(InstanceId(2))), (1, 4 - number));
        assert_eq!(blocks.of_client(InstanceId(2)).count(), 4 - number);
    }
    blocks.close(first);
    let place = blocks.reserved(InstanceId(3), place).unwrap();
    blocks.close(place);
    assert_eq!((blocks.held(InstanceId(1)), blocks.held(InstanceId(3))), (0, 0));
}

#[test]
fn a_full_table_is_used_again() {
    let mut blocks = blocks();
    let mut places = Vec::new();
    for number in 0..BLOCKS_MAXIMUM {
        places.push(add(&mut blocks, 1 + (number % 4) as u16, 1));
    }
    assert_eq!(blocks.room(domain_of(1), 1), Err(Error::Exhausted));
    blocks.close(places[7]);
    assert_eq!(add(&mut blocks, 5, 1), 7);
    assert_eq!(blocks.room(domain_of(5), 1), Err(Error::Exhausted));
}
