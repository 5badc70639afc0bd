//! Moves, and whatever others do meanwhile.

use super::*;

/// Whatever others do between the steps of moves that end, are given up, or whose holder dies.
#[test]
fn nobody_is_left_where_it_is_not() {
    for mut world in both() {
        let mut random = Random::new(11);
        let mut number = |below: u64| random.below(below);
        let (mut moved, mut stage, mut place) = (0, 0, 0);
        for _ in 0..20_000 {
            let of = [CLIENT, HOLDER, OTHER][number(3) as usize];
            let World { machine, manager } = &mut world;
            match number(13) {
                0 | 1 => drop(manager.open_export(machine, client(of), SERVICE, ANY)),
                2 | 3 => {
                    if of != OTHER
                        && let Ok(word) = world.reserve(of, SERVER, b"Numbers", b"cii ")
                    {
                        let _ = world.fill(SERVER, (of, word), b"Numbers", number(4));
                    }
                }
                4 | 5 => drop(manager.close(machine, client(of), FIRST as u64 + number(200))),
                6 => {
                    let server = Client {
                        domain: manager.instances().get(SERVER).unwrap().domain,
                        ..client(SERVER)
                    };
                    let _ = manager.end_object(machine, server, b"Numbers", number(4));
                }
                7 if number(20) == 0 && of != HOLDER => world.die(of),
                8 => {
                    // Imports that lead elsewhere, away from it and to it.
                    let [from, to] = [(); 2].map(|()| [SERVICE, SERVICE + 3][number(2) as usize]);
                    let _ = manager.exchange(machine, CLIENT, (from, to));
                }
                9 => {
                    let first = FIRST as u64 + number(40);
                    let rights = Rights { uses: number(2) as u32, ..ALL };
                    let to = Peer::Instance(OTHER);
                    if let Ok(word) = manager.grant(machine, client(CLIENT), first, to, rights) {
                        let from = Peer::Instance(CLIENT);
                        let _ = manager.accept(machine, client(OTHER), from, word, ANY);
                    }
                }
                10 | 11 => match stage {
                    0 => {
                        manager.begin_hold(machine, client(HOLDER), SERVER, Purpose::Move).unwrap();
                        stage = 1;
                    }
                    1 => stage += usize::from(manager.hold_step(machine, HOLDER, SERVER).unwrap()),
                    2 => {
                        world.exchange_places(SERVER);
                        (stage, place, moved) = (3, 0, moved + 1);
                    }
                    3 => match manager.relink(machine, SERVER, place).unwrap() {
                        Some(next) => place = next,
                        None => stage = 4,
                    },
                    // The new life refuses its state.
                    4 if number(4) == 0 => stage = 2,
                    _ => {
                        let last = manager.release_step(machine, HOLDER, SERVER).unwrap();
                        stage = if last { 0 } else { 5 };
                        if last {
                            world.check_moved();
                        }
                    }
                },
                12 if stage > 0 && number(30) == 0 => {
                    match stage {
                        // It gives up before anything was exchanged.
                        1 | 2 | 5 if number(2) == 0 => {
                            while !manager.release_step(machine, HOLDER, SERVER).unwrap() {}
                        }
                        _ => world.die(HOLDER),
                    }
                    world.check_moved();
                    stage = 0;
                }
                _ => {}
            }
            match stage {
                0 => drop(world.check_moved()),
                2 | 3 => world.check_held(false),
                4 => world.check_held(true),
                _ => {}
            }
        }
        assert!(moved > 50, "{moved}");
        let World { machine, manager } = &mut world;
        for of in [CLIENT, HOLDER, OTHER] {
            for first in 0..PORTALS_DESCRIBED as u64 {
                let _ = manager.close(machine, client(of), first);
            }
        }
        assert!(world.all_leads().len() <= 5);
    }
}
