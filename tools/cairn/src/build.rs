//! From a system's name to an image that boots.

use crate::alternatives;
use crate::c_component::{self, Unavailable};
use crate::cargo::{self, Purpose};
use crate::components::{self, Components};
use crate::contents;
use crate::known::Known;
use crate::machine::Machine;
use crate::placements::Placements;
use crate::{float, paths, unsafe_code};
use anyhow::{Context, Result, anyhow, bail};
use cairn_abi::address::{IMAGE_OFFSET, PAGE_SIZE};
use cairn_abi::{DomainId, RegionId};
use cairn_description::model::{Instance, Profile};
use cairn_description::{Connected, Setting, System};
use cairn_image::check::Domain;
use cairn_image::{Component, Image, Nucleus};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A system, ready to boot.
#[derive(Clone, Debug)]
pub struct BuiltImage {
    /// The file that the firmware starts.
    pub file: PathBuf,
    /// What it is called, in its record and in the supervisor's reports.
    pub identifier: u64,
    /// The text of its description.
    pub description: String,
    /// The folders of its components, as a description calls them.
    pub components: BTreeSet<String>,
    /// Debian's packages of which its sections have files: name, version, architecture.
    pub packages: Vec<[String; 3]>,
    /// The nucleus, for its size.
    pub nucleus: PathBuf,
    /// What it boots on.
    pub machine: Machine,
    /// Files with symbols, each with what to add to its addresses.
    pub symbols: Vec<Symbols>,
    /// The layout report, for people.
    pub report: String,
    /// Its domains, to read its page tables.
    pub domains: Vec<Domain>,
    /// Where in the file translation fences are that tests leave out ([`Image::fences`]).
    pub fences: Vec<usize>,
    /// The firmware's memory: all before the image.
    pub firmware: Range<u64>,
    /// Bytes of all memory.
    pub memory_size: u64,
    /// Bytes at its end that a reset keeps.
    pub kept: u64,
}

/// A file with symbols.
#[derive(Clone, Debug)]
pub struct Symbols {
    /// The file.
    pub file: PathBuf,
    /// What to add to its addresses.
    pub offset: u64,
    /// The instance that it is, or `nucleus`; of a package of the shelf [`PACKAGE`] and the first digits of its hash: that has no place before it
    /// is loaded, and addresses in it are offsets from its image's begin.
    pub owner: String,
}

/// What the owner of a package's file begins with.
pub const PACKAGE: &str = "package-";

impl Symbols {
    /// Whether it lies in the image, where its addresses are.
    pub fn is_placed(&self) -> bool {
        !self.owner.starts_with(PACKAGE)
    }
}

/// A system with its components built and connected.
pub struct Parts {
    /// The description.
    pub system: System,
    /// Its connections in terms of the components' files.
    pub connected: Connected,
    components: Arc<Components>,
}

/// What a system needs of Debian and cannot have, as without a network: then it cannot be built here.
pub fn unavailable(system: &str) -> Result<Option<Unavailable>> {
    let system = cairn_description::load_from(&paths::files(), system, None)
        .map_err(|report| anyhow!("{report}"))?;
    let folders = system.instances.iter().map(|instance| &instance.folder);
    for folder in folders.filter(|folder| c_component::is_one(folder)) {
        if let Some(missing) = c_component::unavailable(folder)? {
            return Ok(Some(missing));
        }
    }
    contents::unavailable(&system)
}

/// Refuses a call of a portal that no library of Cairn's made, where the source cannot have made it. The layout would not
/// find it when it places the component beside what it calls.
pub fn check_calls(component: &Component, is_refused: bool) -> Result<()> {
    let Some(place) = foreign_call(component).filter(|_| is_refused) else { return Ok(()) };
    bail!(
        "its machine code has an `ecall`, or data that looks like one, at {place}, that is not one of the \
         library's noted calls (abi/src/arch/riscv64/call.rs). The source forbids unsafe code, so it comes from a \
         dependency with assembly of its own: do without that, or allow unsafe code in the component, which then can \
         only have a domain of its own"
    )
}

/// Refuses calls that nobody could have made, or that are not allowed where an instance runs.
fn check_machine_code(system: &System, components: &Components) -> Result<()> {
    components::check_calls(components)?;
    let mut instances = system.instances.iter();
    instances.try_for_each(|one| check_kernel_calls(one, &components[&one.folder].1))
}

/// Where the first foreign call of a component is, for people.
fn foreign_call(component: &Component) -> Option<String> {
    let at = *component.foreign_calls().first()?;
    let symbol = component.symbols.iter().rfind(|symbol| symbol.offset <= at);
    Some(match symbol {
        Some(symbol) => format!("{at:#x}, in `{}`+{:#x}", symbol.name, at - symbol.offset),
        None => format!("{at:#x}, in no function"),
    })
}

