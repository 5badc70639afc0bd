//! Writes the packages of a system: each a component with its part of the description.

mod successor;

use crate::Component;
use cairn_abi::address::{IMAGE_OFFSET, PAGE_SIZE};
use cairn_abi::descriptor::{LETTERS_SIZE, name};
use cairn_abi::domain::PORTAL_FIRST_IMPORT;
use cairn_abi::package::{self as format, HEAD_MAXIMUM, NONE, SEGMENTS_MAXIMUM};
use cairn_abi::record::{
    CONTENT_CONSTANTS, CONTENT_DATA, CONTENT_TEXT, FLOAT_FIRST_USE, FLOAT_OFF, FLOAT_START,
    RESTART_ALWAYS, RESTART_NEVER, RESTART_ON_FAULT,
};
use cairn_abi::signature;
use cairn_description::arguments::Value;
use cairn_description::board::Board;
use cairn_description::model::{Package, Restart};
use cairn_description::{ConnectedPackage, Error, System, show_size};
use cairn_loader::interface_text::MethodText;
use cairn_loader::package::Writer;
use cairn_loader::{Form, Interface, Rights, Segment};

/// What a package that has no table may take beside what it takes from the start.
const MEMORY_BESIDE: u64 = 64 << 10;

/// A package of a system.
pub fn package(
    system: &System,
    package: &Package,
    connected: &ConnectedPackage,
    component: &Component,
) -> Result<Vec<u8>, Error> {
    let mut writer = Writer::default();
    let before = connected.portals_before as u16;
    writer.numbers.portals_before = before;
    segments(&mut writer, component, &system.board, before)
        .map_err(|message| no_package(package, message))?;
    imports(&mut writer, connected, component).map_err(|message| no_package(package, message))?;
    exports(&mut writer, package, connected, component);
    argument(&mut writer, package, connected);
    paged(&mut writer, package, component)?;
    let memory = match &package.replaces {
        Some(replaced) => {
            let instance = &system.instances[**replaced];
            successor::memory(&writer, package, instance, &replaced.place)?
        }
        None => memory(&writer, package, component)?,
    };
    head(&mut writer, package, component, memory);
    let bytes = writer.finish().map_err(|size| {
        no_package(package, format!("its head has {size} bytes, of at most {HEAD_MAXIMUM}"))
    })?;
    // What the component's file says of itself may be nothing that a package holds.
    match cairn_loader::package::Package::read(&bytes) {
        Ok(_) => Ok(bytes),
        Err(fault) => Err(no_package(package, fault.to_string())),
    }
}

fn no_package(package: &Package, message: String) -> Error {
    Error::new(
        &package.instance.component.place,
        format!("`{}` cannot be packed", package.instance.name),
        format!("expected a component that a package holds: {message}"),
        "divide the component, or make it an instance of the system",
    )
}

/// Where something of the component is in its image.
fn offset(linked: u64) -> u32 {
    // All that the reader of component files lets pass lies in a region, behind the beginning of images.
    (linked - IMAGE_OFFSET) as u32
}

/// `portals_before`: of those before it in its domain's table, behind which its own are.
fn segments(
    writer: &mut Writer,
    component: &Component,
    board: &Board,
    portals_before: u16,
) -> Result<(), String> {
    // What the file has at 0 lies so far before the image.
    let before = 0u64.wrapping_sub(IMAGE_OFFSET);
    for segment in &component.segments {
        let mut content = vec![0; segment.size as usize];
        component.fill(segment, before, &mut content);
        if portals_before != 0 {
            component.relink(segment, before, &mut content, |call| {
                Form::Trap(call.portal.map(|index| index_in_table(index, portals_before)))
            })?;
        }
        if board.cycle_base.is_some() {
            component.count_by_cycles(segment, &mut content);
        }
        let relocated: Vec<u64> = component.relocated(segment).collect();
        for part in component.memory(segment) {
            let has = |word: &&u64| part.contains(&(**word - segment.offset));
            let last = relocated.iter().rfind(has).map_or(0, |word| word + 8 - segment.offset);
            let content = &content[part.start as usize..part.end as usize];
            let zeros = content.iter().rev().take_while(|byte| **byte == 0).count();
            // A word that is relocated is content, whatever it holds.
            let used = (content.len() - zeros).max(last.saturating_sub(part.start) as usize);
            let entry = format::Segment {
                offset: offset(segment.offset + part.start),
                size: content.len() as u32,
                file_size: 0,
                content: content_of(segment),
                reserved: 0,
            };
            writer.segments.push((entry, content[..used].to_vec()));
        }
        if let Some(word) = relocated.iter().find(|word| !word.is_multiple_of(8)) {
            return Err(format!("an address at {word:#x} in its file is no whole word"));
        }
        writer.relocations.extend(relocated.iter().map(|word| offset(*word)));
    }
    writer.relocations.sort_unstable();
    match writer.segments.len() {
        0..=SEGMENTS_MAXIMUM => Ok(()),
        many => Err(format!(
            "it has {many} parts, since its threads' stacks are apart; at most {SEGMENTS_MAXIMUM} are possible"
        )),
    }
}

