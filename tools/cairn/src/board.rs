//! `./cairn board import`: a board description from a flattened device tree, as far as that says what a board is.

use anyhow::{Context, Result, anyhow, bail};
use cairn_abi::text::Visible;
use cairn_description::{Board, NAME_MAXIMUM, Source, board_place, show_size};
use dtoolkit::fdt::{Fdt, FdtNode};
use dtoolkit::{Node as _, Property as _};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Most levels of a tree: no machine has more.
const DEPTH_MAXIMUM: usize = 32;
/// Registers beyond that do not fit into an instance's region.
const REGISTERS_MAXIMUM: u64 = 16 << 20;
/// Firmware enters its payload this far into memory, as the boot protocol of RISC-V Linux demands of it.
const LOAD_OFFSET: u64 = 2 << 20;
/// A hart's interrupt "supervisor external" (privileged manual, table 4.2).
const SUPERVISOR_EXTERNAL: u32 = 9;

/// What is known of kinds of devices: what they are called, and that they do not reach memory by themselves.
const KINDS: [(&str, &str); 5] = [
    ("ns16550a", "serial"),
    ("ns16550", "serial"),
    ("snps,dw-apb-uart", "serial"),
    ("sifive,uart0", "serial"),
    ("google,goldfish-rtc", "rtc"),
];
const CONTROLLERS: [&str; 3] = ["sifive,plic-1.0.0", "riscv,plic0", "thead,c900-plic"];
/// Bytes of a controller's registers with those of 512 contexts (PLIC specification 1.0.0, chapter 3).
const CONTROLLER_SIZE: u64 = 4 << 20;
/// Which of the virtio devices it is, stands in its registers, and on QEMU is decided when that is started.
const VIRTIO: &str = "virtio,mmio";
const FINISHER: &str = "sifive,test0";
/// Firmware's, never a component's.
const OF_FIRMWARE: [&str; 3] = ["riscv,clint0", "sifive,clint0", "thead,c900-clint"];

/// A node, read once.
struct Node {
    name: String,
    path: String,
    properties: BTreeMap<String, Vec<u8>>,
    children: Vec<Node>,
}

fn read(node: &FdtNode, path: &str, depth: usize) -> Result<Node> {
    if depth > DEPTH_MAXIMUM {
        bail!("nodes in nodes, more than {DEPTH_MAXIMUM} deep");
    }
    let children = node.children().map(|child| {
        let path = format!("{path}/{}", child.name());
        read(&child, &path, depth + 1)
    });
    Ok(Node {
        name: node.name().to_owned(),
        path: path.to_owned(),
        children: children.collect::<Result<_>>()?,
        properties: node
            .properties()
            .map(|property| (property.name().to_owned(), property.value().to_vec()))
            .collect(),
    })
}

impl Node {
    fn cells(&self, name: &str) -> Vec<u32> {
        let cell = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().expect("four bytes"));
        self.properties
            .get(name)
            .map_or(Vec::new(), |value| value.chunks_exact(4).map(cell).collect())
    }

    fn cell(&self, name: &str) -> Option<u32> {
        self.cells(name).first().copied()
    }

    fn texts(&self, name: &str) -> Vec<&str> {
        let value = self.properties.get(name).map_or(&[][..], Vec::as_slice);
        value.split(|byte| *byte == 0).filter_map(|text| std::str::from_utf8(text).ok()).collect()
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.texts(name).into_iter().next().filter(|text| !text.is_empty())
    }

    fn is_one_of(&self, kinds: &[&str]) -> bool {
        self.texts("compatible").iter().any(|kind| kinds.contains(kind))
    }

    fn is_on(&self) -> bool {
        self.text("status").is_none_or(|status| matches!(status, "okay" | "ok"))
    }

    fn child(&self, name: &str) -> Option<&Node> {
        self.children.iter().find(|child| child.name.split('@').next() == Some(name))
    }

    /// The first range of registers of a child: address and bytes.
    fn registers(&self, child: &Node) -> Option<(u64, u64)> {
        let count = |name, default| self.cell(name).map_or(default, |cells| cells as usize);
        let (addresses, sizes) = (count("#address-cells", 2), count("#size-cells", 1));
        let cells = child.cells("reg");
        let number = |cells: &[u32]| match cells {
            [] | [_, _, _, ..] => None,
            cells => Some(cells.iter().fold(0, |number, cell| number << 32 | u64::from(*cell))),
        };
        let address = number(cells.get(..addresses)?)?;
        Some((address, number(cells.get(addresses..addresses + sizes)?)?))
    }
}

