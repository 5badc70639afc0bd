//! What a description becomes: defaults, indexes, and the files it is found in.

use crate::common::{Tree, check, folder};
use cairn_abi::InstanceId;
use cairn_abi::device::VirtioKind;
use cairn_description::arguments::Value;
use cairn_description::board::Virtio;
use cairn_description::model::{Access, Open, Profile, Restart, Role, StackMode, StateMode};
use cairn_description::{
    Board, Disk, Located, Report, Source, System, load, load_board, load_from, load_with,
};
use std::path::{Path, PathBuf};

fn good(name: &str) -> (System, cairn_description::Connected) {
    let path = format!("good/{name}.toml");
    let text = std::fs::read_to_string(crate::common::folder().join(&path)).expect("readable");
    check(&path, &text).unwrap_or_else(|report| panic!("{report}"))
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn defaults_are_those_of_the_reference() {
    let (system, _) = good("smallest");
    assert!(!system.counting);
    assert_eq!(system.profile, Profile::Development);
    assert_eq!(*system.threads, 64);
    let scheduler = &system.instances[system.roles.scheduler];
    assert_eq!(scheduler.number, InstanceId(1));
    assert_eq!(scheduler.role, Some(Role::Scheduler));
    assert_eq!(scheduler.folder, "components/system/scheduler");
    assert_eq!(*scheduler.priority, 100);
    assert_eq!((*scheduler.heap, *scheduler.stack), (0, 16 << 10));
    assert_eq!((*scheduler.threads, *scheduler.semaphores), (1, 0));
    assert_eq!(scheduler.stacks.count, 0);
    assert_eq!(*scheduler.restart, Restart::Never);
    assert!(*scheduler.essential);
    assert_eq!(scheduler.argument, "");
}

#[test]
fn what_a_system_extends_holds_but_for_its_own_keys() {
    let (base, _) = good("hello");
    let (system, _) = good("extends");
    let names = |system: &System| -> Vec<String> {
        system.instances.iter().map(|instance| instance.name.to_string()).collect()
    };
    assert_eq!(names(&system), [names(&base), vec!["second".to_owned()]].concat());
    assert_eq!((system.name.as_str(), *system.threads), ("extends", 12));
    let console = |system: &System| system.instance("console").expect("there is one");
    let (old, new) = (&base.instances[console(&base)], &system.instances[console(&system)]);
    assert_eq!((*old.priority, *new.priority), (200, 201));
    assert_eq!((*new.memory, *new.heap), (*old.memory, *old.heap));
    assert_eq!((old.devices.len(), new.devices.len()), (1, 0));
    assert_eq!(system.roles.scheduler, base.roles.scheduler);
}

#[test]
fn of_several_files_each_lies_once_below_those_that_extend_it() {
    let (system, _) = good("extends-list");
    let names: Vec<&str> = system.instances.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names[names.len() - 2..], ["second", "third"]);
    assert_eq!(names.len(), good("hello").0.instances.len() + 2);
    let console = &system.instances[system.instance("console").expect("there is one")];
    // The later of the two has the priority, the earlier the only list of devices that is not the first file's.
    assert_eq!((*console.priority, console.devices.len(), *system.threads), (202, 0, 13));
}

#[test]
fn a_description_is_found_by_its_name_or_path_with_or_without_its_ending() {
    for system in ["demo", "demo.toml", "systems/demo", "systems/demo.toml"] {
        for board in ["qemu-virt", "qemu-virt.toml", "boards/qemu-virt", "boards/qemu-virt.toml"] {
            let loaded = load(&repository(), system, Some(board));
            let loaded = loaded.unwrap_or_else(|report| panic!("{system} on {board}:\n{report}"));
            assert_eq!(loaded.name.place.path(), "systems/demo.toml");
        }
    }
    let text = "[system]\nname = 'other'\nextends = './hello.toml'\n";
    let (system, _) = check("good/other.toml", text).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(system.instances.len(), good("hello").0.instances.len());
}

