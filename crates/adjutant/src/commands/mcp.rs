//! `adjutant mcp`: MCP over stdio. Nothing but the protocol goes to stdout.

use engine::toolsets::TOOLSETS;
use model::nearest::nearest;

use crate::app::App;
use crate::bridge::Bridge;
use crate::trouble::Trouble;

/// Carries messages between a client and the server until the client has gone.
pub(crate) async fn run(app: &App, toolsets: Vec<String>) -> Result<(), Trouble> {
    for toolset in &toolsets {
        if !TOOLSETS.contains(&toolset.as_str()) {
            let trouble = Trouble::usage(format!("there is no toolset `{toolset}`"));
            return Err(match nearest(toolset, TOOLSETS) {
                Some(near) => trouble.hint(format!("did you mean `{near}`?")),
                None => trouble.hint(format!("there are {}", TOOLSETS.join(", "))),
            });
        }
    }
    let at = app.place(&["--background", "needed"])?;
    Ok(Bridge { at, toolsets }.stdio().await?)
}
