//! Jobs that fit into their threads' budgets are in time, whatever all others do.

use super::*;
use proptest::test_runner::TestCaseError;

const OTHERS: InstanceId = InstanceId(100);
const FIRST_OTHER: ThreadIndex = 50;
const OTHERS_MAXIMUM: u8 = 6;
const LOCKS: u64 = 3;
/// Of which the tasks have what they need, and the others the rest.
const PARTS: u64 = 1000;

/// A periodic task: how long a job takes, by the run clock.
struct Task {
    period: u64,
    cost: u64,
    left: u64,
    release: u64,
}

/// What one of the others does next, after it has run for so long.
#[derive(Clone, Copy, Debug)]
struct Deed {
    runs: u64,
    kind: u8,
    number: u64,
}

struct World {
    s: Box<TestScheduler>,
    tasks: Vec<Task>,
    deeds: Vec<Deed>,
    next_deed: usize,
    /// For how long each of the others still runs.
    runs: [u64; 256],
    /// By the run clock.
    now: u64,
    rate: u64,
    /// What an interrupt of the timer takes, and what was left for threads.
    interrupt: u64,
    useful: u64,
}

impl World {
    /// Tasks with shares of their own, and others that have what is left.
    fn new(rate: u64, tasks: Vec<Task>, others: u8, deeds: Vec<Deed>) -> World {
        World::with(rate, WHOLE, tasks, others, deeds)
    }

    /// The same of so much of the time.
    fn with(rate: u64, mut left: u64, tasks: Vec<Task>, others: u8, deeds: Vec<Deed>) -> World {
        let mut s = bare_scheduler(rate);
        for (number, task) in tasks.iter().enumerate() {
            let (thread, instance) = (number as ThreadIndex + 1, InstanceId(number as u16 + 1));
            // At least what it needs.
            let inverse = task.period * WHOLE / task.cost * rate;
            left = left.saturating_sub(WHOLE * WHOLE / inverse + 1);
            add_instance(&mut s, instance, 1, inverse);
            add_thread(&mut s, thread, instance, task.period);
        }
        if others > 0 {
            let inverse = (WHOLE * WHOLE * u64::from(others)).checked_div(left);
            add_instance(&mut s, OTHERS, others, inverse.map_or(0, |inverse| inverse + 1));
            for _ in 0..LOCKS {
                s.create_lock(OTHERS).unwrap();
            }
        }
        for number in 0..others {
            add_thread(&mut s, FIRST_OTHER + number, OTHERS, UNIT * (u64::from(number) * 9 + 1));
        }
        s.run(0);
        World {
            s,
            tasks,
            deeds,
            next_deed: 0,
            runs: [0; 256],
            now: 0,
            rate,
            interrupt: 0,
            useful: 0,
        }
    }

    fn run(&mut self, until: u64) -> Result<(), TestCaseError> {
        let mut steps = 0;
        while self.now / self.rate < until {
            let (before, running) = (self.now, self.s.running());
            match running {
                IDLE => {
                    self.now = self.now.max(self.s.machine().timer * self.rate);
                    self.s.tick(IDLE, self.now);
                }
                _ if running as usize <= self.tasks.len() => self.work(running)?,
                _ => self.misbehave(running),
            }
            steps = if self.now == before { steps + 1 } else { 0 };
            prop_assert!(steps < 1000, "no time passes at {before}");
        }
        Ok(())
    }

    /// Lets the running thread run for so long, or until the timer comes; for how long.
    fn let_run(&mut self, running: ThreadIndex, most: u64) -> u64 {
        let timer = self.s.machine().timer.saturating_mul(self.rate);
        let ran = most.min(timer.saturating_sub(self.now));
        self.now += ran;
        self.useful += ran;
        if ran < most {
            self.s.tick(running, self.now);
            self.now += self.interrupt;
        }
        ran
    }

