//! Keeps a text, and counts by the tally in its domain how many there were.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::exclusive::Exclusive;
use cairn::successor::{self, Reader, Writer};
use cairn::sync::Mutex;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_example_tally_contract::{Notes, Tally};
use cairn_interfaces::{Portals, Successor};

cairn::component! {
    name: "example-notes",
    imports: { portals: Portals, tally: Tally },
    exports: { notes: Notes = SERVER, successor: Successor = SERVER },
    arguments: { loud: u64 = 0 },
}

const TEXT: usize = 64;
struct Note {
    text: [u8; TEXT],
    length: usize,
}

struct Server;
static SERVER: Server = Server;
static NOTE: Mutex<Note> = Mutex::new(Note { text: [0; TEXT], length: 0 });

impl Notes for Server {
    fn write(&self, text: ReadWindow) -> Result<u64, Error> {
        let mut buffer = [0; TEXT];
        let length = text.text(&mut buffer)?.len();
        *NOTE.lock()? = Note { text: buffer, length };
        imports::TALLY.count()
    }

    fn read(&self, text: WriteWindow) -> Result<usize, Error> {
        let note = NOTE.lock()?;
        let mut copy = note.text;
        if arguments::loud() != 0 {
            copy.make_ascii_uppercase();
        }
        text.write(0, &copy[..note.length])
    }
}

const VERSION: u64 = 1;
const BEGIN: u8 = 0;
const CONTENT: u8 = 1;
static READER: Exclusive<Reader> = Exclusive::new(Reader::new());

impl Successor for Server {
    fn call_home(&self, _: bool) -> Result<(), Error> {
        Ok(())
    }

    fn export_state(&self, from: u64, part: WriteWindow<'_>) -> Result<usize, Error> {
        successor::export(from, part.len(), |at, bytes| part.write(at, bytes), write)
    }

    fn import_state(&self, size: u64, from: u64, part: ReadWindow<'_>) -> Result<(), Error> {
        READER.with(|reader| reader.import((size, from), part, take)).map(drop)
    }
}

fn write(writer: &mut Writer) -> Result<(), Error> {
    writer.record(BEGIN, &[&VERSION.to_le_bytes()])?;
    let note = NOTE.lock()?;
    writer.record(CONTENT, &[&note.text[..note.length]])
}

fn take(kind: u8, content: &[u8]) -> Result<(), Error> {
    match kind {
        BEGIN if successor::word(content)?.0 == VERSION => Ok(()),
        CONTENT => {
            let mut note = NOTE.lock()?;
            note.text.get_mut(..content.len()).ok_or(Error::TooLarge)?.copy_from_slice(content);
            note.length = content.len();
            Ok(())
        }
        _ => Err(Error::VersionMismatch),
    }
}
