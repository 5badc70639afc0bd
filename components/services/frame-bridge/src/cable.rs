//! A cable with so many ends, at each a queue of frames that wait for who is there. What does not fit is lost.

use cairn::{Error, InstanceId};
use cairn_driver_interfaces::FRAME_MAXIMUM;

/// Frames that wait for one client.
pub const FRAMES: usize = 32;

struct Frame {
    length: usize,
    bytes: [u8; FRAME_MAXIMUM],
}

/// An end of the cable.
struct End {
    client: Option<InstanceId>,
    /// Its client takes frames: nothing is kept for others.
    listens: bool,
    /// Of the frames that wait the first one's place, and how many they are.
    first: usize,
    count: usize,
    frames: [Frame; FRAMES],
}

pub struct Cable<const ENDS: usize> {
    ends: [End; ENDS],
}

impl End {
    const fn new() -> End {
        const NOTHING: Frame = Frame { length: 0, bytes: [0; FRAME_MAXIMUM] };
        End { client: None, listens: false, first: 0, count: 0, frames: [NOTHING; FRAMES] }
    }

    /// A frame behind those that wait; whether there was room.
    fn push(&mut self, frame: &[u8]) -> bool {
        let has_room = self.listens && self.count < FRAMES;
        if has_room {
            let place = &mut self.frames[(self.first + self.count) % FRAMES];
            place.bytes[..frame.len()].copy_from_slice(frame);
            place.length = frame.len();
            self.count += 1;
        }
        has_room
    }
}

impl<const ENDS: usize> Cable<ENDS> {
    pub const fn new() -> Cable<ENDS> {
        Cable { ends: [const { End::new() }; ENDS] }
    }

    /// The end of a client. A new one gets one that nobody had, else that of one which no longer listens.
    pub fn end_of(&mut self, client: InstanceId) -> Result<usize, Error> {
        let ends = &self.ends;
        let end = ends
            .iter()
            .position(|end| end.client == Some(client))
            .or_else(|| ends.iter().position(|end| end.client.is_none()))
            .or_else(|| ends.iter().position(|end| !end.listens))
            .ok_or(Error::Exhausted)?;
        // Where nobody listens nothing waits.
        self.ends[end].client = Some(client);
        Ok(end)
    }

    /// The client of an end begins: frames are kept for it from now on, and none of those that waited before; how many they were.
    pub fn begin(&mut self, end: usize) -> usize {
        let lost = self.leave(end);
        self.ends[end].listens = true;
        lost
    }

    /// The client of an end takes no frames any more; how many waited.
    pub fn leave(&mut self, end: usize) -> usize {
        let end = &mut self.ends[end];
        end.listens = false;
        core::mem::take(&mut end.count)
    }

    /// Puts a frame at all ends but its sender's; calls `kept` with each end that had room.
    pub fn send(&mut self, from: usize, frame: &[u8], mut kept: impl FnMut(usize)) {
        for (number, end) in self.ends.iter_mut().enumerate() {
            if number != from && frame.len() <= FRAME_MAXIMUM && end.push(frame) {
                kept(number);
            }
        }
    }

    /// Takes the frame that has waited longest, by a function that gets its bytes; nothing if none waits.
    pub fn take<R>(&mut self, end: usize, frame: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let end = &mut self.ends[end];
        if end.count == 0 {
            return None;
        }
        let Frame { length, bytes } = &end.frames[end.first];
        let result = frame(&bytes[..*length]);
        end.first = (end.first + 1) % FRAMES;
        end.count -= 1;
        Some(result)
    }
}

impl<const ENDS: usize> Default for Cable<ENDS> {
    fn default() -> Self {
        Self::new()
    }
}

/// The address of an end: one that is not a maker's, but this network's own.
pub const fn address(end: usize) -> u64 {
    u64::from_le_bytes([2, 0, 0, 0, 0, end as u8 + 1, 0, 0])
}
