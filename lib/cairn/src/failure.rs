//! How an error ends a component.

use crate::text::Line;
use core::fmt::Debug;

/// The error type of `main`, of `init` and of what they call, where an error ends the component: `?` makes one of any error, and
/// that is a panic, which says the place of the `?` and the error.
///
/// ```ignore
/// fn main() -> Result<(), cairn::Failure> {
///     imports::CONSOLE.print(format_args!("{}", imports::CLOCK.now()?))?;
///     Ok(())
/// }
/// ```
pub enum Failure {}

impl<E: Debug> From<E> for Failure {
    #[cold]
    #[track_caller]
    fn from(error: E) -> Failure {
        end("`?` ends the component", &error)
    }
}

/// Of a quota that is used up nobody here knows which it is.
#[cold]
#[inline(never)]
#[track_caller]
fn end(how: &str, error: &dyn Debug) -> ! {
    let name = Line::<64>::of(format_args!("{error:?}"));
    let help = match name.text().trim_end_matches(')').ends_with("Exhausted") {
        true => ": see `log portals`, `log memory` or its own log",
        false => "",
    };
    panic!("{how} with {error:?}{help}")
}

/// What `main` and `init` can return.
pub trait Ended {
    /// An error ends the component; `how` says who returned it.
    #[track_caller]
    fn ended(self, how: &str);
}

impl Ended for () {
    fn ended(self, _how: &str) {}
}

impl<T> Ended for Result<T, Failure> {
    fn ended(self, _how: &str) {}
}

impl<T, E: Debug> Ended for Result<T, E> {
    #[track_caller]
    fn ended(self, how: &str) {
        if let Err(error) = self {
            end(how, &error);
        }
    }
}
