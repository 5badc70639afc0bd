#![forbid(unsafe_code)]
#![deny(warnings)]

use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Caller, Error, Object, Place};

pub mod disk {
    #[derive(Clone, Copy, Debug, cairn::MethodError)]
    #[repr(u16)]
    pub enum DiskError {
        Full = 7,
        Broken,
        #[portal]
        Call { error: cairn::Error } = 100,
    }

    /// Documentation is kept.
    #[cairn::interface]
    pub trait Disk {
        /// How much of it there is.
        fn size(&self) -> Result<u64, DiskError>;
        /// An object can return objects of its own interface.
        fn part(&self, place: cairn::Place, name: &str) -> Result<cairn::Object<dyn Disk>, cairn::Error>;
        /// Objects are passed on.
        fn copy(&self, from: cairn::Object<dyn Disk>, to: cairn::Object<dyn Disk>) -> Result<u64, DiskError>;
        /// What a server holds it passes on as well.
        fn below(&self) -> Result<cairn::Grant<dyn Disk>, cairn::Error>;
    }
}

/// Types that are called as Cairn's.
pub mod own {
    #[derive(Clone, Copy, Debug, PartialEq, cairn::Wire)]
    pub struct Place {
        pub row: u32,
        pub column: u32,
    }

    #[derive(Clone, Copy, Debug, PartialEq, cairn::Wire)]
    pub enum Now {
        Early,
        Late,
    }

    #[derive(Clone, Copy, Debug, PartialEq, cairn::Wire)]
    pub struct Object {
        pub weight: u64,
    }

    #[cairn::interface]
    pub trait Namesakes {
        fn put(&self, caller: ::cairn::Caller, place: self::Place, now: super::own::Now) -> Result<self::Object, cairn::Error>;
    }

    // Clients pass them.
    const _: fn(&NamesakesProxy, Place, Now) -> Result<Object, cairn::Error> = NamesakesProxy::put;
}

#[cairn::interface]
trait Private {
    fn call(&self, registers: u64, control: u64, server: u64) -> Result<u64, Error>;
    fn text(&self, caller: Caller, words: &str) -> core::result::Result<(), cairn::Error>;
    fn many(&self, rest: u64, serve: u8) -> Result<(u64, bool, u8, i8), Error>;
    fn fill(&self, word: Place, entries: &mut [u8]) -> Result<Object<dyn disk::Disk>, Error>;
}

struct Server;
static SERVER: Server = Server;

impl Private for Server {
    fn call(&self, registers: u64, control: u64, server: u64) -> Result<u64, Error> {
        Ok(registers + control + server)
    }
    fn text(&self, _caller: Caller, _words: ReadWindow<'_>) -> Result<(), Error> {
        Ok(())
    }
    fn many(&self, rest: u64, serve: u8) -> Result<(u64, bool, u8, i8), Error> {
        Ok((rest, true, serve, -1))
    }
    fn fill(&self, _word: Place, _entries: WriteWindow<'_>) -> Result<Object<dyn disk::Disk>, Error> {
        Err(Error::NotSupported)
    }
}

mod inner {
    #[derive(Clone, Copy, Debug, cairn::Wire)]
    pub enum Way {
        Left,
        Right,
    }

    #[derive(Clone, Copy, Debug, cairn::Wire)]
    pub enum Duration {
        Short,
        Long,
    }
}

cairn::component! {
    name: "everything",
    imports: { disk: disk::Disk, own: self::Private, spare: Option<disk::Disk> },
    exports: { private: crate::Private = SERVER },
    objects: {},
    arguments: {
        times: u64,
        offset: i64 = -1,
        is_loud: bool = true,
        pause: core::time::Duration = core::time::Duration::from_millis(5),
        title: &str = "",
        room: usize = 4096,
        way: inner::Way,
        back: inner::Way = inner::Way::Left,
        // Not the one of core, by its path.
        length: inner::Duration = inner::Duration::Short,
    },
    main: main,
}

fn main() {
    let _ = (arguments::times() as i64 + arguments::offset(), arguments::is_loud());
    let _ = (arguments::pause().as_millis(), arguments::title().len());
    let _ = (arguments::room() + 1, arguments::way() as u64, arguments::back());
    let _ = matches!(arguments::length(), inner::Duration::Long);
    let _ = (imports::DISK.size(), imports::OWN.text("words"));
    let _ = imports::SPARE.get().map(|spare| spare.size());
}
