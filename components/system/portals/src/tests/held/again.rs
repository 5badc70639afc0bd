//! Who calls from the kernel domain and waits for a stack calls again by the index that the portal itself says.

use super::*;

#[test]
fn each_portal_says_its_index() {
    let mut world = world();
    // The first time, and when it is known what it is made of.
    for of in [CLIENT, SECOND, SECOND] {
        let opened = world.opened(of);
        let object = world.numbers(of, 7);
        for index in [opened, opened + 1, object] {
            assert_eq!(world.literal(of, index, LITERAL_INDEX), index as u64);
        }
    }
}
