//! Frames, each empty or with a page of a section.
//!
//! What a thread was answered is mapped for it behind the pager's back, when it returns. So the frame that a thread was answered last is
//! *pinned* until it comes again: it is not taken for another page, and stays changed if the thread may write it.

use cairn::Error;
use cairn::abi::thread::THREADS_MAXIMUM;

/// A page of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// The section.
    pub section: u64,
    /// Its page.
    pub number: u64,
}

#[derive(Clone, Copy)]
struct Frame {
    page: Option<Page>,
    /// Its clients may write it.
    is_changed: bool,
    /// Threads that were answered it last.
    pins: u16,
}

/// At most so many frames.
pub struct Cache<const FRAMES: usize> {
    frames: [Frame; FRAMES],
    count: usize,
    /// Where the next one that is taken is looked for.
    hand: usize,
    /// Of each thread the frame that it was answered last, and 1.
    answered: [u16; THREADS_MAXIMUM],
}

impl<const FRAMES: usize> Cache<FRAMES> {
    /// No frames.
    pub const fn new() -> Self {
        Cache {
            frames: [Frame { page: None, is_changed: false, pins: 0 }; FRAMES],
            count: 0,
            hand: 0,
            answered: [0; THREADS_MAXIMUM],
        }
    }

    /// There are so many, as far as they are known.
    pub fn begin(&mut self, count: usize) {
        self.count = count.min(FRAMES);
    }

    /// The frame of a page.
    pub fn find(&self, page: Page) -> Option<usize> {
        self.frames.iter().take(self.count).position(|frame| frame.page == Some(page))
    }

    /// A frame for another page: an empty one, or that which was taken longest ago. Its page stays until [`Cache::take`].
    pub fn victim(&mut self) -> Result<usize, Error> {
        let frames = &self.frames[..self.count];
        if let Some(empty) = frames.iter().position(|frame| frame.page.is_none()) {
            return Ok(empty);
        }
        let from_hand = (self.hand..self.count).chain(0..self.hand);
        let found = from_hand.into_iter().find(|frame| frames[*frame].pins == 0);
        let found = found.ok_or(Error::Exhausted)?;
        self.hand = (found + 1) % self.count;
        Ok(found)
    }

    /// What a frame has, and whether it was changed.
    pub fn content(&self, frame: usize) -> Option<(Page, bool)> {
        let frame = self.frames.get(frame)?;
        Some((frame.page?, frame.is_changed))
    }

    /// A frame has this page from now on, as it is on the disk; or none.
    pub fn take(&mut self, frame: usize, page: Option<Page>) {
        let frame = &mut self.frames[frame];
        (frame.page, frame.is_changed) = (page, false);
    }

    /// A frame has this page, as another cache had it there, of which all answers were mapped. `Malformed`: there is no such frame, or another has the page.
    pub fn restore(&mut self, frame: usize, page: Page, is_changed: bool) -> Result<(), Error> {
        let is_twice = self.find(page).is_some();
        let frames = self.frames.get_mut(..self.count).unwrap_or(&mut []);
        match frames.get_mut(frame) {
            Some(frame) if frame.page.is_none() && !is_twice => {
                (frame.page, frame.is_changed) = (Some(page), is_changed);
                Ok(())
            }
            _ => Err(Error::Malformed),
        }
    }

    /// A thread comes: what it was answered is mapped.
    pub fn unpin(&mut self, thread: usize) {
        let answered = &mut self.answered[thread % THREADS_MAXIMUM];
        if let Some(frame) = usize::from(*answered).checked_sub(1) {
            self.frames[frame].pins -= 1;
        }
        *answered = 0;
    }

    /// A thread is answered a frame, to write it or not; whether it may be written.
    pub fn answer(&mut self, thread: usize, frame: usize, writes: bool) -> bool {
        self.unpin(thread);
        self.answered[thread % THREADS_MAXIMUM] = frame as u16 + 1;
        let frame = &mut self.frames[frame];
        frame.pins += 1;
        frame.is_changed |= writes;
        frame.is_changed
    }

    /// Whether a thread was answered a frame that has not come again.
    pub fn is_pinned(&self, frame: usize) -> bool {
        self.frames[frame].pins != 0
    }

    /// A frame's page is on the disk as it is here, unless a thread can change it still.
    pub fn written(&mut self, frame: usize) {
        let frame = &mut self.frames[frame];
        frame.is_changed &= frame.pins != 0;
    }

    /// The frames that were changed.
    pub fn changed(&self) -> impl Iterator<Item = usize> + use<FRAMES> {
        let changed: [bool; FRAMES] = self.frames.map(|frame| frame.is_changed);
        (0..FRAMES).filter(move |frame| changed[*frame])
    }
}

impl<const FRAMES: usize> Default for Cache<FRAMES> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(number: u64) -> Page {
        Page { section: 1, number }
    }

    fn full(frames: usize) -> Cache<8> {
        let mut cache = Cache::new();
        cache.begin(frames);
        for number in 0..frames {
            let frame = cache.victim().unwrap();
            assert_eq!(frame, number);
            cache.take(frame, Some(page(number as u64)));
        }
        cache
    }

    #[test]
    fn the_oldest_makes_room() {
        let mut cache = full(3);
        assert_eq!(cache.find(page(2)), Some(2));
        assert_eq!(cache.find(Page { section: 2, number: 2 }), None);
        for (number, expected) in [(3, 0), (4, 1), (5, 2), (6, 0)] {
            let frame = cache.victim().unwrap();
            assert_eq!(frame, expected);
            cache.take(frame, Some(page(number)));
        }
        assert_eq!(cache.find(page(0)), None);
        assert_eq!(cache.content(0), Some((page(6), false)));
    }

    #[test]
    fn what_a_thread_was_answered_stays_until_it_comes_again() {
        let mut cache = full(3);
        assert!(!cache.answer(7, 0, false));
        assert!(cache.answer(8, 1, true));
        assert!(cache.answer(9, 1, false), "another one could change it");
        assert_eq!(cache.victim(), Ok(2));
        cache.answer(300, 2, false);
        assert_eq!(cache.victim(), Err(Error::Exhausted));
        cache.unpin(8);
        assert_eq!(cache.victim(), Err(Error::Exhausted), "it is another thread's as well");
        cache.unpin(9);
        cache.unpin(9);
        assert_eq!(cache.victim(), Ok(1));
    }

    #[test]
    fn a_page_comes_back_to_the_frame_where_it_was_and_to_no_other() {
        let mut cache = Cache::<8>::new();
        cache.begin(3);
        assert_eq!(cache.restore(1, page(7), true), Ok(()));
        for (frame, number) in [(2, 7), (1, 8), (3, 9), (usize::MAX, 9)] {
            assert_eq!(cache.restore(frame, page(number), false), Err(Error::Malformed));
        }
        assert_eq!(cache.restore(0, page(9), false), Ok(()));
        assert_eq!((cache.find(page(7)), cache.find(page(9))), (Some(1), Some(0)));
        assert_eq!((cache.content(1), cache.victim()), (Some((page(7), true)), Ok(2)));
        assert!(cache.changed().eq([1]));
    }

    #[test]
    fn what_can_be_written_still_stays_changed() {
        let mut cache = full(2);
        cache.answer(1, 0, true);
        cache.answer(2, 1, true);
        cache.unpin(2);
        assert!(cache.changed().eq([0, 1]));
        (0..2).for_each(|frame| cache.written(frame));
        assert!(cache.changed().eq([0]));
        cache.take(0, None);
        assert!(cache.changed().next().is_none());
    }
}
