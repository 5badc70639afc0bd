//! Buffers of more than 64 bytes reach the callee in whole pages that hold nothing else.
//!
//! One test: the pages are the component's, and tests run at the same time.
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::abi::descriptor::Reply;
use cairn::call::host::answer_with;
use cairn::window::{ReadWindow, WriteWindow};
use std::cell::RefCell;
use std::rc::Rc;

#[cairn::interface]
trait Disk {
    fn exchange(&self, out: &[u8], back: &mut [u8]) -> Result<usize, Error>;
    fn three(&self, one: &[u8], two: &[u8], three: &[u8]) -> Result<(), Error>;
}

/// Reads beyond its window, as a hostile server can: to the end of the page.
fn page_of(registers: [u64; 8], number: usize) -> (ReadWindow<'static>, usize) {
    let length = registers[number + 1];
    let pages = length.div_ceil(4096) * 4096;
    let mut taken =
        cairn::__expansion::Registers::new([registers[number], pages, 0, 0, 0, 0, 0, 0]);
    (cairn::__expansion::read_window(&mut taken), length as usize)
}

#[test]
fn large_buffers_travel_in_pages_of_their_own() {
    let proxy = DiskProxy::at(16);
    let seen: Rc<RefCell<Vec<[u64; 8]>>> = Rc::default();
    let log = seen.clone();
    answer_with(move |_, registers| {
        log.borrow_mut().push(registers);
        let (out, length) = page_of(registers, 1);
        let mut bytes = vec![0; out.len()];
        out.read(0, &mut bytes).unwrap();
        assert!(bytes[..length].iter().all(|byte| *byte == 0x11));
        if length > 64 {
            assert_eq!(registers[1] % 4096, 0);
            assert!(bytes[length..].iter().all(|byte| *byte == 0), "the callee sees a neighbour");
        }
        let mut taken =
            cairn::__expansion::Registers::new([registers[3], registers[4], 0, 0, 0, 0, 0, 0]);
        let back: WriteWindow = cairn::__expansion::write_window(&mut taken);
        let mut before = [0; 5];
        back.as_read().read(0, &mut before).unwrap();
        assert_eq!(before, [0x77; 5]);
        back.write(1, &[0x22; 3]).unwrap();
        Reply { status: 0, value: length as u64 }
    });
    let neighbours = [0x33; 100];
    // The last call's bytes must not show in the next one's pages.
    for (length, back_length) in [(4000, 4096), (8000, 100), (65, 6000), (64, 64), (5, 65)] {
        let out = vec![0x11; length];
        let mut back = vec![0x77; back_length];
        assert_eq!(proxy.exchange(&out, &mut back), Ok(length));
        assert_eq!(back[..5], [0x77, 0x22, 0x22, 0x22, 0x77]);
        assert!(back[5..].iter().all(|byte| *byte == 0x77));
    }
    assert_eq!(neighbours, [0x33; 100]);
    assert_eq!(seen.borrow().len(), 5);

    // What is too large never leaves, and what was taken for it comes back.
    let page = [0; 4000];
    for _ in 0..10 {
        assert_eq!(proxy.exchange(&[0x11; 20_000], &mut [0; 1]), Err(Error::TooLarge));
        assert_eq!(proxy.three(&page, &[0; 9000], &page), Err(Error::Exhausted));
    }
    assert_eq!(seen.borrow().len(), 5);
    answer_with(|_, _| Reply { status: 0, value: 0 });
    assert_eq!(proxy.three(&page, &[0; 8000], &page), Ok(()));
}