/// A device to be.
struct Device<'a> {
    node: &'a Node,
    base: u64,
    size: u64,
}

/// All nodes with registers on buses whose addresses are the machine's own.
fn devices<'a>(bus: &'a Node, found: &mut Vec<Device<'a>>) {
    for node in bus.children.iter().filter(|node| node.is_on()) {
        let kind = node.name.split('@').next().unwrap_or_default();
        if matches!(kind, "cpus" | "memory" | "reserved-memory" | "chosen" | "aliases") {
            continue;
        }
        if let Some((base, size)) = bus.registers(node)
            && !node.is_one_of(&OF_FIRMWARE)
        {
            found.push(Device { node, base, size });
        }
        // Without `ranges` its children's addresses are no memory's, with a value they are moved.
        if node.properties.get("ranges").is_some_and(Vec::is_empty) {
            devices(node, found);
        }
    }
}

/// The interrupt controller's context of the first hart with supervisor mode.
fn context(controller: &Node, root: &Node) -> Option<usize> {
    let cpus = root.child("cpus")?;
    let harts = cpus.children.iter().filter(|cpu| cpu.properties.contains_key("mmu-type"));
    let hart = harts.into_iter().find(|cpu| cpu.is_on())?;
    let own = hart.child("interrupt-controller")?.cell("phandle")?;
    let contexts = controller.cells("interrupts-extended");
    contexts.chunks_exact(2).position(|entry| entry == [own, SUPERVISOR_EXTERNAL])
}

/// The name of a device: its node's, if descriptions can have it.
fn name(device: &Device) -> String {
    let kind = device.node.name.split('@').next().unwrap_or_default();
    let good = |character: char| character.is_ascii_alphanumeric() || ",._+-".contains(character);
    let address = format!("@{:x}", device.base);
    let mut kind: String = kind.chars().filter(|character| good(*character)).collect();
    kind.truncate(NAME_MAXIMUM - address.len());
    if !kind.starts_with(|first: char| first.is_ascii_alphanumeric()) {
        kind = "device".to_owned();
    }
    kind + &address
}

/// What devices are on every board that has them: what the tree calls them, else by kind and number.
fn aliases(root: &Node, devices: &[Device]) -> BTreeMap<u64, String> {
    let mut aliases = BTreeMap::new();
    let mut add = |base: u64, alias: String| {
        let good = alias.starts_with(|first: char| first.is_ascii_lowercase())
            && alias.len() <= NAME_MAXIMUM
            && alias
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c));
        if good && !aliases.values().any(|other| *other == alias) {
            aliases.entry(base).or_insert(alias);
        }
    };
    let at = |path: &str| {
        // Options of the device may stand behind its path: `/soc/serial@10000000:115200`.
        let path = path.split(':').next().unwrap_or_default();
        devices.iter().find(|device| device.node.path == path).map(|device| device.base)
    };
    let named = root.child("aliases");
    for (alias, _) in named.iter().flat_map(|node| &node.properties) {
        if let Some(base) = named.and_then(|node| at(node.text(alias)?)) {
            add(base, alias.clone());
        }
    }
    let console = root.child("chosen").and_then(|chosen| chosen.text("stdout-path"));
    if let Some(base) = console.and_then(at) {
        add(base, "serial0".to_owned());
    }
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut sorted: Vec<&Device> = devices.iter().collect();
    sorted.sort_by_key(|device| device.base);
    for device in sorted {
        let kinds = KINDS.iter().chain(&[(VIRTIO, "virtio")]);
        let kind = kinds.into_iter().find(|(compatible, _)| device.node.is_one_of(&[compatible]));
        if let Some((_, kind)) = kind {
            let number = numbers.entry(kind).or_default();
            add(device.base, format!("{kind}{number}"));
            *number += 1;
        }
    }
    aliases
}

