//! All processes, and what they share.

use crate::limits;
use crate::memory::Machine;
use crate::open::{Counts, Descriptors, Open, What};
use crate::process::{Process, State};
use crate::program::{self, Start, Texts};
use crate::signals::{self, Cause, Signals, Taken};
use crate::terminal::Terminal;
use crate::tree::Tree;
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use cairn_personality::errno::{Errno, Result};
use cairn_random::Random;
use linux_raw_sys::general::{O_RDWR, SIGALRM, SIGCHLD, SIGCONT, SIGKILL};

/// The number of the first process: when it ends, all do.
pub const FIRST: u32 = 1;
/// What a process calls the file of its own program.
pub const OWN_PROGRAM: &[u8] = b"/proc/self/exe";
/// The code in `siginfo` of a signal that a process sends.
pub const BY_PROCESS: i32 = 0;
/// That of one by the system.
const BY_SYSTEM: i32 = 0x80;
/// What a parent is told of a child that goes on.
const WENT_ON: u32 = 0xffff;

/// All processes, and what they share.
pub struct System {
    /// Memory.
    pub machine: Machine,
    /// Files.
    pub tree: Tree,
    /// The terminal.
    pub terminal: Terminal,
    /// What is opened, and how often something has changed.
    pub counts: Rc<Counts>,
    /// Chance, for what is not secret.
    pub random: Random,
    /// Numbers of calls that were said to be unknown.
    pub unknown: [u64; 8],
    processes: [Option<Box<Process>>; limits::PROCESSES],
    next: u32,
    /// The one that runs: its place.
    current: usize,
}

impl System {
    /// No process yet.
    pub fn new(machine: Machine, tree: Tree, random: Random) -> System {
        System {
            machine,
            tree,
            terminal: Terminal::new(),
            counts: Rc::default(),
            random,
            unknown: [0; 8],
            processes: [const { None }; limits::PROCESSES],
            next: FIRST,
            current: 0,
        }
    }

    /// The first process, with the terminal opened three times.
    pub fn begin(&mut self, texts: Texts) -> Result<()> {
        let path = texts.arguments.first().ok_or(Errno::EINVAL)?.clone();
        let root = Rc::clone(&self.tree.root);
        let chance = [self.random.next(), self.random.next()];
        let start = program::begin(&mut self.machine, &self.tree, (&root, &path), texts, chance)?;
        let name = start.name();
        let Start { memory, registers, path } = start;
        let terminal = self.tree.find(&root, b"dev/tty", true)?.node()?;
        let open = Open::new(What::Node(terminal), O_RDWR, &self.counts)?;
        let mut files = Descriptors::default();
        for number in 0..3 {
            files.put(Rc::clone(&open), number, false)?;
        }
        self.add(Process {
            number: 0,
            parent: 0,
            group: FIRST,
            session: FIRST,
            name,
            program: path,
            memory: Some(memory),
            lender: None,
            registers,
            float: None,
            files,
            folder: root,
            mask: 0o022,
            state: State::Ready,
            until: None,
            alarm: None,
            signals: Signals::default(),
            news: None,
            computed: 0,
        })?;
        Ok(())
    }

    /// Whether there can be one more.
    pub fn has_room(&self) -> bool {
        self.processes.iter().any(Option::is_none)
    }

    /// One more; its number. `EAGAIN`: there are as many as can be.
    pub fn add(&mut self, process: Process) -> Result<u32> {
        let free = self.processes.iter_mut().find(|place| place.is_none()).ok_or(Errno::EAGAIN)?;
        let number = self.next;
        self.next = if number >= 30_000 { 100 } else { number + 1 };
        *free = Some(Box::new(Process { number, ..process }));
        while self.find(self.next).is_some() {
            self.next += 1;
        }
        Ok(number)
    }

    /// All processes, those that have ended too.
    pub fn all(&self) -> impl Iterator<Item = &Process> {
        self.processes.iter().filter_map(Option::as_deref)
    }

