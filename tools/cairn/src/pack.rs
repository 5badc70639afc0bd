//! `./cairn pack`: makes component packages, and shows what is in them.

use crate::build::{Parts, package_of};
use crate::paths;
use anyhow::{Context, Result, anyhow, bail};
use cairn_abi::package::NONE;
use cairn_abi::record::{CONTENT_CONSTANTS, CONTENT_DATA, CONTENT_TEXT};
use cairn_abi::record::{FLOAT_FIRST_USE, FLOAT_OFF, RESTART_ALWAYS, RESTART_NEVER};
use cairn_abi::text::Visible;
use cairn_description::{show_duration, show_size};
use cairn_loader::package::{Export, Head, Import, Package, Segment, sign};
use ed25519_compact::KeyPair;
use std::fmt::Write;
use std::path::Path;

/// Makes the package of this name of a system: one of its packages, or the component of that name, or at that path, with its
/// defaults.
pub fn make(name: &str, system: &str, board: Option<&str>) -> Result<Vec<u8>> {
    let parts = Parts::with_package(system, board, name)?;
    let packages = &parts.system.packages;
    let called = name.rsplit('/').next();
    let place = packages.iter().position(|package| Some(package.instance.name.as_str()) == called);
    let place = place.with_context(|| format!("{system} has no package `{name}`"))?;
    package_of(&parts, place, parts.packaged()[place])
}

/// A secret key, from a file.
pub fn key(file: &Path) -> Result<KeyPair> {
    let shown = paths::shown(file);
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {shown}"))?;
    KeyPair::from_pem(&text).map_err(|_| {
        anyhow!(
            "{shown} is no secret key of Ed25519 in PEM; `openssl genpkey -algorithm ed25519 -out FILE` makes one"
        )
    })
}

/// Writes a package, signed if there is a key, and says what it is.
pub fn write(
    name: &str,
    system: &str,
    board: Option<&str>,
    key: Option<&KeyPair>,
    file: &Path,
) -> Result<String> {
    let mut bytes = make(name, system, board)?;
    if let Some(key) = key {
        sign(&mut bytes, &key.sk);
    }
    let package = Package::read(&bytes).map_err(|fault| anyhow!("{fault}"))?;
    std::fs::write(file, &bytes).with_context(|| format!("cannot write {}", file.display()))?;
    let hash = hexadecimal(&package.head().numbers().hash);
    let name = package.head().name();
    let signed =
        key.map_or_else(String::new, |key| format!(", signed by {}", hexadecimal(&*key.pk)));
    Ok(format!("{}: {name}, {} bytes, sha256 {hash}{signed}\n", file.display(), bytes.len()))
}

/// What is in a package, for people.
pub fn show(file: &Path) -> Result<String> {
    let shown = paths::shown(file);
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {shown}"))?;
    let package = Package::read(&bytes).map_err(|fault| {
        anyhow!("{shown} is no package that can be loaded: {fault}; make it anew by `./cairn pack`")
    })?;
    if !package.is_whole() {
        bail!(
            "{shown} has changed since it was made: its hash is {}, expected {}; make it anew by `./cairn pack`",
            hexadecimal(&cairn_loader::package::hash(&bytes)),
            hexadecimal(&package.head().numbers().hash)
        );
    }
    Ok(text(&package))
}

fn text(package: &Package<'_>) -> String {
    let head = package.head();
    let numbers = head.numbers();
    let mut text = String::new();
    let mut line = |key: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{key:<10} {value}");
    };
    line("package", format!("{}, of the component {}", head.name(), head.component()));
    line("size", format!("{} bytes, of which the head has {}", numbers.size, numbers.head_size));
    line("sha256", hexadecimal(&numbers.hash));
    let signature = numbers.signature.as_flattened();
    let is_signed = signature.iter().any(|byte| *byte != 0);
    line("signature", if is_signed { hexadecimal(signature) } else { "none".to_owned() });
    line("interface", format!("version {} of the binary interface", numbers.abi_version));
    line("memory", memory(head));
    line("quotas", quotas(head));
    line("runs", runs(head));
    if let Some((instance, export)) = head.pager() {
        let name = cairn_abi::descriptor::name_text(&numbers.paged_name);
        let size = show_size(numbers.paged);
        line("paged", format!("{name}, {size}, whose pages {instance}.{export} provides"));
    }
    line("entry", entry(head));
    if !head.argument().is_empty() {
        line("argument", format!("\"{}\"", Visible(head.argument())));
    }
    for segment in head.segments() {
        line("segment", of_segment(&segment));
    }
    line("addresses", format!("{} are made to fit where it is loaded", numbers.counts.relocations));
    for import in head.imports() {
        line("import", of_import(&import));
    }
    for export in head.exports() {
        line("export", of_export(&export));
        for method in export.methods() {
            let letters = Visible(&method.letters).to_string();
            let letters = letters.trim_end_matches(r"\u{0}");
            line("  method", format!("{:#x} {} {letters}", method.entry, method.name()));
        }
    }
    text
}