#[test]
fn copies_are_instances_of_their_own() {
    let (system, _) = good("count");
    let found =
        system.instances.iter().map(|one| (one.number.0, one.name.as_str(), &*one.argument));
    let expected = [
        (1, "scheduler", ""),
        (2, "plain-1", "number 1 of 1"),
        (3, "plain-2", "number 2 of 2"),
        (4, "plain-3", "number 3 of 3"),
        (5, "echo", ""),
        (6, "last", ""),
    ];
    assert!(found.eq(expected));
    // Their table's name means all of them.
    let echo = &system.instances[4].exports[0];
    assert_eq!(echo.open, Open::Instances(vec![1, 2, 3, 5]));
    assert!(echo.trust.iter().map(|index| **index).eq([1, 2, 3, 0]));
}

#[test]
fn variables_templates_and_numbers_stand_for_what_they_say() {
    let (system, connected) = good("many");
    let names: Vec<&str> = system.instances.iter().map(|one| one.name.as_str()).collect();
    let expected = "scheduler echo-1 echo-2 echo-3 relay-1 relay-2 relay-3 given-1 given-2 hub";
    assert_eq!(names.join(" "), expected);
    let echo = &system.instances[2];
    assert_eq!((*echo.memory, *echo.priority, *echo.threads), (64 << 10, 40, 0));
    assert_eq!((echo.stacks.count, echo.stacks.size), (4, 8 << 10));
    assert_eq!(echo.argument, "2 of 3, {n}");
    assert_eq!(echo.exports[0].open, Open::Instances(vec![4, 5, 6, 9]));
    let sections: Vec<&str> = system.sections.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(sections, ["ring-1", "ring-2", "ring-3"]);
    assert_eq!(echo.sections[0].section, 1);
    assert_eq!((*system.instances[6].imports[0].target, *system.instances[6].threads), (3, 1));
    let hub: Vec<(&str, usize)> = system.instances[9]
        .imports
        .iter()
        .map(|import| (import.import.as_str(), *import.target))
        .collect();
    assert_eq!(hub, [("echo1", 1), ("echo2", 2), ("echo3", 3), ("relay", 4)]);
    let given: Vec<&Value> = connected.arguments[8].iter().collect();
    let word = |value: i64| Value::Word(value as u64);
    let text = |text: &str| Value::Text(text.to_owned());
    let words = [word(2), word(-2), word(1), word(2_000_000)];
    let expected = [&words[..], &[text("2"), text(""), word(4096), word(4), text("")]].concat();
    assert!(given.into_iter().eq(&expected));
}

#[test]
fn a_variable_is_set_from_outside() {
    let text = std::fs::read_to_string(folder().join("good/many.toml")).expect("readable");
    let tree = Tree::new("good/many.toml", &text);
    let load = |name: &str, value: &str| {
        load_with(&tree, "good/many", None, &[(name.to_owned(), value.to_owned())])
    };
    let system = load("pairs", "5").unwrap_or_else(|report| panic!("{report}"));
    assert!(system.instance("relay-5").is_some() && system.instance("relay-6").is_none());
    let report = load("pair", "5").map(|_| ()).expect_err("there is no such variable").to_string();
    assert!(report.contains("--set:1:1") && report.contains("did you mean `pairs`?"), "{report}");
    let report = load("pairs", "many").map(|_| ()).expect_err("no number").to_string();
    assert!(report.contains("bad value for `count`"), "{report}");
}

#[test]
fn what_is_left_out_is_not_there() {
    let (system, _) = good("without");
    let names: Vec<&str> = system.instances.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["scheduler", "interrupts", "console"]);
    assert_eq!(system.instances[2].component.as_str(), "plain");
}

