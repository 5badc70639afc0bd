//! What programs ask of the terminal.

use super::{Answer, done};
use crate::node::{Device, Kind};
use crate::open::What;
use crate::system::System;
use cairn_personality::errno::Errno;
use cairn_personality::line::SETTINGS_SIZE;

const TCGETS: u32 = 0x5401;
const TCSETS: u32 = 0x5402;
const TCSETSW: u32 = 0x5403;
const TCSETSF: u32 = 0x5404;
const TCFLSH: u32 = 0x540b;
const TIOCSCTTY: u32 = 0x540e;
const TIOCGPGRP: u32 = 0x540f;
const TIOCSPGRP: u32 = 0x5410;
const TIOCGWINSZ: u32 = 0x5413;
const TIOCSWINSZ: u32 = 0x5414;
const FIONREAD: u32 = 0x541b;
const TIOCGSID: u32 = 0x5429;

/// Of the terminal, and how much a pipe or a file has.
pub fn control(system: &mut System, number: u64, what: u32, at: u64) -> Answer {
    let open = system.me().files.get(number)?;
    let is_terminal = match &open.what {
        What::Node(node) => matches!(node.kind, Kind::Device(Device::Terminal)),
        _ => false,
    };
    if what == FIONREAD && !is_terminal {
        let there = match &open.what {
            What::Reader(pipe) => pipe.waiting() as u64,
            What::Writer(_) => return Err(Errno::EINVAL),
            What::Node(node) => node.size().saturating_sub(open.at.get()),
        };
        system.write(at, &(there as u32).to_le_bytes())?;
        return done(0);
    }
    if !is_terminal {
        return Err(Errno::ENOTTY);
    }
    match what {
        TCGETS => {
            let settings = system.terminal.line.settings();
            system.write(at, &settings)?;
        }
        TCSETS | TCSETSW | TCSETSF => {
            let mut settings = [0; SETTINGS_SIZE];
            system.read(at, &mut settings)?;
            if what == TCSETSF {
                system.terminal.line.clear();
            }
            system.terminal.line.set(&settings);
            system.counts.change();
        }
        TCFLSH => system.terminal.line.clear(),
        TIOCSCTTY => {}
        TIOCGPGRP => {
            let group = system.terminal.group;
            system.write(at, &group.to_le_bytes())?;
        }
        TIOCGSID => {
            let session = system.me().session;
            system.write(at, &session.to_le_bytes())?;
        }
        TIOCSPGRP => {
            let mut group = [0; 4];
            system.read(at, &mut group)?;
            let (group, session) = (u32::from_le_bytes(group), system.me().session);
            if !system.all().any(|one| (one.group, one.session) == (group, session)) {
                return Err(Errno::EPERM);
            }
            system.terminal.group = group;
            system.counts.change();
        }
        TIOCGWINSZ => {
            let [rows, columns] = system.terminal.size.map(u16::to_le_bytes);
            system.write(at, &[rows[0], rows[1], columns[0], columns[1], 0, 0, 0, 0])?;
        }
        TIOCSWINSZ => {
            let mut size = [0; 4];
            system.read(at, &mut size)?;
            let word = |place: usize| u16::from_le_bytes([size[place], size[place + 1]]);
            system.terminal.size = [word(0), word(2)];
        }
        FIONREAD => {
            let there = u32::from(system.terminal.line.is_readable());
            system.write(at, &there.to_le_bytes())?;
        }
        _ => return Err(Errno::ENOTTY),
    }
    done(0)
}
