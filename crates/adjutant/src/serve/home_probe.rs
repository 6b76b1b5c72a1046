//! Asks PostgreSQL about the home that this server owns, for people who ask for its status: its
//! followers with their lag, and the standby's mode.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::{HomeAdmin, HomeAdminError, HomeFollower, HomeStandbys, MemberOptions};
use server::OwnedSharedHome;
use tokio::time::Instant;
use wire::server::{FollowerStatus, SharedHomeStatus, StandbyMode, StandbyStatus};

/// Time limit for each answer of PostgreSQL: nobody waits long for a status.
const LIMIT: Duration = Duration::from_millis(400);
/// Time for which an answer counts, so that many who ask cost PostgreSQL no more than one.
const FRESH: Duration = Duration::from_secs(2);

/// Time after which a follower that says nothing may be gone; each speaks every three seconds.
const SILENT: Duration = Duration::from_secs(15);

/// A probe of a home that this server owns.
pub(crate) fn probe_of(
    options: &MemberOptions,
    epoch: i64,
    may_lose: Option<String>,
) -> OwnedSharedHome {
    let base = SharedHomeStatus {
        name: options.home.clone(),
        epoch,
        server_id: options.server_id.clone(),
        url: options.url.clone(),
        machine: options.machine.clone(),
        standby: None,
        followers: Vec::new(),
        problem: None,
        may_lose,
    };
    let (options, last) =
        (options.clone(), Mutex::<Option<(Instant, SharedHomeStatus)>>::default());
    let url = base.url.clone();
    let probe = Arc::new(move || {
        // Requests that come meanwhile wait for the same answer.
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, status)) = &*last
            && at.elapsed() < FRESH
        {
            return status.clone();
        }
        let status = match ask(&options) {
            Ok((standby, followers)) => SharedHomeStatus {
                standby: Some(standby_status(&standby)),
                followers: followers.into_iter().map(follower_status).collect(),
                ..base.clone()
            },
            Err(error) => SharedHomeStatus { problem: Some(error.to_string()), ..base.clone() },
        };
        *last = Some((Instant::now(), status.clone()));
        status
    });
    OwnedSharedHome { url, probe }
}

fn ask(options: &MemberOptions) -> Result<(HomeStandbys, Vec<HomeFollower>), HomeAdminError> {
    let mut admin = HomeAdmin::look(&options.address, LIMIT)?;
    let home = admin.home(&options.home)?;
    Ok((admin.standbys()?, admin.followers(&home)?))
}

/// Replication mode of a PostgreSQL, as a shape of the API.
pub(crate) fn standby_status(standbys: &HomeStandbys) -> StandbyStatus {
    let HomeStandbys { awaited, connected } = standbys.clone();
    let mode = match (&awaited, connected) {
        (Some(_), _) => StandbyMode::Synchronous,
        (None, 0) => StandbyMode::None,
        (None, _) => StandbyMode::Asynchronous,
    };
    StandbyStatus { mode, awaited, connected }
}

/// The standbys that a commit waits for, in words.
pub(crate) fn standby_words(standby: &StandbyStatus) -> String {
    let StandbyStatus { mode, awaited, connected } = standby;
    match (mode, awaited) {
        (StandbyMode::Synchronous, Some(names)) => {
            format!("synchronous: a commit waits for `{names}` ({connected} connected)")
        }
        (StandbyMode::Asynchronous, _) => format!(
            "asynchronous ({connected} connected): a failover of PostgreSQL loses the newest commits"
        ),
        _ => "none: what PostgreSQL's disk loses is lost".to_owned(),
    }
}

/// Lag of a follower, in words.
pub(crate) fn follower_words(follower: &FollowerStatus) -> String {
    let FollowerStatus { url, missing_commits, late_seconds, seen_seconds, .. } = follower;
    let lag = match missing_commits {
        0 => "has every commit".to_owned(),
        1 => format!("is 1 commit ({late_seconds:.1} s) behind"),
        missing => format!("is {missing} commits ({late_seconds:.1} s) behind"),
    };
    if *seen_seconds > SILENT.as_secs_f64() {
        return format!("{url} {lag}; not heard of for {seen_seconds:.0} s");
    }
    format!("{url} {lag}")
}

/// A server that follows.
pub(crate) fn follower_status(follower: HomeFollower) -> FollowerStatus {
    let HomeFollower { machine, url, version, missing, late, age } = follower;
    FollowerStatus {
        url,
        machine,
        version,
        missing_commits: missing,
        late_seconds: late.as_secs_f64(),
        seen_seconds: age.as_secs_f64(),
    }
}
