//! Which ranges of addresses a process has, each in whole pages with rights and a content.

use crate::errno::{Errno, Result};
use alloc::vec::Vec;

/// Bytes of a page.
pub const PAGE: u64 = 4096;

/// What the pages of an area have when they are first used.
pub trait Content: Clone {
    /// What is so many bytes behind its beginning.
    fn behind(&self, bytes: u64) -> Self;
    /// Whether two areas that follow each other, with these contents, are one.
    fn goes_on(&self, next: &Self) -> bool;
}

/// A range of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Area<C> {
    /// Its first address.
    pub start: u64,
    /// Behind its last one.
    pub end: u64,
    /// What may be done there, in the bits of `mmap`.
    pub protection: u32,
    /// Children have the same pages, not copies.
    pub is_shared: bool,
    /// What it has first.
    pub content: C,
}

/// All areas of a process, which do not overlap.
#[derive(Clone)]
pub struct Areas<C> {
    areas: Vec<Area<C>>,
    most: usize,
    bytes_most: u64,
}

impl<C: Content> Areas<C> {
    /// None, and later at most so many, of so many bytes together.
    pub fn new(most: usize, bytes_most: u64) -> Areas<C> {
        Areas { areas: Vec::new(), most, bytes_most }
    }

    /// All, by their addresses.
    pub fn iter(&self) -> impl Iterator<Item = &Area<C>> {
        self.areas.iter()
    }

    /// Bytes of all.
    pub fn bytes(&self) -> u64 {
        self.areas.iter().map(|area| area.end - area.start).sum()
    }

    /// The one with this address.
    pub fn find(&self, address: u64) -> Option<&Area<C>> {
        let place = self.areas.partition_point(|area| area.end <= address);
        self.areas.get(place).filter(|area| area.start <= address)
    }

