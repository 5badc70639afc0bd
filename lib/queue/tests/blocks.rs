//! Requests to a disk: both sides with each other, with a server that ends, and with sides that write whatever they like.
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_queue::blocks::{
    ANSWERS, CAPACITY, Calls, Client, DATA, Kind, LONGEST, MOST, REQUESTS, Request, Server,
};
use cairn_queue::ring::Shared;
use cairn_random::Random;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

#[derive(Clone)]
struct Words(Rc<Vec<Cell<u64>>>);

impl Shared for Words {
    fn load(&self, word: usize) -> u64 {
        self.0[word].get()
    }
    fn store(&self, word: usize, value: u64) {
        self.0[word].set(value);
    }
}

const SIZE: usize = 64 << 10;

/// A server whose disk is a list of what it was asked for. It ends when it was asked for so much.
struct Disk {
    words: Words,
    server: RefCell<Server>,
    asked: RefCell<Vec<Result<Request, Error>>>,
    life: Cell<u64>,
    ends_after: Cell<usize>,
    calls: Cell<u64>,
}

impl Disk {
    fn new() -> (Disk, Words) {
        let words = Words(Rc::new(vec![Cell::new(0); DATA / 8]));
        let disk = Disk {
            words: words.clone(),
            server: RefCell::new(Server::new()),
            asked: RefCell::default(),
            life: Cell::new(1),
            ends_after: Cell::new(usize::MAX),
            calls: Cell::new(0),
        };
        (disk, words)
    }

    fn end(&self) {
        self.life.set(self.life.get() + 1);
        *self.server.borrow_mut() = Server::new();
    }
}

impl Calls for &Disk {
    fn begin(&self) -> Result<u64, Error> {
        self.server.borrow().begin(&self.words, self.life.get())
    }

    fn submit(&self, beginning: u64) -> Result<u64, Error> {
        self.calls.set(self.calls.get() + 1);
        let server = self.server.borrow();
        let mut session = server.enter(self.words.clone(), SIZE, beginning)?;
        loop {
            while let Some((number, request)) = session.next(0)? {
                let mut asked = self.asked.borrow_mut();
                if asked.len() == self.ends_after.get() {
                    std::mem::forget(session);
                    drop(server);
                    self.end();
                    return Err(Error::Dead);
                }
                asked.push(request);
                session.answer(number, request.map(|_| ()))?;
            }
            if session.is_done()? {
                return Ok(session.served());
            }
        }
    }
}

fn read(first: u64) -> Request {
    Request { kind: Kind::Read, first, offset: 512, bytes: 1024 }
}

#[test]
fn a_batch_takes_one_call() {
    let (disk, words) = Disk::new();
    let mut client = Client::new(&disk, words);
    for batch in 0..100 {
        for number in 0..CAPACITY as u64 {
            assert_eq!(client.push(batch << 8 | number, read(number)), Ok(true));
        }
        assert_eq!(client.push(0, read(0)), Ok(false), "it is full");
        let mut tags = Vec::new();
        let submitted = client.submit(|tag, result| tags.push((tag, result)));
        assert_eq!((submitted, client.open(), disk.calls.get()), (Ok(()), 0, batch + 1));
        let expected = (0..CAPACITY as u64).map(|number| (batch << 8 | number, Ok(())));
        assert_eq!(tags, Vec::from_iter(expected));
    }
    assert_eq!(disk.asked.borrow()[33], Ok(read(1)));
}

#[test]
fn of_a_server_that_ends_answers_are_kept_and_the_rest_is_lost() {
    let (disk, words) = Disk::new();
    let mut client = Client::new(&disk, words);
    disk.ends_after.set(5);
    (0..8).for_each(|tag| assert_eq!(client.push(tag, read(tag)), Ok(true)));
    let mut answers = Vec::new();
    assert_eq!(client.submit(|tag, result| answers.push((tag, result))), Err(Error::Dead));
    assert!(answers.iter().take(5).all(|(_, result)| result.is_ok()));
    assert!(answers.iter().skip(5).all(|(_, result)| *result == Err(Error::Dead)));
    assert_eq!(answers.len(), 8);
    // The next life knows nothing of what is in the ring.
    disk.ends_after.set(usize::MAX);
    assert_eq!(client.push(9, read(9)), Ok(true));
    disk.end();
    answers.clear();
    assert_eq!(client.submit(|tag, result| answers.push((tag, result))), Err(Error::NotFound));
    assert_eq!(answers, [(9, Err(Error::Dead))]);
    assert_eq!(disk.asked.borrow().len(), 5);
    assert_eq!((&disk).submit(0), Err(Error::NotFound));
    let beginning = (&disk).begin().unwrap();
    assert_eq!((&disk).begin(), Ok(beginning + 1), "each has its number");
    assert_eq!((&disk).submit(beginning), Err(Error::NotFound));
    assert_eq!(client.push(10, read(10)), Ok(true));
    answers.clear();
    assert_eq!(client.submit(|tag, result| answers.push((tag, result))), Ok(()));
    assert_eq!(answers, [(10, Ok(()))]);
}

