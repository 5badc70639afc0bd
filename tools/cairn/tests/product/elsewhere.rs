//! The same product of the same Cairn elsewhere: another folder, another home of cargo's, by git and not by its path.

use super::{Product, has, tool};
use cairn_tool::{cargo, paths};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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

/// Makes the product `twin` in a folder, with these further words of the command.
fn twin(folder: &Path, words: &str) -> Product {
    fs::create_dir_all(folder).unwrap();
    let made = tool(&format!("new product twin{words}")).current_dir(folder).output().unwrap();
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
pub fn copy_of_cairn(folder: &Path) {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).unwrap();
    let entries = fs::read_dir(paths::source()).unwrap().map(|entry| entry.unwrap().path());
    let made = ["target", ".git", ".cairn"];
    let own = entries.filter(|path| !made.iter().any(|name| path.ends_with(name)));
    let status = Command::new("cp").arg("-a").args(own).arg(folder).status().unwrap();
    assert!(status.success());
}

/// Makes a repository of Cairn's tree as it is; the same tree has the same revision. Returns that.
fn repository(folder: &Path) -> String {
    copy_of_cairn(folder);
    let git = |words: &str| {
        let mut git = Command::new("git");
        for whose in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{whose}_NAME"), "cairn");
            git.env(format!("GIT_{whose}_EMAIL"), "cairn@localhost");
            git.env(format!("GIT_{whose}_DATE"), "2026-01-01T00:00:00Z");
        }
        let output = git.args(words.split(' ')).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    git("init --quiet");
    git("add --all");
    git("commit --quiet --message=all");
    git("rev-parse HEAD").trim().to_owned()
}

/// A home of cargo's with what the own one has, but repositories of its own.
fn home(folder: &Path) -> PathBuf {
    let own = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let own = own.unwrap_or_else(|| Path::new(&std::env::var_os("HOME").unwrap()).join(".cargo"));
    fs::create_dir_all(folder).unwrap();
    for entry in fs::read_dir(&own).unwrap() {
        let path = entry.unwrap().path();
        let link = folder.join(path.file_name().unwrap());
        if !path.ends_with("git") {
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink(&path, link).unwrap();
        }
    }
    own
}

#[test]
fn an_image_is_the_same_wherever_it_is_built() {
    let temporary = std::env::temp_dir().join(format!("cairn-twin-{}", std::process::id()));
    let here = twin(&temporary, "");
    let image = |told: &str| {
        let line = told.lines().find(|line| line.starts_with("image: ")).unwrap();
        let (file, identifier) = line["image: ".len()..].split_once(", ").unwrap();
        (fs::read(file).unwrap(), identifier.to_owned())
    };
    let (bytes, identifier) = image(&here.run("build"));

    // Another folder, Cairn in a checkout of cargo's, in another home, all behind longer paths.
    let elsewhere = paths::source_target().join("elsewhere");
    let repository_of_cairn = elsewhere.join("repository");
    let revision = repository(&repository_of_cairn);
    // What was built of another revision is not used again.
    let elsewhere = elsewhere.join("built");
    if fs::read_to_string(elsewhere.join("revision")).ok().as_ref() != Some(&revision) {
        let _ = fs::remove_dir_all(&elsewhere);
    }
    let own = home(&elsewhere.join("home"));
    fs::write(elsewhere.join("revision"), &revision).unwrap();
    let url = format!("file://{}", repository_of_cairn.display());
    let there = twin(&temporary.join("deep/er"), &format!(" --git {url} --rev {revision}"));
    let in_other_home = |mut command: Command| {
        command.env("CARGO_HOME", elsewhere.join("home")).current_dir(&there.0);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let mut metadata = Command::new(cargo::cargo("metadata", &there.0).get_program());
    metadata.args(["metadata", "--format-version", "1"]).env("CARGO_NET_OFFLINE", "false");
    let metadata: Value = serde_json::from_str(&in_other_home(metadata)).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let cairn = packages.iter().find(|package| package["name"] == "cairn").unwrap();
    let manifest = Path::new(cairn["manifest_path"].as_str().unwrap());
    let checkout = manifest.ancestors().nth(3).unwrap();
    has(&checkout.display().to_string(), "/git/checkouts/");
    let mut build = tool("build");
    build.env("CAIRN_ROOT", checkout).env("CAIRN_TARGET", elsewhere.join("target/cairn"));
    build.env("CARGO_TARGET_DIR", elsewhere.join("target/product"));
    build.env("CARGO_NET_OFFLINE", "true");
    let (other_bytes, other_identifier) = image(&in_other_home(build));

    let text = String::from_utf8_lossy(&bytes);
    for path in [&temporary, &paths::source(), &own] {
        let path = path.display().to_string();
        assert!(!text.contains(&path), "{path}");
    }
    assert_eq!(identifier, other_identifier);
    assert!(bytes == other_bytes);

    // The names that it has instead are told by a panic; reports still find the files.
    has(&text, "heapless-0.9.3/src/vec/mod.rs");
    // The report is as urgent as the component, so the shell may be first; `top` looks for a second.
    here.write("script.txt", "call twin double 77\ntop\n");
    let told = here.run("run --input script.txt --timeout 100");
    has(&told, ": beside/src/lib.rs:4:");
    has(&told, "in double, components/twin/src/main.rs:14:");
    let place = format!("{}/beside/src/lib.rs:4:", temporary.display());
    has(&told, &place);
    // So they do in a log from the field, by the identifier that it names.
    let lines = told.lines().filter(|line| !line.starts_with("cairn:"));
    let log = lines.map(|line| format!("{line}\n")).collect::<String>();
    assert!(!log.contains(&place), "{log}");
    here.write("log.txt", &log);
    let mut symbolise = tool("symbolise");
    symbolise.stdin(fs::File::open(here.0.join("log.txt")).unwrap());
    has(&here.answers(symbolise, true), &place);
    fs::remove_dir_all(temporary).unwrap();
}
