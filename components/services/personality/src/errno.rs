//! Errors as system calls answer them.

use linux_raw_sys::errno;

macro_rules! errors {
    ($($name:ident),*) => {
        /// Why a system call failed: a number of Linux.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(clippy::upper_case_acronyms)]
        pub enum Errno { $(#[doc = stringify!($name)] $name = errno::$name as isize),* }
    };
}

errors! {
    E2BIG, EACCES, EAGAIN, EBADF, EBUSY, ECHILD, EEXIST, EFAULT, EINTR, EINVAL, EIO, EISDIR, EFBIG, ELOOP, EMFILE, ENAMETOOLONG, ENODEV, ENOENT,
    ENOEXEC, ENOMEM, ENOSPC, ENOSYS, ENOTDIR, ENOTEMPTY, ENOTTY, EPERM, EPIPE, ERANGE, ESPIPE, ESRCH, ETIMEDOUT
}

/// What system calls and their parts answer.
pub type Result<T> = core::result::Result<T, Errno>;

impl Errno {
    /// As a process finds it in its register.
    pub fn word(self) -> u64 {
        (-(self as i64)) as u64
    }
}
