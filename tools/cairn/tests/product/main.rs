//! A product outside of Cairn's tree, made as its user makes it: every command works on it there, without a network.
#![forbid(unsafe_code)]

mod edit;
mod elsewhere;
mod sources;

use cairn_tool::{cargo, paths, setup};
use regex::Regex;
use serde_json::Value;
use sources::{
    BENCHMARK_SYSTEM, BENCHMARKS, FLEET, FLEET_TEST, GAUGE, NAMESAKES, PANEL, TWINS, UNMADE, WAVE,
};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

struct Product(PathBuf);

impl Product {
    /// What a command prints in the product, if it ends as it should.
    fn answers(&self, mut command: Command, as_it_should: bool) -> String {
        // What is built of Cairn is kept for the next time, and what is built of the product for Cairn's next test.
        let target = paths::source_target();
        command
            .env("CARGO_TARGET_DIR", target.join("product"))
            .env("CAIRN_TARGET", &target)
            .env("CARGO_NET_OFFLINE", "true")
            // Half as much on the disk.
            .envs([("CARGO_INCREMENTAL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "0")])
            .current_dir(&self.0);
        let output = command.output().unwrap();
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), as_it_should, "{command:?}:\n{text}");
        text.into_owned()
    }

    fn run(&self, arguments: &str) -> String {
        self.answers(tool(arguments), true)
    }

    fn write(&self, file: &str, text: &str) {
        let file = self.0.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
}

fn tool(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cairn-tool"));
    command.args(arguments.split(' '));
    command
}

#[track_caller]
fn has(text: &str, expected: &str) {
    assert!(text.contains(expected), "expected `{expected}` in\n{text}");
}

#[test]
fn a_product_does_what_cairn_does() {
    setup::need(setup::C_COMPILER).unwrap();
    let outside = std::env::temp_dir().join(format!("cairn-product-{}", std::process::id()));
    fs::create_dir_all(&outside).unwrap();
    let made = tool("new product heater").current_dir(&outside).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let product = Product(outside.join("heater"));

    let mut launcher = Command::new(product.0.join("cairn"));
    launcher.arg("--version").current_dir(product.0.join("systems"));
    let source = paths::source().canonicalize().unwrap();
    launcher.env("CARGO_TARGET_DIR", paths::source_target()).env("CARGO_NET_OFFLINE", "true");
    let version = String::from_utf8(launcher.output().unwrap().stdout).unwrap();
    has(&version, &format!("tree: {}", source.display()));

    product.run("new component pump");
    has(&product.run("new interface meter"), "use heater_interfaces::Meter;");
    product.run("new client watcher pump");
    product.write(
        "components/gauge/component.toml",
        "interfaces = ['cairn-interfaces::Console', 'Meter', 'Pump']\n",
    );
    product.write("components/gauge/src/gauge.c", GAUGE);
    product.run("new driver dice --device virtio");
    product.run("new driver ticker --device rtc0");
    let read = |file: &str| fs::read_to_string(product.0.join(file)).unwrap();
    product.write("interfaces/src/lib.rs", &(read("interfaces/src/lib.rs") + NAMESAKES));
    let members = "members = [\"components/panel\", \"components/twins\", \"components/wave\", ";
    product.write("Cargo.toml", &read("Cargo.toml").replace("members = [", members));
    let manifest = read("components/pump/Cargo.toml");
    let untested = "[[bin]]\nname = \"panel\"\npath = \"src/main.rs\"\ntest = false\n";
    let programs = [("panel", PANEL, untested), ("twins", TWINS, ""), ("wave", WAVE, "")];
    for (name, program, rest) in programs {
        let own = manifest.replace("\"pump\"", &format!("\"{name}\"")) + rest;
        product.write(&format!("components/{name}/Cargo.toml"), &own);
        product.write(&format!("components/{name}/src/main.rs"), program);
    }
    product.write("systems/fleet.toml", FLEET);
    product.write("tests/fleet/test.toml", FLEET_TEST);
    product.write("script.txt", "call heater double 21\n");

    let told = product.run("test");
    for name in ["heater", "pump", "watcher", "fleet"] {
        has(&told, &format!("ok   {name} "));
    }
    has(&product.run("run --input script.txt --timeout 100"), "42 (0x2a)");
    has(&product.run("build"), "\nimage: ");
    has(&product.run("check fleet"), "fleet: no errors");
    has(&product.run("headers Meter"), "meter_double(");
    product.run("graph -o heater.svg");
    has(&fs::read_to_string(product.0.join("heater.svg")).unwrap(), "watcher");

    check_bench(&product);
    check_profile(&product);
    check_ci(&product);
    check_bill(&product);
    check_site(&product);
    check_watch(&product);

    // Drivers compile for the host, too.
    let mut check = Command::new(cargo::cargo("check", &product.0).get_program());
    check.args(["check", "--workspace", "--all-targets", "--quiet"]);
    assert_eq!(product.answers(check, true), "");

    // As an editor does.
    let cargo = || Command::new(cargo::cargo("check", &product.0).get_program());
    let mut editor = cargo();
    editor.args(["check", "--workspace", "--quiet", "--target", cargo::TARGET]);
    cargo::with_library(&mut editor);
    assert_eq!(product.answers(editor, true), "");

    // Its tests on the host, as in any workspace.
    let mut tests = cargo();
    tests.arg("test");
    let told = product.answers(tests, true);
    for test in [
        "doubles_what_fits",
        "says_what_the_server_answers",
        "an_answer_has_the_length_of_a_number",
        "interrupts_are_counted",
        "threads_run_on_the_host",
        "watchdogs_bark_on_the_host",
        "the_environment_is_empty_on_the_host",
    ] {
        has(&told, &format!("test tests::{test} ... ok"));
    }

    // A mistake is told by the product's files.
    product.write("systems/fleet.toml", &FLEET.replace(", \"gauge\"]", "]"));
    let told = product.answers(tool("check fleet"), false);
    has(&told, "`gauge` may not open `pump.pump`");
    has(&told, "systems/fleet.toml:");

    // So is an import that the library needs.
    product.write("systems/fleet.toml", FLEET);
    let begin = PANEL.find("impl Console").unwrap();
    let end = PANEL.find("impl Threads").unwrap();
    let unmade = [&PANEL[..begin], UNMADE, &PANEL[end..]].concat();
    product.write("components/panel/src/main.rs", &unmade);
    let told = product.answers(tool("check fleet"), false);
    has(&told, "`panel` uses `cairn::sync` without the import `Portals`");
    has(&told, "`panel` uses `cairn::thread` without the import `Threads`");
    has(
        &told,
        "expected `imports: { threads: cairn_interfaces::Threads }` in the `cairn::component!` of `components/panel`",
    );
    has(&told, "`threads = \"scheduler.threads\"` in [instance.panel.imports]");
    fs::remove_dir_all(outside).unwrap();
}

/// What the product measures is its own, and the JSON, too.
fn check_bench(product: &Product) {
    product.write("bench/benchmarks.toml", BENCHMARKS);
    product.write("bench/systems/heat.toml", BENCHMARK_SYSTEM);
    let told = product.run("bench --json heat.json");
    let row = told.lines().find(|line| line.contains("heat.wave")).expect("its row");
    assert!(row.contains("42") && row.contains("50") && !told.contains("portal."), "{told}");
    let results = fs::read_to_string(product.0.join("heat.json")).unwrap();
    let results: Value = serde_json::from_str(&results).unwrap();
    assert_eq!(results["results"][0]["name"], "heat.wave");
    assert_eq!(results["results"][0]["median"], 42.0);
    // What it reaches is a limit of the product's.
    product.run("bench --set-limits");
    product.run("bench --check");
    // On boards for which it has none, nothing is held.
    has(&product.run("test bench"), "1 passed, 0 failed");
    let limits = fs::read_to_string(product.0.join("bench/limits.toml")).unwrap();
    product.write("bench/limits.toml", &limits.replace("42", "21"));
    has(&product.answers(tool("bench --check"), false), "heat.wave");
}

/// Where the cycles of the product's system go on a simulated core, from its reset on.
fn check_profile(product: &Product) {
    let told = product.run("profile --board rocket-rtl --to 60000 --rows 3");
    has(&told, "cycles each");
    has(&told, "scheduler: ");
}

/// Where Cairn is a path outside of the repository, its workflow puts it there, or says what is missing.
fn check_ci(product: &Product) {
    let workflow = fs::read_to_string(product.0.join(".github/workflows/test.yml")).unwrap();
    let step = workflow.split("        run: |\n").nth(1).expect("a step that puts Cairn there");
    let lines = step.lines().map_while(|line| line.strip_prefix("          "));
    let script = lines.map(|line| format!("{line}\n")).collect::<String>();
    let place = script.split('"').nth(1).unwrap().strip_suffix("/cairn").unwrap().to_owned();
    assert!(product.0.join(&place).join("lib/cairn/Cargo.toml").is_file(), "{place}");
    let step = |script: &str, repository: Option<&Path>| {
        let mut shell = Command::new("sh");
        shell.args(["-e", "-c", script]).current_dir(&product.0).env_remove("CAIRN_REPOSITORY");
        shell.envs(repository.map(|repository| ("CAIRN_REPOSITORY", repository)));
        let output = shell.output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(step(&script, None), (true, String::new()), "it is there");
    let absent = script.replace(&place, "../cairn-of-ci");
    let (is_good, told) = step(&absent, None);
    assert!(
        !is_good && told.starts_with("::error::Cargo.toml has Cairn in ../cairn-of-ci"),
        "{told}"
    );
    has(&told, "set the variable CAIRN_REPOSITORY");
    let repository = product.0.join("../repository");
    let made = Command::new("git").args(["init", "--quiet"]).arg(&repository).status().unwrap();
    assert!(made.success() && step(&absent, Some(&repository)).0);
    assert!(product.0.join("../cairn-of-ci/.git").is_dir());
}

/// The bill of the product's system, and what its tools say of it.
fn check_bill(product: &Product) {
    product.run("sbom fleet -o bill.json");
    let bill = fs::read_to_string(product.0.join("bill.json")).unwrap();
    let bill: Value = serde_json::from_str(&bill).unwrap();
    assert_eq!(bill["specVersion"], "1.6");
    let parts = bill["components"].as_array().unwrap();
    let part = |name: &str| {
        let found = parts.iter().find(|part| part["name"] == name);
        found.unwrap_or_else(|| panic!("no {name} in {parts:?}"))
    };
    let license = |name: &str| part(name)["licenses"][0]["expression"].clone();
    let own = ["heater", "pump", "heater-interfaces", "gauge"];
    assert!(own.iter().all(|name| license(name) == "LicenseRef-Proprietary"));
    for name in ["cairn", "cairn-nucleus", "cairn-scheduler", "cairn-c"] {
        assert_eq!(license(name), "MIT OR Apache-2.0", "{name}");
        assert!(part(name).get("purl").is_none(), "no package of a registry: {name}");
    }
    assert_eq!(license("picolibc"), "BSD-3-Clause");
    // What the shell is made with, by the lock; what nothing of it is made with; what runs on the host alone.
    let heapless = part("heapless");
    let lock = fs::read_to_string(paths::source().join("Cargo.lock")).unwrap();
    has(&lock, heapless["hashes"][0]["content"].as_str().unwrap());
    assert_eq!(heapless["purl"], "pkg:cargo/heapless@0.9.3");
    for name in ["rlsf", "embassy-executor", "cairn-virtio", "cairn-macros", "syn"] {
        assert!(!parts.iter().any(|part| part["name"] == name), "{name}");
    }
    // As docs/reference/command.md says how to check it.
    let list = "find . -type f -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum";
    let mut shell = Command::new("sh");
    shell.args(["-c", list]).current_dir(product.0.join("components/pump"));
    let hash = String::from_utf8(shell.output().unwrap().stdout).unwrap();
    let told = &part("pump")["properties"];
    assert_eq!(told[0]["value"], "components/pump");
    assert_eq!(Some(told[1]["value"].as_str().unwrap()), hash.split(' ').next());
    // All of it is reached from the image.
    let uses = bill["dependencies"].as_array().unwrap();
    let used: Vec<&Value> =
        uses.iter().flat_map(|one| one["dependsOn"].as_array().unwrap()).collect();
    for part in parts {
        assert!(used.contains(&&part["bom-ref"]), "{part}");
    }
}

/// A link that leads nowhere is told, and in the site there is none.
fn check_site(product: &Product) {
    product.write("docs/heat.md", "# Heat\n\nSee [the pump](pump.md#how-it-pumps).\n");
    let pump = "# Pump\n\n## How it pumps\n\n[Its source](../components/pump/src/main.rs), \
                [its folder](../components/pump/src).\n";
    product.write("docs/pump.md", &pump.replace("How", "Why"));
    let told = product.answers(tool("doc"), false);
    has(
        &told,
        "docs/heat.md:3: docs/pump.md has no heading `how-it-pumps`, did you mean `why-it-pumps`?",
    );
    product.write("docs/pump.md", &pump.replace("main.rs", "no.rs"));
    has(
        &product.answers(tool("doc"), false),
        "docs/pump.md:5: there is no components/pump/src/no.rs",
    );
    product.write("docs/pump.md", pump);
    let told = product.run("doc");
    let first = told.lines().find(|line| line.ends_with("index.html")).unwrap();
    let site = product.0.join(first).parent().unwrap().to_owned();
    let read = |page: &Path| fs::read_to_string(page).unwrap();
    has(&read(&site.join("docs/heat.html")), "href=\"../docs/pump.html#how-it-pumps\"");
    has(&read(&site.join("components/pump/src/main.rs.html")), "cairn::component! {");
    has(&read(&site.join("cairn/docs/tutorial.html")), "<img src=\"../docs/images/demo.svg\"");
    has(&read(&site.join("api/heater_interfaces/trait.Meter.html")), "double");
    let link = Regex::new(r##"(?:href|src)="([^"#]*)(?:#([^"]*))?""##).unwrap();
    let (mut left, mut count) = (vec![site.clone()], 0);
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // These pages are rustdoc's.
                left.extend((path != site.join("api")).then_some(path));
            } else if path.extension().is_some_and(|end| end == "html") {
                let text = read(&path);
                let inside = link.captures_iter(&text).filter(|link| !link[1].contains(':'));
                for found in inside {
                    let place = || format!("{}: {}", path.display(), &found[0]);
                    let target = match &found[1] {
                        "" => path.clone(),
                        target => folder.join(target),
                    };
                    assert!(target.is_file(), "{}", place());
                    if let Some(anchor) = found.get(2) {
                        has(&read(&target), &format!("id=\"{}\"", anchor.as_str()));
                    }
                    count += 1;
                }
            }
        }
    }
    assert!(count > 1000, "{count}");
}

/// A command is done again when a file has changed, also while it goes on.
fn check_watch(product: &Product) {
    let watch = |words: &str| {
        let mut command = tool(words);
        command.current_dir(&product.0).env("CARGO_NET_OFFLINE", "true");
        command.env("CARGO_TARGET_DIR", paths::source_target());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    fn wait_for(stream: &mut impl BufRead, expected: &str) {
        let mut told = String::new();
        while !told.lines().last().unwrap_or_default().contains(expected) {
            assert!(stream.read_line(&mut told).unwrap() > 0, "no `{expected}` in\n{told}");
        }
    }
    let mut once = watch("watch fmt --check");
    let mut errors = BufReader::new(once.stderr.take().unwrap());
    wait_for(&mut errors, "cairn: `fmt --check` ended well; waiting for a change");
    let description = fs::read_to_string(product.0.join("systems/heater.toml")).unwrap();
    product.write("systems/heater.toml", &description.replace("name =", "name  ="));
    wait_for(&mut errors, "cairn: systems/heater.toml has changed");
    wait_for(&mut errors, "cairn: `fmt --check` failed; waiting for a change");
    once.kill().and_then(|()| once.wait()).unwrap();

    let mut going_on = watch("watch symbolise");
    let mut errors = BufReader::new(going_on.stderr.take().unwrap());
    let mut output = BufReader::new(going_on.stdout.take().unwrap());
    let mut input = going_on.stdin.take().unwrap();
    input.write_all(b"before\n").unwrap();
    wait_for(&mut output, "before");
    product.write("systems/heater.toml", &description);
    wait_for(&mut errors, "cairn: systems/heater.toml has changed");
    input.write_all(b"behind\n").unwrap();
    wait_for(&mut output, "behind");
    going_on.kill().and_then(|()| going_on.wait()).unwrap();
}

/// Whoever comes into Cairn's tree through a symbolic link works on Cairn itself, not on a product beside it.
#[test]
fn a_link_to_cairn_is_cairn() {
    let source = paths::source();
    let link = std::env::temp_dir().join(format!("cairn-link-{}", std::process::id()));
    std::os::unix::fs::symlink(&source, &link).unwrap();
    let environment = [("CAIRN_ROOT", link.clone()), ("CAIRN_TARGET", paths::source_target())];
    let in_link = |mut command: Command| {
        command.current_dir(&link).envs(environment.clone()).env_remove("CARGO_TARGET_DIR");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    // Its own library is the trusted one.
    has(&in_link(tool("check demo --placement kernel")), "demo: no errors");
    let mut script = Command::new("./cairn");
    script.arg("--version").env("CARGO_NET_OFFLINE", "true");
    has(&in_link(script), &format!("tree: {}\n", source.display()));
    fs::remove_file(link).unwrap();
}

#[test]
fn a_product_of_another_cairn_says_what_to_run() {
    let outside = std::env::temp_dir().join(format!("cairn-other-{}", std::process::id()));
    let product = Product(outside.join("heater"));
    let manifest = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}")
    };
    product.write("../other/lib/cairn/Cargo.toml", &(manifest("cairn", "") + "[workspace]\n"));
    product.write("../other/lib/cairn/src/lib.rs", "");
    product.write("Cargo.toml", "[workspace]\nmembers = [\"one\"]\n[workspace.metadata.cairn]\n");
    product.write("one/src/lib.rs", "");
    product.write("one/Cargo.toml", &manifest("one", ""));
    let told = product.answers(tool("check"), false);
    has(&told, "nothing in the workspace depends on the package `cairn`; expected under");

    let dependency = "[dependencies]\ncairn = { path = \"../../other/lib/cairn\" }\n";
    product.write("one/Cargo.toml", &manifest("one", dependency));
    let told = product.answers(tool("check"), false);
    has(&told, &format!("this is the command of {}, but ", paths::source().display()));
    let other = outside.canonicalize().unwrap().join("other");
    has(
        &told,
        &format!("depends on the Cairn in {}; run {}/cairn", other.display(), other.display()),
    );
    fs::remove_dir_all(outside).unwrap();
}
