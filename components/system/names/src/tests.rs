//! The table of names, by many at a time.

use super::*;

fn server(number: u16) -> Server {
    among(16, number)
}

/// Of so many instances, each of which has a name more than the one before it, up to 12.
fn among(count: u16, number: u16) -> Server {
    let part = |number: u16| u64::from(number % 12) + 1;
    let start = (1..number.min(count + 1)).map(part).sum();
    let end = start + if (1..=count).contains(&number) { part(number) } else { 0 };
    Server { number: InstanceId(number), names: Range { start, end } }
}

fn names(server: Server) -> usize {
    (server.names.end - server.names.start) as usize
}

#[test]
fn a_list_is_cut_between_its_entries() {
    let list = "1=Full,2=Busy";
    for (room, left) in [(100, list), (13, list), (12, "1=Full"), (6, "1=Full"), (5, ""), (0, "")] {
        assert_eq!(whole_entries(list, room), left, "{room}");
    }
    // Who gets some of the variants of an enum would take them for all.
    let list = "1=Full,3:u8,4:0=Slow,4:1=Fast,5:0=On";
    for (room, left) in [(100, list), (35, &list[..29]), (29, &list[..29]), (28, "1=Full,3:u8")] {
        assert_eq!(whole_entries(list, room), left, "{room}");
    }
    assert_eq!(whole_entries("4:0=Slow,4:1=Fast", 16), "");
}

#[test]
fn names_are_found_until_they_are_removed() {
    let additions = Additions::new(100);
    let first = additions.add(server(3), "pipe.in", [u64::MAX; 4]).unwrap();
    let second = additions.add(server(3), "pipe.out", [1 << 5, 0, 0, 0]).unwrap();
    assert_eq!((first, second), (100, 101));
    assert_eq!(additions.add(server(3), "pipe.in", [0; 4]), Err(Error::Busy));
    assert_eq!(additions.iter(1).map(|(place, _)| place).collect::<Vec<_>>(), [5, 6]);
    assert_eq!(additions.iter(6).count(), 1);
    let found = additions.find(server(3), b"pipe.out").unwrap();
    assert_eq!((found.number, found.server), (101, InstanceId(3)));
    assert!(
        admits(&found.policy, InstanceId(5))
            && !admits(&found.policy, InstanceId(6))
            && !admits(&found.policy, InstanceId(1 << 10))
    );
    let mut buffer = [0; 64];
    assert_eq!(found.name(&mut buffer), "pipe.out");
    assert_eq!(additions.remove(server(4), "pipe.out"), Err(Error::NotFound));
    assert_eq!(additions.remove(server(3), "pipe.out"), Ok(101));
    assert_eq!(additions.find(server(3), b"pipe.out"), None);
    // A number is not used again.
    assert_eq!(additions.add(server(3), "pipe.out", [0; 4]), Ok(102));
    assert_eq!(additions.remove_all(server(3)), Ok(2));
    assert_eq!(additions.iter(0).count(), 0);
}

