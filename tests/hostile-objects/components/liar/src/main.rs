//! A server that makes other objects than its clients ask for.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::InstanceId;
use cairn::object::{ObjectTable, Places};
use cairn::window::ReadWindow;
use cairn::{Error, Object, Place};
use cairn_interfaces::Portals;
use cairn_test_hostile_objects_contract::{Bank, Numbers, Reader, how};

struct Server;
static SERVER: Server = Server;
struct One;
static NUMBERS: ObjectTable<One, 4> = ObjectTable::new();
static READERS: ObjectTable<One, 4> = ObjectTable::new();

cairn::component! {
    name: "hostile-liar",
    imports: { portals: Portals },
    exports: { bank: Bank = SERVER },
    objects: { numbers: Numbers = NUMBERS, readers: Reader = READERS },
}

/// The control word of the one object of a table.
fn control(table: &ObjectTable<One, 4>) -> Result<u64, Error> {
    let mut found = None;
    table.for_each(|control, _| found = Some(control));
    found.map_or_else(|| table.insert(One), Ok)
}

impl Bank for Server {
    fn open(&self, place: Place, how: u64) -> Result<Object<dyn Numbers>, Error> {
        let numbers = control(&NUMBERS)?;
        match how {
            how::OTHER_LETTERS => {
                // If it is refused, the liar says that it was not.
                let _ = imports::PORTALS.grant::<dyn Reader>(place, control(&READERS)?);
                Ok(Object::from_first_portal(0))
            }
            how::NOTHING => Ok(Object::from_first_portal(0)),
            how::TWICE => {
                imports::PORTALS.grant::<dyn Numbers>(place, numbers)?;
                match imports::PORTALS.grant::<dyn Numbers>(place, numbers) {
                    Err(Error::NotFound) => Ok(Object::from_first_portal(0)),
                    _ => Err(Error::Unknown),
                }
            }
            how::FAILED => {
                imports::PORTALS.grant::<dyn Numbers>(place, numbers)?;
                Err(Error::Busy)
            }
            how::ENDED => {
                let made = imports::PORTALS.grant::<dyn Numbers>(place, numbers);
                imports::PORTALS.end_object("Numbers", numbers)?;
                made
            }
            _ => imports::PORTALS.grant(place, numbers),
        }
    }

    fn reader(&self, place: Place) -> Result<Object<dyn Reader>, Error> {
        imports::PORTALS.grant(place, control(&READERS)?)
    }

    fn fill(&self, client: u64, place: u64, reader: bool) -> Result<(), Error> {
        let (name, table) = if reader { ("Reader", &READERS) } else { ("Numbers", &NUMBERS) };
        imports::PORTALS.make_object(InstanceId(client as u16), place, name, control(table)?)
    }

    fn flood(&self, client: u64, reservations: u64) -> Result<u64, Error> {
        let mut made = 0;
        for index in 0..512 {
            for reservation in 0..reservations {
                made += u64::from(self.fill(client, index | reservation << 16, true).is_ok());
            }
        }
        Ok(made)
    }

    fn end(&self) -> Result<u64, Error> {
        let numbers = imports::PORTALS.end_object("Numbers", control(&NUMBERS)?)?;
        Ok(numbers + imports::PORTALS.end_object("Reader", control(&READERS)?)?)
    }

    fn reserve(&self, count: u64) -> Result<u64, Error> {
        let bank = imports::PORTALS.open_proxy::<dyn Bank>("liar.bank")?;
        let mut word = 0;
        for _ in 0..count {
            word = imports::PORTALS.reserve_for::<dyn Numbers>(bank.first_portal())?;
        }
        Ok(word)
    }

    fn work(&self) -> Result<(), Error> {
        let bank = imports::PORTALS.open_proxy::<dyn Bank>("liar.bank")?;
        let numbers = bank.open(imports::PORTALS, how::HONEST)?;
        let sum = numbers.proxy().pair(2, 3);
        imports::PORTALS.close(numbers.first_portal().into())?;
        imports::PORTALS.close(bank.first_portal().into())?;
        if sum? == 5 { Ok(()) } else { Err(Error::Unknown) }
    }
}

impl Numbers for One {
    fn pair(&self, left: u64, right: u64) -> Result<u64, Error> {
        Ok(left.wrapping_add(right))
    }
}

impl Reader for One {
    fn pair(&self, bytes: ReadWindow<'_>) -> Result<u64, Error> {
        let mut copy = [0; 8];
        bytes.copy(&mut copy)?;
        Ok(u64::from_le_bytes(copy))
    }
}