#[test]
fn every_name_is_resolved() {
    let (system, connected) = good("hello");
    let index = |name| system.instance(name).expect(name);
    let console = &system.instances[index("console")];
    assert_eq!(console.number.index(), index("console") + 1);
    assert_eq!((*console.memory, *console.heap), (256 << 10, 64 << 10));
    assert_eq!(*console.priority, 200);
    assert_eq!(*console.restart, Restart::OnFault);
    assert!(!*console.essential);
    assert_eq!(
        (console.stacks.count, console.stacks.size, console.stacks.per_client),
        (2, 16 << 10, 1)
    );
    let device = &system.board.devices[*console.devices[0]];
    assert_eq!(device.name.as_str(), "serial@10000000");
    assert_eq!((device.base, device.size), (0x1000_0000, 0x100));
    assert_eq!(device.interrupts.iter().map(|interrupt| **interrupt).collect::<Vec<_>>(), [10]);
    assert_eq!(device.pages(), 0x1000_0000..0x1000_1000);

    let hello = &system.instances[index("hello")];
    assert_eq!(hello.folder, "examples/hello-c");
    assert_eq!(hello.argument, "hello, world\n");
    let call = &hello.imports[0];
    assert_eq!((call.import.as_str(), *call.target), ("console", index("console")));
    assert_eq!((*call.stack, *call.state), (StackMode::New, StateMode::Partial));
    let export = &console.exports[*call.export];
    assert_eq!(export.name.as_str(), "console");
    // Without `open`, the connected ones.
    assert_eq!(export.open, Open::Instances(vec![index("hello")]));
    assert_eq!(*console.imports[0].stack, StackMode::RunToCompletion);

    let import = connected.imports[index("hello")][0];
    assert_eq!((import.connection, import.target, import.export), (0, index("console"), 0));
    assert_eq!(import.first_portal, cairn_abi::domain::PORTAL_FIRST_IMPORT);
    assert_eq!(connected.exports[index("console")], [0]);
}

#[test]
fn instances_are_numbered_in_the_order_of_the_file() {
    let (system, _) = good("all-roles");
    let names: Vec<&str> = system.instances.iter().map(|one| one.name.as_str()).collect();
    let expected = [
        "scheduler",
        "interrupts",
        "supervisor",
        "memory",
        "portals",
        "names",
        "owner",
        "log",
        "shelf",
        "loader",
        "idle",
    ];
    assert_eq!(names, expected);
    for role in Role::ALL {
        let holder = system.roles.get(role).expect("held");
        assert_eq!(system.instances[holder].role, Some(role));
    }
    let idle = &system.instances[system.roles.idle.expect("held")];
    assert_eq!(*idle.priority, 0);
    let recovery: Vec<u8> = system.instances.iter().map(|one| *one.recovery_priority).collect();
    assert_eq!(
        recovery,
        [100, 40, 255, 100, 100, 100, 100, 100, 100, 100, 0],
        "the priority, if nothing else is said"
    );
    // `idle` says `essential = false`; who reads logs or the shelf, or loads, is needed by nobody, the others hold a role and are
    // essential.
    let essential: Vec<bool> = system.instances.iter().map(|one| *one.essential).collect();
    assert_eq!(essential, [[true; 7].as_slice(), &[false; 4]].concat());
    assert!(system.counting);
    assert_eq!(system.profile, Profile::Release);
}

#[test]
fn kinds_of_virtio_devices_get_devices_of_the_board() {
    let (system, _) = good("virtio");
    let devices = |name: &str| -> Vec<(&str, Option<Virtio>, bool)> {
        let index = system.instance(name).expect(name);
        let devices = system.instances[index].devices.iter();
        let device = |at: &Located<usize>| {
            let device = &system.board.devices[**at];
            (device.shown(), device.virtio, system.is_confined(index, **at))
        };
        devices.map(device).collect()
    };
    let kind = |kind| Some(Virtio::Kind(kind));
    // One that the board says is a disk comes before a slot; a slot that is named by its own name is nobody else's.
    assert_eq!(devices("disk-1"), [("disk0", kind(VirtioKind::Block), true)]);
    assert_eq!(devices("disk-2"), [("virtio2", kind(VirtioKind::Block), true)]);
    assert_eq!(devices("random"), [("virtio1", kind(VirtioKind::Random), true)]);
    assert_eq!(devices("any"), [("virtio0", Some(Virtio::Slot), false)]);
    // In the order in which they are written, for drivers with several.
    let network = ("virtio3", kind(VirtioKind::Network), true);
    assert_eq!(devices("several"), [network, ("serial0", None, false)]);
    assert_eq!(devices("mighty"), [("virtio4", kind(VirtioKind::Network), false)]);
    // What is optional and not there takes no memory.
    assert_eq!(devices("late"), []);
    let memory = |name: &str| system.device_memory(system.instance(name).expect(name));
    assert_eq!(["random", "several", "late"].map(memory), [0x12000, 0x8000, 0]);
    let slots = system.board.devices.iter().filter(|device| device.is_slot).count();
    assert_eq!(slots, 5, "what is a slot stays one");
}

