//! `adjutant demo`: three agents work together in a home that is gone afterwards.
//!
//! The agents are played by real MCP clients: each speaks Streamable HTTP with its own token, and
//! knows nothing of the server but its address. What is not as it should be ends the demo with 1.

mod cast;
mod player;
mod story;

use std::fs;
use std::path::PathBuf;

use host::files::{self, Mode};

use crate::app::App;
use crate::environment::Environment;
use crate::home::Home;
use crate::init;
use crate::life::{self, Port};
use crate::serve::{self, Stage};
use crate::trouble::Trouble;

/// A folder that is gone when this value is.
#[derive(Debug)]
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, Trouble> {
        let bits = host::random::bits().map_err(std::io::Error::other)?;
        let dir = std::env::temp_dir().join(format!("adjutant-demo-{bits:016x}"));
        files::make_dir(&dir, Mode::Private)?;
        Ok(Self(dir))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Whatever is left is the system's to sweep.
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Plays the demo.
pub(crate) async fn run(app: &App) -> Result<(), Trouble> {
    let scratch = Scratch::new()?;
    let state = scratch.0.join("state");
    let project = scratch.0.join("project");
    files::make_dir(&project, Mode::Private)?;
    let env = Environment::from_vars(&project, [("XDG_STATE_HOME", state)]);
    let home = Home::for_init(Some(&project), &env);
    init::init(&home)?;
    let stage = Stage { home: home.clone(), env: env.clone(), host: None, port: Some(0) };
    let (config, _) = stage.config()?;
    let bound = life::listen(config.server.host, Port::Chosen(0), None)?;
    let ready = serve::prepare(&stage, &config, serve::open(&stage, &config)?, bound)?;
    let (url, stop) = (ready.file.url.clone(), ready.shutdown.clone());
    let operator = home.make_operator_token(&env)?;
    let asked = life::asked_to_stop()?;
    let play = async {
        let told = tokio::select! {
            told = Box::pin(story::tell(app, &url, &operator)) => told,
            () = asked => Err(Trouble::said(130)),
        };
        stop.cancel();
        told
    };
    let (served, told) = tokio::join!(Box::pin(ready.serve()), play);
    told.and(served)
}