/// Where a portal is in a table in which `before` others' are before those of the imports, and of which those that each table has are where they are, for
/// which a component was built.
pub(crate) fn index_in_table(index: u16, before: u16) -> u16 {
    if usize::from(index) < PORTAL_FIRST_IMPORT { index } else { index + before }
}

fn content_of(segment: &Segment) -> u16 {
    match segment.rights {
        Rights::Code => CONTENT_TEXT,
        Rights::Constants => CONTENT_CONSTANTS,
        Rights::Data => CONTENT_DATA,
    }
}

fn imports(
    writer: &mut Writer,
    connected: &ConnectedPackage,
    component: &Component,
) -> Result<(), String> {
    let imports = &component.descriptor.imports;
    for (module, interface, is_needed) in [
        ("cairn::sync", "Portals", component.needs_portals),
        ("cairn::thread", "Threads", component.needs_threads),
    ] {
        if is_needed && !imports.iter().any(|import| import.interface.name == interface) {
            return Err(format!("it uses `{module}` without the import `{interface}`"));
        }
    }
    let mut portal = PORTAL_FIRST_IMPORT;
    for (import, server) in imports.iter().zip(&connected.imports) {
        if import.first_portal != portal {
            return Err(format!(
                "the portals of its import `{}` begin at {}, expected {portal}",
                import.name, import.first_portal
            ));
        }
        portal += import.interface.methods.len();
        let server = server.as_ref();
        let server =
            server.map_or(String::new(), |(instance, export)| format!("{instance}.{export}"));
        let signature = writer.text(&signature_of(&import.interface));
        let server = writer.text(server.as_bytes());
        writer.imports.push(format::Import {
            name: name(&import.name),
            version: import.interface.version,
            signature,
            server,
            optional: import.is_optional.into(),
            minimal: import.is_minimal.into(),
            reserved: 0,
        });
    }
    Ok(())
}

/// As [`signature`] has it.
fn signature_of(interface: &Interface) -> Vec<u8> {
    let letters = interface.methods.iter().map(|method| method.letters.as_str());
    let words = [interface.name.as_str()].into_iter().chain(letters);
    let signature: String = words.map(|word| format!("{word} ")).collect();
    debug_assert!(signature.len() <= signature::SIGNATURE_MAXIMUM);
    signature.into_bytes()
}

fn exports(
    writer: &mut Writer,
    package: &Package,
    connected: &ConnectedPackage,
    component: &Component,
) {
    for (export, described) in component.descriptor.exports.iter().zip(&connected.exports) {
        let described = described.map(|index| &package.exports[index]);
        let policy = match (described, package.has_defaults && !export.is_object) {
            (Some(described), _) => described.policy.as_str(),
            (None, true) => "*",
            (None, false) => "",
        };
        let policy = writer.text(policy.as_bytes());
        let nanoseconds =
            |time: Option<&cairn_description::Located<u64>>| time.map_or(0, |time| **time);
        writer.exports.push(format::Export {
            name: name(&export.name),
            interface: name(&export.interface.name),
            version: export.interface.version,
            longest_execution: nanoseconds(
                described.and_then(|one| one.longest_execution.as_ref()),
            ),
            longest_call: nanoseconds(described.and_then(|one| one.longest_call.as_ref())),
            cancelled_for: nanoseconds(described.and_then(|one| one.cancelled_for.as_ref())),
            policy,
            method_count: export.interface.methods.len() as u32,
            is_object: export.is_object.into(),
        });
        let text = component.text_of(&export.interface);
        for (place, method) in export.interface.methods.iter().enumerate() {
            let meanings = text.and_then(|text| text.methods.get(place));
            let meanings = meanings.map_or(String::new(), MethodText::meanings);
            let mut letters = [0; LETTERS_SIZE];
            letters[..method.letters.len()].copy_from_slice(method.letters.as_bytes());
            let meanings = writer.text(meanings.as_bytes());
            writer.methods.push(format::Method {
                name: name(&method.name),
                letters,
                value: method.value,
                entry: offset(method.entry),
                meanings,
            });
        }
    }
}