    fn work(&mut self, running: ThreadIndex) -> Result<(), TestCaseError> {
        let number = running as usize - 1;
        let left = self.tasks[number].left;
        prop_assert!(self.now >= self.tasks[number].release * self.rate);
        let ran = self.let_run(running, left);
        let task = &mut self.tasks[number];
        task.left -= ran;
        if task.left > 0 {
            return Ok(());
        }
        let deadline = (task.release + task.period) * self.rate;
        prop_assert!(
            self.now <= deadline,
            "{running} is late at {} by {}",
            self.now,
            self.now - deadline
        );
        task.release += task.period;
        task.left = task.cost;
        let (instance, release) = (InstanceId(running.into()), task.release);
        self.s.sleep_until(running, instance, release, self.now);
        Ok(())
    }

    fn misbehave(&mut self, running: ThreadIndex) {
        let most = self.runs[running as usize];
        let ran = self.let_run(running, most);
        self.runs[running as usize] -= ran;
        if self.runs[running as usize] > 0 {
            return;
        }
        let Deed { runs, kind, number } = self.deeds[self.next_deed % self.deeds.len()];
        self.next_deed += 1;
        self.runs[running as usize] = runs;
        let (s, now, time) = (&mut self.s, self.now, self.now / self.rate);
        let semaphore = (u64::from(OTHERS.0) - 1) * 4 + number % 4;
        let lock = 1 + number % LOCKS;
        // New threads get the first numbers behind those of the tasks.
        let others = [FIRST_OTHER, self.tasks.len() as ThreadIndex + 1];
        let other = others[number as usize % 2] + number as u8 / 2 % OTHERS_MAXIMUM;
        let handle = s.handle(other).unwrap_or(Handle(0));
        let start = Start { entry: 0, stack: 0, argument: 0 };
        match kind {
            0 => _ = s.sleep_until(running, OTHERS, time + 1, now),
            1 => _ = s.sleep_until(running, OTHERS, time + number, now),
            2 => _ = s.sleep_until(running, OTHERS, time.saturating_sub(number), now),
            3 => _ = s.yield_now(running, now),
            4 => _ = s.timed_p(running, OTHERS, semaphore, time + number, now),
            5 => _ = s.v(running, semaphore, now),
            6 => _ = s.lock(running, OTHERS, lock, now),
            7 => _ = s.unlock(running, lock, now),
            8 => _ = s.set_priority(running, OTHERS, handle, number % 256, now),
            9 => _ = s.spawn(running, OTHERS, start, number % 256, now),
            // Somebody has to stay, to spawn.
            10 if s.held(OTHERS).unwrap()[0] > 1 => _ = s.exit(running, now),
            11 if other != running => _ = s.stop(running, handle, now),
            12 => _ = s.resume(running, handle, now),
            13 if other != running => _ = s.kill(running, handle, now),
            _ => {}
        }
    }
}

fn tasks(rate: u64, weights: &[(u64, u64)], whole: u64) -> Vec<Task> {
    let total: u64 = weights.iter().map(|(_, weight)| weight).sum();
    let task = |(period, weight): &(u64, u64)| {
        let period = period * 50;
        let cost = period * rate * weight * whole / (total * PARTS);
        Task { period, cost, left: cost, release: 0 }
    };
    weights.iter().map(task).filter(|task| task.cost > 0).collect()
}

fn deed() -> impl Strategy<Value = Deed> {
    let runs = prop_oneof![Just(1), 1u64..20, 1u64..2000];
    let number = prop_oneof![0u64..300, 0u64..5000];
    (runs, 0u8..16, number).prop_map(|(runs, kind, number)| Deed { runs, kind, number })
}

fn weights() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((20u64..200, 1u64..100), 1..12)
}

/// On some machines the run clock counts cycles.
fn rate() -> impl Strategy<Value = u64> {
    prop_oneof![Just(1), Just(7), Just(100)]
}

/// Others run for a part of a tick and wait, so that their budgets end between ticks: what is more than a budget is paid for.
#[test]
fn a_budget_that_ends_between_ticks_is_no_gift() {
    let deed = |runs, kind| Deed { runs, kind, number: 0 };
    let mixed = [deed(7, 5), deed(8, 0), deed(696, 5), deed(9, 5), deed(4, 5)].to_vec();
    for (period, whole, others, deeds) in
        [(104, 434, 5, [deed(12, 0)].to_vec()), (20, 100, 1, mixed)]
    {
        let mut world = World::new(100, tasks(100, &[(period, 1)], whole), others, deeds);
        world.run(100_000).unwrap();
    }
}

