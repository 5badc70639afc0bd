//! Logging: what a component says of what it does. Records lie in a ring of the instance's, which outlives it; who has the role
//! `logs` reads it, and says at which level this instance writes.
//!
//! ```ignore
//! cairn::log::warn!("{degrees} degrees");
//! cairn::log::debug!(target: "bus", "address {address:#x}");
//! ```
//!
//! A record that is not wanted costs the look at its level: its text is not made, and what it would show not computed.

#[cfg(feature = "log")]
mod backend;
#[cfg(target_os = "none")]
mod own;
pub mod ring;

#[cfg(feature = "log")]
pub use backend::attach;
pub use cairn_abi::log::LEVELS;

/// How much a record matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// What should not happen, and did.
    Error = 1,
    /// What may be wrong.
    Warn,
    /// What is good to know.
    Info,
    /// What helps to find an error.
    Debug,
    /// Every step.
    Trace,
}

/// Whether records of this level are written. On the host, in tests, none are.
#[inline(always)]
pub fn is_on(level: Level) -> bool {
    #[cfg(target_os = "none")]
    let most = own::level();
    #[cfg(not(target_os = "none"))]
    let most = 0;
    level as u64 <= most
}

/// Writes a record, for the macros; of text with several lines, or that is longer than a record, several.
#[cold]
#[inline(never)]
pub fn write(level: Level, target: &str, text: core::fmt::Arguments) {
    #[cfg(target_os = "none")]
    own::write(level, target, text);
    #[cfg(not(target_os = "none"))]
    let _ = (level, target, text);
}

/// An import to which [`print!`](crate::print) prints: the proxy of Cairn's interface `Console`.
pub trait Console {
    /// Prints text; whether there is a console. Whether it can print at the moment is not the program's business.
    fn print(&self, text: core::fmt::Arguments) -> bool;
}

impl<T: Console + Copy> Console for crate::component::Optional<T> {
    fn print(&self, text: core::fmt::Arguments) -> bool {
        self.get().is_some_and(|console| console.print(text))
    }
}

/// Writes text that a program prints, if it has no console.
#[doc(hidden)]
pub fn print(text: core::fmt::Arguments) {
    if is_on(Level::Info) {
        write(Level::Info, "", text);
    }
}

/// Writes a record at a [`Level`]: `log!(Level::Info, "{count} bytes")`.
#[doc(hidden)]
#[macro_export]
macro_rules! log_at {
    ($level:expr, target: $target:expr, $($text:tt)+) => {
        if $crate::log::is_on($level) {
            $crate::log::write($level, $target, ::core::format_args!($($text)+));
        }
    };
    ($level:expr, $($text:tt)+) => {
        $crate::log_at!($level, target: ::core::module_path!(), $($text)+)
    };
}
pub use log_at as log;

macro_rules! levels {
    ($d:tt $($name:ident $exported:ident $level:ident $text:literal;)*) => { $(
        #[doc = concat!("Writes a record at the level `", $text, "`, with the arguments of `format_args`, and before them perhaps `target: TEXT,`.")]
        #[macro_export]
        macro_rules! $exported {
            ($d($d text:tt)+) => { $crate::log_at!($crate::log::Level::$level, $d($d text)+) };
        }
        pub use $exported as $name;
    )* };
}

levels! {
    $
    error log_error Error "error";
    warn log_warn Warn "warn";
    info log_info Info "info";
    debug log_debug Debug "debug";
    trace log_trace Trace "trace";
}

/// Prints text: to the console, if the component imports `cairn_interfaces::Console`, under whatever name, else to its log, at
/// the level `info`. In a program's own crate, whose root has `cairn::component!`.
#[macro_export]
#[allow(clippy::crate_in_macro_def)]
macro_rules! print {
    ($($text:tt)*) => { crate::cairn_print(::core::format_args!($($text)*)) };
}

/// The same with a line feed behind it.
#[macro_export]
macro_rules! println {
    () => { $crate::print!("\n") };
    ($($text:tt)*) => { $crate::print!("{}\n", ::core::format_args!($($text)*)) };
}