fn memory(head: &Head<'_>) -> String {
    let numbers = head.numbers();
    format!(
        "{} at most; heap {}, log {}, stack {}, {} stacks of {} for calls, {} for each client",
        show_size(numbers.memory),
        show_size(numbers.heap),
        show_size(numbers.log_size),
        show_size(numbers.stack),
        numbers.activations,
        show_size(numbers.call_stack),
        numbers.per_client
    )
}

fn quotas(head: &Head<'_>) -> String {
    let numbers = head.numbers();
    format!(
        "threads {}, semaphores {}, locks {}, portals {}, names {}, sections {}, children {}",
        numbers.threads,
        numbers.semaphores,
        numbers.locks,
        numbers.portals,
        numbers.names,
        numbers.sections,
        numbers.children
    )
}

fn runs(head: &Head<'_>) -> String {
    let numbers = head.numbers();
    let restart = match u32::from(numbers.restart) {
        RESTART_NEVER => "never restarted",
        RESTART_ALWAYS => "always restarted",
        _ => "restarted after a fault",
    };
    let mut text =
        format!("priority {}, {restart} at {}", numbers.priority, numbers.recovery_priority);
    if numbers.on_demand != 0 {
        text += ", started by the first call";
    }
    if numbers.idle_stop != 0 {
        text += &format!(", ended when nobody needs it for {}", show_duration(numbers.idle_stop));
    }
    if numbers.says_ready != 0 {
        let callers =
            if numbers.callers_wait != 0 { "callers wait" } else { "callers get an error" };
        text += &format!(", {callers} until it serves");
    }
    match u16::from(numbers.float) {
        FLOAT_OFF => {}
        FLOAT_FIRST_USE => text += ", floating point from its first use on",
        _ => text += ", floating point from the start",
    }
    text
}

fn entry(head: &Head<'_>) -> String {
    let numbers = head.numbers();
    let main = match numbers.main {
        NONE => "no thread of its own".to_owned(),
        main => format!("first thread at {main:#x}"),
    };
    format!("{main}, return stub at {:#x}, image of {} bytes", numbers.stub, numbers.image_size)
}

fn of_segment(segment: &Segment) -> String {
    let content = match segment.content {
        CONTENT_TEXT => "r-x text",
        CONTENT_CONSTANTS => "r-- constants",
        CONTENT_DATA => "rw- data",
        _ => "?",
    };
    let content_at = match segment.file_size {
        0 => "zeros".to_owned(),
        size => format!("{size} bytes of content at {:#x}", segment.file_offset),
    };
    format!("{:#08x} {:>8} {content}, {content_at}", segment.offset, show_size(segment.size))
}

fn of_import(import: &Import<'_>) -> String {
    let server = match import.server {
        Some((instance, export)) => format!("{instance}.{export}"),
        None => "left out".to_owned(),
    };
    format!(
        "{}: {} {:016x}, {} methods from portal {} on, {server}{}{}",
        import.name(),
        import.interface(),
        import.version,
        import.methods().count(),
        import.first_portal,
        if import.is_optional { ", may be left out" } else { "" },
        if import.is_minimal { ", saves its registers" } else { "" }
    )
}

fn of_export(export: &Export<'_>) -> String {
    let policy = match (export.is_object, export.policy) {
        (true, _) => "an object".to_owned(),
        (false, "") => "nobody may open it".to_owned(),
        (false, "*") => "everyone may open it".to_owned(),
        (false, names) => format!("open to {names}"),
    };
    let mut text =
        format!("{}: {} {:016x}, {policy}", export.name(), export.interface(), export.version);
    for (what, time) in [
        ("longest execution", export.longest_execution),
        ("longest call", export.longest_call),
        ("called home in", export.cancelled_for),
    ] {
        if time != 0 {
            text += &format!(", {what} {}", show_duration(time));
        }
    }
    text
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
