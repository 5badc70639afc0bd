//! Components that stand between others ([`cairn::interpose`]).

use crate::{Portals, PortalsProxy};
use cairn::component::Interface;
use cairn::interpose::{Answer, Interposer, Passing, entrance};
use cairn::{Error, environment};

/// Puts components between others, while they run. All names are those of instances.
#[cairn::interface]
pub trait Interposition {
    /// From now on the portals of `client` that lead to `server` lead to `interposer` first, at the same indexes: those that it
    /// has, and those that it gets. Nothing as a client: of all clients; nothing as a server: to all servers; behind the server
    /// `/INTERFACE`: those of this interface alone. The
    /// interposer is to have registered its entrance ([`PortalsProxy::stand_between`]), and pays for all portals. Later ones
    /// are nearer to the client. It lasts, whoever of them starts again, until it is taken back or one is gone for good; with
    /// `falls_back` only until the interposer dies: else its clients find an error until it has started again. The
    /// value is how many portals.
    /// `NotFound`: it registered no entrance, or this was taken back meanwhile; `NotAllowed`: of a client that the system cannot do without; `NotSupported`: the interposer
    /// runs to completion, or in the kernel domain; `Busy`: it stands there already; `BadArgument`: no such instance;
    /// `Exhausted`: the interposer's part of portals, of entries of its table (its key `portals`), or of
    /// stacks; nothing is wrapped then.
    fn wrap(
        &self,
        client: &str,
        server: &str,
        interposer: &str,
        falls_back: bool,
    ) -> Result<u64, Error>;
    /// Takes this back, with the same names: the portals lead where they did before. Calls that are on their way come home as ever.
    /// `Exhausted`: a later interposer, which stands before it, has no room for portals to what is behind: it is taken away first. Whoever
    /// does not come to the end, or is called home, leaves what can be taken back once more; nothing new is wrapped meanwhile.
    fn unwrap(&self, client: &str, server: &str, interposer: &str) -> Result<u64, Error>;
    /// Who stands between whom, as text: client, server (`*`: all) and interface (`greeter/Echo`), interposer, and ` falls back`, or ` ends`: it
    /// was not taken back to the end. Later ones are behind; `NotFound` behind the last. The value is the
    /// length of the text.
    fn rule(&self, number: u64, text: &mut [u8]) -> Result<usize, Error>;
}

/// What an interposer registers, as `NAME.interposer`.
const ENTRANCE: &str = ".interposer";
/// Letters of the most that a call can have.
const LETTERS: &[u8] = b"ciiiiiii4";

impl PortalsProxy {
    /// For an interposer: where calls enter it that it is put between. Nobody can open this.
    pub fn stand_between<I: Interposer>(&self) -> Result<(), Error> {
        let own = environment::name().as_bytes();
        let mut buffer = [0; 63];
        let name = buffer.get_mut(..own.len() + ENTRANCE.len()).ok_or(Error::TooLarge)?;
        let (first, rest) = name.split_at_mut(own.len());
        first.copy_from_slice(own);
        rest.copy_from_slice(ENTRANCE.as_bytes());
        let name = core::str::from_utf8(name).map_err(|_| Error::Malformed)?;
        let mut methods = [0; 32];
        methods[8..8 + LETTERS.len()].copy_from_slice(LETTERS);
        methods[24..].copy_from_slice(&entrance::<I>().to_le_bytes());
        self.register(name, "", &methods)
    }
}

/// Portals that a client got by a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewPortals {
    /// The first index in its table.
    pub first: u64,
    /// How many.
    pub count: u64,
}

/// The number of a method of [`Portals`].
const fn method(name: &[u8]) -> usize {
    let methods = &<dyn Portals as Interface>::DESCRIPTOR.methods;
    let mut number = 0;
    // Without one of this name the build ends here.
    loop {
        let mut place = 0;
        while place < name.len() && methods[number].name[place] == name[place] {
            place += 1;
        }
        if place == name.len() && methods[number].name[place] == 0 {
            return number;
        }
        number += 1;
    }
}

/// By which who calls gets portals, or a place for them.
const MAKES: [usize; 5] = [
    method(b"open"),
    method(b"reserve"),
    method(b"make_semaphore"),
    method(b"make_lock"),
    method(b"make_once"),
];
const SIZE: usize = method(b"size");

/// For who stands between a copy of itself and all others: the portals that a call has put into the copy's table, where they lead
/// here already. The copy does not know of them before it is answered.
pub fn new_portals(call: &Passing, answer: &Answer) -> Option<NewPortals> {
    let first = environment::startup().portal_manager as usize;
    let method = call.portal().checked_sub(first).filter(|_| first != 0)?;
    if answer.status != 0 || !MAKES.contains(&method) {
        return None;
    }
    // A reservation's word has more above the index.
    let first = answer.words[0] & 0xffff;
    let asked = call.with_method(method, SIZE).with_argument(2, first).forward();
    (asked.status == 0).then_some(NewPortals { first, count: asked.words[0] })
}
