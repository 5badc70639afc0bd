//! Proxy, registers, skeleton and server, one after the other, on the host.
#![forbid(unsafe_code)]

use cairn::InstanceId;
use cairn::abi::descriptor::{
    EntryPoint, METHODS_MAXIMUM, Reply, VALUE_BOOL, VALUE_NONE, VALUE_OBJECT, VALUE_SIGNED,
    VALUE_UNSIGNED, VALUE_WORDS, name_text,
};
use cairn::call::host::{answer_rest, answer_with};
use cairn::component::{Interface, Provider};
use cairn::object::{ObjectTable, Places};
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Caller, CallerThread, Error, Grant, Now, Object, Passed, Place, PortalIndex};
use std::cell::Cell;
use std::sync::Mutex;

#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
enum Mode {
    Slow = 3,
    Fast = 300,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
struct Point {
    x: i16,
    y: u32,
    on: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
struct Pair(Mode, i8);

#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::MethodError)]
enum DiskError {
    Full,
    Portal(Error),
    Broken,
}

#[cairn::interface]
trait Sample {
    fn add(&self, left: u64, right: u64) -> Result<u64, Error>;
    fn negate(&self, number: i32) -> Result<i32, Error>;
    fn invert(&self, flag: bool) -> Result<bool, Error>;
    fn mode(&self, mode: Mode) -> Result<Mode, Error>;
    fn point(&self, point: Point, pair: Pair) -> Result<Point, Error>;
    fn pair(&self, small: u8) -> Result<Pair, Error>;
    fn say(&self, text: &str) -> Result<(), Error>;
    fn fill(&self, caller: Caller, buffer: &mut [u8], byte: u8) -> Result<usize, Error>;
    fn context(
        &self,
        thread: CallerThread,
        now: Now,
        index: PortalIndex,
        word: u64,
    ) -> Result<u64, Error>;
    fn disk(&self, which: i64) -> Result<(), DiskError>;
    fn open(&self, place: Place, number: u64) -> Result<Object<dyn Counter>, Error>;
    fn nothing(&self) -> Result<(), Error>;
    fn many(&self, a: u8, b: u16, c: u32, d: u64, e: usize, f: i64, g: isize)
    -> Result<u64, Error>;
    fn four(&self, first: u64) -> Result<(Point, u64), Error>;
    fn two(&self) -> Result<(bool, i32), DiskError>;
    fn keep(&self, object: Object<dyn Counter>, times: u64) -> Result<u64, Error>;
    fn lend(&self, word: u64) -> Result<Grant<dyn Counter>, Error>;
}

#[cairn::interface]
trait Counter {
    fn next(&self, step: u64) -> Result<u64, Error>;
    fn close(&self) -> Result<(), Error>;
}

struct Server {
    said: Mutex<String>,
}
static SERVER: Server = Server { said: Mutex::new(String::new()) };
static OTHER: Server = Server { said: Mutex::new(String::new()) };

impl Sample for Server {
    fn add(&self, left: u64, right: u64) -> Result<u64, Error> {
        left.checked_add(right).ok_or(Error::BadArgument)
    }
    fn negate(&self, number: i32) -> Result<i32, Error> {
        Ok(-number)
    }
    fn invert(&self, flag: bool) -> Result<bool, Error> {
        Ok(!flag)
    }
    fn mode(&self, mode: Mode) -> Result<Mode, Error> {
        Ok(if mode == Mode::Slow { Mode::Fast } else { Mode::Slow })
    }
    fn point(&self, point: Point, pair: Pair) -> Result<Point, Error> {
        Ok(Point { x: point.x + i16::from(pair.1), y: point.y, on: pair.0 == Mode::Fast })
    }
    fn pair(&self, small: u8) -> Result<Pair, Error> {
        Ok(Pair(Mode::Fast, -(small as i8)))
    }
    fn say(&self, text: ReadWindow<'_>) -> Result<(), Error> {
        let mut buffer = [0; 4096];
        *self.said.lock().unwrap() = text.text(&mut buffer)?.into();
        Ok(())
    }
    fn fill(&self, caller: Caller, buffer: WriteWindow<'_>, byte: u8) -> Result<usize, Error> {
        assert_eq!(caller, Caller(InstanceId(7)));
        (0..buffer.len()).map(|offset| buffer.write(offset, &[byte])).sum()
    }
    fn context(
        &self,
        thread: CallerThread,
        now: Now,
        index: PortalIndex,
        word: u64,
    ) -> Result<u64, Error> {
        assert_eq!((thread, now, index), (CallerThread(8), Now(9), PortalIndex(10)));
        Ok(word)
    }
    fn disk(&self, which: i64) -> Result<(), DiskError> {
        match which {
            0 => Ok(()),
            1 => Err(DiskError::Full),
            2 => Err(DiskError::Broken),
            _ => Err(Error::Busy.into()),
        }
    }
    fn open(&self, place: Place, number: u64) -> Result<Object<dyn Counter>, Error> {
        assert_eq!((place.client(), place.word()), (Caller(InstanceId(7)), PLACE));
        // Whatever it says, the client has it where it wanted it.
        if number == 0 { Err(Error::Busy) } else { Ok(Object::from_first_portal(number as u32)) }
    }
    fn nothing(&self) -> Result<(), Error> {
        Ok(())
    }
    fn keep(&self, object: Passed<dyn Counter>, times: u64) -> Result<u64, Error> {
        assert_eq!(object.from(), Caller(InstanceId(7)));
        Ok(object.grant().word() + times)
    }
    fn lend(&self, word: u64) -> Result<Grant<dyn Counter>, Error> {
        Ok(Grant::from_word(word))
    }
    fn many(
        &self,
        a: u8,
        b: u16,
        c: u32,
        d: u64,
        e: usize,
        f: i64,
        g: isize,
    ) -> Result<u64, Error> {
        assert_eq!((a, b, c, d, e, f, g), (1, 2, 3, 4, 5, -6, -7));
        Ok(1)
    }
    fn four(&self, first: u64) -> Result<(Point, u64), Error> {
        match first {
            0 => Err(Error::Busy),
            _ => Ok((Point { x: -1, y: 2, on: true }, first)),
        }
    }
    fn two(&self) -> Result<(bool, i32), DiskError> {
        Err(DiskError::Full)
    }
}

struct State {
    count: Mutex<u64>,
}
static COUNTERS: ObjectTable<State, 4> = ObjectTable::new();

impl Counter for State {
    fn next(&self, step: u64) -> Result<u64, Error> {
        let mut count = self.count.lock().unwrap();
        *count += step;
        Ok(*count)
    }
    fn close(&self) -> Result<(), Error> {
        Ok(())
    }
}

mod declared {
    use super::{COUNTERS, Counter, OTHER, SERVER, Sample};

