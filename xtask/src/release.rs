//! Puts a finished binary into `dist/`: with its page inside or not at all, with its sum, and measured.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use testkit::{Http, World};
use tokio::time::Instant;

use crate::say;
use crate::tree::{self, Tree};

/// How often each start is measured; the one in the middle counts.
const STARTS: usize = 20;

/// Takes the binary over for this target.
pub(crate) fn release(tree: &Tree, binary: &str, target: &str) -> Result<()> {
    let binary = Path::new(binary).canonicalize().with_context(|| binary.to_owned())?;
    crate::wait(has_page(&binary))?;
    let adjutant = tree.packages.iter().find(|package| package["name"] == "adjutant");
    let version = adjutant.and_then(|package| package["version"].as_str());
    let version = version.context("cargo does not know the version")?;
    let (dist, name) = (tree.root.join("dist"), format!("adjutant-{version}-{target}"));
    fs::create_dir_all(&dist)?;
    let bytes = fs::read(&binary)?;
    // Beside and then over it: nobody finds half a binary.
    let (file, beside) = (dist.join(&name), dist.join(format!("{name}.new")));
    fs::copy(&binary, &beside)?;
    fs::rename(&beside, &file)?;
    let sum = tree::sum(&bytes);
    fs::write(dist.join(format!("{name}.sha256")), format!("{sum}  {name}\n"))?;
    say(&format!("dist/{name}\nsha256  {sum}\nsize    {:.1} MiB", mebibytes(bytes.len())?));
    crate::wait(measure(&file))
}

fn mebibytes(bytes: usize) -> Result<f64> {
    Ok(f64::from(u32::try_from(bytes / 1024)?) / 1024.0)
}

/// Fails unless the server shows the page to whoever asks for `/`.
async fn has_page(binary: &Path) -> Result<()> {
    let world = World::new(binary).await?;
    let server = world.up().await?;
    let (status, page) = Http::new(&server.url, "").get("/").await?;
    let page = page.as_str().unwrap_or_default().to_lowercase();
    if !(status.is_success() && page.starts_with("<!doctype html>")) {
        bail!(
            "there is no page in {}: install Node 22, `touch web/index.html` and build again",
            binary.display()
        );
    }
    Ok(())
}

/// How long it takes to start, as somebody who types would see it.
async fn measure(binary: &Path) -> Result<()> {
    let world = World::new(binary).await?;
    let (mut versions, mut servers) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let began = Instant::now();
        world.run(&["--version"]).await?.ok()?;
        versions.push(began.elapsed());
    }
    for _ in 0..STARTS {
        let began = Instant::now();
        world.run(&["up", "--detach"]).await?.ok()?;
        let file = world.server_file()?.context("the server left no word of itself")?;
        let url = file["url"].as_str().context("the server has no address")?;
        let (status, _) = Http::new(url, "").get("/healthz").await?;
        servers.push(began.elapsed());
        ensure!(status.is_success(), "the server is not well: {status}");
        world.run(&["down"]).await?.ok()?;
    }
    for (what, mut times) in [
        ("adjutant --version", versions),
        ("adjutant up --detach, until /healthz answers", servers),
    ] {
        times.sort();
        let middle = times.get(STARTS / 2).copied().unwrap_or_default();
        say(&format!(
            "start   {:.1} ms  {what} (median of {STARTS})",
            middle.as_secs_f64() * 1000.0
        ));
    }
    Ok(())
}
