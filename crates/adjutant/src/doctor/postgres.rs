//! Checks a home in PostgreSQL: who owns it, how far this server's file is behind, and what a commit waits for.

use std::time::Duration;

use engine::{HomeAdmin, HomeAdminError, HomeFollower, HomeRow, HomeStandbys};

use super::Check;
use crate::config::{Config, SharedConfig};
use crate::environment::Environment;
use crate::home::Home;
use crate::serve::home_probe::{follower_status, follower_words, standby_status, standby_words};

const NAME: &str = "postgres";
/// Time limit for PostgreSQL's answers.
const LIMIT: Duration = Duration::from_secs(5);

/// Looks at the home in PostgreSQL that the configuration names, if it names one. Blocks, outside of a runtime.
pub(super) fn look(home: &Home, config: &Config, env: &Environment) -> Option<Check> {
    let shared = match config.shared(home, env) {
        Ok(shared) => shared?,
        Err(error) => {
            let next = "write `database: postgres://ROLE@HOST/DATABASE` in config.yaml";
            return Some(Check::fail(NAME, error.to_string(), next));
        }
    };
    let address = shared.address.text();
    Some(match facts(&shared) {
        Ok(facts) => Check::ok(NAME, described(home, address, facts)),
        Err(error) if error.is_away() => {
            let next = "start PostgreSQL, or mend `database` in config.yaml; a server waits for it and \
                        then goes on by itself";
            Check::fail(NAME, format!("{address}: {error}"), next)
        }
        Err(error) => {
            let next =
                "`adjutant home list` lists the homes there are, `adjutant home create` makes one";
            Check::fail(NAME, format!("{address}: {error}"), next)
        }
    })
}

/// State of a home according to PostgreSQL.
struct Facts {
    row: HomeRow,
    standbys: HomeStandbys,
    followers: Vec<HomeFollower>,
}

fn facts(shared: &SharedConfig) -> Result<Facts, HomeAdminError> {
    let mut admin = HomeAdmin::look(&shared.address, LIMIT)?;
    let (row, standbys) = (admin.home(&shared.name)?, admin.standbys()?);
    let followers = admin.followers(&row)?;
    Ok(Facts { row, standbys, followers })
}

fn described(home: &Home, address: &str, facts: Facts) -> String {
    let Facts { row, standbys, followers } = facts;
    let owner = match &row.owner_url {
        Some(url) => format!("{url} owns it"),
        None => "nobody owns it".to_owned(),
    };
    let file = engine::member_database(home.state_dir());
    let had = if file.is_file() { engine::member_commit(&file).ok().flatten() } else { None };
    let lag = match had {
        Some(had) => format!("this server's file lacks {} commits", row.seq.saturating_sub(had)),
        None => "this machine has no file of it yet".to_owned(),
    };
    let followers: Vec<String> =
        followers.into_iter().map(|it| follower_words(&follower_status(it))).collect();
    let followers = if followers.is_empty() {
        "no other server follows it".to_owned()
    } else {
        followers.join(", ")
    };
    let standby = standby_words(&standby_status(&standbys));
    format!(
        "home `{}` at {address}: {owner}, epoch {}; {followers}; {lag}; standby: {standby}",
        row.name, row.epoch
    )
}
