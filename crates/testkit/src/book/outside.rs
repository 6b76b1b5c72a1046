//! What stands in for the outside while a page is played.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::page::{Page, PageItem};
use crate::github::FakeGitHub;
use crate::postgres::Postgres;
use crate::{Receiver, World};

/// Speaks to Adjutant as Claude Code does, and connects as it would where it is given a configuration.
const CLAUDE: &str = include_str!("claude.sh");
/// Connects as Codex does where it has a configuration.
const CODEX: &str = include_str!("codex.sh");

/// What a page needs of the outside; it ends with this value.
#[derive(Debug, Default)]
pub(super) struct OutsideServices {
    github: Option<FakeGitHub>,
    receivers: Vec<Receiver>,
    postgres: Option<Postgres>,
}

impl OutsideServices {
    /// Brings about what the page says that it needs.
    pub(super) async fn of(page: &Page, world: &mut World, bin: &Path) -> Result<Self> {
        let mut outside = Self::default();
        let needs = page.items.iter().filter_map(|item| match item {
            PageItem::Needs(needs) => Some(needs),
            _ => None,
        });
        for need in needs.flatten() {
            match need.as_str() {
                "claude" => program(&bin.join("claude"), CLAUDE)?,
                "codex" => program(&bin.join("codex"), CODEX)?,
                "github" => outside.github = Some(github(world).await?),
                "receiver" => {
                    let receiver = Receiver::start().await?;
                    world.set("RECEIVER", receiver.url(""));
                    outside.receivers.push(receiver);
                }
                "postgres" => {
                    let postgres = tokio::task::spawn_blocking(|| Postgres::start(&[])).await??;
                    world.set("POSTGRES", postgres.address());
                    outside.postgres = Some(postgres);
                }
                other => bail!("{}: there is no `{other}` to stand in", page.name),
            }
        }
        Ok(outside)
    }

    /// Whether all that was asked of it was as the real one would have it.
    pub(super) fn finish(self) -> Result<()> {
        drop(self.postgres);
        self.github.map_or(Ok(()), FakeGitHub::finish)
    }
}

fn program(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| path.display().to_string())?;
    Ok(std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?)
}

/// A GitHub with the repository `you/shop`, and a git that finds it there.
async fn github(world: &mut World) -> Result<FakeGitHub> {
    let github = FakeGitHub::start().await?;
    github.repo("you", "shop", "main");
    let remote = world.scratch().join("shop.git");
    let config =
        format!("[url \"{}\"]\n\tinsteadOf = https://github.com/you/shop.git\n", remote.display());
    let file = world.scratch().join("gitconfig");
    let known = std::fs::read_to_string(&file)?;
    std::fs::write(&file, known + &config)?;
    world.shell(&format!("git init -q --bare -b main '{}'", remote.display())).await?.ok()?;
    world.set("GITHUB_API", github.url());
    world.set("TOKEN_OF_GITHUB", github.token());
    Ok(github)
}
