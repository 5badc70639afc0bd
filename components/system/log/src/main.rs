//! The logs of all instances: it reads what they have written, and says at which level they write. It has no state of its own, and
//! no thread: whoever reads runs in it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::abi::log::{LEVELS, TEXT_MAXIMUM};
use cairn::abi::record::Instance;
use cairn::abi::text::plain;
use cairn::environment::section;
use cairn::log::ring::{Found, Ring};
use cairn::record::Record;
use cairn::text::Line;
use cairn::window::WriteWindow;
use cairn::{Error, InstanceId};
use cairn_interfaces::{LogRecord, Logs};

/// Words of a log that one call looks at: what the writer did to it does not make a call longer.
const LOOK: u64 = 512;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "log",
    exports: { logs: Logs = SERVER },
}

/// The log of an instance; `NotFound` if it has none.
fn ring(number: InstanceId) -> Result<Ring<'static>, Error> {
    let record = Record::find().ok_or(Error::NotFound)?;
    let instances: &[Instance] = record.table(record.header.instances);
    let instance = instances.iter().find(|one| one.is_there() && one.number == number);
    let instance = instance.ok_or(Error::NotFound)?;
    let (from, size) = (instance.log as usize, instance.log_size as usize);
    if size == 0 {
        return Err(Error::NotFound);
    }
    let ring = section("logs").ok_or(Error::NotFound)?.part(from, size).words(size / 8);
    Ring::new(ring).ok_or(Error::NotFound)
}

impl Logs for Server {
    fn read(
        &self,
        instance: InstanceId,
        place: u64,
        text: WriteWindow<'_>,
    ) -> Result<LogRecord, Error> {
        let mut bytes = [0; TEXT_MAXIMUM];
        let none = |next| Ok(LogRecord { next, time: 0, level: 0, length: 0 });
        match ring(instance)?.read(place, LOOK, &mut bytes) {
            Found::End => none(place),
            Found::Nothing(next) => none(next),
            Found::Record { head, time, next } => {
                let (target, rest) = bytes.split_at_mut(head.target.into());
                let rest = plain(&mut rest[..usize::from(head.length - head.target)]);
                let target = plain(target);
                let separator = if target.is_empty() { "" } else { ": " };
                let line =
                    Line::<{ TEXT_MAXIMUM + 2 }>::of(format_args!("{target}{separator}{rest}"));
                let length = text.write(0, line.bytes())?;
                Ok(LogRecord { next, time, level: head.level, length })
            }
        }
    }

    fn level(&self, instance: InstanceId) -> Result<u8, Error> {
        Ok(ring(instance)?.level())
    }

    fn set_level(&self, instance: InstanceId, level: u8) -> Result<(), Error> {
        if usize::from(level) >= LEVELS.len() {
            return Err(Error::BadArgument);
        }
        ring(instance)?.set_level(level);
        Ok(())
    }
}
