//! Everything that a driver can say, as often as it can.

use super::*;
use cairn::Error;
use cairn::call::{Arguments, Portals};
use cairn::dma::Device;
use cairn::thread::Stack;
use cairn_interfaces::spawn;
use cairn_random::Random;

/// Calls one of the device's portals with any words.
fn operate(operation: u32, words: [u64; 7]) -> Result<(), Error> {
    let mut arguments = Arguments::new();
    words.into_iter().for_each(|word| arguments.word(word));
    Portals::at(device().device_portal as u32).call::<8, (), Error>(operation, arguments)
}

/// What the description gives this instance.
fn kind() -> VirtioKind {
    match environment::name() {
        "mortal" => VirtioKind::Block,
        _ => VirtioKind::Random,
    }
}

/// A word for a descriptor: by chance, or almost right.
fn word(random: &mut Random, size: u64) -> u64 {
    match random.below(5) {
        0 => random.next(),
        1 => random.below(size + 2) << 40 | random.next() & 0xff_ffff_ffff,
        2 => (size - random.below(16)) << 40 | random.below(20),
        3 => random.below(size) << 40 | random.below(0x1_0000) | random.below(4) << 16,
        _ => 0,
    }
}

pub fn storm() {
    static STACK: Stack<8192> = Stack::new();
    let _ = spawn(imports::THREADS, &STACK, begin_again, 0, 30);
    let mut random = Random::of_seed(startup().generation);
    let size = startup().dma_size;
    let queues = device().queue_count;
    let rings = Device::at(0).and_then(|device| device.rings(0)).expect("a queue has rings");
    let is_counted = environment::name() == "steady";
    for round in 0.. {
        let first = match random.below(8) {
            0 => random.next(),
            1 => QUEUE_DESCRIPTORS - random.below(8),
            _ => random.below(QUEUE_DESCRIPTORS + 4),
        };
        let words: [u64; POSTED_MAXIMUM] = core::array::from_fn(|_| word(&mut random, size));
        post(random.below(queues), first, words, size);
        if is_counted {
            progress().store(POSTED, progress().load(POSTED) + POSTED_MAXIMUM as u64);
        }
        match random.below(64) {
            0 => confined(size),
            1 => {
                // The rings are its own: whatever stands in them.
                let at = random.below(PAGE_SIZE / 2) as usize * 2;
                rings.store_u16(at, random.next() as u16);
            }
            2 => {
                let at = (AVAILABLE_RING + 2 * random.below(20)) as usize;
                rings.store_u16(at, random.below(140) as u16);
            }
            3 | 4 => {
                let index = rings.load_u16(AVAILABLE_RING as usize + 2);
                let on = random.below(4) as u16;
                rings.store_u16(AVAILABLE_RING as usize + 2, index.wrapping_add(on));
                notify(&mut random, queues);
            }
            5 => drop(operate(DEVICE_ACKNOWLEDGE, [random.next(); 7])),
            6 => configure(&mut random),
            _ => {}
        }
        if round % 4096 == 0 {
            // Others have a turn.
            pause(100);
        }
    }
}

/// Posts, and holds the answer against what it has to be.
fn post(queue: u64, first: u64, words: [u64; POSTED_MAXIMUM], size: u64) {
    let count = kind().descriptors();
    let is_good = first < count && posted(&words).iter().all(|word| is_lawful(*word, size));
    let mut arguments = [first; 7];
    arguments[1..].copy_from_slice(&words);
    let expected = if is_good { Ok(()) } else { Err(Error::BadArgument) };
    let operation = if words[0] % 8 == 1 { DEVICE_OFFER } else { DEVICE_POST };
    let found = operate(operation + DEVICE_QUEUE_PORTALS * queue as u32, arguments);
    if found != expected {
        complain((found, first, words));
    }
}

fn notify(random: &mut Random, queues: u64) {
    let queue = if random.below(4) == 0 { random.next() } else { random.below(4) };
    let expected = if queue < queues { Ok(()) } else { Err(Error::BadArgument) };
    let found = operate(DEVICE_NOTIFY, [queue; 7]);
    if found != expected {
        complain((found, queue));
    }
}

fn configure(random: &mut Random) {
    let offset = match random.below(3) {
        0 => random.next(),
        1 => random.below(0x1000),
        _ => random.below(80),
    };
    let is_good = offset.is_multiple_of(4) && offset < kind().configuration_size();
    let found = operate(DEVICE_CONFIGURE, [offset; 7]);
    if found.is_ok() != is_good {
        complain((found, offset));
    }
}

/// The tables of descriptors, as the device reads them: every one is in the memory for DMA.
fn confined(size: u64) {
    for queue in 0..device().queue_count {
        let table = (device().queues + queue * QUEUE_PAGES * PAGE_SIZE) as *const [u64; 2];
        let count = kind().descriptors();
        for number in 0..count {
            // SAFETY: the layout maps the table here, to be read.
            let found = Found::of(unsafe { table.add(number as usize).read_volatile() });
            if !found.is_confined(number, count, device().device_address, size) {
                complain((queue, number, found));
            }
        }
    }
}

/// The second thread: has the device reset and begin, with features that nobody may have, meanwhile.
fn begin_again(_: u64) {
    let mut random = Random::of_seed(77);
    loop {
        let wanted = if random.below(2) == 0 { u64::MAX } else { random.next() };
        match random.below(8) {
            0 => {
                let position = 1 + random.next() % 5;
                if imports::DEVICES.begin(position, wanted) != Err(Error::NotFound) {
                    complain(("begins with another's", position));
                }
            }
            1 => drop(imports::DEVICES.end(0)),
            _ => match imports::DEVICES.begin(0, wanted) {
                // Descriptors elsewhere, addresses that are translated, rings of another form.
                Ok(features) if features >> 28 & 1 != 0 || features >> 33 != 0 => {
                    complain(("unlawful features", features));
                }
                Ok(_) | Err(Error::Busy) => {}
                Err(error) => complain(error),
            },
        }
        pause(random.below(400));
    }
}