/// The argument string and texts, and the words of the arguments, as a startup page has them.
fn argument(writer: &mut Writer, package: &Package, connected: &ConnectedPackage) {
    let mut bytes = package.instance.argument.clone().into_bytes();
    writer.numbers.argument_length = bytes.len() as u16;
    for value in &connected.arguments {
        writer.values.push(match value {
            Value::Word(word) => *word,
            Value::Text(text) => {
                let word = cairn_abi::startup::text_value(bytes.len(), text.len());
                bytes.extend_from_slice(text.as_bytes());
                word
            }
        });
    }
    writer.numbers.argument = writer.text(&bytes);
}

/// The range that has a pager. A fault is no call: nobody would keep what the floating-point unit holds.
fn paged(writer: &mut Writer, package: &Package, component: &Component) -> Result<(), Error> {
    let Some(paged) = &package.paged else { return Ok(()) };
    if component.float {
        return Err(Error::new(
            &paged.name.place,
            format!("`{}` may use the floating-point unit", package.instance.name),
            "expected a range with a pager in a component without floating point",
            "remove `paged`, or build the component for soft float",
        ));
    }
    writer.numbers.paged = *paged.size;
    writer.numbers.paged_name = name(&paged.name);
    writer.numbers.pager = writer.text(format!("{}.{}", paged.instance, paged.export).as_bytes());
    Ok(())
}

/// The quota of memory, which has to hold what it takes from the start.
fn memory(writer: &Writer, package: &Package, component: &Component) -> Result<u64, Error> {
    let instance = &package.instance;
    let image: u64 = writer.segments.iter().map(|(segment, _)| u64::from(segment.size)).sum();
    let is_restarted = *instance.restart != Restart::Never;
    let copied = |(segment, content): &(format::Segment, Vec<u8>)| match segment.content {
        CONTENT_DATA if is_restarted => content.len().next_multiple_of(PAGE_SIZE as usize) as u64,
        _ => 0,
    };
    let copies: u64 = writer.segments.iter().map(copied).sum();
    let stacks = u64::from(activations(package, component)) * instance.stacks.size;
    let needed = image + copies + *instance.heap + *instance.stack + stacks;
    match (package.has_defaults, needed <= *instance.memory) {
        (true, _) => Ok(needed + MEMORY_BESIDE),
        (false, true) => Ok(*instance.memory),
        (false, false) => Err(Error::new(
            &instance.memory.place,
            format!("the package `{}` does not fit into its memory", instance.name),
            format!(
                "expected at least {}, found {}",
                show_size(needed),
                show_size(*instance.memory)
            ),
            format!(
                "raise `memory`: the program takes {}, of which {} are there twice for a restart, the heap {}, stacks {}",
                show_size(image),
                show_size(copies),
                show_size(*instance.heap),
                show_size(*instance.stack + stacks)
            ),
        )),
    }
}

/// Stacks on which it serves calls, if there is anything to call.
fn activations(package: &Package, component: &Component) -> u32 {
    let stacks = &package.instance.stacks;
    if component.descriptor.exports.is_empty() && !stacks.declared { 0 } else { stacks.count }
}

fn head(writer: &mut Writer, package: &Package, component: &Component, memory: u64) {
    let instance = &package.instance;
    let descriptor = &component.descriptor;
    let wait = instance.callers_wait.as_ref().is_none_or(|wait| **wait);
    let at_start = instance.float_at_start.as_ref().is_some_and(|at_start| **at_start);
    let end = component.segments.iter().map(|segment| segment.range().end).max();
    writer.numbers = format::Head {
        name: name(&instance.name),
        component: name(&descriptor.name),
        memory,
        heap: *instance.heap,
        log_size: *instance.log_size,
        stack: *instance.stack,
        call_stack: instance.stacks.size,
        idle_stop: instance.idle_stop.as_ref().map_or(0, |time| **time),
        image_size: offset(end.unwrap_or(IMAGE_OFFSET)),
        main: descriptor.main.map_or(NONE, offset),
        stub: offset(component.stub),
        activations: activations(package, component),
        per_client: instance.stacks.per_client,
        threads: *instance.threads,
        semaphores: *instance.semaphores,
        locks: *instance.locks,
        portals: *instance.portals,
        names: *instance.names,
        sections: *instance.sections_at_run_time,
        children: *instance.children,
        priority: *instance.priority,
        recovery_priority: *instance.recovery_priority,
        restart: match *instance.restart {
            Restart::Never => RESTART_NEVER,
            Restart::Always => RESTART_ALWAYS,
            Restart::OnFault => RESTART_ON_FAULT,
        } as u8,
        on_demand: (*instance.on_demand).into(),
        says_ready: descriptor.says_ready.into(),
        callers_wait: (descriptor.says_ready && wait).into(),
        float: match (component.float, at_start) {
            (false, _) => FLOAT_OFF,
            (true, false) => FLOAT_FIRST_USE,
            (true, true) => FLOAT_START,
        } as u8,
        log_level: instance.log,
        ..writer.numbers
    };
}
