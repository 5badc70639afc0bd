//! What an instance says of the processes that it runs, as written.

use super::number;
use crate::place::Located;
use crate::processes::Processes;
use crate::report::{Error, Report};
use crate::table::Value;
use cairn_abi::address::LEAF_SPAN;
use cairn_abi::process::{Pool, TABLES_MAXIMUM};
use std::ops::RangeInclusive;

const EXAMPLE: &str = "processes = { memory = \"8M\", spaces = 16 }";
/// Bytes of their memory: whole large pages.
const MEMORY: RangeInclusive<u64> = LEAF_SPAN..=1 << 30;
const SPACES: RangeInclusive<u64> = 1..=512;
/// Page tables of the middle level, and of the last one.
const TABLES: RangeInclusive<u64> = 1..=TABLES_MAXIMUM;
/// Most page tables of all levels together.
const TABLES_TOGETHER: u64 = 2 * TABLES_MAXIMUM;
/// Page tables that there are for each space if the description does not say.
const DIRECTORIES_EACH: u64 = 3;
const LEAVES_EACH: u64 = 8;

/// `{ memory = "8M", spaces = 16 }`, with page tables of the other levels if the defaults are too few or too many.
pub(super) fn read_processes(value: &Value<'_>, report: &mut Report) -> Option<Located<Processes>> {
    let mut table = value.table("`processes`", report)?;
    let memory = table
        .require("memory", EXAMPLE, report)
        .and_then(|value| value.size(MEMORY, LEAF_SPAN, report));
    let spaces =
        table.require("spaces", EXAMPLE, report).and_then(|value| value.integer(SPACES, report));
    let count = spaces.as_ref().map_or(0, |spaces| **spaces);
    let mut tables = |key, each: u64| {
        let default = (each * count).min(*TABLES.end());
        number(&mut table, key, TABLES, default, report)
    };
    let directories = tables("directories", DIRECTORIES_EACH);
    let leaves = tables("leaves", LEAVES_EACH);
    table.finish(report);
    let pool = Pool {
        spaces: *spaces?,
        directories: u64::from(*directories?),
        leaves: u64::from(*leaves?),
    };
    let tables = pool.tables();
    if tables > TABLES_TOGETHER {
        report.push(Error::new(
            &value.place(),
            "the processes have too many page tables",
            format!(
                "expected at most {TABLES_TOGETHER} in all, found {tables}: one for each of the `spaces`, the `directories` and the `leaves`"
            ),
            "lower `leaves`, `directories` or `spaces`",
        ));
        return None;
    }
    Some(Located::new(Processes { memory: *memory?, pool }, value.place()))
}