    /// Those in a range, as far as they are in it.
    pub fn within(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> {
        let cut = move |area: &Area<C>| (area.start.max(start), area.end.min(end));
        self.areas.iter().map(cut).filter(|(start, end)| start < end)
    }

    /// Whether all of a range belongs to areas.
    pub fn cover(&self, start: u64, end: u64) -> bool {
        let covered: u64 = self.within(start, end).map(|(start, end)| end - start).sum();
        covered == end - start
    }

    /// Adds one where nothing is. `ENOMEM`: there are too many, or too many bytes.
    pub fn add(&mut self, area: Area<C>) -> Result<()> {
        if self.bytes() + (area.end - area.start) > self.bytes_most {
            return Err(Errno::ENOMEM);
        }
        let place = self.areas.partition_point(|other| other.start < area.start);
        if let Some(before) = place.checked_sub(1).map(|before| &mut self.areas[before])
            && before.end == area.start
            && (before.protection, before.is_shared) == (area.protection, area.is_shared)
            && before.content.goes_on(&area.content)
        {
            before.end = area.end;
            return Ok(());
        }
        if self.areas.len() >= self.most {
            return Err(Errno::ENOMEM);
        }
        self.areas.insert(place, area);
        Ok(())
    }

    /// Nothing is in a range any more. `ENOMEM`: what is left would be too many areas; then nothing has changed.
    pub fn remove(&mut self, start: u64, end: u64) -> Result<()> {
        self.split(start, end)?;
        self.areas.retain(|area| area.start < start || area.end > end);
        Ok(())
    }

    /// Other rights for all that is in a range.
    pub fn protect(&mut self, start: u64, end: u64, protection: u32) -> Result<()> {
        self.split(start, end)?;
        let inside = |area: &&mut Area<C>| start <= area.start && area.end <= end;
        self.areas.iter_mut().filter(inside).for_each(|area| area.protection = protection);
        Ok(())
    }

    /// The highest range of so many bytes below `top` in which nothing is.
    pub fn room(&self, size: u64, top: u64) -> Option<u64> {
        let mut end = top;
        for area in self.areas.iter().rev() {
            if end.checked_sub(size).is_some_and(|start| start >= area.end) {
                break;
            }
            end = end.min(area.start);
        }
        end.checked_sub(size).filter(|start| *start >= PAGE)
    }

    /// No area is partly in a range.
    fn split(&mut self, start: u64, end: u64) -> Result<()> {
        let parts = |at: u64| self.areas.iter().position(|area| area.start < at && at < area.end);
        let cuts = [start, end].into_iter().filter(|at| parts(*at).is_some()).count();
        if self.areas.len() + cuts > self.most {
            return Err(Errno::ENOMEM);
        }
        for at in [start, end] {
            let found = self.areas.iter().position(|area| area.start < at && at < area.end);
            let Some(place) = found else { continue };
            let first = &mut self.areas[place];
            let content = first.content.behind(at - first.start);
            let rest = Area { start: at, content, ..first.clone() };
            first.end = at;
            self.areas.insert(place + 1, rest);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where in a file it begins; 0 for zeros.
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct From(u64);

    impl Content for From {
        fn behind(&self, bytes: u64) -> From {
            From(if self.0 == 0 { 0 } else { self.0 + bytes })
        }
        fn goes_on(&self, next: &From) -> bool {
            self.0 == 0 && next.0 == 0
        }
    }

    fn area(start: u64, end: u64, from: u64) -> Area<From> {
        let (start, end) = (start * PAGE, end * PAGE);
        Area { start, end, protection: 1, is_shared: false, content: From(from) }
    }

    fn shown(areas: &Areas<From>) -> Vec<(u64, u64, u32, u64)> {
        let shown = |area: &Area<From>| {
            (area.start / PAGE, area.end / PAGE, area.protection, area.content.0)
        };
        areas.iter().map(shown).collect()
    }

    fn three() -> Areas<From> {
        let mut areas = Areas::new(5, 64 * PAGE);
        areas.add(area(20, 30, 7)).unwrap();
        areas.add(area(10, 12, 0)).unwrap();
        areas.add(area(12, 14, 0)).unwrap();
        areas.add(area(40, 41, 0)).unwrap();
        areas
    }

    #[test]
    fn zeros_that_follow_zeros_are_one_area() {
        let areas = three();
        assert_eq!(shown(&areas), [(10, 14, 1, 0), (20, 30, 1, 7), (40, 41, 1, 0)]);
        assert_eq!(areas.bytes(), 15 * PAGE);
        assert!(areas.find(14 * PAGE).is_none() && areas.find(10 * PAGE - 1).is_none());
        assert_eq!(areas.find(14 * PAGE - 1).unwrap().start, 10 * PAGE);
        assert!(areas.cover(21 * PAGE, 30 * PAGE) && !areas.cover(21 * PAGE, 31 * PAGE));
    }

    #[test]
    fn what_is_cut_keeps_its_content() {
        let mut areas = three();
        areas.remove(22 * PAGE, 24 * PAGE).unwrap();
        areas.protect(28 * PAGE, 50 * PAGE, 3).unwrap();
        let (first, second) = (7 + 4 * PAGE, 7 + 8 * PAGE);
        let expected = [(10, 14, 1, 0), (20, 22, 1, 7), (24, 28, 1, first), (28, 30, 3, second)];
        assert_eq!(shown(&areas)[..4], expected);
        assert_eq!(areas.iter().last().unwrap().protection, 3);
        let before = shown(&areas);
        assert_eq!(areas.remove(11 * PAGE, 12 * PAGE), Err(Errno::ENOMEM), "five are the most");
        assert_eq!(shown(&areas), before);
        areas.remove(0, 100 * PAGE).unwrap();
        assert_eq!(shown(&areas), []);
    }

    #[test]
    fn room_is_as_high_as_there_is_some() {
        let areas = three();
        let room = |size: u64, top: u64| areas.room(size * PAGE, top * PAGE).map(|at| at / PAGE);
        assert_eq!(room(9, 50), Some(41));
        assert_eq!(room(10, 50), Some(30));
        assert_eq!(room(11, 50), None);
        assert_eq!(room(9, 45), Some(31));
        assert_eq!(areas.room(u64::MAX, 50 * PAGE), None);
        assert_eq!(Areas::<From>::new(1, 0).room(PAGE, PAGE), None, "never at 0");
    }

    #[test]
    fn all_together_have_a_limit() {
        let mut areas = three();
        assert_eq!(areas.add(area(100, 150, 0)), Err(Errno::ENOMEM));
        areas.add(area(100, 149, 0)).unwrap();
        areas.add(area(200, 200, 0)).unwrap();
        assert_eq!(areas.add(area(300, 300, 5)), Err(Errno::ENOMEM), "five are the most");
    }
}