/// The description called `board` of the machine that a flattened device tree describes.
pub fn describe(tree: &[u8], board: &str) -> Result<String> {
    // A file may be longer than the tree in it, which says its length behind its mark.
    let length = tree
        .get(4..8)
        .map_or(0, |length| u32::from_be_bytes(length.try_into().expect("four bytes")) as usize);
    let tree = tree.get(..length).unwrap_or(tree);
    let fdt = Fdt::new(tree).map_err(|error| anyhow!("not a flattened device tree: {error}"))?;
    let root = read(&fdt.root(), "", 0)?;
    let memory = root.child("memory").context("the tree has no memory")?;
    let (base, size) = root.registers(memory).context("the tree does not say where memory is")?;
    let cpus = root.child("cpus").context("the tree has no processors")?;
    let time_base = cpus.cell("timebase-frequency").context(
        "the tree does not say how often `time` ticks: expected `timebase-frequency` in /cpus",
    )?;
    let extensions = cpus.children.iter().flat_map(|cpu| {
        let isa = cpu.texts("riscv,isa").into_iter().flat_map(|isa| isa.split('_'));
        isa.chain(cpu.texts("riscv,isa-extensions"))
    });
    let extensions: Vec<&str> = extensions.collect();
    let has = |name: &str| extensions.contains(&name);
    let sstc = has("sstc");
    // The first of `riscv,isa` are single letters, behind the width.
    let is_single = |letters: &&str| letters.starts_with("rv64") && letters.contains('d');
    let float = has("d") || extensions.iter().any(is_single);

    let mut found = Vec::new();
    devices(&root, &mut found);
    found.sort_by_key(|device| device.base);
    let (mut kept, mut left_out): (Vec<Device>, Vec<Device>) = (Vec::new(), Vec::new());
    for mut device in found {
        if device.node.is_one_of(&CONTROLLERS) && device.size > REGISTERS_MAXIMUM {
            // Room for contexts that no machine has.
            device.size = CONTROLLER_SIZE;
        }
        let overlaps = kept.last().is_some_and(|last| last.base + last.size > device.base);
        let fits = (1..=REGISTERS_MAXIMUM).contains(&device.size) && device.base < 1 << 55;
        if fits && !overlaps { kept.push(device) } else { left_out.push(device) }
    }
    let model = root.text("model").unwrap_or("a machine without a name");
    let mut text = format!(
        "# {}: made from its device tree by `./cairn board import`.\n\
         # A device tree does not say how many bits an address-space identifier has, where firmware enters the image, what\n\
         # of memory is the firmware's, and which devices reach memory: what stands here is what always works, or usual.\n\n\
         [board]\nname = \"{board}\"\nharts = 1\ntime_base = {time_base}\nasid_bits = 0\nsstc = {sstc}\nfloat = {float}\n\
         load_address = {:#x}\n\n[memory]\nbase = {base:#x}\nsize = {}\nfirmware = \"{}\"\n",
        Visible::text(model),
        base.saturating_add(LOAD_OFFSET),
        match show_size(size) {
            shown if shown.ends_with("bytes") => size.to_string(),
            shown => format!("\"{shown}\""),
        },
        show_size(LOAD_OFFSET)
    );
    let controller = kept.iter().find(|device| device.node.is_one_of(&CONTROLLERS));
    let mut sources = None;
    if let Some(controller) = controller {
        let context = context(controller.node, &root).context(
            "the tree does not connect the interrupt controller to a hart with supervisor mode",
        )?;
        let count =
            controller.node.cell("riscv,ndev").context("the controller has no `riscv,ndev`")?;
        sources = Some(1..=count);
        let name = name(controller);
        let _ = write!(
            text,
            "\n[interrupts]\ncontroller = \"{name}\"\nsources = {count}\ncontext = {context}\n"
        );
    }
    let aliases = aliases(&root, &kept);
    let mut interrupts = Vec::new();
    for device in &kept {
        let node = device.node;
        let _ = write!(
            text,
            "\n[device.\"{}\"]\nregisters = [{:#x}, {:#x}]\n",
            name(device),
            device.base,
            device.size
        );
        if let Some(alias) = aliases.get(&device.base) {
            let _ = writeln!(text, "alias = \"{alias}\"");
        }
        let kinds = KINDS.map(|(compatible, _)| compatible);
        if node.is_one_of(&kinds) || node.is_one_of(&CONTROLLERS) || node.is_one_of(&[FINISHER]) {
            let _ = writeln!(text, "dma = false");
        }
        if node.is_one_of(&[VIRTIO]) {
            let _ = writeln!(text, "virtio = \"slot\"");
        }
        let is_source =
            |source: &u32| sources.as_ref().is_some_and(|sources| sources.contains(source));
        let own = node.cells("interrupts").into_iter().filter(is_source);
        let (shared, own): (Vec<u32>, Vec<u32>) =
            own.partition(|source| interrupts.contains(source));
        if let Some(source) = shared.first() {
            let _ =
                writeln!(text, "# It shares the interrupt {source}, which is not possible yet.");
        }
        match own.as_slice() {
            [] => {}
            [source] => drop(writeln!(text, "interrupt = {source}")),
            several => drop(writeln!(text, "interrupt = {several:?}")),
        }
        interrupts.extend(own);
        if node.is_one_of(&[FINISHER]) {
            let _ = writeln!(text, "finisher = true");
        }
    }
    for device in &left_out {
        let _ = write!(
            text,
            "\n# Left out, since its registers take no place in a region, or another's: {} ({:#x} bytes).\n",
            name(device),
            device.size
        );
    }
    Ok(text)
}

