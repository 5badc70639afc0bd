//! Components in C: what is wrong with one is found when it is built, and said.
#![forbid(unsafe_code)]

use cairn_loader::Rights;
use cairn_tool::{c_component, interfaces, paths, setup};
use std::fs;
use std::path::Path;

const INTERFACES: &str = "interfaces = [\"Console\", \"Echo\"]\n";

/// A server of Echo that calls the console, with `descriptor` and further `code`.
fn source(descriptor: &str, code: &str) -> String {
    format!(
        r#"#include "console.h"
#include "echo.h"
enum {{ CONSOLE = CAIRN_PORTAL_FIRST_IMPORT }};
ECHO_SERVER(test)
#define NOTHING (struct cairn_reply){{ 0, 0 }}
struct cairn_reply test_add(uint64_t c, uint64_t l, uint64_t r) {{ (void)c, (void)l, (void)r; return NOTHING; }}
struct cairn_reply test_say(uint64_t c, const volatile void *t, size_t n) {{ (void)c, (void)t, (void)n; return NOTHING; }}
struct cairn_reply test_fill(uint64_t c, volatile void *t, size_t n) {{ (void)c, (void)t, (void)n; return NOTHING; }}
{code}
CAIRN_COMPONENT(.name = "test", {descriptor});
"#
    )
}

/// Builds a component in a folder of its own; the error as the user sees it.
fn build(name: &str, description: &str, source: &str) -> Result<cairn_image::Component, String> {
    setup::need(setup::C_COMPILER).unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c-component").join(name);
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("component.toml"), description).unwrap();
    fs::write(folder.join("src/test.c"), source).unwrap();
    let built = c_component::build_into(&folder, &folder.join("output"));
    built.map(|(_, component)| component).map_err(|error| format!("{error:#}"))
}

const IMPORT: &str =
    r#".import_count = 1, .imports = { { "console", CONSOLE, CONSOLE_INTERFACE } }"#;
const EXPORT: &str =
    r#".export_count = 1, .exports = { { "echo", 0, ECHO_INTERFACE, ECHO_ENTRIES(test) } }"#;

#[test]
fn a_good_one_is_read_like_one_in_rust() {
    let component = build("good", INTERFACES, &source(&format!("{IMPORT}, {EXPORT}"), "")).unwrap();
    assert_eq!(component.descriptor.name, "test");
    assert_eq!(component.descriptor.main, None);
    assert_eq!(component.descriptor.imports[0].interface.name, "Console");
    let echo = &component.descriptor.exports[0].interface;
    let methods: Vec<&str> = echo.methods.iter().map(|method| method.name.as_str()).collect();
    assert_eq!(methods, ["add", "say", "fill"]);
    let code = component.segments[0].range();
    assert!(echo.methods.iter().all(|method| code.contains(&method.entry)), "{echo:?} in {code:?}");
    // What the shell calls parameters, variants and errors by.
    let text = component.text_of(echo).expect("the interface's text");
    assert_eq!(text.methods[0].parameters[0].0, "left");
}

#[test]
fn stacks_of_threads_are_between_pages_without_access() {
    let code = r#"#include "cairn_thread.h"
static volatile int before = 1;
static CAIRN_STACK(5000) stacks[2] = { CAIRN_GUARDED, CAIRN_GUARDED };
static void run(void) { before = *(volatile unsigned char *)stacks[before].bytes; }"#;
    let description = "interfaces = [\"Console\", \"Echo\", \"Threads\"]\n";
    let descriptor = format!(".main = run, {EXPORT}");
    let component = build("stacks", description, &source(&descriptor, code)).unwrap();
    let data = component.segments.iter().find(|segment| segment.rights == Rights::Data).unwrap();
    let sizes: Vec<u64> = component.memory(data).iter().map(|part| part.end - part.start).collect();
    assert_eq!(sizes, [8192, 8192 + 4096]);
    assert_eq!(data.size, 2 * 4096 + sizes.iter().sum::<u64>());
}

#[test]
fn every_header_compiles_beside_all_others() {
    let own = interfaces::own_names().unwrap().into_iter();
    let mut names: Vec<_> = own.map(|(package, name)| format!("{package}::{name}")).collect();
    names.push("cairn-bench::Link".to_owned());
    let includes: String = names
        .iter()
        .map(|name| {
            cairn_headers::file_name(
                &interfaces::find(&paths::own_workspace(), name).unwrap().interface,
            )
        })
        .map(|file| format!("#include \"{file}\"\n"))
        .collect();
    assert!(includes.contains("link.h"), "{includes}");
    build("headers", &format!("interfaces = {names:?}"), &source(EXPORT, &includes)).unwrap();
}

