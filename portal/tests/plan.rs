//! What is chosen for a pair of instances, from what they are and how far the caller trusts.

use cairn_abi::address::{STACK_GROUP_SIZE, STACK_GROUPS, region};
use cairn_abi::domain::Tables;
use cairn_abi::record::Instance;
use cairn_abi::{DomainId, InstanceId, RegionId, Space};
use cairn_portal::{Ground, Limits, Place, SemaphoreOperation, Source, Trust, plan};
use zerocopy::FromZeros;

const TOP: u64 = 0x7000;

fn instance(number: u16, runs_to_completion: bool, stack_group: u32) -> Instance {
    let mut instance = Instance::new_zeroed();
    (instance.number, instance.domain) = (InstanceId(number), DomainId(number));
    instance.start_address = region(RegionId(number));
    instance.run_to_completion = runs_to_completion.into();
    instance.stack_group = stack_group;
    instance.space = Space::new(0, number.into());
    (instance.entries, instance.entries_span) = (0x100 + u64::from(number), 0x2000);
    (instance.stub, instance.stack) = (instance.start_address + 8, TOP);
    instance.table = Tables::LEAST.portal_table(instance.domain);
    instance
}

/// Stack and state between an ordinary component or one that runs to completion, and another.
fn chosen(runs: [bool; 2], shared_stack: bool, minimal_state: bool) -> String {
    let (caller, callee) = (instance(3, runs[0], 1), instance(4, runs[1], 1));
    plan(&caller, &callee, Trust { shared_stack, minimal_state }).specification.to_string()
}

#[test]
fn trust_decides_between_ordinary_components_only() {
    let trust = [(false, false), (false, true), (true, false), (true, true)];
    let all = |runs| trust.map(|(stack, state)| chosen(runs, stack, state));
    assert_eq!(all([false, false]), ["np", "nm", "sp", "sm"]);
    // Whoever runs to completion sees everyone's registers anyway, and has one stack.
    assert_eq!(all([false, true]), ["rp"; 4]);
    // Nobody comes back to a caller that runs to completion.
    assert_eq!(all([true, true]), ["rd"; 4]);
}

/// An instance in a domain of its own, in that of another one, or in the kernel domain.
fn placed(number: u16, place: &str) -> Instance {
    let mut instance = instance(number, false, u32::MAX);
    match place {
        "shared" => {
            instance.domain = DomainId(number - 2);
            instance.table = Tables::LEAST.portal_table(instance.domain);
        }
        "kernel" => instance.in_kernel = 1,
        _ => {}
    }
    instance
}

#[test]
fn nine_crossings() {
    let places = ["own", "shared", "kernel"];
    let minimal = Trust { minimal_state: true, ..Trust::default() };
    // Into a domain, into the kernel domain; whoever else is in a domain is one more instance at its ends.
    for (caller, expected) in places.into_iter().zip([["np", "kp"], ["np", "kp"], ["nk", "kk"]]) {
        for callee in places {
            let (caller, callee) = (placed(13, caller), placed(17, callee));
            let is_kernel = callee.in_kernel != 0;
            let found = plan(&caller, &callee, Trust::default());
            let shown = found.specification.to_string();
            assert_eq!(shown, expected[usize::from(is_kernel)]);
            let trusting = plan(&caller, &callee, minimal).specification.to_string();
            assert_eq!(
                trusting,
                shown.replace('p', "m"),
                "a caller in the kernel domain keeps all"
            );
            for (end, instance) in
                [(found.crossing.caller, caller), (found.crossing.callee, callee)]
            {
                assert_eq!((end.instance, end.domain), (instance.number, instance.domain));
                assert_eq!(end.table, Tables::LEAST.portal_table(instance.domain));
            }
            let place = if is_kernel { Place::Kernel } else { Place::User };
            assert_eq!(found.crossing.callee.place, place);
        }
    }
}

#[test]
fn the_ends_are_those_of_the_record() {
    let (caller, callee) = (instance(3, false, 2), instance(4, false, u32::MAX));
    let crossing = plan(&caller, &callee, Trust::default()).crossing;
    assert!(matches!(crossing.callee.place, Place::User));
    assert_eq!((crossing.callee.domain, crossing.callee.space), (DomainId(4), Space::new(0, 4)));
    assert_eq!(
        (crossing.caller.table, crossing.callee.table),
        (Tables::LEAST.portal_table(DomainId(3)), Tables::LEAST.portal_table(DomainId(4)))
    );
    assert_eq!(crossing.stub, region(RegionId(4)) + 8);
    assert!(
        matches!(crossing.source, Source::Memory { first, size: 0x2000 } if first == region(RegionId(3)))
    );
    assert_eq!(crossing.source_entry, 0x103);
    assert!(
        matches!(crossing.ground, Ground::Group(base) if base == STACK_GROUPS + 2 * STACK_GROUP_SIZE)
    );
    let ground = |callee: &Instance| plan(callee, callee, Trust::default()).crossing.ground;
    assert!(matches!(ground(&callee), Ground::Group(0)));
    assert!(matches!(ground(&instance(5, true, 2)), Ground::Top(TOP)));
}

#[test]
fn a_limit_is_never_shorter_than_declared() {
    let limits = Limits::new([1, 0, 1_000_000_001], 10_000_000);
    assert_eq!(limits, Limits { execution: 1, call: 0, cancelled: 10_000_001 });
    let longest = Limits::new([u64::MAX / 2; 3], 1_000_000_000);
    assert_eq!(longest.call, u64::MAX / 2);
}

#[test]
fn only_p_and_v_are_hybrid() {
    let of = |name| SemaphoreOperation::of(&cairn_abi::descriptor::name(name));
    assert_eq!([of("p"), of("v")], [Some(SemaphoreOperation::P), Some(SemaphoreOperation::V)]);
    assert_eq!([of("try_p"), of("value"), of("")], [None; 3]);
}
