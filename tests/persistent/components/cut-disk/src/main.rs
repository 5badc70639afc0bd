//! A disk in memory whose power is cut after any block, with what it has not flushed.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::section::Section;
use cairn::sync::Mutex;
use cairn::thread::sleep;
use cairn::time::Duration;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_driver_interfaces::{BLOCK_SIZE, Blocks, blocks_checked};
use cairn_interfaces::{Memory, Portals, Threads};
use cairn_random::Random;
use cairn_test_persistent_contract::Cuts;

const BLOCK: usize = BLOCK_SIZE as usize;
const BLOCKS: usize = 256;
const PAGES: u64 = (BLOCKS * BLOCK / 4096) as u64;

struct Disk {
    /// What lasts, and what is read.
    lasting: Option<Section>,
    now: Option<Section>,
    is_dirty: [bool; BLOCKS],
    left: u64,
    seed: u64,
    is_cut: bool,
}

struct Server;
static SERVER: Server = Server;
static DISK: Mutex<Disk> = Mutex::new(Disk {
    lasting: None,
    now: None,
    is_dirty: [false; BLOCKS],
    left: u64::MAX,
    seed: 0,
    is_cut: false,
});

cairn::component! {
    name: "cut-disk",
    imports: { memory: Memory, portals: Portals, threads: Threads },
    exports: { blocks: Blocks = SERVER, cuts: Cuts = SERVER },
    init: prepare,
}

fn prepare() -> Result<(), Error> {
    let mut disk = DISK.lock()?;
    let take = || Ok(Section::of_pages(imports::MEMORY.allocate(PAGES)?, PAGES));
    (disk.lasting, disk.now) = (take()?, take()?);
    Ok(())
}

impl Disk {
    fn now(&self) -> Result<Section, Error> {
        self.now.filter(|_| !self.is_cut).ok_or(Error::Unknown)
    }

    /// One block more, or the cut.
    fn step(&mut self) -> Result<(), Error> {
        self.now()?;
        let Some(left) = self.left.checked_sub(1) else {
            self.cut()?;
            return Err(Error::Unknown);
        };
        self.left = left;
        Ok(())
    }

    fn settle(&mut self, mut lasts: impl FnMut() -> bool) -> Result<(), Error> {
        let (Some(lasting), Some(now)) = (self.lasting, self.now) else {
            return Err(Error::NotReady);
        };
        for (block, is_dirty) in self.is_dirty.iter_mut().enumerate() {
            let (to, from) = if lasts() { (lasting, now) } else { (now, lasting) };
            if core::mem::take(is_dirty) {
                to.copy_from(block * BLOCK, &from, block * BLOCK, BLOCK);
            }
        }
        Ok(())
    }

    fn cut(&mut self) -> Result<(), Error> {
        self.is_cut = true;
        let (mut random, all) = (Random::of_seed(self.seed), self.seed == 0);
        self.settle(|| all || random.below(2) == 0)
    }
}

/// It takes its time, in which others run.
impl Blocks for Server {
    fn size(&self) -> Result<(u64, bool), Error> {
        DISK.lock()?.now()?;
        Ok((BLOCKS as u64, true))
    }

    fn read(&self, first: u64, buffer: WriteWindow) -> Result<(), Error> {
        sleep(Duration::from_micros(20))?;
        let now = DISK.lock()?.now()?;
        blocks_checked(BLOCKS as u64, first, buffer.len())?;
        buffer.write_from(0, &now, first as usize * BLOCK, buffer.len())
    }

    fn write(&self, first: u64, buffer: ReadWindow) -> Result<(), Error> {
        sleep(Duration::from_micros(20))?;
        let mut disk = DISK.lock()?;
        let now = disk.now()?;
        let count = blocks_checked(BLOCKS as u64, first, buffer.len())?;
        for at in 0..count as usize {
            disk.step()?;
            let block = first as usize + at;
            buffer.read_into(at * BLOCK, &now, block * BLOCK, BLOCK)?;
            disk.is_dirty[block] = true;
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), Error> {
        let mut disk = DISK.lock()?;
        disk.step()?;
        disk.settle(|| true)
    }
}

impl Cuts for Server {
    fn arm(&self, blocks: u64, seed: u64) -> Result<(), Error> {
        let mut disk = DISK.lock()?;
        (disk.left, disk.seed) = (blocks, seed);
        Ok(())
    }

    fn mend(&self) -> Result<bool, Error> {
        let mut disk = DISK.lock()?;
        let was_cut = disk.is_cut;
        if !was_cut {
            disk.cut()?;
        }
        (disk.is_cut, disk.left) = (false, u64::MAX);
        Ok(was_cut)
    }
}