/// Refuses in the kernel domain whose machine code calls with instructions that the layout cannot write anew. Trust does not
/// help: in privileged mode they call the firmware, which may do anything with interrupts off and never come back.
pub fn check_kernel_calls(instance: &Instance, component: &Component) -> Result<()> {
    let place = foreign_call(component).filter(|_| instance.is_in_kernel());
    let Some(place) = place else { return Ok(()) };
    let error = cairn_description::Error::new(
        &instance.placement.place,
        format!("`{}` would call the firmware from the kernel domain", instance.own_name()),
        format!(
            "expected machine code whose calls are all noted by a library of Cairn's: that of `{}` has an `ecall`, or data \
             that looks like one, at {place}",
            instance.folder
        ),
        format!(
            "call by the library only (abi/src/arch/riscv64/call.rs), or {} here; `trust = \"unsafe-code\"` does not allow it",
            instance.out_of_kernel()
        ),
    );
    bail!("{}", cairn_description::Report::from(error))
}

/// Refuses in the kernel domain whose source could read and write everything there.
fn check_trust(system: &System) -> Result<()> {
    let allowing = |instance: &Instance| {
        let accepted = *instance.accepts_unsafe_code || !instance.is_in_kernel();
        if accepted { None } else { unsafe_code::allowing(&instance.folder) }
    };
    let mut instances = system.instances.iter();
    let found = instances.find_map(|instance| Some((instance, allowing(instance)?)));
    let Some((instance, part)) = found else { return Ok(()) };
    let error = cairn_description::Error::new(
        &instance.placement.place,
        format!("`{}` could do anything in the kernel domain", instance.own_name()),
        format!("expected a component of which nothing has unsafe code: {part} does not forbid it"),
        format!(
            "write `#![forbid(unsafe_code)]` at the beginning of its source, do without it, or {} here, or \
             trust = \"unsafe-code\"",
            instance.out_of_kernel()
        ),
    );
    bail!("{}", cairn_description::Report::from(error))
}

impl Parts {
    /// Reads and checks the description of `system` (a name in `systems/`, or a file below the
    /// root), for its board or for another, builds its components and connects them.
    pub fn new(system: &str, board: Option<&str>) -> Result<Parts> {
        Parts::placed(system, board, Placements::Domain)
    }

    /// The same, with the instances of which the description does not say where they run as `placements` says.
    pub fn placed(system: &str, board: Option<&str>, placements: Placements) -> Result<Parts> {
        Parts::varied(system, board, placements, &[])
    }

    /// The same, with values of its variables too.
    pub fn varied(
        system: &str,
        board: Option<&str>,
        placements: Placements,
        settings: &[Setting],
    ) -> Result<Parts> {
        Parts::compiled(system, board, placements, settings, Purpose::Run)
    }

    /// The system on its board, or on another, with a package: one that it has, or the component of this name.
    pub fn with_package(described: &str, board: Option<&str>, package: &str) -> Result<Parts> {
        let files = paths::files();
        let system = cairn_description::load_packing(&files, described, board, &[], Some(package))
            .map_err(|report| anyhow!("{report}"))?;
        let components = Parts::compile(&system, Purpose::Run)?;
        check_machine_code(&system, &components)?;
        Parts::connect(system, Arc::new(components))
    }

    fn compile(system: &System, purpose: fn(Profile) -> Purpose) -> Result<Components> {
        let packages = system.packages.iter().map(|package| &package.instance);
        let instances = system.instances.iter().chain(packages);
        let folders = instances.map(|instance| instance.folder.as_str());
        components::compile(folders, |folder| purpose(components::profile(folder, system.profile)))
    }

    pub(crate) fn compiled(
        described: &str,
        board: Option<&str>,
        placements: Placements,
        settings: &[Setting],
        purpose: fn(Profile) -> Purpose,
    ) -> Result<Parts> {
        let mut system = cairn_description::load_with(&paths::files(), described, board, settings)
            .map_err(|report| anyhow!("{report}"))?;
        placements.apply(&mut system);
        let components = Parts::compile(&system, purpose)?;
        let is_draft = purpose(system.profile) == Purpose::Read;
        match check_machine_code(&system, &components) {
            Ok(()) => Parts::connect(system, Arc::new(components)),
            // Of the machine code of drafts some does not run, and data in it may look like calls.
            Err(_) if is_draft => {
                Parts::compiled(described, board, placements, settings, Purpose::Run)
            }
            Err(error) => Err(error),
        }
    }