#[test]
fn nothing_of_a_retired_instance_remains() {
    let additions = Additions::new(1);
    let (other, gone) = (server(3), server(5));
    let both: Policy = [1 << 5 | 1 << 7, 0, 0, 0];
    additions.domains.begin((1..=16).map(InstanceId));
    let first = additions.add(gone, "gone.door", EVERYBODY).unwrap();
    additions.add(other, "other.named", both).unwrap();
    additions.add(other, "other.all", EVERYBODY).unwrap();
    additions.add(other, "other.asked", [ASKS, 0, 0, 0]).unwrap();
    additions.admit(other, "other.asked", gone.number, true).unwrap();
    assert_eq!(additions.domains.add_domain(gone.number), Err(Error::Busy), "it is there");
    additions.retire_domain(gone).unwrap();
    assert_eq!(additions.retire_domain(gone), Err(Error::NotFound));
    assert_eq!(additions.find(gone, b"gone.door"), None);
    // Nor of what the description says of it.
    let (is_present, is_gone) = (InstanceId(3), InstanceId(5));
    assert!(additions.domains.is_present(is_present) && !additions.domains.is_present(is_gone));
    let described = |policy, client| additions.decide_described(&policy, InstanceId(client));
    assert_eq!(described(both, 5), Err(Error::NotAllowed));
    assert_eq!((described(both, 7), described(EVERYBODY, 5)), (Ok(()), Ok(())));
    let decided = |name: &[u8], client: u16| {
        decide(&additions.find(other, name).unwrap().policy, InstanceId(client))
    };
    assert_eq!(decided(b"other.named", 5), Err(Error::NotAllowed));
    assert_eq!(decided(b"other.named", 7), Ok(()), "another client");
    assert_eq!(decided(b"other.asked", 5), Err(Error::WouldBlock), "it is asked anew");
    assert_eq!(decided(b"other.all", 5), Ok(()));
    let everybody = additions.find(other, b"other.all").unwrap().policy;
    assert_eq!(everybody, EVERYBODY);
    assert_eq!(additions.domains.add_domain(gone.number), Ok(()));
    assert!(additions.domains.is_present(gone.number));
    assert_eq!(described(both, 5), Err(Error::NotAllowed), "the description does not mean it");
    assert_eq!(described(EVERYBODY, 5), Ok(()));
    // Another owner of the number has all of its part, and the names mean other ones.
    let added =
        (0..).take_while(|name| additions.add(gone, &format!("gone.{name}"), [0; 4]).is_ok());
    assert_eq!(added.count(), names(gone));
    assert_eq!(additions.remove(gone, "gone.door"), Err(Error::NotFound));
    assert!(additions.iter(0).all(|(_, found)| found.number != first));
}

#[test]
fn an_instance_is_added_once_and_retires_once() {
    let domains = Domains::new();
    for beyond in [0, 256, u16::MAX] {
        assert_eq!(domains.add_domain(InstanceId(beyond)), Err(Error::BadArgument));
        assert!(!domains.is_present(InstanceId(beyond)));
    }
    domains.begin([InstanceId(1), InstanceId(2)].into_iter());
    assert!(domains.is_described(InstanceId(2)) && !domains.is_present(InstanceId(3)));
    let (added, described) = (InstanceId(3), InstanceId(1));
    assert_eq!(domains.add_domain(added), Ok(()));
    assert!(domains.is_present(added) && !domains.is_described(added));
    for number in [added, described] {
        assert_eq!(domains.add_domain(number), Err(Error::Busy));
        assert_eq!((domains.retire(number), domains.retire(number)), (Ok(()), Err(Error::Busy)));
        assert!(!domains.is_present(number));
        assert_eq!(domains.add_domain(number), Ok(()));
        assert!(domains.is_present(number) && !domains.is_described(number));
    }
}

#[test]
fn who_takes_over_from_the_layout_late_changes_nothing() {
    let domains = Domains::new();
    let (gone, others) = (InstanceId(3), [InstanceId(1), InstanceId(2), InstanceId(3)]);
    // Another thread takes over, and an instance retires, while this one is on its way.
    domains.begin(others.into_iter().inspect(|number| {
        if *number == others[1] {
            domains.begin(others.into_iter());
            domains.retire(gone).unwrap();
        }
    }));
    assert_eq!(others.map(|number| domains.is_described(number)), [true, true, false]);
    domains.begin(others.into_iter());
    assert!(!domains.is_present(gone));
}

