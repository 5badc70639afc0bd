//! What is told of portals to whoever lists them.

use super::{Server, locked};
use crate::describe::describe;
use crate::given::given;
use cairn::text::Line;
use cairn::window::WriteWindow;
use cairn::{Error, InstanceId};
use cairn_interfaces::PortalListing;
use core::fmt::Write;

impl PortalListing for Server {
    fn describe(
        &self,
        instance: InstanceId,
        index: u64,
        text: WriteWindow<'_>,
    ) -> Result<(usize, u64), Error> {
        locked(|manager, machine| {
            let (index, line) = describe(manager, machine, instance, index)?;
            line.answer(&text, index as u64)
        })
    }

    fn given(
        &self,
        instance: InstanceId,
        from: u64,
        text: WriteWindow<'_>,
    ) -> Result<(usize, u64), Error> {
        locked(|manager, machine| {
            let (number, line) = given(manager, machine, instance, from)?;
            line.answer(&text, number as u64)
        })
    }

    fn usage(&self) -> Result<(u64, u64), Error> {
        locked(|manager, _| Ok(manager.usage()))
    }

    fn usage_of(&self, instance: InstanceId) -> Result<(u64, u64), Error> {
        locked(|manager, _| manager.usage_of(instance).ok_or(Error::NotFound))
    }

    fn described_code(&self, instance: InstanceId) -> Result<u64, Error> {
        locked(|manager, _| manager.described_code(instance))
    }

    fn refused(&self, instance: InstanceId, text: WriteWindow<'_>) -> Result<usize, Error> {
        let line = locked(|manager, _| {
            let refusal = manager.last_refusal(instance).ok_or(Error::NotFound)?;
            let mut line = Line::<256>::new();
            // What does not fit is left out.
            let _ = write!(line, "{refusal}");
            Ok(line)
        })?;
        text.write(0, line.bytes())
    }
}
