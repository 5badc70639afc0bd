//! Blocks of portals that were made at run time: what one `open` gave.

use cairn_abi::domain::DOMAINS_MAXIMUM;

/// Most blocks of the system, those that wait for their code to be left included.
pub const BLOCKS_MAXIMUM: usize = 512;

/// What a block leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An export of the description, by its index in the record.
    Export(u32),
    /// A registration made at run time, by its number.
    Registration(u64),
    /// An object of an export, with its control word.
    Object(u32, u64),
    /// A semaphore, by its index.
    Semaphore(u16),
    /// A lock, by its index.
    Lock(u16),
}

/// Where a block is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Unused.
    Free,
    /// Its entries are in the client's table.
    Open,
    /// Its entries are cleared; its code is kept until no invocation stack names it.
    Closed,
}

/// A block.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Where it is in its life.
    pub state: State,
    /// What it leads to.
    pub kind: Kind,
    /// The domain in whose table it is.
    pub client: u8,
    /// The domain that serves it.
    pub server: u8,
    /// The domain with whose death it ends, beside the client; zero: none.
    pub owner: u8,
    /// Number of its entries.
    pub count: u8,
    /// The first of them.
    pub first: u16,
    /// First granule of its code.
    pub start: u16,
    /// Granules of its code.
    pub granules: u16,
    /// Stack queue that it uses, or `u16::MAX`.
    pub queue: u16,
}

impl Block {
    /// An unused block.
    pub const FREE: Block = Block {
        state: State::Free,
        kind: Kind::Export(u32::MAX),
        client: 0,
        server: 0,
        owner: 0,
        count: 0,
        first: 0,
        start: 0,
        granules: 0,
        queue: u16::MAX,
    };

    /// Whether it is open in `client`'s table and holds the entry `index`.
    pub fn holds(&self, client: u8, index: usize) -> bool {
        let first = usize::from(self.first);
        self.state == State::Open
            && self.client == client
            && (first..first + usize::from(self.count)).contains(&index)
    }
}

/// All blocks.
pub struct Blocks {
    slots: [Block; BLOCKS_MAXIMUM],
    /// Below it, every block is or was in use.
    end: usize,
    /// Blocks in the state [`State::Closed`].
    closed: usize,
    /// Blocks of each client, the closed ones included.
    held: [u16; DOMAINS_MAXIMUM],
}

impl Blocks {
    /// No blocks.
    pub const EMPTY: Blocks = Blocks {
        slots: [Block::FREE; BLOCKS_MAXIMUM],
        end: 0,
        closed: 0,
        held: [0; DOMAINS_MAXIMUM],
    };

    /// Those that were ever used.
    pub fn used(&self) -> &[Block] {
        &self.slots[..self.end]
    }

    /// Blocks whose code may still be in use.
    pub fn closed(&self) -> usize {
        self.closed
    }

    /// Blocks of a client, the closed ones included.
    pub fn held(&self, client: u8) -> usize {
        self.held[usize::from(client)].into()
    }

    /// Open objects that a server made for a client: how many, and their granules.
    pub fn objects(&self, server: u8, client: u8) -> (usize, u16) {
        let of_both = |block: &&Block| {
            block.state == State::Open
                && block.client == client
                && block.server == server
                && matches!(block.kind, Kind::Object(..))
        };
        let objects = self.used().iter().filter(of_both);
        objects.fold((0, 0), |(count, granules), block| (count + 1, granules + block.granules))
    }

    /// A block, by its place.
    pub fn get(&self, place: usize) -> &Block {
        &self.slots[place]
    }

    /// Place of the first open block that `which` accepts, at or behind `from`.
    pub fn find(&self, from: usize, which: impl Fn(&Block) -> bool) -> Option<usize> {
        let used = self.used().iter().enumerate().skip(from);
        used.into_iter()
            .find(|(_, block)| block.state == State::Open && which(block))
            .map(|(place, _)| place)
    }

    /// A free place.
    pub fn free_place(&self) -> Option<usize> {
        if self.end < BLOCKS_MAXIMUM {
            return Some(self.end);
        }
        self.slots.iter().position(|block| block.state == State::Free)
    }

    /// Puts a block into a free place.
    pub fn put(&mut self, place: usize, block: Block) {
        self.slots[place] = block;
        self.held[usize::from(block.client)] += 1;
        self.end = self.end.max(place + 1);
    }

    /// Marks an open block closed.
    pub fn close(&mut self, place: usize) {
        self.slots[place].state = State::Closed;
        self.closed += 1;
    }

    /// Forgets the closed blocks that `left` accepts, handing each over first.
    pub fn forget(&mut self, left: impl Fn(&Block) -> bool, mut forgotten: impl FnMut(&Block)) {
        for block in &mut self.slots[..self.end] {
            if block.state == State::Closed && left(block) {
                forgotten(block);
                self.held[usize::from(block.client)] -= 1;
                *block = Block::FREE;
                self.closed -= 1;
            }
        }
        while self.end > 0 && self.slots[self.end - 1].state == State::Free {
            self.end -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(client: u8, first: u16, count: u8) -> Block {
        Block { state: State::Open, client, first, count, ..Block::FREE }
    }

    #[test]
    fn a_block_lives_until_its_code_is_left() {
        let mut blocks = Blocks::EMPTY;
        for first in 0..3 {
            let place = blocks.free_place().unwrap();
            blocks.put(place, open(1, 20 + first * 4, 4));
        }
        let place = blocks.find(0, |block| block.holds(1, 25)).unwrap();
        assert_eq!(place, 1);
        blocks.close(place);
        assert_eq!(blocks.find(0, |block| block.holds(1, 25)), None);
        let mut seen = 0;
        blocks.forget(|_| false, |_| seen += 1);
        assert_eq!((seen, blocks.closed()), (0, 1));
        blocks.forget(|block| block.first == 24, |_| seen += 1);
        assert_eq!((seen, blocks.closed(), blocks.used().len()), (1, 0, 3));
    }

    #[test]
    fn objects_are_counted_by_server_and_client() {
        let mut blocks = Blocks::EMPTY;
        for (client, server, kind) in [
            (1, 2, Kind::Object(5, 1)),
            (1, 2, Kind::Object(5, 2)),
            (1, 3, Kind::Object(5, 1)),
            (4, 2, Kind::Object(5, 1)),
            (1, 2, Kind::Export(5)),
        ] {
            let place = blocks.free_place().unwrap();
            blocks.put(place, Block { server, kind, granules: 10, ..open(client, 20, 1) });
        }
        assert_eq!((blocks.objects(2, 1), blocks.held(1), blocks.held(4)), ((2, 20), 4, 1));
        blocks.close(0);
        assert_eq!((blocks.objects(2, 1), blocks.held(1)), ((1, 10), 4));
        blocks.forget(|_| true, |_| {});
        assert_eq!((blocks.held(1), blocks.held(9)), (3, 0));
    }

    #[test]
    fn a_full_table_is_used_again() {
        let mut blocks = Blocks::EMPTY;
        for _ in 0..BLOCKS_MAXIMUM {
            let place = blocks.free_place().unwrap();
            blocks.put(place, open(1, 20, 1));
        }
        assert_eq!(blocks.free_place(), None);
        blocks.close(7);
        blocks.forget(|_| true, |_| {});
        assert_eq!(blocks.free_place(), Some(7));
    }
}
