//! Packages of real components.
#![forbid(unsafe_code)]

use cairn_abi::address::IMAGE_OFFSET;
use cairn_abi::domain::PORTAL_FIRST_IMPORT;
use cairn_abi::package::HASHED;
use cairn_loader::Rights;
use cairn_loader::package::{Keys, Package, SIGNED};
use cairn_random::Random;
use cairn_tool::build::Parts;
use cairn_tool::{components, pack};

/// As an image's begin is added on the target, page by page, a package holds what the layout would have placed there.
#[test]
fn a_package_is_its_component_wherever_it_is_placed() {
    let bytes = pack::make("examples/greeter", "demo", None).unwrap();
    let package = Package::read(&bytes).unwrap();
    assert!(package.is_whole());
    let component = components::component("examples/greeter").unwrap();
    let begin: u64 = 0x1234_5678_9000;
    let mut image = vec![0; package.head().numbers().image_size as usize];
    for segment in package.head().segments() {
        let content = package.content(&segment);
        image[segment.offset as usize..][..content.len()].copy_from_slice(content);
    }
    for at in package.relocations() {
        let word = image[at as usize..].first_chunk_mut().unwrap();
        *word = u64::from_le_bytes(*word).wrapping_add(begin).to_le_bytes();
    }
    let mut parts = 0;
    for segment in &component.segments {
        let mut placed = vec![0; segment.size as usize];
        component.fill(segment, begin - IMAGE_OFFSET, &mut placed);
        for part in component.memory(segment) {
            let at = segment.offset - IMAGE_OFFSET + part.start;
            let (from, to) = (part.start as usize, part.end as usize);
            assert!(image[at as usize..][..to - from] == placed[from..to], "{at:#x}");
            let packed = package.head().segments().find(|packed| packed.offset == at).unwrap();
            assert_eq!(packed.size, part.end - part.start);
            assert_eq!(packed.is_executable(), segment.rights == Rights::Code);
            assert_eq!(packed.is_writable(), segment.rights == Rights::Data);
            parts += 1;
        }
    }
    assert_eq!(parts, package.head().segments().count());
    let names: Vec<String> = package.head().exports().map(|one| one.name().to_owned()).collect();
    assert_eq!(names, ["echo"]);
    let export = package.head().exports().next().unwrap();
    let declared = &component.descriptor.exports[0].interface;
    assert_eq!((export.policy, export.version), ("*", declared.version));
    for (method, declared) in export.methods().zip(&declared.methods) {
        assert_eq!((method.name(), method.entry), (&*declared.name, declared.entry - IMAGE_OFFSET));
    }
}

#[test]
fn the_same_sources_make_the_same_bytes() {
    let make = || pack::make("valve", "tests/shelf/shelf.toml", None).unwrap();
    assert!(make() == make());
}

#[test]
fn what_is_in_a_file_is_said_or_what_is_wrong_with_it() {
    let file = std::env::temp_dir().join(format!("cairn-pack-{}", std::process::id()));
    let said = pack::write("hello", "tests/shelf/shelf.toml", None, None, &file).unwrap();
    assert!(said.contains(": hello, ") && said.contains(" bytes, sha256 "), "{said}");
    let shown = pack::show(&file).unwrap();
    for expected in [
        "package    hello, of the component clients-client\n",
        "memory     64K at most; heap 0 bytes, log 4K, stack 16K, 0 stacks of 16K for calls",
        "quotas     threads 1, semaphores 0, locks 1, portals 0, names 0, sections 0, children 0\n",
        "runs       priority 100, never restarted at 100\n",
        "argument   \"7\"\n",
        " r-x text, ",
        ", console.console\n",
        ", valve.echo\n",
    ] {
        assert!(shown.contains(expected), "expected `{expected}` in\n{shown}");
    }
    let good = std::fs::read(&file).unwrap();
    let refused = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        pack::show(&file).unwrap_err().to_string()
    };
    let text = refused(b"#!/bin/sh\n");
    assert!(
        text.contains("is no package that can be loaded: the package: its size is 10"),
        "{text}"
    );
    let mut changed = good.clone();
    *changed.last_mut().unwrap() ^= 1;
    let text = refused(&changed);
    assert!(text.contains("has changed since it was made: its hash is "), "{text}");
    // Broken in any way it is refused, and nothing is shown that a terminal obeys.
    let mut random = Random::of_seed(7);
    for _ in 0..200 {
        let mut bytes = good.clone();
        let at = random.index(4096);
        bytes[at] = random.next() as u8;
        // Of a signature nobody can say more without a key.
        if bytes != good && !(SIGNED..HASHED).contains(&at) {
            assert!(refused(&bytes).bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()));
        }
    }
    std::fs::remove_file(&file).unwrap();
    let error = pack::make("nobody", "demo", None).unwrap_err().to_string();
    assert!(error.contains("unknown component `nobody`"), "{error}");
}