    /// The same components as another description places and connects them, which has no others.
    pub fn described_by(&self, system: System) -> Result<Parts> {
        check_machine_code(&system, &self.components)?;
        Parts::connect(system, self.components.clone())
    }

    fn connect(mut system: System, components: Arc<Components>) -> Result<Parts> {
        let is_hard = |instance: &Instance| components[&instance.folder].1.float;
        float::share(&mut system, is_hard)?;
        let packages = system.packages.iter().map(|package| &package.instance);
        for instance in system.instances.iter().chain(packages) {
            let component = &components[&instance.folder].1;
            float::check(instance, component.float, &system.board)?;
        }
        let descriptor = |folder: &str| Some(&components.get(folder)?.1.descriptor);
        let connected = cairn_description::connect(&system, descriptor)
            .map_err(|report| anyhow!("{report}"))?;
        check_trust(&system)?;
        Ok(Parts { system, connected, components })
    }

    /// The executable of an instance's component.
    pub fn file(&self, instance: &Instance) -> &Path {
        &self.components[&instance.folder].0
    }

    /// The component of each package.
    pub fn packaged(&self) -> Vec<&Component> {
        let packages = self.system.packages.iter();
        packages.map(|package| &self.components[&package.instance.folder].1).collect()
    }

    /// The component of each instance.
    pub fn components(&self) -> Vec<&Component> {
        self.system.instances.iter().map(|instance| &self.components[&instance.folder].1).collect()
    }
}

/// Builds the bootable image of `system`, for its board or for another; its layout report lies beside it as
/// JSON.
pub fn build(system: &str, board: Option<&str>) -> Result<BuiltImage> {
    build_placed(system, board, Placements::Domain)
}

/// The same, with the instances of which the description does not say where they run as `placements` says.
pub fn build_placed(
    system: &str,
    board: Option<&str>,
    placements: Placements,
) -> Result<BuiltImage> {
    build_varied(system, board, placements, &[])
}

/// The same, with values of its variables too.
pub fn build_varied(
    system: &str,
    board: Option<&str>,
    placements: Placements,
    settings: &[Setting],
) -> Result<BuiltImage> {
    let parts = Parts::varied(system, board, placements, settings)?;
    let set: Vec<String> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut variant: Vec<&str> = [placements.suffix(), board].into_iter().flatten().collect();
    variant.extend(set.iter().map(String::as_str));
    let variant = variant.join(".");
    image(parts, Some(&*variant).filter(|variant| !variant.is_empty()))
}

/// The image of `system` on its board, but with no more memory than that the build accepts it. With a page less it has
/// to be refused, at a place of the description.
pub fn tight(system: &str) -> Result<BuiltImage> {
    let mut parts = Parts::new(system, None)?;
    let board = &parts.system.board;
    let before = *board.memory.size - board.room();
    let mut size = before + lay_out(&parts)?.0.report.memory_needed - PAGE_SIZE;
    // How many page tables the memory manager's view takes depends on where memory ends, so the least can be a few
    // pages more than what another board says.
    for refused in 0..PAGES_BY_SIZE {
        parts.system.board.memory.size.value = size;
        match lay_out(&parts) {
            Ok(_) if refused == 0 => bail!("a page less than the system needs was accepted"),
            Ok(_) => break,
            Err(error) if error.to_string().contains("has not enough memory") => size += PAGE_SIZE,
            Err(error) => return Err(error),
        }
    }
    image(parts, Some("tight"))
}

/// The image of `system` on its board, but with domains and regions whose numbers are not those of their instances.
pub fn numbers_apart(system: &str) -> Result<BuiltImage> {
    let mut parts = Parts::new(system, None)?;
    let last = parts.system.instances.len() as u16;
    for instance in &mut parts.system.instances {
        instance.domain = DomainId(last + 1 - instance.domain.0);
        instance.region = RegionId(instance.number.0 % last + 1);
    }
    image(parts, Some("numbers-apart"))
}

/// By how many pages systems differ that are laid out for boards with more and with less memory, at most.
const PAGES_BY_SIZE: u32 = 8;

