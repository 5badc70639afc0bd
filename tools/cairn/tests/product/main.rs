//! A product outside of Cairn's tree, made as its user makes it: every command works on it there, without a network.
#![forbid(unsafe_code)]

mod sources;

use cairn_tool::{cargo, paths, setup};
use regex::Regex;
use serde_json::Value;
use sources::{FLEET, FLEET_TEST, GAUGE, NAMESAKES, PANEL, TWINS, UNMADE};
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
    let members = "members = [\"components/panel\", \"components/twins\", ";
    product.write("Cargo.toml", &read("Cargo.toml").replace("members = [", members));
    let manifest = read("components/pump/Cargo.toml");
    let untested = "[[bin]]\nname = \"panel\"\npath = \"src/main.rs\"\ntest = false\n";
    for (name, program, rest) in [("panel", PANEL, untested), ("twins", TWINS, "")] {
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

/// Serves `Twin` with what others wrote: a crate from the registry, and one that lies beside the product.
const TWIN: &str = r#"#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use twin_interfaces::Twin;

struct Server;

impl Twin for Server {
    fn double(&self, number: u64) -> Result<u64, Error> {
        let mut few = heapless::Vec::<u64, 4>::new();
        few.push(number).map_err(|_| Error::BadArgument)?;
        Ok(beside::doubled(few.swap_remove(number as usize / 100)))
    }
}

static SERVER: Server = Server;

cairn::component! {
    name: "twin",
    exports: { twin: Twin = SERVER },
}
"#;

const BESIDE: &str = "#![no_std]\n#![forbid(unsafe_code)]\npub fn doubled(number: u64) -> u64 {\n    \
                      assert!(number != 77, \"not this one\");\n    2 * number\n}\n";

/// Makes the product `twin` in a folder, of the Cairn that commands with this environment are of.
fn twin(folder: &Path, environment: &[(&str, PathBuf)]) -> Product {
    fs::create_dir_all(folder).unwrap();
    let mut new = tool("new product twin");
    let made = new.envs(environment.iter().cloned()).current_dir(folder).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let product = Product(folder.join("twin"));
    product.write("../beside/src/lib.rs", BESIDE);
    product.write("../beside/Cargo.toml", "[package]\nname = \"beside\"\nedition = \"2024\"\n");
    product.write("components/twin/src/main.rs", TWIN);
    let manifest = fs::read_to_string(product.0.join("components/twin/Cargo.toml")).unwrap();
    let others = "beside = { path = \"../../../beside\" }\nheapless = \"0.9\"\n";
    product.write("components/twin/Cargo.toml", &(manifest + others));
    product
}

/// Copies Cairn's tree, with the times of its files, so that what was built of the copy before is not built anew.
fn copy_of_cairn(folder: &Path) -> PathBuf {
    let copy = folder.join("cairn");
    let _ = fs::remove_dir_all(&copy);
    fs::create_dir_all(&copy).unwrap();
    let entries = fs::read_dir(paths::source()).unwrap().map(|entry| entry.unwrap().path());
    let made = ["target", ".git", ".cairn"];
    let own = entries.filter(|path| !made.iter().any(|name| path.ends_with(name)));
    let status = Command::new("cp").arg("-a").args(own).arg(&copy).status().unwrap();
    assert!(status.success());
    copy
}

#[test]
fn an_image_is_the_same_wherever_it_is_built() {
    let temporary = std::env::temp_dir().join(format!("cairn-twin-{}", std::process::id()));
    let here = twin(&temporary, &[]);
    let image = |told: &str| {
        let line = told.lines().find(|line| line.starts_with("image: ")).unwrap();
        let (file, identifier) = line["image: ".len()..].split_once(", ").unwrap();
        (fs::read(file).unwrap(), identifier.to_owned())
    };
    let (bytes, identifier) = image(&here.run("build"));

    // Another folder, another Cairn, and another home of cargo's, all behind longer paths.
    let elsewhere = paths::source_target().join("elsewhere");
    let cairn = copy_of_cairn(&elsewhere);
    let home = elsewhere.join("home");
    let _ = fs::remove_dir_all(&home);
    fs::create_dir_all(&home).unwrap();
    let own = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let own = own.unwrap_or_else(|| Path::new(&std::env::var_os("HOME").unwrap()).join(".cargo"));
    for entry in fs::read_dir(&own).unwrap() {
        let path = entry.unwrap().path();
        std::os::unix::fs::symlink(&path, home.join(path.file_name().unwrap())).unwrap();
    }
    let environment = [
        ("CAIRN_ROOT", cairn.clone()),
        ("CAIRN_TARGET", elsewhere.join("target/cairn")),
        ("CARGO_TARGET_DIR", elsewhere.join("target/product")),
        ("CARGO_HOME", home),
    ];
    let there = twin(&temporary.join("deep/er"), &environment);
    let mut build = tool("build");
    build.envs(environment).env("CARGO_NET_OFFLINE", "true").current_dir(&there.0);
    let output = build.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (other_bytes, other_identifier) = image(&String::from_utf8(output.stdout).unwrap());

    let text = String::from_utf8_lossy(&bytes);
    for path in [&temporary, &paths::source(), &own] {
        let path = path.display().to_string();
        assert!(!text.contains(&path), "{path}");
    }
    assert_eq!(identifier, other_identifier);
    assert!(bytes == other_bytes);

    // The names that it has instead are told by a panic; reports still find the files.
    has(&text, "heapless-0.9.3/src/vec/mod.rs");
    here.write("script.txt", "call twin double 77\n");
    let told = here.run("run --input script.txt --timeout 100");
    has(&told, ": beside/src/lib.rs:4:");
    has(&told, "in double, components/twin/src/main.rs:14:");
    has(&told, &format!("{}/beside/src/lib.rs:4:", temporary.display()));
    fs::remove_dir_all(temporary).unwrap();
}
