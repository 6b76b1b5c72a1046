//! Packages of the debug binary, installed in empty folders as a stranger would, with the README's tour after each.
//! `make drill` does the same with a release.

use std::path::Path;

use testkit::World;
use testkit::packages::{self, PackageForm};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// As npm leaves it: the main package, and beside it the package of this machine with a script for the program.
const INSTALLED: &str = r#"
platform=$("$NODE" -p 'process.platform + "-" + process.arch')
mkdir -p main/bin "node_modules/made-up-$platform/bin"
cp "$LAUNCHER" main/bin/adjutant.js
echo "{\"name\": \"made-up\", \"optionalDependencies\": {\"made-up-$platform\": \"1.0.0\"}}" > main/package.json
cat > "node_modules/made-up-$platform/bin/adjutant" <<'EOF'
#!/bin/sh
case $1 in
  fail) exit 7 ;;
  wait) sleep 1000 & trap 'kill $!; exit 3' TERM; echo started; wait ;;
  say) shift; printf '<%s>' "$@"; cat ;;
esac
EOF
chmod +x "node_modules/made-up-$platform/bin/adjutant"
echo 'delete process.execve;' > older.cjs
"#;

/// Starts the program by the launcher, in every way in which it can end.
const LAUNCHED: &str = r#"
launch() { "$NODE" $OPTIONS main/bin/adjutant.js "$@"; }
launch fail; echo "fail: $?"
echo input | launch say 'a b' '' '$c'; echo "say: $?"
rm -f started; mkfifo started
"$NODE" $OPTIONS main/bin/adjutant.js wait > started & launcher=$!
read -r word < started
kill -TERM $launcher; wait $launcher; echo "$word: $?"
"#;

/// Name of the packages in every registry.
fn distribution() -> String {
    let manifest = std::fs::read_to_string(format!("{ROOT}/Cargo.toml")).unwrap();
    let manifest: toml_edit::DocumentMut = manifest.parse().unwrap();
    manifest["workspace"]["metadata"]["distribution"]["name"].as_str().unwrap().to_owned()
}

/// Installs packages of this form with no Rust on the `PATH`, and does the README's tour.
async fn installs(form: PackageForm) {
    let binary = Path::new(crate::BINARY);
    let folder = packages::packages(binary, form).await.unwrap();
    let name = form.name();
    let script = format!(
        "cd '{ROOT}' && '{}' try '{}' {name}",
        crate::book::xtask().display(),
        folder.display()
    );
    let tried = packages::chores(binary).unwrap().shell(&script).await.unwrap();
    assert_eq!(tried.code, Some(0), "{}", tried.stdout);
    let end = format!("{name}: installed, and the README's tour goes well\n");
    assert!(tried.stdout.ends_with(&end), "{}", tried.stdout);
}

#[tokio::test]
async fn the_tarball_has_a_program_that_goes_through_the_tour() {
    installs(PackageForm::Tarball).await;
}

#[tokio::test]
async fn pip_installs_the_wheel() {
    installs(PackageForm::Wheel).await;
}

#[tokio::test]
async fn npm_installs_the_program_of_this_platform_from_a_registry() {
    installs(PackageForm::Npm).await;
}

#[tokio::test]
async fn the_packaged_crates_have_names_of_their_own_and_the_page() {
    let world = packages::chores(Path::new(crate::BINARY)).unwrap();
    let folder = world.scratch().join("packages");
    let package = format!(
        "cd '{ROOT}' && '{}' package '{}' {}-unknown-linux-gnu '{}' crates",
        crate::book::xtask().display(),
        crate::BINARY,
        std::env::consts::ARCH,
        folder.display(),
    );
    world.shell(&package).await.unwrap().ok().unwrap();
    let (name, version) = (distribution(), env!("CARGO_PKG_VERSION"));
    for part in ["", "-engine", "-host", "-model", "-server", "-store", "-wire"] {
        let file = folder.join(format!("{name}{part}-{version}.crate"));
        assert!(file.exists(), "there is no {}", file.display());
    }
    let script = format!(
        "cd '{}'; for file in *.crate; do tar -xzf $file; done
         cat {name}-engine-{version}/Cargo.toml {name}-{version}/Cargo.toml
         ls {name}-server-{version}/page/index.html {name}-server-{version}/LICENSE-MIT",
        folder.display()
    );
    let shown = world.shell(&script).await.unwrap().ok().unwrap().stdout;
    for part in [
        "[lib]\nname = \"engine\"\n",
        "[[bin]]\nname = \"adjutant\"\n",
        &format!("[dependencies.engine]\nversion = \"={version}\"\npackage = \"{name}-engine\"\n"),
    ] {
        assert!(shown.contains(part), "no {part:?} in:\n{shown}");
    }
}

/// A world with an installed launcher.
async fn launcher_world() -> World {
    let mut world = World::bare(crate::BINARY).unwrap();
    world.set("NODE", testkit::node().unwrap().display().to_string());
    world.set("LAUNCHER", format!("{ROOT}/xtask/src/package/npm/launcher.js"));
    world.shell(INSTALLED).await.unwrap().ok().unwrap();
    world
}

#[tokio::test]
async fn the_launcher_ends_as_the_program_does() {
    let mut world = launcher_world().await;
    // Node 22 lets the program take its place; an older one stays and waits for it.
    for options in ["", "--require ./older.cjs"] {
        world.set("OPTIONS", options);
        let shown = world.shell(LAUNCHED).await.unwrap().stdout;
        let expected = "fail: 7\n<a b><><$c>input\nsay: 0\nstarted: 3\n";
        assert_eq!(shown, expected, "with {options:?}");
    }
}

#[tokio::test]
async fn the_launcher_says_which_package_is_missing() {
    let world = launcher_world().await;
    let launch = "\"$NODE\" main/bin/adjutant.js ps";
    for (script, expected) in [
        ("rm -r node_modules", "is not installed; install made-up again"),
        (
            "echo '{\"name\": \"made-up\", \"optionalDependencies\": {}}' > main/package.json",
            "; build it from source",
        ),
    ] {
        let refused = world.shell(&format!("{script}; {launch}")).await.unwrap();
        assert_eq!(refused.code, Some(1), "{}", refused.stdout);
        assert!(
            refused.stdout.starts_with("error: ") && refused.stdout.contains(expected),
            "{refused:?}"
        );
    }
}