/// Writes the description of the machine that the file `tree` describes to `boards/NAME.toml` below `root`, or where a
/// name with a `/` in it says. What there is to say about it.
pub fn import(root: &Path, tree: &Path, name: &str) -> Result<String> {
    let shown = tree.display();
    let bytes = std::fs::read(tree).with_context(|| format!("cannot read {shown}"))?;
    let stem = name.strip_suffix(".toml").unwrap_or(name);
    let (folder, name) = board_place(name);
    let path = format!("{folder}/{name}.toml");
    let text = describe(&bytes, name).with_context(|| format!("{shown}"))?;
    // The name, too, is what descriptions can have.
    let board = Board::parse(&Source::new(&path, &text)).map_err(|report| anyhow!("{report}"))?;
    let file = root.join(&path);
    if *board.name != name {
        bail!("`{}` is no name of a board", Visible::text(name));
    }
    if file.exists() {
        bail!("{path} exists: remove it first, or take another name");
    }
    std::fs::write(&file, text)
        .with_context(|| format!("cannot write {path}; is its folder there?"))?;
    let unsaid = board.devices.iter().filter(|device| device.dma).count();
    Ok(format!(
        "made   {path}: {} devices, of which {unsaid} may reach memory by themselves, as nothing says that they do not\n\
         \n\
         next   look through it; what a device tree does not say stands there as what always works\n\
         \x20      ./cairn build demo --board {stem}    makes an image for it\n\
         \x20      ./cairn run demo --board {stem}      boots it in QEMU, if the file says how: a table [qemu] with\n\
         \x20                                           the key machine, for example machine = \"virt\"\n",
        board.devices.len()
    ))
}
