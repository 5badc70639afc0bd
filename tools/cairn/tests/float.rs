//! Where components that compute with the floating-point unit can run, and what is said of where they cannot.
#![forbid(unsafe_code)]

use cairn_description::model::{Instance, Placement, Role};
use cairn_tool::{float, paths};

/// What is changed, whether the board has a unit, whether the component is for it, what is said.
type Case<'a> = (&'a dyn Fn(&mut Instance), bool, bool, [&'a str; 3]);

#[test]
fn a_component_for_the_unit_is_refused_where_there_is_none() {
    let system = cairn_description::load_from(&paths::files(), "tests/float/float", None)
        .unwrap_or_else(|report| panic!("{report}"));
    let worker = system.instances.iter().find(|instance| *instance.name == "worker").unwrap();
    let refusal = |change: &dyn Fn(&mut Instance), has_unit, is_hard| {
        let (mut instance, mut board) = (worker.clone(), system.board.clone());
        change(&mut instance);
        board.float = has_unit;
        float::check(&instance, is_hard, &board).err().map(|error| format!("{error:#}"))
    };
    assert_eq!(refusal(&|_| (), true, true), None);
    assert_eq!(refusal(&|instance| instance.float_at_start = None, false, false), None);
    let cases: [Case; 4] = [
        (
            &|_| (),
            false,
            true,
            [
                "the board `qemu-virt` has no floating-point unit",
                "component = \"tests/float/components/worker\"",
                "write `float = true` in the board description",
            ],
        ),
        (
            &|instance| instance.placement.value = Placement::Kernel,
            true,
            true,
            [
                "`worker` would compute with the floating-point unit in the kernel domain",
                "expected a domain",
                "leave it in a protection domain",
            ],
        ),
        (
            &|instance| instance.role = Some(Role::Scheduler),
            true,
            true,
            [
                "`worker` would compute with the floating-point unit between two threads",
                "expected a component without",
                "whoever runs to completion",
            ],
        ),
        (
            &|_| (),
            true,
            false,
            [
                "`worker` computes with floating-point numbers in software",
                "float = \"start\"",
                "package.metadata.cairn",
            ],
        ),
    ];
    for (change, has_unit, is_hard, parts) in cases {
        let text = refusal(change, has_unit, is_hard).expect("it is refused");
        for part in parts.into_iter().chain(["tests/float/float.toml:"]) {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
