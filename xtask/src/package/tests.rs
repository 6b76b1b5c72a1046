//! Names, manifests and archives, without building anything.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::*;
use crate::package::archive::tar_gz;
use crate::package::platform::PLATFORMS;

const BINARY: &[u8] = b"\x7fELF \0GLIBC_2.17\0GLIBC_2.28\0";

fn product() -> Product {
    Product {
        distribution: "made-up".to_owned(),
        version: "1.2.3".to_owned(),
        description: "A crew".to_owned(),
        license: "MIT".to_owned(),
        licenses: vec![("LICENSE-MIT".to_owned(), b"Take it.\n".to_vec())],
    }
}

fn linux() -> Target {
    Target::parse("x86_64-unknown-linux-gnu").unwrap()
}

/// The files of a zip with their permissions.
fn unzipped(bytes: &[u8]) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut zip = ::zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    (0..zip.len())
        .map(|at| {
            let mut file = zip.by_index(at).unwrap();
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).unwrap();
            (file.name().unwrap().into_owned(), (file.unix_mode().unwrap() & 0o777, bytes))
        })
        .collect()
}

/// The files of a `tar.gz` with their permissions.
fn untarred(bytes: &[u8]) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(bytes));
    let entries = tar.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        let path = entry.path().unwrap().display().to_string();
        (path, (entry.header().mode().unwrap(), bytes))
    });
    entries.collect()
}

#[test]
fn a_wheel_records_the_hash_and_the_size_of_every_file() {
    let wheel = wheel::wheel(&product(), &linux(), BINARY, Effort::Quick).unwrap();
    assert_eq!(wheel.name, "made_up-1.2.3-py3-none-manylinux_2_28_x86_64.whl");
    let files = unzipped(&wheel.bytes);
    assert_eq!(files["made_up-1.2.3.data/scripts/adjutant"], (0o755, BINARY.to_vec()));
    let record = String::from_utf8(files["made_up-1.2.3.dist-info/RECORD"].1.clone()).unwrap();
    let mut recorded: Vec<&str> = record.lines().collect();
    let mut expected: Vec<String> = files
        .iter()
        .map(|(path, (_, bytes))| {
            if path.ends_with("/RECORD") {
                return format!("{path},,");
            }
            let hash = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(bytes));
            format!("{path},sha256={hash},{}", bytes.len())
        })
        .collect();
    recorded.sort_unstable();
    expected.sort_unstable();
    assert_eq!(recorded, expected);
}

#[test]
fn a_wheel_claims_no_older_glibc_than_its_binary_needs() {
    for (target, needed, expected) in [
        ("x86_64-unknown-linux-gnu", 28, "manylinux_2_28_x86_64"),
        ("x86_64-unknown-linux-gnu", 17, "manylinux_2_17_x86_64.manylinux2014_x86_64"),
        ("aarch64-unknown-linux-gnu", 4, "manylinux_2_17_aarch64.manylinux2014_aarch64"),
        ("x86_64-apple-darwin", 28, "macosx_10_12_x86_64"),
        ("aarch64-apple-darwin", 28, "macosx_11_0_arm64"),
    ] {
        let binary = format!("\0GLIBC_2.{needed}\0");
        let tags = Target::parse(target).unwrap().wheel_tags(binary.as_bytes());
        assert_eq!(tags.join("."), expected);
    }
}

#[test]
fn a_binary_for_a_newer_glibc_than_the_target_is_refused() {
    for (target, is_accepted) in [
        ("x86_64-unknown-linux-gnu.2.28", true),
        ("x86_64-unknown-linux-gnu", true),
        ("x86_64-unknown-linux-gnu.2.17", false),
    ] {
        let checked = Target::parse(target).unwrap().check_glibc(BINARY);
        assert_eq!(checked.is_ok(), is_accepted, "{target}");
    }
    for (target, complaint) in [
        ("x86_64-pc-windows-msvc", "there are no packages for `x86_64-pc-windows-msvc`"),
        ("x86_64-unknown-linux-gnu.3", "`3` is no version of glibc 2"),
    ] {
        let error = Target::parse(target).unwrap_err().to_string();
        assert!(error.contains(complaint), "{error}");
    }
}

