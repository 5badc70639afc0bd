//! How much there can be of everything, so that no program uses up what belongs to the component itself: the heap that the description gives it
//! has room for all of it at a time.

/// Processes, those included that have ended and that nobody has asked for.
pub const PROCESSES: usize = 32;
/// Ranges of addresses that a process has.
pub const AREAS: usize = 256;
/// Bytes of all of them.
pub const ADDRESSES: u64 = 256 << 20;
/// Bytes of a stack.
pub const STACK: u64 = 8 << 20;
/// Descriptors of a process.
pub const DESCRIPTORS: usize = 64;
/// What is opened, of all processes.
pub const OPENED: usize = 512;
/// Pipes.
pub const PIPES: usize = 64;
/// Bytes of a pipe.
pub const PIPE: usize = 4096;
/// Files, folders, links and devices.
pub const NODES: usize = 4096;
/// Names of all those.
pub const NAMES: usize = 4096;
/// Bytes of where a symbolic link leads.
pub const TARGET: usize = 255;
/// Bytes of a file; what was never written takes no page.
pub const FILE: u64 = 1 << 30;
/// Bytes of a name.
pub const NAME: usize = 255;
/// Bytes of a path.
pub const PATH: usize = 4096;
/// Links on the way to a file.
pub const LINKS: usize = 16;
/// Bytes of the arguments and the environment of a program, with a word for each.
pub const ARGUMENTS: usize = 128 << 10;
/// Bytes that one call moves.
pub const PART: u64 = 16 << 10;
/// Pages that new areas leave to what is there.
pub const PAGES_LEFT: usize = 64;
