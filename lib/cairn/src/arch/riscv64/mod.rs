//! RISC-V 64.

pub(crate) mod call;
pub(crate) mod copy;
pub(crate) mod counter;
mod device;
pub(crate) mod fork;
mod form;
pub(crate) mod interpose;
pub(crate) mod leave;
pub(crate) mod measure;
pub(crate) mod needs;
mod preserved;
pub(crate) mod process;
pub(crate) mod ready;
pub(crate) mod start;
pub(crate) mod succession;
pub(crate) mod thread;

pub(crate) use device::device_fence;