#[test]
fn what_no_disk_can_do_is_answered_so() {
    let (disk, words) = Disk::new();
    let mut client = Client::new(&disk, words);
    let request = |offset, bytes| Request { kind: Kind::Write, first: 0, offset, bytes };
    let bad = Err(Error::BadArgument);
    for (request, expected) in [
        (request(SIZE - 512, 512), Ok(())),
        (request(SIZE - 511, 512), bad),
        (request(SIZE + 1, 0), bad),
        (request(usize::MAX, 512), bad),
        (request(0, LONGEST), Ok(())),
        (request(0, LONGEST + 1), Err(Error::TooLarge)),
        (request(0, 0xffff_ffff), Err(Error::TooLarge)),
    ] {
        client.push(1, request).unwrap();
        let mut answer = None;
        client.submit(|_, result| answer = Some(result)).unwrap();
        assert_eq!(answer, Some(expected), "{request:?}");
    }
}

#[test]
fn one_thread_serves_and_looks_again_when_another_came() {
    let (disk, words) = Disk::new();
    let mut client = Client::new(&disk, words.clone());
    client.push(1, read(1)).unwrap();
    let beginning = client.beginning().unwrap();
    client.submit(|_, _| {}).unwrap();
    let server = disk.server.borrow();
    let mut session = server.enter(words.clone(), SIZE, beginning).unwrap();
    // A thread that looks by itself needs no call.
    client.push(2, read(2)).unwrap();
    client.submit(|_, _| {}).unwrap();
    assert_eq!(disk.calls.get(), 1);
    assert_eq!(session.is_done(), Ok(false));
    let (number, _) = session.next(0).unwrap().unwrap();
    session.answer(number, Ok(())).unwrap();
    // It is called on its way out.
    let called = server.enter(words.clone(), SIZE, beginning).err();
    assert_eq!((called, server.begin(&words, 9)), (Some(Error::Busy), Err(Error::Busy)));
    assert_eq!((session.is_done(), session.is_done()), (Ok(false), Ok(true)));
    drop(session);
    // Who leaves before is not trusted with what it had.
    drop(server.enter(words.clone(), SIZE, beginning).unwrap());
    assert_eq!(server.enter(words, SIZE, beginning).err(), Some(Error::NotFound));
}

#[test]
fn a_client_that_always_has_more_does_not_keep_the_thread_that_serves() {
    let (disk, words) = Disk::new();
    let beginning = (&disk).begin().unwrap();
    let server = disk.server.borrow();
    for is_called in [false, true] {
        let mut session = server.enter(words.clone(), SIZE, beginning).unwrap();
        let more = || match is_called {
            true => {
                assert_eq!(server.enter(words.clone(), SIZE, beginning).err(), Some(Error::Busy))
            }
            false => words.store(REQUESTS.first, words.load(REQUESTS.first) + 1),
        };
        let mut turns = 0;
        more();
        while !session.is_done().unwrap() {
            while let Some((number, _)) = session.next(0).unwrap() {
                session.answer(number, Ok(())).unwrap();
                words.store(ANSWERS.first + 1, words.load(ANSWERS.first));
                turns += 1;
                assert!(turns <= MOST + 1);
                more();
            }
            turns += u64::from(is_called);
            assert!(turns <= MOST + 1);
            more();
        }
        assert_eq!(session.served(), MOST);
    }
}

#[test]
fn whatever_a_client_writes_the_server_answers_and_goes_on() {
    let mut served = 0;
    for seed in 0..300 {
        let (disk, words) = Disk::new();
        let mut random = Random::of_seed(seed);
        let mut beginning = (&disk).begin().unwrap();
        for _ in 0..200 {
            for _ in 0..random.below(6) {
                let near = random.below(40);
                let value = if random.below(4) == 0 { random.next() } else { near };
                let word = if random.below(2) == 0 { random.index(3) } else { random.index(400) };
                words.store(word, value);
            }
            match (&disk).submit(beginning) {
                Ok(count) => served += count,
                Err(Error::Malformed) => beginning = (&disk).begin().unwrap(),
                Err(error) => panic!("{error:?}"),
            }
        }
        assert!(disk.asked.borrow().iter().flatten().all(|one| {
            one.bytes <= LONGEST && one.offset <= SIZE && one.bytes <= SIZE - one.offset
        }));
    }
    assert!(served > 1000, "{served} requests: the test does not get far");
}

#[test]
fn a_client_that_takes_no_answers_gets_no_more() {
    let (disk, words) = Disk::new();
    let beginning = (&disk).begin().unwrap();
    for served in [CAPACITY as u64, 0] {
        let published = words.load(0) + CAPACITY as u64;
        words.store(0, published);
        assert_eq!((&disk).submit(beginning), Ok(served));
    }
    assert_eq!(words.load(ANSWERS.first), CAPACITY as u64);
}

#[test]
fn whatever_a_server_writes_its_client_gets_one_answer_to_each_request() {
    for seed in 0..300 {
        let (disk, words) = Disk::new();
        let mut random = Random::of_seed(seed);
        let mut client = Client::new(&disk, words.clone());
        let mut answered = vec![0; 400];
        for tag in 0..400 {
            while client.push(tag, read(tag)) != Ok(true) {
                let _ = client.submit(|tag, _| answered[tag as usize] += 1);
            }
            for _ in 0..random.below(3) {
                let word = [1, ANSWERS.first, ANSWERS.first + 8 + random.index(64)];
                words.store(word[random.index(3)], random.below(40));
            }
            let _ = client.poll(|tag, _| answered[tag as usize] += 1);
        }
        while client.open() > 0 {
            let _ = client.submit(|tag, _| answered[tag as usize] += 1);
        }
        assert_eq!(answered, vec![1; 400], "seed {seed}");
    }
}