#[test]
fn an_instance_calls_its_devices_as_its_table_does() {
    let (system, _) = good("devices");
    let names = |name: &str| {
        let instance = &system.instances[system.instance(name).expect(name)];
        assert_eq!(instance.device_names.len(), instance.devices.len());
        instance.device_names.clone()
    };
    assert_eq!(names("plain"), ["serial@10000000", "timer@10000100"]);
    // One that the board does not have takes no name from those behind it.
    assert_eq!(names("clock"), ["clock", "net"]);
}

#[test]
fn exports_know_who_may_open_them_and_for_how_long() {
    let (system, _) = good("open-list");
    let echo = &system.instances[system.instance("echo").expect("there")];
    let index = |name| system.instance(name).expect(name);
    let expected = Open::Instances(vec![index("client"), index("plain")]);
    assert_eq!(echo.exports[0].open, expected);
    assert!(!echo.exports[0].open.allows(index("scheduler")));
    let longest = echo.exports[0].longest_execution.as_ref().map(|longest| **longest);
    assert_eq!(longest, Some(250_000));
    let longest = echo.exports[0].longest_call.as_ref().map(|longest| **longest);
    assert_eq!(longest, Some(3_000_000));
    let cancelled = echo.exports[0].cancelled_for.as_ref().map(|time| **time);
    assert_eq!(cancelled, Some(20_000_000));
    assert_eq!(system.cancelled_for, 100_000_000, "the default");
    // A stack for each instance that may open it.
    assert_eq!(echo.stacks.count, 2);

    let (system, _) = good("open-all");
    let echo = &system.instances[system.instance("echo").expect("there")];
    assert_eq!(echo.exports[0].open, Open::Anyone);
    assert!(echo.exports[0].open.allows(0));
}

#[test]
fn arguments_are_of_their_types() {
    let (_, connected) = good("arguments");
    let text = |text: &str| Value::Text(text.to_owned());
    let words = [4096, -3i64 as u64, 1, 10_000_000].map(Value::Word);
    let (texts, more) = ([text("left"), text("")], [64 << 10, 4].map(Value::Word));
    let keys = " 8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c\n8139770EA87D175F56A35466C34C7ECCCB8D8A91B4EE37A25DF60F5B8FC9B394";
    assert_eq!(connected.arguments[1], [&words[..], &texts, &more, &[text(keys)]].concat());
}

#[test]
fn an_optional_import_keeps_its_place_if_it_is_left_out() {
    let (_, connected) = good("optional");
    let [import] = connected.imports[2][..] else { panic!("one is connected") };
    let (first, one) = (cairn_abi::domain::PORTAL_FIRST_IMPORT, 1);
    assert_eq!(import.first_portal, first + one);
    assert_eq!(connected.portals[2], first..first + 2 * one);
}

