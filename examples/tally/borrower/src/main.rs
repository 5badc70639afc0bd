//! Is lent a ticket, and keeps it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::sync::Mutex;
use cairn::{Error, Object, Passed};
use cairn_example_tally_contract::{Borrower, Ticket};
use cairn_interfaces::{Grants, Portals};

cairn::component! {
    name: "example-borrower",
    imports: { portals: Portals, grants: Grants },
    exports: { borrower: Borrower = SERVER },
}

struct Server;
static SERVER: Server = Server;
static TICKET: Mutex<Option<Object<dyn Ticket>>> = Mutex::new(None);

impl Borrower for Server {
    fn keep(&self, ticket: Passed<dyn Ticket>) -> Result<(), Error> {
        let ticket = imports::GRANTS.take(ticket)?;
        // Portals of its own: they count against this component until it closes them.
        match TICKET.lock()?.replace(ticket) {
            Some(former) => imports::PORTALS.close(former.first_portal().into()),
            None => Ok(()),
        }
    }

    fn bump(&self) -> Result<u64, Error> {
        let ticket = (*TICKET.lock()?).ok_or(Error::NotFound)?;
        ticket.proxy().bump()
    }
}
