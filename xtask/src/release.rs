//! Packages a finished binary in every form, into `dist/`, and measures it.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use testkit::{Http, World};
use tokio::time::Instant;

use crate::package::{self, Effort, Form, PackageJob, Target};
use crate::say;
use crate::tree::Tree;

/// How often each start is measured; the one in the middle counts.
const STARTS: usize = 20;

/// Makes every package of this binary in `dist/`, and measures it.
pub(crate) fn release(tree: &Tree, binary: &str, target: &str) -> Result<()> {
    let binary = Path::new(binary).canonicalize().with_context(|| binary.to_owned())?;
    let job = PackageJob {
        binary: binary.clone(),
        target: Target::parse(target)?,
        into: tree.root.join("dist"),
        forms: Form::ALL.into(),
        effort: Effort::Thorough,
    };
    package::package(tree, &job)?;
    crate::wait(measure(&binary))
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
