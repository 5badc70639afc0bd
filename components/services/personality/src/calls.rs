//! System calls, by their numbers on this machine.
// They are called as in Linux' headers.
#![allow(non_upper_case_globals)]

mod descriptors;
mod files;
mod identity;
mod memory;
mod paths;
mod poll;
mod processes;
mod signals;
mod status;
mod terminal;
mod time;

use crate::arch::{__NR_FENCE, __NR_PROBE, ARGUMENT, CALL};
use crate::process::State;
use crate::system::System;
use cairn::process::Registers;
use cairn_personality::errno::{Errno, Result};
use linux_raw_sys::general::*;

/// What becomes of a call.
pub enum Outcome {
    /// It answers.
    Done(u64),
    /// It is made again when something has changed, or when it is so late.
    Waits(Option<u64>),
    /// Its process goes on elsewhere, or not at all: nothing is answered.
    Elsewhere,
}

/// What calls answer.
pub type Answer = Result<Outcome>;

/// A word that is answered.
fn done(word: u64) -> Answer {
    Ok(Outcome::Done(word))
}

/// The arguments of a call.
struct Call {
    number: u32,
    words: [u64; 6],
}

impl Call {
    fn of(registers: &Registers) -> Call {
        let word = |place: usize| registers.get(ARGUMENT + place);
        let number = u32::try_from(registers.get(CALL)).unwrap_or(u32::MAX);
        Call { number, words: core::array::from_fn(word) }
    }
}

/// Answers the call at which the process stands that runs.
pub fn answer(system: &mut System) {
    let call = Call::of(&system.me().registers);
    let answer = dispatch(system, &call);
    let changes = system.counts.changes();
    let word = match answer {
        Ok(Outcome::Elsewhere) => return,
        Ok(Outcome::Waits(until)) => {
            let process = system.me();
            process.state = State::Waits(changes);
            process.until = until;
            return;
        }
        Ok(Outcome::Done(word)) => word,
        Err(error) => error.word(),
    };
    let process = system.me();
    process.until = None;
    process.registers.set(ARGUMENT, word);
    process.registers.skip_call();
}

/// Whether a call that a handler has interrupted is made again, if the handler's action says so.
pub fn is_repeated(registers: &Registers) -> bool {
    let once = [
        __NR_nanosleep,
        __NR_clock_nanosleep,
        __NR_ppoll,
        __NR_pselect6,
        __NR_rt_sigsuspend,
        __NR_rt_sigtimedwait,
    ];
    !once.contains(&Call::of(registers).number)
}