#[test]
fn a_wrong_descriptor_is_found() {
    let echo = |version: &str, letters: &str| {
        format!(
            r#".export_count = 1, .exports = {{ {{ "echo", 0, {{ "Echo", {version}, 3, {{ {{ "add", "{letters}",
            CAIRN_VALUE_UNSIGNED }}, {{ "say", "cr", CAIRN_VALUE_NONE }}, {{ "fill", "cw", CAIRN_VALUE_UNSIGNED }}
            }} }}, ECHO_ENTRIES(test) }} }}"#
        )
    };
    let version = interfaces::own("Echo").unwrap().interface.version.to_string() + "u";
    build("true", INTERFACES, &source(&echo(&version, "cii"), "")).unwrap();
    for (name, descriptor, expected) in [
        ("version", echo("1", "cii"), "export `echo`: `Echo` in version 0000000000000001"),
        ("letters", echo(&version, "ci"), "export `echo`: `Echo` has other methods"),
        (
            "interface",
            IMPORT.replace("CONSOLE_INTERFACE", "{ .name = \"Ekko\" }"),
            "import `console`: `Ekko` is none of the `interfaces` in its component.toml",
        ),
        (
            "portal",
            IMPORT.replace("CONSOLE,", "CONSOLE + 1,"),
            "import `console` begins at portal 17; expected 16",
        ),
        (
            "entries",
            EXPORT.replace("ECHO_ENTRIES(test)", "{ 0 }"),
            "no function for `add`; in C, an export's `.entries`",
        ),
        ("imports", ".import_count = 17".into(), "17 imports, expected at most 16"),
        ("exports", ".export_count = 0xffffffff".into(), "4294967295 exports, expected at most 10"),
        (
            "methods",
            IMPORT.replace("CONSOLE_INTERFACE", "{ .name = \"Console\", .method_count = 25 }"),
            "25 methods in an import, expected at most 24",
        ),
        (".abi_version", ".abi_version = 99".into(), "made for version 99 of the binary interface"),
    ] {
        // Later initialisers win, with a warning that is right but not wanted here.
        let code = "#pragma GCC diagnostic ignored \"-Woverride-init\"";
        let error = build(name, INTERFACES, &source(&descriptor, code)).unwrap_err();
        assert!(error.contains(expected), "{name}: {error}");
    }
}

#[test]
fn wrong_descriptions_and_sources_are_found() {
    let good = source(EXPORT, "");
    let error =
        build("unknown", "interfaces = [\n    \"Echo\",\n    \"Ekko\",\n]\n", &good).unwrap_err();
    assert!(
        error.contains(
            "component.toml:3: unknown interface `Ekko`; did you mean `Echo`? A new one is a trait with"
        ),
        "{error}"
    );
    let error = build("key", "interface = [\"Echo\"]\n", &good).unwrap_err();
    assert!(error.contains("unknown field `interface`"), "{error}");
    // The header of an interface that is not named is not there.
    let error = build("unnamed", "interfaces = [\"Echo\"]\n", &good).unwrap_err();
    assert!(error.contains("it does not build; the messages above say where"), "{error}");
    // What the descriptor names and nothing has is a method, however the component is entered.
    for (name, code) in [
        ("method", ""),
        ("entered", "#include <errno.h>\nint own(void); int own(void) { return errno; }"),
    ] {
        let source = source(EXPORT, code).replace("test_say(", "test_sya(");
        let error = build(name, INTERFACES, &source).unwrap_err();
        assert!(error.contains("no source has the function `test_say`"), "{error}");
    }
    // Of what the library leaves to the component, it says what to write.
    let code = "#include <stdio.h>\nvoid talk(void);\nvoid talk(void) { puts(\"\"); }";
    let error = build("stdio", INTERFACES, &source(".main = talk", code)).unwrap_err();
    assert!(error.contains("write `CAIRN_STDIO(CONSOLE);` once at a file's top level"), "{error}");
    for (name, line, expected) in [
        ("include", "include = [\"nowhere\"]", "component.toml:2: no "),
        ("library", "libraries = [\"nowhere.a\"]", "component.toml:2: no "),
        (
            "both",
            "prebuilt = \"a.elf\"\ndefines = [\"A\"]",
            "component.toml:2: `prebuilt` and `defines`",
        ),
        ("prebuilt", "prebuilt = \"a.elf\"", "component.toml:2: no "),
        (
            "unbuilt",
            "prebuilt = \"a.elf\"\nbuild = [\"true\"]",
            "component.toml:2: `build` has not made ",
        ),
        (
            "failing",
            "prebuilt = \"a.elf\"\nbuild = [\"false\"]",
            "component.toml:2: `build` failed",
        ),
        ("alone", "build = [\"make\"]", "component.toml: `build` without `prebuilt`"),
    ] {
        let error = build(name, &format!("{INTERFACES}{line}\n"), &good).unwrap_err();
        assert!(error.contains(expected), "{name}: {error}");
    }
}

