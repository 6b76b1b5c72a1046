//! Section `cluster`: a home in PostgreSQL that several servers share.

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{HomeAddress, HomeAddressError};
use http::Uri;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

use crate::environment::Environment;

/// Longest name of a home.
const MAX_NAME_BYTES: usize = 64;
/// Shortest and longest lease in seconds.
const LEASE_SECONDS: std::ops::RangeInclusive<u32> = 2..=300;

/// A home in PostgreSQL that several servers share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Cluster {
    /// Name of the home; absent for the name of the project's folder
    #[serde(deserialize_with = "home")]
    pub(crate) home: Option<String>,
    /// Seconds for which an owner that is not heard of keeps the home
    #[serde(deserialize_with = "lease")]
    pub(crate) lease: u32,
    /// Address under which other servers reach this one; absent for the one that it listens at
    #[serde(deserialize_with = "url")]
    pub(crate) url: Option<String>,
    /// True if a PostgreSQL will do that may lose what was answered
    pub(crate) allow_loss: bool,
}

impl Default for Cluster {
    fn default() -> Self {
        Self { home: None, lease: 5, url: None, allow_loss: false }
    }
}

/// A home in PostgreSQL, as the configuration names it.
#[derive(Debug, Clone)]
pub(crate) struct SharedConfig {
    /// PostgreSQL that keeps it
    pub(crate) address: HomeAddress,
    /// Name of the home
    pub(crate) name: String,
    /// Time for which the lease holds after each renewal
    pub(crate) lease: Duration,
    /// Address under which other servers reach this one, if it is configured
    pub(crate) url: Option<String>,
}

impl Cluster {
    /// An address as this section allows it to be used.
    pub(crate) fn address(
        &self,
        text: &str,
        env: &Environment,
    ) -> Result<HomeAddress, HomeAddressError> {
        let address = address(text, env)?;
        Ok(if self.allow_loss { address.allowing_loss() } else { address })
    }

    /// Name of the home of a project.
    pub(crate) fn name(&self, root: &Path) -> String {
        self.home.clone().unwrap_or_else(|| name_of(root))
    }

    /// The home that `database` and this section name, if it is one in PostgreSQL.
    pub(crate) fn shared(
        &self,
        database: &str,
        root: &Path,
        env: &Environment,
    ) -> Result<Option<SharedConfig>, HomeAddressError> {
        if !HomeAddress::is_meant_by(database) {
            return Ok(None);
        }
        Ok(Some(SharedConfig {
            address: self.address(database, env)?,
            name: self.name(root),
            lease: Duration::from_secs(u64::from(self.lease)),
            url: self.url.clone(),
        }))
    }
}

/// An address with the password that the environment has for it.
fn address(text: &str, env: &Environment) -> Result<HomeAddress, HomeAddressError> {
    let file = env.variable("PGPASSFILE").map(PathBuf::from).or_else(|| {
        let usual = env.user_home.as_ref()?.join(".pgpass");
        usual.is_file().then_some(usual)
    });
    Ok(HomeAddress::parse(text)?.with_password(env.variable("PGPASSWORD"), file))
}

/// The name of a project's folder, as far as a home may be called that.
fn name_of(root: &Path) -> String {
    let name = root.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let name: String = name
        .unwrap_or_default()
        .chars()
        .map(|sign| if is_name_sign(sign) { sign } else { '-' })
        .take(MAX_NAME_BYTES)
        .collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "home".to_owned() } else { name.to_owned() }
}

const fn is_name_sign(sign: char) -> bool {
    sign.is_ascii_lowercase() || sign.is_ascii_digit() || matches!(sign, '-' | '_' | '.')
}

/// Says what is wrong with the name of a home, if anything is.
pub(crate) fn name_problem(name: &str) -> Option<String> {
    let fits = !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.chars().all(is_name_sign);
    let rule = "use lower-case letters, digits, `-`, `_` and `.`, 64 at most";
    (!fits).then(|| format!("`{name}` cannot be the name of a home; {rule}"))
}

fn home<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let name = Option::<String>::deserialize(from)?;
    match name.as_deref().and_then(name_problem) {
        Some(problem) => Err(D::Error::custom(problem)),
        None => Ok(name),
    }
}

fn lease<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let seconds = u32::deserialize(from)?;
    if LEASE_SECONDS.contains(&seconds) {
        return Ok(seconds);
    }
    let (least, most) = (LEASE_SECONDS.start(), LEASE_SECONDS.end());
    Err(D::Error::custom(format!("{seconds} is not between {least} and {most} seconds")))
}

fn url<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let Some(text) = Option::<String>::deserialize(from)? else { return Ok(None) };
    let fits = text.parse::<Uri>().is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.host().is_some()
            && uri.query().is_none()
    });
    if fits {
        return Ok(Some(text.trim_end_matches('/').to_owned()));
    }
    Err(D::Error::custom(format!(
        "`{text}` is not an address such as `https://crew-1.example:3001`"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Cluster, String> {
        serde_json::from_str(text).map_err(|error: serde_json::Error| error.to_string())
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_the_rule() {
        assert_eq!(read("{}"), Ok(Cluster::default()));
        for (text, rule) in [
            (r#"{"home": "My Shop"}"#, "lower-case letters"),
            (r#"{"home": ""}"#, "lower-case letters"),
            (r#"{"lease": 1}"#, "not between 2 and 300"),
            (r#"{"lease": 301}"#, "not between 2 and 300"),
            (r#"{"url": "crew:3001"}"#, "is not an address such as"),
            (r#"{"url": "ftp://crew"}"#, "is not an address such as"),
            (r#"{"url": "http://crew/?home=shop"}"#, "is not an address such as"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(rule), "{text}: {error}");
        }
        let url = read(r#"{"url": "https://crew.example:3001/"}"#).unwrap().url;
        assert_eq!(url.as_deref(), Some("https://crew.example:3001"));
        // One of many homes of a host.
        let url = read(r#"{"url": "http://crew-1:3000/homes/shop"}"#).unwrap().url;
        assert_eq!(url.as_deref(), Some("http://crew-1:3000/homes/shop"));
    }

    #[test]
    fn a_home_is_called_as_the_folder_of_its_project() {
        for (root, name) in [
            ("/srv/Shop", "shop"),
            ("/srv/my shop!", "my-shop"),
            ("/", "home"),
            ("/srv/ä", "home"),
            ("/srv/a_b.c", "a_b.c"),
        ] {
            assert_eq!(name_of(Path::new(root)), name, "{root}");
        }
    }

    #[test]
    fn an_address_has_no_password_of_its_own() {
        let cluster = Cluster::default();
        let env = Environment::from_vars("/srv/shop", [("PGPASSWORD", "secret")]);
        let root = Path::new("/srv/shop");
        assert!(cluster.shared("state.db", root, &env).unwrap().is_none());
        let shared = cluster.shared("postgres://crew@db/adjutant", root, &env).unwrap().unwrap();
        assert_eq!((shared.name.as_str(), shared.lease.as_secs()), ("shop", 5));
        assert!(!format!("{shared:?}").contains("secret"));
        let error = cluster.shared("postgres://crew:x@db/adjutant", root, &env).unwrap_err();
        assert!(error.to_string().contains("PGPASSFILE"), "{error}");
    }
}