/// Lays out the image of `parts`. A `variant`, as a board that is not the description's own, is part of the file's name.
pub fn image(parts: Parts, variant: Option<&str>) -> Result<BuiltImage> {
    let system = &parts.system;
    let machine = Machine::of(&system.board);
    let (image, nucleus_file) = lay_out(&parts)?;

    let folder = paths::target().join("images");
    std::fs::create_dir_all(&folder)?;
    let variant = variant.map_or(String::new(), |name| format!(".{}", name.replace('/', "-")));
    let file = folder.join(format!("{}{variant}.bin", image_name(system.name.place.path())));
    replace(&file, &image.bytes)?;
    replace(&file.with_extension("json"), serde_json::to_string_pretty(&image.report)?.as_bytes())?;

    let mut symbols =
        vec![Symbols { file: nucleus_file.clone(), offset: 0, owner: "nucleus".to_owned() }];
    for (instance, placed) in system.instances.iter().zip(&image.report.instances) {
        let file = parts.components[&instance.folder].0.clone();
        symbols.push(Symbols { file, offset: placed.image, owner: placed.name.clone() });
    }
    for (place, package) in system.shelf() {
        let bytes = package_of(&parts, place, parts.packaged()[place])?;
        let hash = bytes.get(8..16).unwrap_or_default();
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let file = parts.components[&package.instance.folder].0.clone();
        let offset = IMAGE_OFFSET.wrapping_neg();
        symbols.push(Symbols { file, offset, owner: format!("{PACKAGE}{hash}") });
    }
    Ok(BuiltImage {
        file,
        identifier: image.identifier,
        description: system.name.place.source().text().to_owned(),
        components: parts.components.keys().cloned().collect(),
        packages: contents::fetched(system)?,
        nucleus: nucleus_file,
        machine,
        symbols,
        report: image.report.to_string() + &alternatives::report(&parts),
        domains: image.domains,
        fences: image.fences,
        firmware: system.board.memory.base..*system.board.load_address,
        memory_size: *system.board.memory.size,
        kept: system.board.memory.kept,
    })
}

/// What the image of a description is called: a test and a benchmark may have systems of the same name.
fn image_name(description: &str) -> String {
    let path = description.strip_prefix("systems/").unwrap_or(description);
    path.trim_end_matches(".toml").trim_start_matches(['.', '/']).replace('/', "-")
}

/// The content of the image, and the file of the nucleus in it.
fn lay_out(parts: &Parts) -> Result<(Image, PathBuf)> {
    let (nucleus, file) = nucleus()?;
    Ok((lay_out_with(parts, &nucleus)?, file))
}

/// The nucleus, and its file.
pub fn nucleus() -> Result<(Nucleus, PathBuf)> {
    static NUCLEUS: Known<(), PathBuf> = Known::new();
    let file = NUCLEUS.get(&()).map_or_else(cargo::build_nucleus, Ok)?;
    NUCLEUS.insert((), &file);
    let nucleus = Nucleus::read(&read(&file)?).map_err(|error| anyhow!(error))?;
    Ok((nucleus, file))
}

/// The content of the image with this nucleus.
pub fn lay_out_with(parts: &Parts, nucleus: &Nucleus) -> Result<Image> {
    let system = &parts.system;
    let shelf = shelf(parts, &parts.packaged())?;
    let contents = contents::of(system)?;
    let given = (&*shelf, &*contents);
    let image = cairn_image::layout(system, &parts.connected, &parts.components(), nucleus, given)
        .map_err(|error| match error {
            cairn_image::Error::Description(report) => anyhow!("{report}"),
            cairn_image::Error::System(error) => {
                anyhow!("{}: {error}", system.name.place.path())
            }
        })?;
    Ok(image)
}

/// The packages of the image, of these components.
pub fn shelf(parts: &Parts, components: &[&Component]) -> Result<Vec<u8>> {
    let mut packages = Vec::new();
    for (place, package) in parts.system.shelf() {
        let bytes = package_of(parts, place, components[place])?;
        packages.push((package.instance.name.to_string(), bytes));
    }
    Ok(cairn_image::shelf(packages))
}

/// The package at a place among those of the system, of this component.
pub fn package_of(parts: &Parts, place: usize, component: &Component) -> Result<Vec<u8>> {
    let (system, connected) = (&parts.system, &parts.connected.packages[place]);
    cairn_image::package(system, &system.packages[place], connected, component)
        .map_err(|error| anyhow!("{}", cairn_description::Report::from(error)))
}

fn read(file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))
}

/// Replaces a file in one step: another test's QEMU may be reading the old one.
fn replace(file: &Path, bytes: &[u8]) -> Result<()> {
    let new = paths::temporary(file);
    std::fs::write(&new, bytes)
        .and_then(|()| std::fs::rename(&new, file))
        .with_context(|| format!("cannot write {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_of_the_same_name_have_images_of_their_own() {
        assert_eq!(image_name("systems/demo.toml"), "demo");
        assert_eq!(image_name("tests/faults/faults.toml"), "tests-faults-faults");
        assert_eq!(image_name("bench/systems/faults.toml"), "bench-systems-faults");
    }
}