#[test]
fn code_is_entered_by_the_library_only_where_something_is_set_up() {
    let component = |name, code: &str| {
        build(name, INTERFACES, &source(&format!(".main = go, {IMPORT}, {EXPORT}"), code)).unwrap()
    };
    let symbol = |component: &cairn_image::Component, name: &str| {
        component.symbols.iter().any(|symbol| symbol.name == name)
    };
    let plain = component("plain", "int count; static void go(void) { count++; }");
    assert!(!plain.descriptor.is_thread_local && !symbol(&plain, "cairn_enter"));

    let code = "#include <errno.h>\nstatic void go(void) { errno = 1; }";
    let own = component("errno", code);
    assert!(own.descriptor.is_thread_local && symbol(&own, "cairn_enter"));
    // What the descriptor names is what enters.
    let first = own.symbols.iter().find(|symbol| symbol.name == "cairn_first_thread").unwrap();
    assert_eq!(own.descriptor.main, Some(first.offset));
    let add = own.symbols.iter().find(|symbol| symbol.name == "test_add_entry").unwrap();
    assert_eq!(own.descriptor.exports[0].interface.methods[0].entry, add.offset);

    let code = "int count; __attribute__((constructor)) static void begin(void) { count = 1; } static void go(void) {}";
    let begun = component("constructor", code);
    assert!(!begun.descriptor.is_thread_local && symbol(&begun, "cairn_construct"));
    // What was found is found again, and what is no longer there is not.
    let again = component("constructor", code);
    assert_eq!(again.descriptor, begun.descriptor);
    assert!(!symbol(&component("constructor", "static void go(void) {}"), "cairn_enter"));
}

#[test]
fn sources_of_every_kind_and_place_are_built_and_only_what_changed_anew() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c-component/kinds");
    let _ = fs::remove_dir_all(&folder);
    let write = |name: &str, text: &str| {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    write("vendor/include/size.h", "#define SIZE 3\n");
    write(
        "src/deep/er/two.c",
        "#include <size.h>\nint two(void);\nint two(void) { return SIZE + MORE; }\n",
    );
    write(
        "src/three.S",
        "#include <size.h>\n.text\n.globl three\nthree: li a0, SIZE\nret\n.size three, . - three\n.type three, @function\n",
    );
    write(
        "src/four.cpp",
        "extern \"C\" int four();\nstruct Four { int value = FOUR; };\nint four() { return Four().value; }\n",
    );
    write("five.c", "int five(void);\nint five(void) { return 5; }\n");
    let run = |program: &str, arguments: &[&str]| {
        let mut command = std::process::Command::new(program);
        assert!(command.current_dir(&folder).args(arguments).status().unwrap().success());
    };
    run("riscv64-unknown-elf-gcc", &["-march=rv64imac", "-mabi=lp64", "-fPIE", "-c", "five.c"]);
    run("riscv64-unknown-elf-ar", &["rcs", "libfive.a", "five.o"]);
    let code = "int two(void), three(void), four(void), five(void);\nint result;\n\
        static void go(void) { result = two() + three() + four() + five(); }";
    let description = format!(
        "{INTERFACES}include = [\"vendor/include\"]\ndefines = [\"MORE=1\", \"FOUR=4\"]\n\
         flags = [\"-Wno-unused\"]\nlibraries = [\"libfive.a\"]\n"
    );
    let source = source(&format!(".main = go, {IMPORT}, {EXPORT}"), code);
    let component = build("kinds", &description, &source).unwrap();
    for name in ["two", "three", "four", "five"] {
        assert!(component.symbols.iter().any(|symbol| symbol.name == name), "{name}");
    }

    let made =
        |name: &str| fs::metadata(folder.join("output").join(name)).unwrap().modified().unwrap();
    let objects = [
        "component",
        "objects/own/deep/er/two.c.o",
        "objects/own/three.S.o",
        "objects/own/four.cpp.o",
    ];
    let before = objects.map(made);
    c_component::build_into(&folder, &folder.join("output")).unwrap();
    assert_eq!(before, objects.map(made), "nothing has changed");
    write("vendor/include/size.h", "#define SIZE 30\n");
    c_component::build_into(&folder, &folder.join("output")).unwrap();
    let after = objects.map(made);
    assert!(after[..3].iter().zip(&before).all(|(after, before)| after > before));
    assert_eq!(after[3], before[3], "it does not include what has changed");
}