    cairn::component! {
        name: "sample",
        imports: { counter: Counter, sample: super::Sample, #[minimal] second: Counter },
        exports: { first: Sample = SERVER, other: Sample = OTHER },
        objects: { counter: Counter = COUNTERS },
        main: main,
    }

    fn main() {}

    pub fn descriptor() -> &'static cairn::abi::descriptor::ComponentDescriptor {
        &CAIRN_COMPONENT
    }
    pub use imports::{COUNTER, SAMPLE, SECOND};
}

struct ServerProvider;
impl Provider for ServerProvider {
    type Interface = dyn Sample;
    fn with<R>(_control: u64, body: impl FnOnce(&(dyn Sample + 'static)) -> R) -> Result<R, Error> {
        Ok(body(&SERVER))
    }
}

const ENTRIES: [Option<EntryPoint>; METHODS_MAXIMUM] = SampleProxy::entries::<ServerProvider>();

fn enter(entry: EntryPoint, w: [u64; 8]) -> Reply {
    entry(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7])
}

fn method_number(name: &str) -> usize {
    let methods = &SampleProxy::DESCRIPTOR.methods;
    methods.iter().position(|method| name_text(&method.name) == name).unwrap()
}

/// Plays the portal: fills in what its letters say, and enters the skeleton.
fn connect() -> SampleProxy {
    answer_with(|index, mut words| {
        let number = index as usize - 16;
        words[0] = 0;
        let mut register = 0;
        for letter in SampleProxy::DESCRIPTOR.methods[number].letters {
            match letter {
                b'a' => words[register] = 7,
                b't' => words[register] = 8,
                b'h' => words[register] = 9,
                b'=' => words[register] = 10,
                _ => {}
            }
            register += if letter == b'r' || letter == b'w' { 2 } else { 1 };
        }
        enter(ENTRIES[number].unwrap(), words)
    });
    SampleProxy::at(16)
}

/// Enters a method's skeleton with these registers.
fn raw(method: &str, words: [u64; 8]) -> Reply {
    enter(ENTRIES[method_number(method)].unwrap(), words)
}

#[test]
fn values_arrive_and_come_back() {
    let proxy = connect();
    assert_eq!(proxy.add(1, u64::MAX - 1), Ok(u64::MAX));
    assert_eq!(proxy.add(1, u64::MAX), Err(Error::BadArgument));
    assert_eq!(proxy.negate(5), Ok(-5));
    assert_eq!(proxy.negate(-5), Ok(5));
    assert_eq!(proxy.invert(true), Ok(false));
    assert_eq!(proxy.mode(Mode::Slow), Ok(Mode::Fast));
    let point = Point { x: -300, y: 0xffff_fffe, on: false };
    assert_eq!(proxy.point(point, Pair(Mode::Fast, -1)), Ok(Point { x: -301, on: true, ..point }));
    assert_eq!(proxy.pair(3), Ok(Pair(Mode::Fast, -3)));
    assert_eq!(proxy.context(11), Ok(11));
    assert_eq!(proxy.nothing(), Ok(()));
    assert_eq!(proxy.four(u64::MAX), Ok((Point { x: -1, y: 2, on: true }, u64::MAX)));
    assert_eq!(proxy.four(0), Err(Error::Busy));
    assert_eq!(proxy.two(), Err(DiskError::Full));
    assert_eq!(proxy.many(1, 2, 3, 4, 5, -6, -7), Ok(1));
    assert_eq!(proxy.keep(Grant::from_word(1 << 40), 2), Ok((1 << 40) + 2));
    assert_eq!(proxy.lend(u64::MAX).map(|grant| grant.word()), Ok(u64::MAX));
}

/// What the reservation is called: index 40, and what tells it from others.
const PLACE: u64 = 3 << 16 | 40;

/// Plays the portal manager.
#[derive(Default)]
struct Manager {
    refuses: bool,
    given_back: Cell<Option<u32>>,
}

impl Places for &Manager {
    fn reserve_for<I: ?Sized + Interface>(&self, server: u32) -> Result<u64, Error> {
        assert_eq!((I::NAME, server), ("Counter", 16));
        if self.refuses { Err(Error::Exhausted) } else { Ok(PLACE) }
    }
    fn give_back(&self, first_portal: u32) -> Result<(), Error> {
        self.given_back.set(Some(first_portal));
        Ok(())
    }
}

#[test]
fn an_object_is_where_its_client_reserved_a_place() {
    let proxy = connect();
    let manager = Manager::default();
    for claimed in [1, 100, u64::MAX] {
        let object = proxy.open(&manager, claimed).unwrap();
        assert_eq!(object.first_portal(), 40);
        assert_eq!(object.proxy(), CounterProxy::at(40));
        assert_eq!(object.proxy_minimal(), CounterProxy::at_minimal(40));
    }
    assert_eq!(manager.given_back.take(), None);
    assert_eq!(proxy.open(&manager, 0).err(), Some(Error::Busy));
    assert_eq!(manager.given_back.take(), Some(40));
    let manager = Manager { refuses: true, ..Manager::default() };
    assert_eq!(proxy.open(&manager, 1).err(), Some(Error::Exhausted));
    assert_eq!(manager.given_back.take(), None);
    // A hostile server's value is not looked at.
    for value in [0, 1, 512, u64::MAX] {
        answer_with(move |_, _| Reply { status: 0, value });
        assert_eq!(proxy.open(&Manager::default(), 1).unwrap().first_portal(), 40);
    }
}

#[test]
fn buffers_arrive_and_are_filled() {
    let proxy = connect();
    proxy.say("grüße").unwrap();
    assert_eq!(*SERVER.said.lock().unwrap(), "grüße");
    assert_eq!(proxy.say(&"x".repeat(4097)), Err(Error::TooLarge));
    let mut buffer = [0; 100];
    assert_eq!(proxy.fill(&mut buffer[3..77], 0xee), Ok(74));
    assert_eq!(buffer[..3], [0; 3]);
    assert_eq!(buffer[3..77], [0xee; 74]);
    assert_eq!(buffer[77..], [0; 23]);
}

#[test]
fn errors_of_a_method_are_not_lost() {
    let proxy = connect();
    assert_eq!(proxy.disk(0), Ok(()));
    assert_eq!(proxy.disk(1), Err(DiskError::Full));
    assert_eq!(proxy.disk(2), Err(DiskError::Broken));
    assert_eq!(proxy.disk(3), Err(DiskError::Portal(Error::Busy)));
    assert_eq!(raw("disk", [0, 1, 0, 0, 0, 0, 0, 0]).status, 1);
    assert_eq!(raw("disk", [0, 2, 0, 0, 0, 0, 0, 0]).status, 2);
    answer_with(|_, _| Reply { status: 3, value: 0 });
    assert_eq!(proxy.disk(0), Err(DiskError::Portal(Error::Unknown)));
    assert_eq!(proxy.add(1, 2), Err(Error::Unknown));
}

#[test]
fn a_hostile_client_gets_malformed() {
    let malformed = Error::Malformed.status();
    let second = |word| [0, word, 0, 0, 0, 0, 0, 0];
    assert_eq!(raw("invert", second(2)).status, malformed);
    assert_eq!(raw("invert", second(1 << 8)).status, malformed);
    assert_eq!(raw("negate", second(1 << 31)).status, malformed);
    assert_eq!(raw("negate", second(i64::MAX as u64)).status, malformed);
    assert_eq!(raw("pair", second(256)).status, malformed);
    assert_eq!(raw("mode", second(4)).status, malformed);
    assert_eq!(raw("mode", second(3 | 1 << 32)).status, malformed);
    assert_eq!(raw("point", [0, 1, 1, 2, 3, 0, 0, 0]).status, malformed);
    let bad = [0xff; 3];
    let mut call = cairn::call::Call::new();
    call.bytes(&bad);
    connect();
    assert_eq!(call.invoke(16 + method_number("say") as u32).0, malformed);
}

#[test]
fn a_hostile_server_gets_malformed() {
    let proxy = connect();
    for value in [2, 256, u64::MAX] {
        answer_with(move |_, _| Reply { status: 0, value });
        assert_eq!(proxy.invert(true), Err(Error::Malformed));
        assert_eq!(proxy.mode(Mode::Slow), Err(Error::Malformed));
    }
    answer_with(|index, _| Reply { status: 0, value: u64::from(index > u64::from(u32::MAX)) });
    assert_eq!(
        SampleProxy::at(u32::MAX).invert(true),
        Ok(true),
        "no index comes round to the start"
    );
    answer_with(|_, _| Reply { status: 0, value: 1 << 32 });
    assert_eq!(proxy.negate(1), Err(Error::Malformed));
    let point = || proxy.point(Point { x: 0, y: 0, on: true }, Pair(Mode::Slow, 0));
    for (x, rest, expected) in [
        (-1, [2, 1, 0], Ok(Point { x: -1, y: 2, on: true })),
        (-1, [2, 0, u64::MAX], Ok(Point { x: -1, y: 2, on: false })),
        (1 << 15, [2, 1, 0], Err(Error::Malformed)),
        (-1, [1 << 32, 1, 0], Err(Error::Malformed)),
        (-1, [2, 2, 0], Err(Error::Malformed)),
    ] {
        answer_with(move |_, _| {
            answer_rest(rest);
            Reply { status: 0, value: x as u64 }
        });
        assert_eq!(point(), expected);
    }
    // Garbage in the other words.
    answer_with(|_, _| Reply { status: 0, value: 1 });
    assert_eq!(point(), Err(Error::Malformed));
}

#[test]
fn descriptor_says_letters_and_values() {
    let shown: Vec<(String, String, u32)> = SampleProxy::DESCRIPTOR.methods
        [..SampleProxy::METHODS as usize]
        .iter()
        .map(|method| {
            let letters: String = method
                .letters
                .iter()
                .take_while(|letter| **letter != 0)
                .map(|l| *l as char)
                .collect();
            (name_text(&method.name).to_string(), letters, method.value)
        })
        .collect();
    let expected = [
        ("add", "cii", VALUE_UNSIGNED),
        ("negate", "ci", VALUE_SIGNED),
        ("invert", "ci", VALUE_BOOL),
        ("mode", "ci", VALUE_WORDS),
        ("point", "ciiiii3", VALUE_WORDS),
        ("pair", "ci2", VALUE_WORDS),
        ("say", "cr", VALUE_NONE),
        ("fill", "cawi", VALUE_UNSIGNED),
        ("context", "cth=i", VALUE_UNSIGNED),
        ("disk", "ci", VALUE_NONE),
        ("open", "caii", VALUE_OBJECT),
        ("nothing", "c", VALUE_NONE),
        ("many", "ciiiiiii", VALUE_UNSIGNED),
        ("four", "ci4", VALUE_WORDS),
        ("two", "c2", VALUE_WORDS),
        ("keep", "caii", VALUE_UNSIGNED),
        ("lend", "ci", VALUE_UNSIGNED),
    ];
    let expected: Vec<(String, String, u32)> = expected
        .iter()
        .map(|(name, letters, value)| (name.to_string(), letters.to_string(), *value))
        .collect();
    assert_eq!(shown, expected);
    assert_eq!(name_text(&SampleProxy::DESCRIPTOR.name), "Sample");
    assert_eq!(<dyn Sample as Interface>::DESCRIPTOR.version, SampleProxy::DESCRIPTOR.version);
}

#[test]
fn component_declares_what_it_calls_and_serves() {
    let component = declared::descriptor();
    assert_eq!(component.magic, cairn::abi::descriptor::MAGIC);
    assert_eq!(name_text(&component.name), "sample");
    assert!(component.main.is_some());
    assert_eq!((component.import_count, component.export_count), (3, 3));
    assert_eq!(declared::COUNTER.first_portal(), 16);
    assert_eq!(declared::SAMPLE.first_portal(), 16 + CounterProxy::METHODS);
    assert_eq!(declared::SECOND.first_portal(), 16 + CounterProxy::METHODS + SampleProxy::METHODS);
    assert_eq!(declared::SECOND, CounterProxy::at_minimal(declared::SECOND.first_portal()));
    for (import, first) in component.imports.iter().zip([16, 18, 35]) {
        assert_eq!(import.first_portal, first);
    }
    let names: Vec<&str> =
        component.exports[..3].iter().map(|export| name_text(&export.name)).collect();
    assert_eq!(names, ["first", "other", "counter"]);
    assert_eq!(component.exports.map(|export| export.is_object)[..3], [0, 0, 1]);
    let last = SampleProxy::METHODS as usize - 1;
    let entries = component.exports[0].entries;
    assert!(entries[last].is_some() && entries[last + 1].is_none());

    // The second export reaches its own static.
    let text = "to the other";
    let words = [0, text.as_ptr().expose_provenance() as u64, text.len() as u64, 0, 0, 0, 0, 0];
    let say = component.exports[1].entries[method_number("say")].unwrap();
    assert_eq!(enter(say, words).status, 0);
    assert_eq!(*OTHER.said.lock().unwrap(), text);
}

#[test]
fn objects_are_found_by_their_control_word() {
    let next = declared::descriptor().exports[2].entries[0].unwrap();
    let one = COUNTERS.insert(State { count: Mutex::new(10) }).unwrap();
    let two = COUNTERS.insert(State { count: Mutex::new(20) }).unwrap();
    let step = |control, step| enter(next, [control, step, 0, 0, 0, 0, 0, 0]);
    assert_eq!(step(one, 1), Reply { status: 0, value: 11 });
    assert_eq!(step(two, 2), Reply { status: 0, value: 22 });
    assert_eq!(step(one, 1), Reply { status: 0, value: 12 });
    COUNTERS.remove(one).unwrap();
    let gone = Reply { status: Error::NotFound.status(), value: 0 };
    assert_eq!(step(one, 1), gone);
    let three = COUNTERS.insert(State { count: Mutex::new(30) }).unwrap();
    assert_ne!(three, one);
    assert_eq!(step(one, 1), gone);
    assert_eq!(step(three, 1).value, 31);
    assert_eq!(step(0, 1), gone);
    assert_eq!(step(u64::MAX, 1), gone);
}
