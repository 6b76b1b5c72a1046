//! Makes the page from `web/` with npm, and a Rust file that carries it.
//!
//! What the page was made from is remembered beside it, so that npm runs only when that has changed. Where npm
//! is missing or fails, the build goes on without a page and says so. A packaged crate has the finished page in
//! `page/` and needs no npm.
#![expect(clippy::disallowed_methods, reason = "this is how a build script acts")]

use std::error::Error;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

type Done<T> = Result<T, Box<dyn Error>>;

/// What the page is made from, inside `web/`.
const SOURCES: [&str; 8] = [
    "compress.mjs",
    "index.html",
    "package-lock.json",
    "package.json",
    "public",
    "src",
    "tsconfig.json",
    "vite.config.ts",
];
/// Beside the page's files: the hash of what they were made from.
const STAMP: &str = ".stamp";
/// The finished page, inside a packaged crate.
const PACKAGED: &str = "page";

fn main() -> Done<()> {
    let manifest = PathBuf::from(env("CARGO_MANIFEST_DIR")?);
    let (root, packaged) = (manifest.join("../.."), manifest.join(PACKAGED));
    let (web, out) = (root.join("web"), PathBuf::from(env("OUT_DIR")?));
    // Not `web/dist`, which belongs to the person who works on the page.
    let dist = out.join("dist");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=ADJUTANT_PAGE");
    for source in SOURCES.map(|name| web.join(name)).iter().filter(|source| source.exists()) {
        println!("cargo:rerun-if-changed={}", source.display());
    }
    // For anyone who works on the server alone and does not want to wait for npm.
    let wanted = std::env::var_os("ADJUTANT_PAGE").is_none_or(|page| page != "skip");
    let mut files = Vec::new();
    if wanted && packaged.exists() {
        // Two folders up may be anything, even a page of somebody else's.
        println!("cargo:rerun-if-changed={}", packaged.display());
        copy(&packaged, &dist)?;
        files = found(&dist)?;
    } else if wanted && web.join("package.json").exists() {
        match make(&root, &web, &dist) {
            Ok(()) => files = found(&dist)?,
            Err(why) => warn(&format!(
                "this build has no page; mend it, `touch web/index.html` and build again. {why}"
            )),
        }
    }
    fs::write(out.join("page.rs"), code(&dist, &files)?)?;
    Ok(())
}

fn env(name: &str) -> Done<OsString> {
    std::env::var_os(name).ok_or_else(|| format!("cargo does not say {name}").into())
}

fn warn(text: &str) {
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        println!("cargo:warning={line}");
    }
}

/// Copies a folder over another, which may be there from a build before.
fn copy(from: &Path, to: &Path) -> Done<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    let mut files = Vec::new();
    walk(from, &mut files)?;
    for file in files {
        let copied = to.join(file.strip_prefix(from)?);
        fs::create_dir_all(copied.parent().unwrap_or(to))?;
        fs::copy(&file, copied)?;
    }
    Ok(())
}

/// Makes the page, unless it is made from what is there now.
fn make(root: &Path, web: &Path, dist: &Path) -> Done<()> {
    let sources = hash_of(web)?;
    if fs::read_to_string(dist.join(STAMP)).is_ok_and(|stamp| stamp == sources) {
        return Ok(());
    }
    let path = path_with_node(root)?;
    install(web, &path)?;
    let into = dist.to_str().ok_or("the target directory is not UTF-8")?;
    let vite = ["build", "--outDir", into, "--emptyOutDir", "--logLevel", "warn"];
    run(web, &path, "node_modules/.bin/vite", &vite)?;
    run(web, &path, "node", &["compress.mjs", into])?;
    fs::write(dist.join(STAMP), sources)?;
    Ok(())
}

/// Installs what the lock file names, unless it is there.
fn install(web: &Path, path: &OsString) -> Done<()> {
    // Two builds with different target directories may be here at once.
    let lock = File::create(web.join(".build.lock"))?;
    lock.lock()?;
    if is_installed(web) { Ok(()) } else { run(web, path, "npm", &["ci"]) }
}