#[test]
fn whatever_others_add_a_server_has_its_part() {
    for count in [1, 8, 17, 36] {
        let additions = Additions::new(1);
        let server = |number| among(count, number);
        let part = names(server(1));
        for other in 2..=count {
            let added = (0..).take_while(|name| {
                additions.add(server(other), &format!("s{other}.n{name}"), [0; 4]).is_ok()
            });
            assert_eq!(added.count(), names(server(other)));
        }
        for name in 0..part {
            additions.add(server(1), &format!("s1.n{name}"), [0; 4]).unwrap();
        }
        assert_eq!(additions.add(server(1), "one.more", [0; 4]), Err(Error::Exhausted));
        assert_eq!(additions.remove_all(server(1)), Ok(part as u64));
        assert!(additions.add(server(1), "one.more", [0; 4]).is_ok());
    }
    let additions = Additions::new(1);
    for number in 1..=16 {
        additions.add(server(number), "one.name", [0; 4]).unwrap();
    }
    for number in [0, 17, 256, u16::MAX] {
        assert_eq!(additions.remove_all(server(number)), Ok(0), "nobody of this number");
        assert_eq!(additions.add(server(number), "one.more", [0; 4]), Err(Error::Exhausted));
    }
}

#[test]
fn bad_names_and_policies_are_refused() {
    let additions = Additions::new(1);
    for name in ["", "a\0b", &"x".repeat(64)] {
        assert_eq!(additions.add(server(1), name, [0; 4]), Err(Error::BadArgument));
    }
    assert!(additions.add(server(1), &"x".repeat(63), [0; 4]).is_ok());
    assert!(belongs_to("pipe.in", "pipe"));
    for name in ["pipe", "pipe.", "pipes.in", "other.in", "pipe.i n", ".in"] {
        assert!(!belongs_to(name, "pipe"), "{name}");
    }
    let find = |name: &str| match name {
        "one" => Some(InstanceId(1)),
        "far" => Some(InstanceId(70)),
        _ => None,
    };
    assert_eq!(parse_policy("*", find), Ok([u64::MAX; 4]));
    assert_eq!(parse_policy(" one  far ", find), Ok([2, 1 << 6, 0, 0]));
    assert_eq!(parse_policy("", find), Ok([0; 4]));
    assert_eq!(parse_policy("one two", find), Err(Error::NotFound));
}

#[test]
fn a_server_that_is_asked_decides() {
    let find = |name: &str| (name == "one").then_some(InstanceId(1));
    let policy = parse_policy("ask one", find).unwrap();
    assert_eq!(
        (decide(&policy, InstanceId(1)), decide(&policy, InstanceId(2))),
        (Ok(()), Err(Error::WouldBlock))
    );
    let closed = parse_policy("one", find).unwrap();
    assert_eq!(
        (decide(&closed, InstanceId(1)), decide(&closed, InstanceId(2))),
        (Ok(()), Err(Error::NotAllowed))
    );
    assert_eq!(decide(&parse_policy("*", find).unwrap(), InstanceId(255)), Ok(()));

    let additions = Additions::new(1);
    additions.add(server(7), "gate.a", policy).unwrap();
    additions.add(server(7), "gate.b", policy).unwrap();
    let decided = |name: &str, client| {
        decide(&additions.find(server(7), name.as_bytes()).unwrap().policy, client)
    };
    assert_eq!(additions.admit(server(7), "gate.a", InstanceId(70), true), Ok(()));
    assert_eq!(
        (decided("gate.a", InstanceId(70)), decided("gate.a", InstanceId(71))),
        (Ok(()), Err(Error::WouldBlock))
    );
    assert_eq!(decided("gate.b", InstanceId(70)), Err(Error::WouldBlock));
    assert_eq!(additions.admit(server(7), "gate.a", InstanceId(70), false), Ok(()));
    assert_eq!(decided("gate.a", InstanceId(70)), Err(Error::WouldBlock));
    // Another's name, no name, no domain.
    assert_eq!(additions.admit(server(8), "gate.a", InstanceId(70), true), Err(Error::NotFound));
    assert_eq!(additions.admit(server(7), "gate.c", InstanceId(70), true), Err(Error::NotFound));
    assert_eq!(
        additions.admit(server(7), "gate.a", InstanceId(256), true),
        Err(Error::BadArgument)
    );
}