    /// The same, to change them.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Process> {
        self.processes.iter_mut().filter_map(Option::as_deref_mut)
    }

    /// The process with this number.
    pub fn find(&self, number: u32) -> Option<&Process> {
        self.all().find(|process| process.number == number)
    }

    /// The same, to change it.
    pub fn find_mut(&mut self, number: u32) -> Option<&mut Process> {
        self.all_mut().find(|process| process.number == number)
    }

    /// The one that runs. It has ended perhaps, and has its place until its parent is told.
    pub fn me(&mut self) -> &mut Process {
        self.processes[self.current].as_mut().expect("it runs")
    }

    /// The one that runs, with what all share.
    pub fn parts(&mut self) -> (&mut Process, &mut Machine) {
        let process = self.processes[self.current].as_mut().expect("it runs");
        (process, &mut self.machine)
    }

    /// Copies from the one that runs.
    pub fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<()> {
        let (process, machine) = self.parts();
        process.read(machine, address, bytes)
    }

    /// Copies to the one that runs.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<()> {
        let (process, machine) = self.parts();
        process.write(machine, address, bytes)
    }

    /// A word of the one that runs.
    pub fn word(&mut self, address: u64) -> Result<u64> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// A path that it names. What `/proc` would say of its own program is known without that.
    pub fn path(&mut self, address: u64) -> Result<Vec<u8>> {
        let (process, machine) = self.parts();
        let memory = process.memory.as_mut().ok_or(Errno::EFAULT)?;
        let path = memory.text(machine, address, limits::PATH)?;
        Ok(if path == OWN_PROGRAM { process.program.clone() } else { path })
    }

    /// Whether a path is that of the file of its own program, where that has a link.
    pub fn names_own_program(&mut self, address: u64) -> Result<bool> {
        let (process, machine) = self.parts();
        let memory = process.memory.as_mut().ok_or(Errno::EFAULT)?;
        Ok(memory.text(machine, address, limits::PATH)? == OWN_PROGRAM)
    }

    /// The next process that can go on becomes the one that runs.
    pub fn choose(&mut self) -> bool {
        let now = cairn::time::counter();
        let changes = self.counts.changes();
        let count = self.processes.len();
        let places = (self.current + 1..=self.current + count).map(|place| place % count);
        let is_ready = |process: &Process| match process.state {
            // Who has lent its memory can do nothing but end.
            State::Ready => process.memory.is_some() || process.signals.is_killed(),
            State::Waits(since) => {
                since != changes
                    || process.signals.has_come()
                    || process.until.is_some_and(|until| until <= now)
            }
            State::Stopped | State::Ended(_) => false,
        };
        let mut ready =
            places.filter(|place| self.processes[*place].as_deref().is_some_and(is_ready));
        let Some(place) = ready.next() else { return false };
        self.current = place;
        true
    }

    /// When the first thing happens for which a process waits, in ticks.
    pub fn first_time(&self) -> Option<u64> {
        let until = |process: &Process| match process.state {
            State::Waits(_) => process.until,
            _ => None,
        };
        let times = self.all().filter(|process| process.lives());
        times
            .filter_map(|process| [until(process), process.alarm].into_iter().flatten().min())
            .min()
    }

    /// What has come since the last time: keys, alarms.
    pub fn look(&mut self) {
        let (typed, signals) = self.terminal.take_typed();
        if typed {
            self.counts.change();
        }
        for signal in signals {
            let group = self.terminal.group;
            let cause = Cause { code: BY_SYSTEM, word: 0 };
            let _ = self.send(|process| process.group == group, signal, cause);
        }
        let now = cairn::time::counter();
        let cause = Cause { code: BY_SYSTEM, word: 0 };
        for process in self.all_mut() {
            if process.alarm.take_if(|alarm| *alarm <= now).is_some() {
                process.signals.send(SIGALRM, cause);
            }
        }
    }

    /// Sends a signal to all that are meant; 0 to see whether there are some. `ESRCH`: nobody.
    pub fn send(
        &mut self,
        is_meant: impl Fn(&Process) -> bool,
        signal: u32,
        cause: Cause,
    ) -> Result<()> {
        let mut found = false;
        let mut gone_on = Vec::new();
        for process in self.all_mut().filter(|process| is_meant(process)) {
            found = true;
            if signal == 0 || !process.lives() {
                continue;
            }
            process.signals.send(signal, cause);
            let wakes = signal == SIGCONT || signal == SIGKILL;
            if wakes && process.state == State::Stopped {
                process.state = State::Ready;
                process.news = Some(WENT_ON);
                gone_on.push(process.parent);
            }
        }
        gone_on.into_iter().for_each(|parent| self.tell(parent));
        if found { Ok(()) } else { Err(Errno::ESRCH) }
    }

    /// The one that runs takes its signals; whether it goes on.
    pub fn take_signals(&mut self, is_repeated: bool) -> bool {
        let (process, machine) = self.parts();
        match signals::take(process, machine, is_repeated) {
            Taken::Goes => true,
            Taken::Stops(signal) => {
                process.state = State::Stopped;
                process.news = Some(signal << 8 | 0x7f);
                let parent = process.parent;
                self.tell(parent);
                false
            }
            Taken::Ends(signal) => {
                self.end(signal);
                false
            }
        }
    }

    fn tell(&mut self, parent: u32) {
        self.counts.change();
        if let Some(parent) = self.find_mut(parent) {
            parent.signals.send(SIGCHLD, Cause { code: 1, word: 0 });
        }
    }

    /// The one that runs ends, with a status as its parent is told it.
    pub fn end(&mut self, status: u32) {
        let number = self.me().number;
        self.end_other(number, status);
    }

    /// A process ends. Its children are nobody's.
    pub fn end_other(&mut self, number: u32, status: u32) {
        self.give_memory_back(number);
        let Some(process) = self.find_mut(number) else { return };
        process.state = State::Ended(status);
        process.files.clear();
        process.alarm = None;
        process.until = None;
        let parent = process.parent;
        for place in &mut self.processes {
            place.take_if(|child| child.parent == number && !child.lives());
        }
        for child in self.all_mut().filter(|child| child.parent == number) {
            child.parent = 0;
        }
        // Who says that it ignores the end of its children is not told.
        let asks = self.find_mut(parent).is_some_and(|parent| !parent.signals.lets_children_go());
        if !asks && number != FIRST {
            self.forget(number);
        }
        self.tell(parent);
    }

    /// The memory of a process is nobody's any more, or that of its lender again.
    pub fn give_memory_back(&mut self, number: u32) {
        let Some(process) = self.find_mut(number) else { return };
        let (memory, lender) = (process.memory.take(), process.lender.take());
        let Some(memory) = memory else { return };
        match lender.and_then(|lender| self.find_mut(lender)).filter(|lender| lender.lives()) {
            Some(lender) => lender.memory = Some(memory),
            None => memory.end(&mut self.machine),
        }
        self.counts.change();
    }

    /// Nobody asks for one that has ended.
    pub fn forget(&mut self, number: u32) {
        for place in &mut self.processes {
            place.take_if(|process| process.number == number);
        }
    }

    /// How the first process has ended; `None`: it lives.
    pub fn has_ended(&self) -> Option<u32> {
        match self.find(FIRST).map(|first| first.state) {
            Some(State::Ended(status)) => Some(status),
            Some(_) => None,
            None => Some(0),
        }
    }

    /// There is no page: the process with most of them ends, but not the first one, if there is another.
    pub fn make_room(&mut self) {
        let own = self.me().number;
        let size = |process: &Process| {
            let pages = process.memory.as_ref().map_or(0, |memory| memory.resident);
            (process.number != FIRST, pages)
        };
        let living = self.all().filter(|process| process.memory.is_some());
        let largest = living.max_by_key(|process| size(process)).map_or(own, |one| one.number);
        let name = self.find(largest).map(|process| process.name.clone()).unwrap_or_default();
        let name = alloc::string::String::from_utf8_lossy(&name);
        crate::say(format_args!(
            "no memory is left: process {largest}, `{name}`, has most of it and ends"
        ));
        self.end_other(largest, SIGKILL);
    }

    /// Whether the one that runs is in the background, while somebody is in the foreground.
    pub fn is_in_background(&mut self) -> bool {
        let group = self.terminal.group;
        self.me().group != group && self.all().any(|one| one.group == group)
    }
}
