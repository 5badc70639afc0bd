//! `./cairn sbom`: the bill of materials of an image, in CycloneDX's JSON: what is in it, from where, under which licenses.

use crate::build::BuiltImage;
use crate::c_component::answer;
use crate::cargo::{self, TARGET};
use crate::packages::{self, Package, Packages};
use crate::{archive, c_component, paths, version};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Rust's library and compiler, by what their `Cargo.toml` says.
const LICENSE_OF_RUST: &str = "MIT OR Apache-2.0";
const COMPILER: &str = "gcc-riscv64-unknown-elf";
/// What components in C are linked with: Debian's packages, their names, the SPDX expressions of their parts that are linked.
const LINKED_IN_C: [(&str, &str, &str); 2] = [
    ("picolibc-riscv64-unknown-elf", "picolibc", "BSD-3-Clause"),
    (COMPILER, "libgcc", "GPL-3.0-or-later WITH GCC-exception-3.1"),
];

/// What is in an image, by what each is called in the bill.
#[derive(Default)]
struct Bill {
    parts: BTreeMap<String, Value>,
    /// What each is made with.
    uses: BTreeMap<String, BTreeSet<String>>,
    /// The compilers, and their versions.
    compilers: BTreeMap<&'static str, String>,
}

/// The bill of an image.
pub fn of(image: &BuiltImage) -> Result<String> {
    let mut bill = Bill::default();
    let mut roots = BTreeSet::new();
    roots.insert(bill.add_in_rust(&paths::source().join("nucleus"))?);
    for folder in &image.components {
        roots.insert(if c_component::is_one(folder) {
            bill.add_in_c(folder)?
        } else {
            bill.add_in_rust(&paths::component(folder))?
        });
    }
    roots.extend(image.packages.iter().map(|package| bill.add_fetched(package)));
    let name = image.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let file = image.file.file_name().unwrap_or_default();
    let of_image = hash(image.file.parent().unwrap_or(Path::new(".")), Path::new(file))?;
    let own = version::revision();
    let own = own.map_or(json!([]), |revision| json!([property("cairn:revision", &revision)]));
    let tool = |name: &str, version: &str| json!({ "type": "application", "name": name, "version": version });
    let mut cairn = tool("cairn", env!("CARGO_PKG_VERSION"));
    cairn["properties"] = own;
    let compilers = bill.compilers.iter().map(|(name, version)| tool(name, version));
    let tools: Vec<Value> = [cairn].into_iter().chain(compilers).collect();
    bill.uses.insert("image".into(), roots);
    let uses = bill.uses.iter();
    let whole = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "tools": { "components": tools },
            "component": {
                "type": "firmware", "bom-ref": "image", "name": name, "version": archive::shown(image.identifier),
                "hashes": of_image,
            },
        },
        "components": bill.parts.values().collect::<Vec<_>>(),
        "dependencies":
            uses.map(|(part, uses)| json!({ "ref": part, "dependsOn": uses })).collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string_pretty(&whole)? + "\n")
}

impl Bill {
    /// Adds the package in a folder, with all that is compiled into it; returns what it is called.
    fn add_in_rust(&mut self, folder: &Path) -> Result<String> {
        let workspace = paths::workspace_at(folder);
        let packages = packages::of_workspace(&workspace.folder)?;
        let own = packages.of_manifest(&folder.join("Cargo.toml"));
        let own = own.with_context(|| format!("{}: no package", paths::shown(folder)))?;
        let compiled = compiled(&packages, own, &workspace.folder)?;
        let checksums = checksums(&workspace.folder)?;
        let library = self.add_library()?;
        for package in &compiled {
            let called = called(package);
            if !self.parts.contains_key(&called) {
                let key = (package.name.clone(), package.version.clone());
                self.parts.insert(called.clone(), part(package, checksums.get(&key))?);
            }
            let used = packages
                .used_by(package)
                .filter(|used| compiled.iter().any(|one| one.id == used.id));
            let used: BTreeSet<String> = used.map(self::called).collect();
            self.uses.entry(called).or_default().extend(used.into_iter().chain([library.clone()]));
        }
        Ok(called(own))
    }

