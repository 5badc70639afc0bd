//! Logs what it is told, at several levels, by the library's macros and by those of the crate `log`, and prints without a console.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, environment};
use cairn_app_interfaces::Echo;

struct Talker;
static TALKER: Talker = Talker;

cairn::component! {
    name: "talker",
    exports: { echo: Echo = TALKER },
    main: main,
}

fn main() {
    cairn::println!("begins, in its {}", "log");
    log::warn!(target: "library", "has a message");
    while environment::argument() == "endless" {
        cairn::log::trace!("and again");
    }
}

impl Echo for Talker {
    fn add(&self, first: u64, count: u64) -> Result<u64, Error> {
        for number in first..first.saturating_add(count) {
            cairn::log::debug!(target: "", "number {number}");
        }
        Ok(count)
    }

    fn say(&self, text: ReadWindow<'_>) -> Result<(), Error> {
        let mut buffer = [0; 400];
        let text = text.text(&mut buffer)?;
        cairn::log::error!("says {text}");
        cairn::log::debug!("and says {text}");
        assert!(text != "end", "was told to end");
        Ok(())
    }

    fn fill(&self, buffer: WriteWindow<'_>) -> Result<usize, Error> {
        // Filled by what is only computed where it is shown.
        let mut count = 0;
        cairn::log::trace!("{}", {
            count += 1;
            count
        });
        buffer.write(0, &[b'x'; 64][..count])
    }
}
