//! The instance's startup page, devices and sections. On the host, in tests, the page has zeros: no name, device or section.
#![allow(unsafe_code)]

use crate::registers::Registers;
use crate::section::Section;
#[cfg(target_os = "none")]
use cairn_abi::address::REGION_SIZE;
use cairn_abi::address::{PAGE_SIZE, STARTUP_OFFSET};
use cairn_abi::descriptor::{is_name, name_text};
use cairn_abi::device::QUEUE_PAGES;
use cairn_abi::startup::{Mapping, Startup};

/// First address of this instance's region: it follows from any address of the component's own image.
#[cfg(target_os = "none")]
#[inline(always)]
pub(crate) fn region() -> u64 {
    startup as *const () as u64 & !(REGION_SIZE - 1)
}

/// The same of no instance.
#[cfg(not(target_os = "none"))]
pub(crate) fn region() -> u64 {
    0
}

/// The startup page of this instance.
#[cfg(target_os = "none")]
pub fn startup() -> &'static Startup {
    let page = region() + STARTUP_OFFSET;
    // SAFETY: the host tool maps this page, read-only and filled in, before the first instruction
    // of the component, and nothing changes it.
    unsafe { &*(page as *const Startup) }
}

/// The same of no instance.
#[cfg(not(target_os = "none"))]
pub fn startup() -> &'static Startup {
    #[repr(align(8))]
    struct Page([u8; size_of::<Startup>()]);
    static PAGE: Page = Page([0; size_of::<Startup>()]);
    zerocopy::FromBytes::ref_from_bytes(&PAGE.0).expect("any bytes are one")
}

/// Name of this instance in the system description.
pub fn name() -> &'static str {
    name_text(&startup().name)
}

/// The description's argument of this instance.
pub fn argument() -> &'static str {
    let startup = startup();
    let length = (startup.argument_length as usize).min(startup.argument.len());
    core::str::from_utf8(&startup.argument[..length]).unwrap_or("")
}

/// The text of an argument's word in the startup page.
pub(crate) fn text_of(word: u64) -> &'static str {
    let startup = startup();
    let from = (word as u32 as u64).wrapping_sub(STARTUP_OFFSET) as usize;
    let at = from.wrapping_sub(core::mem::offset_of!(Startup, argument));
    let end = at.wrapping_add((word >> 32) as usize);
    core::str::from_utf8(startup.argument.get(at..end).unwrap_or(&[])).unwrap_or("")
}

fn find(mappings: &'static [Mapping], count: u32, name: &str) -> Option<&'static Mapping> {
    mappings.iter().take(count as usize).find(|mapping| is_name(&mapping.name, name.as_bytes()))
}

/// The registers of the device at `position` of the description's list.
pub fn device(position: usize) -> Option<Registers> {
    let startup = startup();
    let mapping = startup.devices.get(..startup.device_count as usize)?.get(position)?;
    // SAFETY: the host tool maps these device registers into this instance and no other.
    Some(unsafe { Registers::new(mapping.address as usize, mapping.size as usize, Some(mapping)) })
}

/// Where the device called `name` stands in the description's list.
pub(crate) fn position_of(name: &str) -> Option<usize> {
    let startup = startup();
    let devices = startup.devices.get(..startup.device_count as usize)?;
    devices.iter().position(|mapping| is_name(&mapping.name, name.as_bytes()))
}

/// The registers of the device that the description calls `name`: what stands in `devices = ["serial0"]`, or before the
/// equals sign in `devices = { port = "serial0" }`.
pub fn device_named(name: &str) -> Option<Registers> {
    device(position_of(name)?)
}

/// The same of a device without which the component is of no use: a panic says what the description lacks.
pub fn required_device(name: &str) -> Registers {
    device_named(name).unwrap_or_else(|| no_device(name))
}

/// Ends a component for want of a device.
#[cold]
pub(crate) fn no_device(name: &str) -> ! {
    panic!(
        "expected `devices = [\"{name}\"]`, or {{ {name} = \"...\" }}, in [instance.{}]",
        self::name()
    )
}

/// The shared section called `name`.
pub fn section(name: &str) -> Option<Section> {
    let startup = startup();
    let mapping = find(&startup.sections, startup.section_count, name)?;
    // SAFETY: the host tool maps this memory into this instance with these rights for good.
    Some(unsafe {
        Section::new(mapping.address as usize, mapping.size as usize, mapping.writable != 0)
    })
}

/// The memory for DMA, if the description gives some.
pub(crate) fn dma_memory() -> Option<Section> {
    let startup = startup();
    // SAFETY: the host tool maps this memory into this instance, writable, for good, and the program has no data there.
    let memory = unsafe { Section::new(startup.dma as usize, startup.dma_size as usize, true) };
    (startup.dma_size > 0).then_some(memory)
}

/// The pages of the queues of the device at `position`. Where the driver is confined, those of descriptors can only be read:
/// nothing of this library writes them then.
pub(crate) fn queues(position: usize) -> Option<Section> {
    let startup = startup();
    let mapping = startup.devices.get(..startup.device_count as usize)?.get(position)?;
    let size = mapping.queue_count * QUEUE_PAGES * PAGE_SIZE;
    // SAFETY: as above; a write where only reading is allowed is a fault of this instance.
    let pages = unsafe { Section::new(mapping.queues as usize, size as usize, true) };
    (size > 0).then_some(pages)
}