#[test]
fn those_of_one_domain_have_portals_behind_each_other() {
    let (system, connected) = good("fellows");
    let first = cairn_abi::domain::PORTAL_FIRST_IMPORT;
    assert_eq!(connected.portals[2..], [first..first + 1, first..first, first + 1..first + 3]);
    let domains: Vec<u16> = system.instances.iter().map(|instance| instance.domain.0).collect();
    assert_eq!(domains, [1, 2, 3, 4, 3]);
    // They start again together, and a call inside is on the caller's stack.
    assert_eq!(system.instances[4].restart.value, system.instances[2].restart.value);
    assert_eq!(*system.instances[2].stack, 16 * 1024 + system.instances[4].stacks.size);
}

#[test]
fn groups_sections_and_modes() {
    let (system, _) = good("shared");
    assert_eq!(system.stack_groups.len(), 1);
    assert_eq!(system.stack_groups[0].name.as_str(), "fast");
    let (echo, client) = (system.instance("echo"), system.instance("client"));
    let members: Vec<Option<usize>> =
        system.stack_groups[0].members.iter().map(|member| Some(*member)).collect();
    assert_eq!(members, [echo, client]);
    let call = &system.instances[client.expect("there")].imports[0];
    assert_eq!((call.stack.letter(), call.state.letter()), ('s', 'm'));
    let server = &system.instances[echo.expect("there")];
    assert_eq!(server.stack_group, Some(0));
    // Whoever shares its stack takes none.
    assert_eq!(server.stacks.count, 0);

    let (system, _) = good("sections");
    let sizes: Vec<u64> = system.sections.iter().map(|section| *section.size).collect();
    assert_eq!(sizes, [64 << 10, 8 << 10]);
    let reader = &system.instances[system.instance("reader").expect("there")];
    assert_eq!(*reader.sections[0].access, Access::Read);
    assert_eq!(system.sections[reader.sections[0].section].name.as_str(), "log");
}

#[test]
fn values_keep_their_places() {
    let (system, _) = good("hello");
    let console = &system.instances[system.instance("console").expect("there")];
    assert_eq!(console.name.place.text(), "console");
    assert_eq!(console.memory.place.text(), "\"256K\"");
    let hello = &system.instances[system.instance("hello").expect("there")];
    let call = &hello.imports[0];
    assert_eq!((call.target.place.text(), call.export.place.text()), ("console", "console"));
    assert!(call.target.place.range().end < call.export.place.range().start);
    let place = call.import.place.to_string();
    let text = call.import.place.source().text();
    let line = text.lines().position(|line| line == "console = \"console.console\"");
    assert_eq!(place, format!("good/hello.toml:{}:1", line.expect("there") + 1));
}