/// Whether npm has installed what the lock file names: it writes down what it did.
fn is_installed(web: &Path) -> bool {
    let changed = |name: &str| fs::metadata(web.join(name)).and_then(|is| is.modified());
    match (changed("node_modules/.package-lock.json"), changed("package-lock.json")) {
        // `npm install` writes both at once, in either order.
        (Ok(installed), Ok(wanted)) => installed + Duration::from_secs(5) >= wanted,
        _ => false,
    }
}

/// The search path, with the Node that `tools/setup` installs before the system's, which may be too old.
fn path_with_node(root: &Path) -> Done<OsString> {
    let given = std::env::var_os("PATH").unwrap_or_default();
    let own = root.canonicalize()?.join(".tools/node/bin");
    let all = own.exists().then_some(own).into_iter().chain(std::env::split_paths(&given));
    Ok(std::env::join_paths(all)?)
}

fn run(web: &Path, path: &OsString, program: &str, arguments: &[&str]) -> Done<()> {
    let what = format!("{program} {}", arguments.first().unwrap_or(&""));
    let mut command = Command::new(program);
    command.args(arguments).current_dir(web).env("PATH", path).env_remove("NODE_ENV");
    let output = command.output().map_err(|error| format!("`{what}` does not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    // Where inside the tool it failed helps nobody.
    let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("    at ")).collect();
    let last = lines.get(lines.len().saturating_sub(20)..).unwrap_or_default().join("\n");
    Err(format!("`{what}` failed ({}):\n{last}", output.status).into())
}

/// The hash of everything that the page is made from.
fn hash_of(web: &Path) -> Done<String> {
    let mut all = Sha256::new();
    for source in SOURCES {
        let mut files = Vec::new();
        walk(&web.join(source), &mut files)?;
        for file in files {
            let name = file.strip_prefix(web)?.to_string_lossy().into_owned();
            if !name.contains(".test.") {
                all.update(name);
                all.update([0]);
                all.update(Sha256::digest(fs::read(&file)?));
            }
        }
    }
    Ok(hex(&all.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        _ = write!(text, "{byte:02x}");
        text
    })
}

/// All files in a folder, in order; or the file itself.
fn walk(path: &Path, found: &mut Vec<PathBuf>) -> Done<()> {
    if path.is_dir() {
        let inside: Result<Vec<_>, _> =
            fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path())).collect();
        let mut inside = inside?;
        inside.sort();
        for path in inside {
            walk(&path, found)?;
        }
    } else if path.is_file() {
        found.push(path.to_owned());
    }
    Ok(())
}

/// The files of the page, by their path from `/`, without the smaller forms.
fn found(dist: &Path) -> Done<Vec<String>> {
    let mut files = Vec::new();
    walk(dist, &mut files)?;
    let mut paths = Vec::new();
    for file in files {
        let path = format!("/{}", file.strip_prefix(dist)?.display());
        let is_smaller = file.extension().is_some_and(|end| end == "gz");
        if !is_smaller && !path.ends_with(STAMP) {
            paths.push(path);
        }
    }
    Ok(paths)
}

/// A list of the files, with all that they are sent with.
fn code(dist: &Path, files: &[String]) -> Done<String> {
    let mut code = String::from("pub(super) static FILES: &[File] = &[\n");
    let within = |path: &str| dist.join(path.trim_start_matches('/'));
    let include = |path: &str| {
        format!("include_bytes!(concat!(env!(\"OUT_DIR\"), {:?}))", format!("/dist{path}"))
    };
    for path in files {
        let etag = hex(&Sha256::digest(fs::read(within(path))?)).split_off(32);
        let small = format!("{path}.gz");
        let gzip = within(&small).exists().then(|| format!("Some({})", include(&small)));
        writeln!(
            code,
            "File {{ path: {path:?}, kind: {:?}, etag: {:?}, plain: {}, gzip: {} }},",
            kind_of(path),
            format!("W/\"{etag}\""),
            include(path),
            gzip.as_deref().unwrap_or("None"),
        )?;
    }
    code.push_str("];\n");
    Ok(code)
}

fn kind_of(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, end)| end) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "woff2" => "font/woff2",
        "json" => "application/json",
        "webmanifest" => "application/manifest+json",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
