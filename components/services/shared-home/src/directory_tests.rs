//! Nodes that ask, are told and give back by chance, with messages that are on their way for any time: nobody ever reads anything but what
//! was written last.

use crate::directory::{Directory, Grant, NODES, Order};
use cairn::Error;
use cairn_random::Random;

const PAGES: usize = 3;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Has {
    Nothing,
    ToRead,
    ToWrite,
}

/// What a node knows: what it has of each page, by which grant, and its word.
struct Node {
    pages: [(Has, u32, u64); PAGES],
    /// What it asks for; a grant on its way, with what is on the page; an order on its way.
    asks: Option<(usize, bool)>,
    grant: Option<(usize, bool, Grant, u64)>,
    order: Option<Order>,
    /// A page on its way home.
    gives: Option<(Order, u64)>,
}

impl Node {
    fn new() -> Node {
        Node {
            pages: [(Has::Nothing, 0, 0); PAGES],
            asks: None,
            grant: None,
            order: None,
            gives: None,
        }
    }
}

fn begun() -> Directory {
    let mut directory = Directory::new();
    directory.begin(PAGES);
    directory
}

#[test]
fn one_writes_or_many_read() {
    for seed in 0..200 {
        let mut random = Random::of_seed(seed);
        let mut directory = begun();
        let mut home = [0; PAGES];
        let mut nodes: [Node; 3] = core::array::from_fn(|node| {
            directory.join(node);
            Node::new()
        });
        let mut last = [0; PAGES];
        let mut written = 0;
        for step in 1..20_000 {
            let at = random.index(3);
            let node = &mut nodes[at];
            match random.below(7) {
                // It reads or writes, if it may; else it asks.
                0 | 1 => {
                    let (page, writes) = (random.index(PAGES), random.below(2) == 0);
                    let (has, _, word) = &mut node.pages[page];
                    match has {
                        Has::ToWrite if writes => {
                            (*word, last[page]) = (step, step);
                            written += 1;
                        }
                        Has::Nothing => _ = node.asks.get_or_insert((page, writes)),
                        Has::ToRead if writes => _ = node.asks.get_or_insert((page, true)),
                        _ => assert_eq!(*word, last[page], "{seed} {step}: {at} reads {page}"),
                    }
                }
                // What it asks for arrives, or it asks again.
                2 => {
                    if let Some((page, writes)) = node.asks
                        && node.grant.is_none()
                        && let Some(grant) = directory.ask(at, page, writes).unwrap()
                    {
                        node.grant = Some((page, writes, grant, home[page]));
                    }
                }
                3 => {
                    if let Some((page, writes, grant, word)) = node.grant.take() {
                        node.asks = None;
                        let (has, number, own) = &mut node.pages[page];
                        *has = if writes { Has::ToWrite } else { Has::ToRead };
                        *number = grant.number;
                        if grant.wants_content {
                            *own = word;
                        }
                    }
                }
                // It is told, one after the other, and gives back when the grant has come.
                4 => {
                    if node.order.is_none() && node.gives.is_none() {
                        node.order = directory.order(at);
                    }
                    let known = |order: &mut Order| node.pages[order.page].1 == order.grant;
                    if let Some(order) = node.order.take_if(known) {
                        let (has, _, word) = &mut node.pages[order.page];
                        assert_ne!(*has, Has::Nothing, "{seed} {step}");
                        *has = if order.keeps { Has::ToRead } else { Has::Nothing };
                        node.gives = Some((order, *word));
                    }
                }
                // Its successor has heard of no order.
                5 => node.order = None,
                _ => {
                    if let Some((order, word)) = node.gives.take() {
                        let Order { page, grant, keeps } = order;
                        let given = directory.give_back(at, page, grant, keeps);
                        if given.expect("it has it") {
                            home[page] = word;
                        }
                    }
                }
            }
            for page in 0..PAGES {
                let count = |which| nodes.iter().filter(|node| node.pages[page].0 == which).count();
                let (writers, readers) = (count(Has::ToWrite), count(Has::ToRead));
                assert!(writers == 0 || (writers == 1 && readers == 0), "{seed} {step} {page}");
            }
        }
        assert!(written > 100, "{seed}: {written}");
    }
}

#[test]
fn what_a_node_does_not_have_it_cannot_give_back() {
    let mut directory = begun();
    let one = directory.join(0);
    assert_eq!(directory.give_back(0, 1, 1, false), Err(Error::NotAllowed));
    assert_eq!(directory.give_back(0, PAGES, 1, false), Err(Error::BadArgument));
    assert_eq!(directory.ask(0, PAGES, false), Err(Error::BadArgument));
    let grant = directory.ask(0, 1, true).unwrap().unwrap();
    for number in [0, 2, u32::MAX] {
        assert_eq!(directory.give_back(0, 1, number, false), Err(Error::NotAllowed));
    }
    assert_eq!(directory.give_back(1, 1, grant.number, false), Err(Error::NotAllowed));
    assert_eq!(directory.give_back(0, 1, grant.number, true), Ok(true));
    assert_eq!(directory.give_back(0, 1, grant.number, false), Ok(false), "it only read it");
    assert_eq!(directory.check(0, one), Ok(()));
    for membership in [0, one + 1, u64::MAX] {
        assert_eq!(directory.check(0, membership), Err(Error::NotFound));
    }
    let again = directory.join(0);
    assert_eq!(
        (directory.check(0, one), directory.check(0, again)),
        (Err(Error::NotFound), Ok(()))
    );
}

#[test]
fn who_is_too_late_is_none_any_more() {
    let mut directory = begun();
    let members: Vec<u64> = (0..NODES).map(|node| directory.join(node)).collect();
    for node in 1..NODES {
        assert!(directory.ask(node, 2, false).unwrap().is_some());
    }
    assert_eq!(directory.ask(0, 2, true), Ok(None));
    assert!(!directory.expel_late(1, 2), "who does not wait expels nobody");
    // Whoever comes behind it waits, too.
    assert_eq!(directory.ask(1, 2, true), Ok(None));
    let order = directory.order(3).unwrap();
    assert_eq!(order, Order { page: 2, grant: 1, keeps: false });
    assert_eq!(directory.order(3), Some(order), "it is told again");
    assert_eq!(directory.give_back(3, 2, 1, false), Ok(false));
    assert_eq!(directory.order(3), None, "until it has given back");
    assert!(directory.expel_late(0, 2));
    for (node, member) in members.iter().enumerate() {
        let expected = if [0, 3].contains(&node) { Ok(()) } else { Err(Error::NotFound) };
        assert_eq!(directory.check(node, *member), expected, "{node}");
    }
    assert!(directory.ask(0, 2, true).unwrap().unwrap().wants_content);
    // Who gives up does not keep the others.
    directory.join(1);
    assert_eq!(directory.ask(1, 2, false), Ok(None));
    directory.give_up(1, 2);
    directory.join(0);
    assert!(directory.ask(3, 2, true).unwrap().is_some());
}