    /// Adds a package of Debian's of which a section has files.
    fn add_fetched(&mut self, [package, version, architecture]: &[String; 3]) -> String {
        let called = format!("pkg:deb/debian/{package}@{version}?arch={architecture}");
        let part = json!({
            "type": "application", "bom-ref": called, "name": package, "version": version, "purl": called,
        });
        self.parts.insert(called.clone(), part);
        called
    }

    /// Adds the library that all in Rust is compiled with.
    fn add_library(&mut self) -> Result<String> {
        let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
        let told = answer(Command::new(rustc).arg("-vV").current_dir(paths::source()))?;
        let line =
            |key: &str| told.lines().find_map(|line| line.strip_prefix(key)).unwrap_or("unknown");
        let (release, commit) = (line("release: "), line("commit-hash: "));
        self.compilers.insert("rustc", release.to_owned());
        let called = format!("pkg:github/rust-lang/rust@{release}");
        self.parts.entry(called.clone()).or_insert_with(|| {
            json!({
                "type": "library", "bom-ref": called, "name": "rust (core, alloc, compiler_builtins)", "version": release,
                "purl": called, "licenses": [{ "expression": LICENSE_OF_RUST }],
                "properties": [property("cairn:commit", commit)],
            })
        });
        Ok(called)
    }

    /// Adds the component in C in a folder, with what it is linked with; returns what it is called.
    fn add_in_c(&mut self, folder: &str) -> Result<String> {
        let mut uses = BTreeSet::new();
        for (package, name, license) in LINKED_IN_C {
            let mut ask = Command::new("dpkg-query");
            let version = answer(ask.args(["--show", "--showformat=${Version}", package]))?;
            if package == COMPILER {
                self.compilers.insert("riscv64-unknown-elf-gcc", version.clone());
            }
            let called = format!("pkg:deb/debian/{package}@{version}");
            self.parts.entry(called.clone()).or_insert_with(|| {
                json!({
                    "type": "library", "bom-ref": called, "name": name, "version": version, "purl": called,
                    "licenses": [{ "expression": license }],
                })
            });
            uses.insert(called);
        }
        if let Some((package, version)) = c_component::fetched(folder)? {
            let called = format!("pkg:deb/debian/{package}@{version}?arch=source");
            let part = json!({
                "type": "library", "bom-ref": called, "name": package, "version": version, "purl": called,
            });
            self.parts.insert(called.clone(), part);
            uses.insert(called);
        }
        let (library, own) = (paths::source().join("lib/c"), paths::component(folder));
        let called = format!("c:{folder}");
        let own_name = own.file_name().unwrap_or_default().to_string_lossy();
        let parts = [
            ("library", "c:cairn-c", "cairn-c", &library),
            ("application", &*called, &*own_name, &own),
        ];
        for (kind, called, name, place) in parts {
            let mut part = json!({ "type": kind, "bom-ref": called, "name": name, "properties": sources(place)? });
            if let Some(license) = license_round(place) {
                part["licenses"] = json!([{ "expression": license }]);
            }
            self.parts.insert(called.to_owned(), part);
        }
        uses.insert("c:cairn-c".to_owned());
        self.uses.insert(called.clone(), uses);
        Ok(called)
    }
}

/// What a package is called. An address is that of a registry's package alone: one of its name may be somebody else's.
fn called(package: &Package) -> String {
    let kind = if package.is_registered() { "pkg:cargo/" } else { "cargo:" };
    format!("{kind}{}@{}", package.name, package.version)
}

