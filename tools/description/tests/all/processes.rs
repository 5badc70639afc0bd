//! What an instance has for the processes that it runs.

use crate::common::{check, folder};
use cairn_abi::process::Pool;
use cairn_description::Report;
use cairn_description::model::{Processes, System};

fn text() -> String {
    std::fs::read_to_string(folder().join("good/processes.toml")).expect("readable")
}

fn good() -> System {
    check("good/processes.toml", &text()).unwrap_or_else(|report| panic!("{report}")).0
}

#[test]
fn page_tables_are_as_said_or_as_many_as_spaces_need() {
    let system = good();
    let of = |name: &str| {
        let instance = &system.instances[system.instance(name).expect(name)];
        instance.processes.as_deref().copied()
    };
    let small = Pool { spaces: 4, directories: 12, leaves: 32 };
    assert_eq!(
        [of("server-1"), of("server-2")],
        [Some(Processes { memory: 8 << 20, pool: small }); 2]
    );
    let large = Pool { spaces: 200, directories: 3, leaves: 1600 };
    assert_eq!(of("large"), Some(Processes { memory: 2 << 20, pool: large }));
    assert_eq!(of("full").map(|full| full.pool.tables()), Some(8192));
    assert_eq!(of("scheduler"), None);
    let [package] = system.packages.as_slice() else { panic!("there is one") };
    assert!(package.instance.processes.is_none(), "they stay the instance's");
}

/// What an instance with these processes has on a board.
fn on_board(board: &str, processes: &str) -> Result<Processes, Report> {
    let text = format!(
        "[system]\nname = \"own\"\nboard = \"{board}\"\nscheduler = \"scheduler\"\n\
         [instance.scheduler]\ncomponent = \"scheduler\"\nmemory = \"64K\"\n\
         [instance.server]\ncomponent = \"plain\"\nmemory = \"64K\"\nprocesses = {{ {processes} }}\n"
    );
    let (system, _) = check("good/own.toml", &text)?;
    Ok(**system.instances[1].processes.as_ref().expect("it has some"))
}

#[test]
fn there_are_no_more_page_tables_than_can_be() {
    let pool = on_board("large", "memory = \"1G\", spaces = 512").unwrap().pool;
    assert_eq!((pool.directories, pool.leaves), (1536, 4096));
    let all = "memory = \"2M\", spaces = 512, directories = 4096, leaves = ";
    assert_eq!(on_board("large", &format!("{all}3584")).unwrap().pool.tables(), 8192);
    let report = on_board("large", &format!("{all}3585")).unwrap_err().to_string();
    assert!(report.contains("expected at most 8192 in all, found 8193"), "{report}");
}

#[test]
fn page_tables_have_addresses() {
    let text = std::fs::read_to_string(folder().join("bad/processes-addresses.toml")).unwrap();
    check("good/processes-addresses.toml", &text.replace("3561", "3560"))
        .unwrap_or_else(|report| panic!("{report}"));
}

#[test]
fn identifiers_behind_those_of_domains_are_for_processes() {
    let spaces =
        |count: u64| format!("memory = \"2M\", spaces = {count}, directories = 1, leaves = 1");
    on_board("narrow", &spaces(256)).unwrap();
    let report = on_board("narrow", &spaces(257)).unwrap_err().to_string();
    assert!(report.contains("expected `spaces` of at most 256 in all, found 257"), "{report}");
    // All have one there.
    on_board("virtio", &spaces(512)).unwrap();
}

#[test]
fn one_that_runs_processes_stays_in_its_domain() {
    let mut system = good();
    system.place_in_kernel(|_| true);
    let outside = system.instances.iter().filter(|instance| !instance.is_in_kernel());
    let outside: Vec<&str> = outside.map(|instance| instance.name.as_str()).collect();
    assert_eq!(outside, ["server-1", "server-2", "large", "full"]);
}

#[test]
fn floating_point_registers_belong_to_processes() {
    let mut system = good();
    let at = system.instance("large").expect("there");
    assert!(system.instances[0].processes_with_float(true).is_none());
    assert!(system.instances[at].processes_with_float(false).is_none());
    let hard = system.instances[at].processes_with_float(true);
    system.instances[at].has_float = true;
    let replaced = system.instances[at].processes_with_float(false);
    for error in [hard, replaced] {
        let report = Report::from(error.expect("it has the unit")).to_string();
        for expected in [
            "`large` cannot run processes",
            "processes = { memory = \"2M\", spaces = 200, directories = 3 }",
            "expected an instance without the floating-point unit",
            "build the component in `components/apps/plain`",
        ] {
            assert!(report.contains(expected), "expected `{expected}` in\n{report}");
        }
    }
}
