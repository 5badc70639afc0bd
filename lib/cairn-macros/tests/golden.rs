//! What the macros refuse, with the message they give; `TRYBUILD=overwrite` writes the messages anew.

#[test]
fn unsupported_constructs_say_what_to_write_instead() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/accepted/*.rs");
    cases.compile_fail("tests/refused/*.rs");
}