#[test]
fn the_main_npm_package_wants_the_package_of_every_platform() {
    let main = npm::main_manifest(&product());
    for platform in &PLATFORMS {
        let manifest = npm::platform_manifest(&product(), platform);
        let name = format!("made-up-{}-{}", platform.os, platform.cpu);
        assert_eq!(manifest["name"], *name);
        assert_eq!(main["optionalDependencies"][&name], "1.2.3");
        assert_eq!(
            (&manifest["os"], &manifest["cpu"]),
            (&json!([platform.os]), &json!([platform.cpu]))
        );
        assert_eq!(manifest["libc"].is_null(), platform.os == "darwin");
    }
    assert_eq!(main["optionalDependencies"].as_object().unwrap().len(), PLATFORMS.len());
    assert_eq!(main["os"], json!(["linux", "darwin"]));

    let packages = npm::packages(&product(), &linux(), BINARY, Effort::Quick).unwrap();
    let names: Vec<&str> = packages.iter().map(|package| &*package.name).collect();
    assert_eq!(names, ["made-up-1.2.3.tgz", "made-up-linux-x64-1.2.3.tgz"]);
    let [main, platform] = [0, 1].map(|at| untarred(&packages[at].bytes));
    assert_eq!(main["package/bin/adjutant.js"].0, 0o755);
    assert_eq!(platform["package/bin/adjutant"], (0o755, BINARY.to_vec()));
    assert_eq!(platform["package/LICENSE-MIT"], (0o644, b"Take it.\n".to_vec()));
}

#[test]
fn the_same_files_give_the_same_archive() {
    let files = [ArchiveFile::executable("a/b", BINARY), ArchiveFile::new("c", &b"text"[..])];
    assert_eq!(tar_gz(&files, Effort::Quick).unwrap(), tar_gz(&files, Effort::Quick).unwrap());
    let tarball = tarball::tarball(&product(), &linux(), BINARY, Effort::Quick).unwrap();
    assert_eq!(tarball.name, "adjutant-1.2.3-x86_64-unknown-linux-gnu.tar.gz");
    let folder = "adjutant-1.2.3-x86_64-unknown-linux-gnu";
    assert_eq!(untarred(&tarball.bytes)[&format!("{folder}/adjutant")].0, 0o755);
}

#[test]
fn crates_get_names_of_their_own_and_keep_their_libraries() {
    let tree = "[package]\nname = \"engine\"\nversion.workspace = true\npublish.workspace = true\n\n\
                [dependencies]\nstore.workspace = true\n\n[dev-dependencies]\ntestkit.workspace = true\n";
    let manifest = crates::crate_manifest(&product(), "engine", tree).unwrap();
    let expected = "[package]\nname = \"made-up-engine\"\nversion.workspace = true\n\
                    readme = \"README.md\"\ndescription = \"Internal part `engine` of the program made-up\"\n\n\
                    [dependencies]\nstore.workspace = true\n\n[lib]\nname = \"engine\"\n";
    assert_eq!(manifest, expected);
    let program =
        crates::crate_manifest(&product(), "adjutant", &tree.replace("engine", "adjutant"));
    let program = program.unwrap();
    assert!(program.contains("name = \"made-up\"\n"), "{program}");
    assert!(
        program.ends_with("[[bin]]\nname = \"adjutant\"\npath = \"src/main.rs\"\n"),
        "{program}"
    );

    let tree = "[workspace]\nmembers = [\"crates/*\", \"xtask\"]\n\n[workspace.dependencies]\n\
                store = { path = \"crates/store\" }\ntestkit = { path = \"crates/testkit\" }\n\n\
                [profile.dev]\nopt-level = 3\n";
    let names = ["store".to_owned(), "adjutant".to_owned()];
    let manifest = crates::workspace_manifest(&product(), &names, tree).unwrap();
    let store =
        "store = { path = \"crates/store\", package = \"made-up-store\", version = \"=1.2.3\" }";
    assert!(manifest.contains(store), "{manifest}");
    assert!(manifest.contains("members = [\"crates/store\", \"crates/adjutant\"]"), "{manifest}");
    assert!(!manifest.contains("testkit") && !manifest.contains("profile"), "{manifest}");
}

#[test]
fn published_commands_are_in_the_how_to_and_nowhere_else_until_then() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap();
    let manifest: toml_edit::DocumentMut = read("Cargo.toml").parse().unwrap();
    let name =
        manifest["workspace"]["metadata"]["distribution"]["name"].as_str().unwrap().to_owned();
    let commands = [
        format!("npm install --global {name}\n"),
        format!("pipx install {name}\n"),
        format!("cargo install --locked {name}\n"),
    ];
    for command in &commands {
        assert!(read("docs/how-to/release.md").contains(command), "no `{}`", command.trim());
        for page in ["README.md", "docs/how-to/install.md"] {
            assert!(!read(page).contains(command), "{page}: `{}` is not published", command.trim());
        }
    }
}
