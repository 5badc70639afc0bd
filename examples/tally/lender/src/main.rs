//! Has a ticket of the tally, which stays its own whoever is replaced, and lends it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::sync::{Mutex, Once};
use cairn::{Error, Grant, Object};
use cairn_example_tally_contract::{Borrower, Lender, Tally, Ticket};
use cairn_interfaces::{Grants, Portals, Rights};

cairn::component! {
    name: "example-lender",
    imports: { portals: Portals, grants: Grants, tally: Tally, borrower: Borrower },
    exports: { lender: Lender = SERVER },
}

struct Server;
static SERVER: Server = Server;
static TICKET: Once<Object<dyn Ticket>> = Once::new();
static LENT: Mutex<Option<Grant<dyn Ticket>>> = Mutex::new(None);

fn ticket() -> Result<&'static Object<dyn Ticket>, Error> {
    TICKET.get_or_init(|| imports::TALLY.ticket(imports::PORTALS))
}

impl Lender for Server {
    fn bump(&self) -> Result<u64, Error> {
        ticket()?.proxy().bump()
    }

    fn lend(&self, calls: u32) -> Result<(), Error> {
        let mut lent = LENT.lock()?;
        if lent.is_some() {
            return Err(Error::Busy);
        }
        let rights = const { Rights::ALL.only::<dyn Ticket>(&["bump"]) }.calls(calls);
        let borrower = imports::BORROWER.first_portal();
        let ((), grant) = imports::GRANTS
            .pass_in(ticket()?, borrower, rights, |grant| imports::BORROWER.keep(grant))?;
        *lent = Some(grant);
        Ok(())
    }

    fn take_back(&self) -> Result<(), Error> {
        let grant = LENT.lock()?.take().ok_or(Error::NotFound)?;
        imports::GRANTS.take_back(grant)
    }
}