fn dispatch(system: &mut System, call: &Call) -> Answer {
    let [a, b, c, d, e, f] = call.words;
    match call.number {
        __NR_read => files::read(system, a, b, c),
        __NR_write => files::write(system, a, b, c),
        __NR_readv => files::vectored(system, (a, b, c), files::read),
        __NR_writev => files::vectored(system, (a, b, c), files::write),
        __NR_pread64 => files::read_at(system, a, b, c, d),
        __NR_pwrite64 => files::write_at(system, a, b, c, d),
        __NR_sendfile => files::send(system, a, b, c, d),
        __NR_lseek => files::seek(system, a, b as i64, c as u32),
        __NR_ftruncate => files::set_size(system, a, b),
        __NR_fsync | __NR_fdatasync => files::exists(system, a),
        __NR_fadvise64 => files::exists(system, a),
        __NR_sync => done(0),
        __NR_pipe2 => files::pipe(system, a, b as u32),

        __NR_close => descriptors::close(system, a),
        __NR_fcntl => descriptors::control(system, a, b as u32, c),
        __NR_dup => descriptors::duplicate(system, a),
        __NR_dup3 => descriptors::duplicate_to(system, a, b, c as u32),
        __NR_ioctl => terminal::control(system, a, b as u32, c),
        __NR_ppoll => poll::poll(system, a, b, c, d),
        __NR_pselect6 => poll::select(system, a, [b, c, d], e, f),

        __NR_openat => paths::open(system, a, b, c as u32, d as u32),
        __NR_getdents64 => paths::entries(system, a, b, c),
        __NR_readlinkat => paths::read_link(system, a, b, c, d),
        __NR_faccessat | __NR_faccessat2 => paths::access(system, a, b, c as u32),
        __NR_mkdirat => paths::make_folder(system, a, b, c as u32),
        __NR_unlinkat => paths::remove(system, a, b, c as u32),
        __NR_symlinkat => paths::make_link(system, a, b, c),
        __NR_linkat => paths::add_name(system, [a, b, c, d], e as u32),
        __NR_renameat2 => paths::rename(system, [a, b, c, d], e as u32),
        __NR_truncate => paths::set_size(system, a, b),
        __NR_getcwd => paths::folder(system, a, b),
        __NR_chdir => paths::change_folder(system, a),
        __NR_fchdir => paths::change_folder_to(system, a),
        __NR_umask => done(core::mem::replace(&mut system.me().mask, a as u32 & 0o777).into()),

        __NR_fstat => status::of_descriptor(system, a, b),
        __NR_newfstatat => status::of_path(system, a, b, c, d as u32),
        __NR_fchmod => status::set_mode(system, a, b as u32),
        __NR_fchmodat => status::set_mode_of(system, a, b, c as u32),
        __NR_fchown => files::exists(system, a),
        __NR_fchownat => status::of_owner(system, a, b, e as u32),
        __NR_utimensat => status::set_time(system, a, b, c, d as u32),
        __NR_statfs => status::of_tree(system, Some(a), b),
        __NR_fstatfs => status::of_tree(system, None, b),

        __NR_brk => memory::set_break(system, a),
        __NR_mmap => memory::map(system, [a, b, c, d, e, f]),
        __NR_munmap => memory::unmap(system, a, b),
        __NR_mprotect => memory::protect(system, a, b, c as u32),
        __NR_mremap => memory::remap(system, a, b, c, d as u32),
        __NR_madvise => memory::advise(system, a, b, c as u32),
        __NR_FENCE => memory::fence(),

        __NR_exit | __NR_exit_group => {
            system.end((a as u32 & 0xff) << 8);
            Ok(Outcome::Elsewhere)
        }
        __NR_clone => processes::clone(system, a, b),
        __NR_execve => processes::begin(system, a, b, c),
        __NR_wait4 => processes::wait(system, a as i32, b, c as u32, d),

        __NR_kill => signals::kill(system, a as i32, b),
        __NR_tkill => signals::kill_one(system, a as i32, b),
        __NR_tgkill => signals::kill_one(system, b as i32, c),
        __NR_rt_sigaction => signals::action(system, a, b, c, d),
        __NR_rt_sigprocmask => signals::mask(system, a as u32, b, c, d),
        __NR_rt_sigpending => signals::pending(system, a, b),
        __NR_rt_sigsuspend => signals::suspend(system, a, b),
        __NR_rt_sigtimedwait => signals::wait(system, a, b, c, d),
        __NR_rt_sigreturn => signals::leave_handler(system),
        __NR_sigaltstack => signals::stack(system, a, b),
        __NR_setitimer => signals::set_alarm(system, a as u32, b, c),

        __NR_getpid | __NR_gettid | __NR_set_tid_address => done(system.me().number.into()),
        __NR_getppid => done(system.me().parent.into()),
        __NR_getuid | __NR_geteuid | __NR_getgid | __NR_getegid | __NR_getgroups => done(0),
        __NR_setuid | __NR_setgid | __NR_setgroups | __NR_setresuid | __NR_setresgid => done(0),
        __NR_set_robust_list | __NR_sched_yield => done(0),
        __NR_getpgid => identity::group(system, a as u32),
        __NR_setpgid => identity::set_group(system, a as u32, b as u32),
        __NR_getsid => identity::session(system, a as u32),
        __NR_setsid => identity::begin_session(system),
        __NR_uname => identity::name(system, a),
        __NR_prlimit64 => identity::limits(system, b as u32, d),
        __NR_prctl => identity::control(system, a as u32, b),
        __NR_getrusage => identity::usage(system, b),
        __NR_times => identity::times(system, a),
        __NR_sysinfo => identity::machine(system, a),
        __NR_sched_getaffinity => identity::harts(system, b, c),

        __NR_clock_gettime => time::clock(system, a as u32, b),
        __NR_clock_getres => time::resolution(system, a as u32, b),
        __NR_gettimeofday => time::of_day(system, a),
        __NR_nanosleep => time::sleep(system, (CLOCK_MONOTONIC, 0), a, b),
        __NR_clock_nanosleep => time::sleep(system, (a as u32, b as u32), c, d),
        __NR_getrandom => time::random(system, a, b),
        number => unknown(system, number),
    }
}

/// Said once of each.
fn unknown(system: &mut System, number: u32) -> Answer {
    // Libraries ask for these to see whether they are there.
    let is_usual = matches!(number, __NR_rseq | __NR_PROBE | __NR_statx);
    if let Some(word) = system.unknown.get_mut(number as usize / 64) {
        let bit = 1 << (number % 64);
        if *word & bit == 0 && !is_usual {
            let name = alloc::string::String::from_utf8_lossy(&system.me().name).into_owned();
            crate::say(format_args!(
                "`{name}` makes the system call {number}, which is not supported"
            ));
        }
        if let Some(word) = system.unknown.get_mut(number as usize / 64) {
            *word |= bit;
        }
    }
    Err(Errno::ENOSYS)
}