/// What openssl makes is a key, of which the public half is what a description names.
#[test]
fn a_package_is_signed_with_a_key_of_openssls() {
    const KEY: &str = "-----BEGIN PRIVATE KEY-----\n\
        MC4CAQAwBQYDK2VwBCIEIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB\n\
        -----END PRIVATE KEY-----\n";
    const PUBLIC: &str = "8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c";
    let at = |name| std::env::temp_dir().join(format!("cairn-{name}-{}", std::process::id()));
    let (file, secret) = (at("signed"), at("key"));
    std::fs::write(&secret, KEY).unwrap();
    let key = pack::key(&secret).unwrap();
    let said = pack::write("examples/greeter", "demo", None, Some(&key), &file).unwrap();
    assert!(said.ends_with(&format!(", signed by {PUBLIC}\n")), "{said}");
    let bytes = std::fs::read(&file).unwrap();
    assert_eq!(Keys(PUBLIC).check(bytes.first_chunk().unwrap()), Ok(()));
    let shown = pack::show(&file).unwrap();
    assert!(shown.contains("\nsignature  ") && !shown.contains("signature  none"), "{shown}");
    for text in ["", "-----BEGIN PUBLIC KEY-----", &KEY.replace("MC4C", "MC4D"), &KEY[..60]] {
        std::fs::write(&secret, text).unwrap();
        let error = pack::key(&secret).unwrap_err().to_string();
        assert!(error.contains("is no secret key of Ed25519 in PEM; `openssl genpkey"), "{error}");
    }
    std::fs::remove_file(&file).unwrap();
    std::fs::remove_file(&secret).unwrap();
    assert!(pack::key(&secret).unwrap_err().to_string().starts_with("cannot read "));
}

/// All of a system that can be replaced, drivers too, is packed as what is to replace it: it calls the same exports by the same portals.
#[test]
fn components_of_instances_are_packed_as_their_successors() {
    const SYSTEM: &str = "tests/shelf/successors.toml";
    let parts = Parts::new(SYSTEM, None).unwrap();
    let mut replaced = Vec::new();
    for (place, packed) in parts.system.packages.iter().enumerate() {
        let Some(index) = &packed.replaces else { continue };
        let instance = &parts.system.instances[**index];
        let name = packed.instance.name.as_str();
        assert_eq!(name, format!("{}2", instance.name));
        let component = parts.components()[**index];
        let bytes = cairn_tool::build::package_of(&parts, place, component)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let package = Package::read(&bytes).unwrap();
        let head = package.head();
        assert_eq!((head.name(), head.component()), (name, component.descriptor.name.as_str()));
        let numbers = head.numbers();
        assert_eq!((numbers.heap, numbers.stack), (*instance.heap, *instance.stack), "{name}");
        assert_eq!(numbers.memory, *packed.instance.memory, "{name}");
        let mut portal = PORTAL_FIRST_IMPORT;
        for (import, declared) in head.imports().zip(&component.descriptor.imports) {
            assert_eq!((import.name(), import.first_portal), (declared.name.as_str(), portal));
            portal += declared.interface.methods.len();
            let connected = instance.imports.iter().find(|one| *one.import == declared.name);
            let server = connected.map(|one| {
                let server = &parts.system.instances[*one.target];
                (server.name.as_str(), server.exports[*one.export].name.as_str())
            });
            assert_eq!(import.server, server, "{name}");
        }
        let exports: Vec<String> = head.exports().map(|export| export.name().to_owned()).collect();
        let declared = component.descriptor.exports.iter().map(|export| export.name.as_str());
        assert_eq!(exports, declared.collect::<Vec<_>>(), "{name}");
        replaced.push(instance.name.as_str());
    }
    replaced.sort_unstable();
    let expected = ["bus", "clock", "console", "disk", "greeter", "log", "rtc", "shelf", "shell"];
    assert_eq!(replaced, expected);
}