/// One waits for a lock whose owner runs alone: its budget is spent meanwhile, as that of the owner, and is not there as well when a task begins.
#[test]
fn who_waits_for_an_owner_that_runs_alone_pays_for_it() {
    let deeds = [
        (1896, 7, 0),
        (1238, 3, 0),
        (15, 0, 0),
        (1759, 2, 0),
        (1678, 6, 9),
        (10, 1, 3210),
        (1, 5, 84),
        (4, 3, 0),
        (14, 6, 189),
        (1343, 11, 0),
        (1342, 4, 1634),
        (1, 1, 3272),
        (1, 2, 0),
        (470, 6, 20),
        (1, 1, 281),
        (1, 5, 4326),
        (1, 6, 188),
        (19, 2, 0),
        (1, 4, 451),
        (1, 0, 0),
        (507, 8, 1192),
        (10, 2, 0),
        (1, 8, 51),
    ];
    let deeds = deeds.map(|(runs, kind, number)| Deed { runs, kind, number }).to_vec();
    World::new(1, tasks(1, &[(28, 1)], 502), 2, deeds).run(100_000).unwrap();
}

/// One waits for a lock, pays for its owner, and is ended by that: what the owner has run until then is paid for all the same.
#[test]
fn the_end_of_who_pays_is_no_gift() {
    let deeds = [
        (1, 2, 0),
        (1, 6, 1),
        (1, 13, 4009),
        (1, 13, 766),
        (1, 5, 0),
        (1, 9, 236),
        (409, 4, 264),
        (183, 5, 0),
    ];
    let deeds = deeds.map(|(runs, kind, number)| Deed { runs, kind, number }).to_vec();
    World::new(100, tasks(100, &[(28, 1)], 368), 4, deeds).run(100_000).unwrap();
}

/// What takes no time limit: the timer comes for budgets only.
fn work() -> impl Strategy<Value = Deed> {
    let kind = prop_oneof![Just(3), Just(6), Just(7), Just(14)];
    (100..20_000u64, kind, 0..300u64).prop_map(|(runs, kind, number)| Deed { runs, kind, number })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    /// Jobs that fit (their shares of the processor add up to at most 1) meet all deadlines.
    #[test]
    fn what_fits_is_in_time(weights in weights(), rate in rate()) {
        World::new(rate, tasks(rate, &weights, PARTS), 0, Vec::new()).run(200_000)?;
    }

    /// Others run on, sleep for a moment again and again, yield, hold locks while they sleep, change their periods, begin and end.
    #[test]
    fn what_fits_is_in_time_beside_anything(
        weights in weights(),
        rate in rate(),
        whole in 100..950u64,
        others in 1..=OTHERS_MAXIMUM,
        deeds in prop::collection::vec(deed(), 1..60),
    ) {
        World::new(rate, tasks(rate, &weights, whole), others, deeds).run(100_000)?;
    }

    /// A refill recedes by what a thread runs in the background, which an interrupt is part of: it must not come for every moment,
    /// nor for every tick. An interrupt takes less than a hundredth of the shortest period; where one takes all of that, a
    /// refill is due whenever an interrupt ends, and hardly anything is left for threads.
    #[test]
    fn the_timer_leaves_time_to_threads(
        interrupt in 1..10u64,
        others in 2..=OTHERS_MAXIMUM,
        has_share: bool,
        deeds in prop::collection::vec(work(), 1..60),
    ) {
        let mut world = World::with(100, if has_share { WHOLE } else { 0 }, Vec::new(), others, deeds);
        world.interrupt = interrupt;
        world.run(100_000)?;
        prop_assert!(world.useful > world.now / 10 * 9, "{} of {}", world.useful, world.now);
    }
}
