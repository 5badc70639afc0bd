//! Entry points. What no node writes lies in a section, which can have a pager of its own.

use cairn::section::Section;
use cairn::sync::{Condvar, Mutex, MutexGuard};
use cairn::time::{Duration, Instant};
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Caller, Error, InstanceId, environment};
use cairn_interfaces::{PageOrder, Portals, SharedPages};
use cairn_pager::PAGE;
use cairn_shared_home::directory::{Directory, NODES, PAGES};

struct State {
    directory: Directory,
    nodes: [Option<InstanceId>; NODES],
}

struct Home;
static HOME: Home = Home;
static STATE: Mutex<State> =
    Mutex::new(State { directory: Directory::new(), nodes: [None; NODES] });
/// A node has given something back, or is to, or is none any more.
static CHANGED: Condvar = Condvar::new();

cairn::component! {
    name: "shared-home",
    imports: { portals: Portals },
    exports: { pages: SharedPages = HOME },
    arguments: {
        // The section that keeps the pages.
        store: &str = "",
        // For how many milliseconds a node may keep what it is to give back.
        patience: u64 = 1000,
    },
    init: prepare,
}

fn store() -> Result<Section, Error> {
    environment::section(arguments::store()).filter(Section::is_writable).ok_or(Error::NotFound)
}

fn prepare() -> Result<(), Error> {
    let Ok(store) = store() else {
        cairn::log::error!(
            "expected a section in `sections`, read-write, for the argument `store`; found `{}`",
            arguments::store()
        );
        return Err(Error::NotFound);
    };
    if store.size() / PAGE > PAGES {
        cairn::log::error!("{} bytes, of at most {PAGES} pages", store.size());
        return Err(Error::TooLarge);
    }
    STATE.lock()?.directory.begin(store.size() / PAGE);
    Ok(())
}

fn end_of_patience() -> Instant {
    Instant::now() + Duration::from_millis(arguments::patience())
}

impl State {
    /// The number of a node that is a member.
    fn member(&self, caller: Caller, membership: u64) -> Result<usize, Error> {
        let node = self.nodes.iter().position(|node| *node == Some(caller.0));
        let node = node.ok_or(Error::NotFound)?;
        self.directory.check(node, membership)?;
        Ok(node)
    }
}

/// Waits for a change; `None`: there was none until then.
fn wait(
    state: MutexGuard<'static, State>,
    end: Instant,
) -> Result<Option<MutexGuard<'static, State>>, Error> {
    match CHANGED.wait_before(state, end) {
        Ok(state) => Ok(Some(state)),
        Err(Error::TimedOut) => Ok(None),
        Err(error) => Err(error),
    }
}

impl SharedPages for Home {
    fn join(&self, caller: Caller, pages: u64) -> Result<u64, Error> {
        if pages != (store()?.size() / PAGE) as u64 {
            return Err(Error::BadArgument);
        }
        let mut state = STATE.lock()?;
        let known = state.nodes.iter().position(|node| *node == Some(caller.0));
        let node = known.or_else(|| state.nodes.iter().position(Option::is_none));
        let node = node.ok_or(Error::Exhausted)?;
        state.nodes[node] = Some(caller.0);
        let membership = state.directory.join(node);
        CHANGED.notify_all()?;
        Ok(membership)
    }

    fn fetch(
        &self,
        caller: Caller,
        membership: u64,
        page: u64,
        to_write: bool,
        content: WriteWindow,
    ) -> Result<(u64, bool), Error> {
        let at = usize::try_from(page).map_err(|_| Error::BadArgument)?;
        if content.len() != PAGE {
            return Err(Error::BadArgument);
        }
        let store = store()?;
        let mut end = end_of_patience();
        let mut state = STATE.lock()?;
        loop {
            let node = state.member(caller, membership)?;
            if let Some(grant) = state.directory.ask(node, at, to_write)? {
                if grant.wants_content {
                    content.write_from(0, &store, at * PAGE, PAGE)?;
                }
                // Others may have waited behind this one.
                CHANGED.notify_all()?;
                return Ok((grant.number.into(), grant.wants_content));
            }
            // Those that have it learn of it.
            CHANGED.notify_all()?;
            state = match wait(state, end) {
                Ok(Some(state)) => state,
                Ok(None) => {
                    let mut state = STATE.lock()?;
                    if state.directory.expel_late(node, at) {
                        cairn::log::warn!(target: "refused", "a node kept page {at} and is none any more");
                    }
                    end = end_of_patience();
                    state
                }
                Err(error) => {
                    STATE.lock()?.directory.give_up(node, at);
                    let _ = CHANGED.notify_all();
                    return Err(error);
                }
            };
        }
    }

    fn next_order(&self, caller: Caller, membership: u64) -> Result<PageOrder, Error> {
        let end = end_of_patience();
        let mut state = STATE.lock()?;
        loop {
            let node = state.member(caller, membership)?;
            if let Some(order) = state.directory.order(node) {
                let (page, grant) = (order.page as u64, order.grant.into());
                return Ok(PageOrder { page, grant, keeps: order.keeps });
            }
            state = wait(state, end)?.ok_or(Error::TimedOut)?;
        }
    }

    fn give_back(
        &self,
        caller: Caller,
        membership: u64,
        page: u64,
        grant: u64,
        keeps: bool,
        content: ReadWindow,
    ) -> Result<(), Error> {
        let at = usize::try_from(page).map_err(|_| Error::BadArgument)?;
        let grant = u32::try_from(grant).map_err(|_| Error::NotAllowed)?;
        if content.len() != PAGE {
            return Err(Error::BadArgument);
        }
        let store = store()?;
        let mut state = STATE.lock()?;
        let node = state.member(caller, membership)?;
        if state.directory.give_back(node, at, grant, keeps)? {
            content.read_into(0, &store, at * PAGE, PAGE)?;
        }
        CHANGED.notify_all()
    }
}
