//! Uses addresses whose time has passed, when it is asked to.
#![no_std]
#![no_main]

use cairn::Error;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_interfaces::Memory;
use cairn_test_stale_contract::Keeper;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "stale-keeper",
    imports: { memory: Memory },
    exports: { keeper: Keeper = SERVER },
}

impl Keeper for Server {
    fn place(&self, bytes: ReadWindow) -> Result<u64, Error> {
        let address = address(bytes);
        load(address);
        Ok(address)
    }

    fn first_word(&self, bytes: ReadWindow) -> Result<u64, Error> {
        Ok(load(address(bytes)))
    }

    fn fill(&self, bytes: WriteWindow, word: u64) -> Result<u64, Error> {
        let address = address(bytes.as_read());
        store(address, word);
        Ok(address)
    }

    fn load(&self, address: u64) -> Result<u64, Error> {
        Ok(load(address))
    }

    fn store(&self, address: u64, word: u64) -> Result<u64, Error> {
        store(address, word);
        Ok(word)
    }

    fn take_page(&self) -> Result<u64, Error> {
        let address = imports::MEMORY.allocate(1)?;
        store(address, address);
        Ok(address)
    }

    fn give_page(&self, address: u64) -> Result<(), Error> {
        load(address);
        imports::MEMORY.free(address, 1)
    }

    fn give_page_and_load(&self, address: u64) -> Result<u64, Error> {
        load(address);
        imports::MEMORY.free(address, 1)?;
        Ok(load(address))
    }
}

fn address(bytes: ReadWindow) -> u64 {
    // SAFETY: two words; the larger one is the address, since a window is at most 16 KiB long.
    let words: [u64; 2] = unsafe { core::mem::transmute(bytes) };
    words[0].max(words[1])
}

fn load(address: u64) -> u64 {
    // SAFETY: none. When the address' time has passed, the hardware must stop it.
    unsafe { (address as *const u64).read_volatile() }
}

fn store(address: u64, word: u64) {
    // SAFETY: none, as above.
    unsafe { (address as *mut u64).write_volatile(word) };
}