#[test]
fn missing_and_unreadable_files_are_reported() {
    let tree = Tree::new("systems/none.toml", "");
    let report = load_from(&tree, "smallst", None).expect_err("there is none");
    assert!(report.to_string().contains("systems/smallst.toml:1:1"), "{report}");
    let report = load_from(&tree, "good/smallst.toml", None).expect_err("there is none");
    assert!(report.to_string().contains("did you mean `smallest`?"), "{report}");
    let folder = std::env::temp_dir().join(format!("cairn-description-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("systems")).expect("writable");
    std::fs::write(folder.join("systems/latin.toml"), b"[system] # \xe4").expect("writable");
    let report = load(&folder, "latin", None).expect_err("not UTF-8");
    std::fs::remove_dir_all(&folder).expect("writable");
    assert!(report.to_string().contains("UTF-8"), "{report}");
}

#[test]
fn another_board_takes_the_place_of_the_described_one() {
    let text = std::fs::read_to_string(folder().join("good/devices.toml")).expect("readable");
    let tree = Tree::new("good/devices.toml", &text);
    let load = |board| load_from(&tree, "good/devices.toml", board);
    let system = load(Some("small")).unwrap_or_else(|report| panic!("{report}"));
    let clock = &system.instances[system.instance("clock").expect("there")];
    let devices = clock.devices.iter().map(|index| system.board.devices[**index].name.as_str());
    assert_eq!(devices.collect::<Vec<_>>(), ["rtc@10001000", "net@10002000"]);
    // The other board lacks a device that is needed.
    let report = load(Some("large")).expect_err("it lacks them").to_string();
    assert!(report.contains("unknown device `rtc@10001000`"), "{report}");
    assert!(!report.contains("unknown device `net"), "{report}");
    let report = load(Some("smal")).expect_err("no such board").to_string();
    assert!(
        report.contains("--> --board:1:1") && report.contains("did you mean `small`?"),
        "{report}"
    );
}

#[test]
fn colour_is_only_where_asked_for() {
    let report = check("bad/x.toml", "x = 1\n").expect_err("no description");
    assert!(report.render(true).contains("\x1b["));
    assert!(!report.render(false).contains("\x1b["));
    assert_eq!(report.to_string(), report.render(false));
}

#[test]
fn the_boards_of_the_repository_are_good() {
    let board = load_board(&Disk::new(repository()), "qemu-virt")
        .unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(board.room(), (126 << 20) - (16 << 10));
    let controller = board.interrupts.as_ref().expect("it has one").device;
    assert_eq!(board.devices[controller].base, 0xc00_0000);
    for entry in std::fs::read_dir(repository().join("boards")).expect("readable") {
        let path = entry.expect("readable").path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("readable");
        let board = Board::parse(&Source::new(path.display().to_string(), text));
        let board = board.unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(path.file_stem().and_then(|stem| stem.to_str()), Some(board.name.as_str()));
    }
}

#[test]
fn the_systems_of_the_repository_are_good() {
    for entry in std::fs::read_dir(repository().join("systems")).expect("readable") {
        let name = entry.expect("readable").file_name().into_string().expect("UTF-8");
        let Some(name) = name.strip_suffix(".toml") else {
            continue;
        };
        load(&repository(), name, None).unwrap_or_else(|report| panic!("{report}"));
    }
}

/// A system of `count` echo servers of which the first is the scheduler; `more` adds to each.
fn many(count: usize, more: impl Fn(usize) -> String) -> Result<System, Report> {
    let mut text =
        "[system]\nname = \"many\"\nboard = \"large\"\nscheduler = \"i0\"\nthreads = 256\n"
            .to_owned();
    for index in 0..count {
        text.push_str(&format!(
            "[instance.i{index}]\ncomponent = \"echo\"\nmemory = \"1M\"\nthreads = 0\n{}",
            more(index)
        ));
    }
    load_from(&Tree::new("systems/many.toml", &text), "many", None)
}

#[test]
fn there_are_at_most_as_many_instances_as_domains() {
    let system = many(255, |_| String::new()).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(system.instances[254].number, InstanceId(255));
    let report = many(256, |_| String::new()).expect_err("one too many");
    assert_eq!(report.errors().len(), 1, "{report}");
    assert_eq!(report.errors()[0].place.text(), "i255");
    assert!(report.to_string().contains("expected at most 255, found 256"), "{report}");
}

#[test]
fn there_are_at_most_as_many_pairs_of_clients_as_queues() {
    // Everyone calls everyone behind, but for the scheduler: n (n - 1) / 2 pairs.
    let calls = |count: usize| {
        move |index: usize| {
            let targets = (index + 1..count).filter(|_| index > 0);
            targets.map(|target| format!("imports.e{target} = \"i{target}.echo\"\n")).collect()
        }
    };
    many(46, calls(46)).unwrap_or_else(|report| panic!("{report}"));
    let report = many(47, calls(47)).expect_err("1035 pairs");
    assert_eq!(report.errors().len(), 1, "{report}");
    assert!(report.to_string().contains("expected at most 1023, found 1035"), "{report}");
}

/// What is measured is what is shipped.
#[test]
fn benchmarks_are_of_releases() {
    for entry in std::fs::read_dir(repository().join("bench/systems")).expect("readable") {
        let path = entry.expect("readable").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8");
        let system = load(&repository(), &format!("bench/systems/{name}"), None)
            .unwrap_or_else(|report| panic!("{report}"));
        assert_eq!(system.profile, Profile::Release, "bench/systems/{name} says `profile`");
    }
}
