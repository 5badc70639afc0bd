//! Changes the section that its argument names, for whoever calls.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::section::Section;
use cairn::{Error, environment};
use cairn_interfaces::Transactions;
use cairn_test_transactions_contract::Changes;

const PAGE: usize = 4096;

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "transactions-client",
    imports: { transactions: Transactions },
    exports: { changes: Changes = SERVER },
}

fn section() -> Result<Section, Error> {
    environment::section(environment::argument()).ok_or(Error::NotFound)
}

impl Changes for Server {
    fn load(&self, page: u64) -> Result<u64, Error> {
        Ok(section()?.load(page as usize * PAGE))
    }

    fn store(&self, page: u64, word: u64) -> Result<(), Error> {
        section()?.store(page as usize * PAGE, word);
        Ok(())
    }

    fn load_all(&self, pages: u64) -> Result<(u64, bool), Error> {
        let section = section()?;
        let first = section.load(0);
        let mut all = (0..pages as usize).map(|page| section.load(page * PAGE));
        Ok((first, all.all(|word| word == first)))
    }

    fn begin(&self, first: u64, pages: u64) -> Result<(), Error> {
        imports::TRANSACTIONS.begin(first, pages)
    }

    fn commit(&self) -> Result<u64, Error> {
        imports::TRANSACTIONS.commit()
    }

    fn abort(&self) -> Result<u64, Error> {
        imports::TRANSACTIONS.abort()
    }

    fn change_all(&self, pages: u64, word: u64) -> Result<u64, Error> {
        imports::TRANSACTIONS.begin(0, pages)?;
        let section = section()?;
        (0..pages as usize).for_each(|page| section.store(page * PAGE, word));
        imports::TRANSACTIONS.commit()
    }
}
