//! Which device of the board is meant by what an instance writes in `devices`: one of that name, or of a kind of virtio
//! device any one, so that nobody has to count slots.

use crate::board::{Board, Device, Virtio};
use crate::names::{list, nearest, suggestion};
use crate::place::Located;
use crate::report::{Error, Report};
use cairn_abi::device::VirtioKind;

/// What stands before the name of a kind.
const VIRTIO: &str = "virtio-";

/// What a name means.
enum Wanted {
    /// The device of that index.
    Own(usize),
    /// Any device of this kind.
    Any(VirtioKind),
    /// None: there is none, which has been reported, or which the description allows.
    Nothing,
}

/// A device that an instance asks for: what it calls it, and which one of the board it is.
pub(crate) type Asked = (String, Located<String>);

/// The devices of each instance in the order in which they are written. Slots that are chosen for a kind have it from here on.
pub(crate) fn resolve(
    instances: &[&[Asked]],
    names: &[Located<String>],
    board: &mut Board,
    report: &mut Report,
) -> Vec<Vec<(String, Located<usize>)>> {
    let mut find = |(_, name): &Asked| find(name, board, report);
    let wanted: Vec<Vec<Wanted>> =
        instances.iter().map(|devices| devices.iter().map(&mut find).collect()).collect();
    // Whoever is named by its own name is nobody else's, also of an instance further up.
    let mut taken = Vec::new();
    for (instance, devices) in wanted.iter().enumerate() {
        let own = devices.iter().filter_map(|device| match device {
            Wanted::Own(device) => Some((*device, instance)),
            _ => None,
        });
        taken.extend(own);
    }
    let mut all = Vec::new();
    for (instance, (devices, written)) in wanted.iter().zip(instances).enumerate() {
        let mut found = Vec::new();
        for (device, (called, name)) in devices.iter().zip(*written) {
            let device = match device {
                Wanted::Own(device) => Some(*device),
                Wanted::Any(kind) => {
                    let device = choose(*kind, board, &taken);
                    if let Some(device) = device {
                        board.devices[device].virtio = Some(Virtio::Kind(*kind));
                        taken.push((device, instance));
                    } else if !name.ends_with('?') {
                        report.push(none_left(name, *kind, board, &taken, names));
                    }
                    device
                }
                Wanted::Nothing => None,
            };
            let device = device.map(|device| Located::new(device, name.place.clone()));
            found.extend(device.map(|device| (called.clone(), device)));
        }
        all.push(found);
    }
    all
}

/// What a name means. A device with a `?` behind its name is only taken where the board has it.
fn find(name: &Located<String>, board: &Board, report: &mut Report) -> Wanted {
    let needed = name.strip_suffix('?');
    let bare = needed.unwrap_or(name);
    if let Some(device) = board.device(bare) {
        return Wanted::Own(device);
    }
    if let Some(kind) = bare.strip_prefix(VIRTIO).filter(|kind| !kind.contains('@')) {
        let found = VirtioKind::ALL.into_iter().find(|one| one.name() == kind);
        return match found {
            Some(kind) => Wanted::Any(kind),
            None => {
                report.push(unknown_kind(name, bare, board));
                Wanted::Nothing
            }
        };
    }
    if needed.is_none() {
        let names = board.devices.iter().map(Device::shown);
        report.push(Error::new(
            &name.place,
            format!("unknown device `{name}`"),
            format!("expected a device of the board `{}`", board.name),
            suggestion(
                name,
                "the devices are",
                names,
                "add it to the board description, or write `?` behind it if the component does without",
            ),
        ));
    }
    Wanted::Nothing
}

fn unknown_kind(name: &Located<String>, bare: &str, board: &Board) -> Error {
    let kinds = VirtioKind::ALL.map(|kind| format!("{VIRTIO}{}", kind.name()));
    let kinds = || kinds.iter().map(String::as_str);
    let help = match nearest(bare, kinds().chain(board.devices.iter().map(Device::shown))) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "the kinds are {}; a device of another kind is named as the board calls it",
            list(kinds())
        ),
    };
    Error::new(
        &name.place,
        format!("unknown kind of virtio device `{name}`"),
        "expected a kind whose drivers can be confined",
        help,
    )
}

/// The first device of a kind that nobody has, else the first slot.
fn choose(kind: VirtioKind, board: &Board, taken: &[(usize, usize)]) -> Option<usize> {
    let first = |virtio| {
        board.devices.iter().enumerate().position(|(index, device)| {
            device.virtio == Some(virtio) && !taken.iter().any(|(taken, _)| *taken == index)
        })
    };
    first(Virtio::Kind(kind)).or_else(|| first(Virtio::Slot))
}

fn none_left(
    name: &Located<String>,
    kind: VirtioKind,
    board: &Board,
    taken: &[(usize, usize)],
    names: &[Located<String>],
) -> Error {
    let suits = |device: &Device| device.is_slot || device.kind() == Some(kind);
    let had: Vec<String> = board
        .devices
        .iter()
        .enumerate()
        .filter(|(_, device)| suits(device))
        .filter_map(|(index, device)| {
            let (_, instance) = taken.iter().find(|(taken, _)| *taken == index)?;
            Some(format!("`{}` is given to `{}`", device.shown(), names[*instance]))
        })
        .collect();
    if had.is_empty() {
        return Error::new(
            &name.place,
            format!("the board `{}` has no device for `{name}`", board.name),
            "expected a board with a virtio device of this kind, or with a slot for one",
            suggestion(
                name,
                "its devices are",
                board.devices.iter().map(Device::shown),
                "choose another board, or write `?` behind it if the component does without",
            ),
        );
    }
    Error::new(
        &name.place,
        format!("no device is left for `{name}`"),
        format!(
            "expected at most {} of these in the system, as many as the board `{}` has",
            had.len(),
            board.name
        ),
        format!("take one of them away: {}", had.join(", ")),
    )
}
