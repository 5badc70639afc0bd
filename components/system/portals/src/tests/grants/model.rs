//! Against a model of who was given what.

use super::*;

/// What a receiver was given, in the model.
#[derive(Clone, Debug)]
struct Held {
    holder: InstanceId,
    first: u64,
    /// What it came of, and the word by which its granter can take it back.
    above: Option<(usize, u64)>,
    methods: u32,
    alive: bool,
    closed: bool,
}

/// Whatever clients do in any order, an index of what was passed on leads where the first of its tree does, or nowhere, and
/// nowhere if anything above it ended.
#[test]
fn whatever_is_passed_on_in_any_order() {
    let mut world = world();
    let mut random = Random::new(14);
    let mut all: Vec<Held> = Vec::new();
    let holders = [CLIENT, SECOND, OTHER];
    let mut passed = 0;
    fn end(all: &mut [Held], number: usize) {
        all[number].alive = false;
        for below in number + 1..all.len() {
            if all[below].alive && all[below].above.is_some_and(|(above, _)| above == number) {
                end(all, below);
            }
        }
    }
    for step in 0..30_000 {
        let open: Vec<usize> = (0..all.len()).filter(|number| all[*number].alive).collect();
        let chosen = (!open.is_empty()).then(|| open[random.below(open.len() as u64) as usize]);
        match (random.below(20), chosen) {
            (0..2, _) if open.len() < 40 => {
                let holder = [CLIENT, SECOND][random.below(2) as usize];
                let methods = 0b11;
                let first = world.service(holder);
                all.push(Held { holder, first, above: None, methods, alive: true, closed: false });
            }
            (2..14, Some(number)) => {
                let from = all[number].clone();
                let to = holders[random.below(3) as usize];
                let methods = random.below(4) as u32;
                let rights = Rights {
                    methods,
                    passes: random.below(6) as u16,
                    uses: random.below(3) as u32,
                    until: 0,
                };
                let Ok(word) = world.offer((from.holder, from.first), to, rights) else { continue };
                assert_ne!(methods & from.methods, 0);
                let Ok(first) = world.take(from.holder, word, to) else {
                    world.revoke(from.holder, word).unwrap();
                    continue;
                };
                passed += 1;
                all.push(Held {
                    holder: to,
                    first,
                    above: Some((number, word)),
                    methods: methods & from.methods,
                    alive: true,
                    closed: false,
                });
            }
            (14..17, Some(number)) => match all[number].above {
                Some((above, word)) => {
                    world.revoke(all[above].holder, word).unwrap();
                    end(&mut all, number);
                }
                None => {
                    world.give_up(all[number].holder, all[number].first);
                    all[number].closed = true;
                    end(&mut all, number);
                }
            },
            (17..19, Some(number)) => {
                world.give_up(all[number].holder, all[number].first);
                all[number].closed = true;
                end(&mut all, number);
            }
            (19, _) if random.below(40) == 0 => {
                let dead = holders[random.below(3) as usize];
                world.die(dead);
                for number in 0..all.len() {
                    if all[number].holder == dead {
                        all[number].closed = true;
                        end(&mut all, number);
                    }
                }
            }
            _ => {}
        }
        // They give back what ended now and then.
        for held in all.iter_mut().filter(|held| !held.alive && !held.closed) {
            if random.below(4) == 0 {
                world.give_up(held.holder, held.first);
                held.closed = true;
            }
        }
        for held in all.iter().filter(|held| !held.closed) {
            for method in 0..2 {
                let found = world.machine.meaning(held.holder, held.first as usize + method);
                let expected = (held.alive && held.methods >> method & 1 == 1).then(|| Meaning {
                    server: SERVER,
                    entry: entry(SERVER, 4 + method as u64),
                    constant: 0,
                });
                assert_eq!(found, expected, "{step}: {held:?}");
            }
        }
        if step % 100 == 0 {
            // Numbers stay small, and what ended is in nobody's way.
            let mut numbers = BTreeMap::new();
            let kept: Vec<Held> = std::mem::take(&mut all)
                .into_iter()
                .enumerate()
                .filter(|(_, held)| held.alive || !held.closed)
                .map(|(number, held)| {
                    numbers.insert(number, numbers.len());
                    held
                })
                .collect();
            all = kept;
            for held in &mut all {
                held.above =
                    held.above.and_then(|(above, word)| Some((*numbers.get(&above)?, word)));
            }
        }
    }
    assert!(passed > 3_000, "{passed}");
    for holder in [CLIENT, SECOND, OTHER] {
        world.die(holder);
    }
    assert_eq!(world.borne(), [0; 3]);
}