/// A package in the bill, whose archive has this checksum.
fn part(package: &Package, checksum: Option<&String>) -> Result<Value> {
    let called = called(package);
    let kind = if package.has_program() { "application" } else { "library" };
    let mut part = json!({ "type": kind, "bom-ref": called, "name": package.name, "version": package.version });
    if package.is_registered() {
        part["purl"] = json!(called);
    }
    if let Some(license) = &package.license {
        // As it was written once.
        part["licenses"] = json!([{ "expression": license.replace('/', " OR ") }]);
    }
    match &package.source {
        Some(source) => {
            part["externalReferences"] = json!([{ "type": "distribution", "url": source }]);
            if let Some(checksum) = checksum {
                part["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
            }
        }
        None => part["properties"] = sources(package.folder())?,
    }
    Ok(part)
}

fn property(name: &str, value: &str) -> Value {
    json!({ "name": name, "value": value })
}

/// What cargo would compile for the machine into a package, itself first, with the features that it asks for.
pub(crate) fn compiled<'a>(
    packages: &'a Packages,
    own: &'a Package,
    workspace: &Path,
) -> Result<Vec<&'a Package>> {
    let mut command = cargo::cargo("tree", workspace);
    command.args([
        "--target",
        TARGET,
        "--edges",
        "normal,no-proc-macro",
        "--prefix",
        "none",
        "--no-dedupe",
    ]);
    command.args(["--format", "{p}", "--package", &own.id]);
    let text = answer(&mut command)?;
    let mut found = Vec::new();
    for line in text.lines().collect::<BTreeSet<_>>() {
        let mut words = line.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let is_meant = |package: &&Package| {
            package.name == name && Some(&*package.version) == version.strip_prefix('v')
        };
        found.push(packages.all().find(is_meant).with_context(|| format!("cargo tree: {line}"))?);
    }
    Ok(found)
}

/// The checksums of the packages that a workspace's lock has them of.
fn checksums(workspace: &Path) -> Result<BTreeMap<(String, String), String>> {
    let file = workspace.join("Cargo.lock");
    let text = fs::read_to_string(&file)
        .with_context(|| format!("cannot read {}", paths::shown(&file)))?;
    let table: toml::Table = text.parse().with_context(|| paths::shown(&file))?;
    let packages = table.get("package").and_then(toml::Value::as_array).into_iter().flatten();
    let text = |package: &toml::Value, key: &str| Some(package.get(key)?.as_str()?.to_owned());
    let checksum = |package: &toml::Value| {
        Some(((text(package, "name")?, text(package, "version")?), text(package, "checksum")?))
    };
    Ok(packages.filter_map(checksum).collect())
}

/// What is said of sources that lie in a folder: which, and their hash: that of the list of the files' hashes.
fn sources(folder: &Path) -> Result<Value> {
    let files = files(folder)?;
    let list = answer(Command::new("sha256sum").arg("--").args(&files).current_dir(folder))? + "\n";
    let mut command = Command::new("sha256sum");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().expect("it is piped").write_all(list.as_bytes())?;
    let told = String::from_utf8(child.wait_with_output()?.stdout)?;
    let hash = told.split(' ').next().unwrap_or_default();
    let source = paths::source();
    let place = match folder.strip_prefix(&source) {
        Ok(below) if paths::is_product() => format!("cairn/{}", below.display()),
        _ => paths::shown(folder),
    };
    Ok(json!([property("cairn:folder", &place), property("cairn:sources:sha256", hash)]))
}

/// The files below a folder, but for those of packages in it, of what is built, and hidden ones.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut files, mut left) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(one) = left.pop() {
        let entries =
            fs::read_dir(&one).with_context(|| format!("cannot read {}", paths::shown(&one)))?;
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default();
            if name.as_encoded_bytes().starts_with(b".") || name == "target" {
                continue;
            }
            if path.is_dir() {
                left.extend((!path.join("Cargo.toml").exists()).then_some(path));
            } else {
                files.push(path.strip_prefix(folder).unwrap_or(&path).to_owned());
            }
        }
    }
    files.sort_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
    Ok(files)
}

fn hash(folder: &Path, file: &Path) -> Result<Value> {
    let told = answer(Command::new("sha256sum").arg("--").arg(file).current_dir(folder))?;
    let hash = told.split(' ').next().unwrap_or_default();
    Ok(json!([{ "alg": "SHA-256", "content": hash }]))
}

/// What the workspace round a folder says of licenses.
fn license_round(folder: &Path) -> Option<String> {
    let manifest = paths::workspace_at(folder).folder.join("Cargo.toml");
    let manifest: toml::Table = fs::read_to_string(manifest).ok()?.parse().ok()?;
    Some(manifest.get("workspace")?.get("package")?.get("license")?.as_str()?.to_owned())
}
