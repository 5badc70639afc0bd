//! The crate `log`, whose macros libraries use.

use super::{Level, is_on, write};

struct Backend;

impl ::log::Log for Backend {
    fn enabled(&self, metadata: &::log::Metadata) -> bool {
        is_on(level(metadata.level()))
    }

    fn log(&self, record: &::log::Record) {
        let level = level(record.level());
        if is_on(level) {
            write(level, record.target(), *record.args());
        }
    }

    fn flush(&self) {}
}

fn level(level: ::log::Level) -> Level {
    match level {
        ::log::Level::Error => Level::Error,
        ::log::Level::Warn => Level::Warn,
        ::log::Level::Info => Level::Info,
        ::log::Level::Debug => Level::Debug,
        ::log::Level::Trace => Level::Trace,
    }
}

/// Has the macros of the crate `log` write to this component's log. The first thread does it before `main`; a component without
/// one does it where it first can.
pub fn attach() {
    // The level can change at any time, so it is looked at for each record.
    ::log::set_max_level(::log::LevelFilter::Trace);
    // Who comes second finds it done.
    let _ = ::log::set_logger(&Backend);
}
