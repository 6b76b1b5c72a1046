//! The files of `deploy/`: each is held against the program that reads it, or against that program's own description.

use std::fs;
use std::path::{Path, PathBuf};

use testkit::World;
use testkit::postgres::Postgres;

/// The folder.
const DEPLOY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy");

/// Words that begin a line of an image's recipe.
const RECIPE_WORDS: [&str; 10] = [
    "FROM",
    "RUN",
    "COPY",
    "USER",
    "WORKDIR",
    "VOLUME",
    "EXPOSE",
    "STOPSIGNAL",
    "ENTRYPOINT",
    "CMD",
];

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(DEPLOY).join(name)).unwrap()
}

fn world() -> World {
    World::bare(crate::BINARY).unwrap()
}

/// Holds that `adjutant` takes these arguments: with `--help` behind them it checks each before it answers.
async fn takes(world: &World, arguments: &[&str]) {
    let asked = world.run(&[arguments, &["--help"]].concat()).await.unwrap();
    assert_eq!(asked.code, Some(0), "{arguments:?}: {asked:?}");
}

#[tokio::test]
async fn systemd_takes_the_units() {
    let world = world();
    let folder = world.scratch();
    let units = [("adjutant-serve.service", "adjutant-serve.service")]
        .into_iter()
        .chain([("adjutant@.service", "adjutant@shop.service")]);
    for (file, unit) in units {
        let text = read(&format!("systemd/{file}"));
        for line in ["Restart=always", "SuccessExitStatus=75", "KillMode=process"] {
            assert!(text.lines().any(|it| it == line), "{file}: {line}");
        }
        // It looks for the program, which is elsewhere here.
        let here = text.replace("/usr/local/bin/adjutant", crate::BINARY);
        assert_ne!(here, text, "{file} starts the program where the manual puts it");
        fs::write(folder.join(file), here).unwrap();
        let verified = world.shell_in(&folder, &format!("systemd-analyze verify ./{unit}")).await;
        let verified = verified.unwrap();
        assert_eq!((verified.code, verified.stdout.as_str()), (Some(0), ""), "{unit}");
        let start = text.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
        let start = start.replace("${ADJUTANT_HOST_URL}", "http://crew-1:3000");
        takes(&world, &start.split(' ').skip(1).collect::<Vec<_>>()).await;
    }
    // A mistake is seen.
    fs::write(folder.join("wrong.service"), "[Service]\nExecStart=/bin/true\nRestrat=always\n")
        .unwrap();
    let verified = world.shell_in(&folder, "systemd-analyze verify ./wrong.service").await.unwrap();
    assert!(verified.stdout.contains("Restrat"), "{verified:?}");
}

#[tokio::test]
async fn kubernetes_takes_the_manifests() {
    let world = world();
    let checker = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../.tools/kubernetes/bin/kubernetes-validate");
    assert!(checker.is_file(), "run tools/setup");
    let manifest = Path::new(DEPLOY).join("kubernetes/adjutant.yaml");
    let checked = async |file: &Path| {
        let (checker, file) = (checker.display(), file.display());
        world.shell(&format!("'{checker}' --strict '{file}'")).await.unwrap()
    };
    let passed = checked(&manifest).await.ok().unwrap().stdout;
    for resource in ["deployment/adjutant", "service/adjutant", "poddisruptionbudget/adjutant"] {
        assert!(passed.contains(&format!("passed for resource {resource}")), "{passed}");
    }
    // A field that there is not is refused.
    let text = fs::read_to_string(&manifest).unwrap();
    let wrong = world.scratch().join("wrong.yaml");
    fs::write(&wrong, text.replace("readinessProbe:", "readynessProbe:")).unwrap();
    assert_ne!(checked(&wrong).await.code, Some(0));

    for part in ["path: /readyz", "path: /healthz", "replicas: 2", "fieldPath: status.podIP"] {
        assert!(text.contains(part), "{part}");
    }
    let (_, arguments) = text.split_once("          args:\n").unwrap();
    let arguments: Vec<&str> =
        arguments.lines().map_while(|line| line.strip_prefix("            - ")).collect();
    takes(&world, &arguments).await;
}

/// KEDA's objects, as far as the manifest uses them: an unknown field is refused.
mod keda {
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(tag = "kind")]
    pub(super) enum Object {
        TriggerAuthentication(Named<AuthenticationSpec>),
        ScaledObject(Named<ScaledSpec>),
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    pub(super) struct Named<S> {
        pub(super) api_version: String,
        pub(super) metadata: Name,
        pub(super) spec: S,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(super) struct Name {
        pub(super) name: String,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    pub(super) struct AuthenticationSpec {
        pub(super) secret_target_ref: Vec<SecretRef>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(super) struct SecretRef {
        pub(super) parameter: String,
        pub(super) name: String,
        pub(super) key: String,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    pub(super) struct ScaledSpec {
        pub(super) scale_target_ref: Name,
        pub(super) min_replica_count: u32,
        pub(super) max_replica_count: u32,
        #[serde(rename = "pollingInterval")]
        _polling_interval: u32,
        #[serde(rename = "cooldownPeriod")]
        _cooldown_period: u32,
        pub(super) triggers: Vec<Trigger>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    pub(super) struct Trigger {
        #[serde(rename = "type")]
        pub(super) kind: String,
        pub(super) authentication_ref: Name,
        pub(super) metadata: PostgresTrigger,
    }

    /// Metadata of the scaler `postgresql`; every value is a text.
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    pub(super) struct PostgresTrigger {
        pub(super) host: String,
        pub(super) port: String,
        pub(super) user_name: String,
        pub(super) db_name: String,
        pub(super) sslmode: String,
        pub(super) query: String,
        pub(super) target_query_value: String,
    }
}

#[tokio::test]
async fn keda_scales_by_a_number_that_postgresql_gives() {
    let text = read("kubernetes/keda.yaml");
    let mut scaled = None;
    let mut authentication = None;
    for document in text.split("\n---\n") {
        match serde_saphyr::from_str::<keda::Object>(document).unwrap() {
            keda::Object::ScaledObject(object) => scaled = Some(object),
            keda::Object::TriggerAuthentication(object) => authentication = Some(object),
        }
    }
    let (scaled, authentication) = (scaled.unwrap(), authentication.unwrap());
    assert_eq!(
        (scaled.api_version.as_str(), scaled.metadata.name.as_str()),
        ("keda.sh/v1alpha1", "adjutant")
    );
    assert_eq!(authentication.api_version, "keda.sh/v1alpha1");
    assert_eq!(scaled.spec.scale_target_ref.name, "adjutant");
    assert!(scaled.spec.min_replica_count <= scaled.spec.max_replica_count);
    let [secret] = authentication.spec.secret_target_ref.as_slice() else { panic!("one secret") };
    assert_eq!(
        [&secret.parameter, &secret.name, &secret.key],
        ["password", "adjutant", "password"]
    );
    let [trigger] = scaled.spec.triggers.as_slice() else { panic!("one trigger") };
    assert_eq!(trigger.kind, "postgresql");
    assert_eq!(trigger.authentication_ref.name, authentication.metadata.name);
    let keda::PostgresTrigger { host, port, user_name, db_name, sslmode, .. } = &trigger.metadata;
    assert_eq!(
        [host, port, user_name, db_name, sslmode],
        ["db", "5432", "crew", "adjutant", "require"]
    );
    assert!(trigger.metadata.target_query_value.parse::<u32>().is_ok());

    // Both queries, that of all homes and that of one, answer with a number.
    let one = text.lines().find_map(|line| line.split_once("alone: ")).unwrap().1;
    let one = one.trim_end_matches('.').replace("'shop'", "'project'");
    let postgres = Postgres::start(&[]).unwrap();
    let world = crate::world().await;
    let create = ["home", "create", "project", "--database", &postgres.address()];
    world.run(&create).await.unwrap().ok().unwrap();
    postgres.sql("UPDATE adjutant.home SET queued = 7").unwrap();
    for query in [&trigger.metadata.query, &one] {
        assert_eq!(postgres.sql(query).unwrap(), "7", "{query}");
    }
}

/// Compose, as far as the file uses it: an unknown field is refused.
mod compose {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde::de::IgnoredAny;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(super) struct File {
        #[serde(rename = "x-host")]
        _host: IgnoredAny,
        #[serde(rename = "x-environment")]
        _environment: IgnoredAny,
        pub(super) services: BTreeMap<String, Service>,
        pub(super) volumes: BTreeMap<String, BTreeMap<String, String>>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(super) struct Service {
        pub(super) image: String,
        pub(super) build: Option<String>,
        pub(super) restart: String,
        pub(super) stop_grace_period: Option<String>,
        #[serde(default)]
        pub(super) depends_on: BTreeMap<String, Dependency>,
        pub(super) environment: BTreeMap<String, String>,
        pub(super) command: Vec<String>,
        #[serde(default)]
        pub(super) ports: Vec<String>,
        pub(super) volumes: Vec<String>,
        pub(super) healthcheck: Option<Healthcheck>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(super) struct Dependency {
        pub(super) condition: String,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(super) struct Healthcheck {
        pub(super) test: Vec<String>,
        pub(super) interval: String,
        pub(super) retries: u32,
    }
}

#[tokio::test]
async fn compose_starts_two_hosts_at_the_addresses_they_say() {
    let file: compose::File = serde_saphyr::from_str(&read("compose.yaml")).unwrap();
    let world = world();
    let mut hosts = 0;
    for (name, service) in &file.services {
        assert_eq!(service.restart, "always", "{name}");
        for volume in &service.volumes {
            let (volume, path) = volume.split_once(':').unwrap();
            assert!(file.volumes.contains_key(volume), "{name}: {volume}");
            assert!(path.starts_with("/var/lib/"), "{name}: {path}");
        }
        let Some(build) = &service.build else {
            assert!(service.image.starts_with("postgres:"), "{name}");
            assert_eq!(service.command[..2], ["postgres", "-c"], "{name}");
            let health = service.healthcheck.as_ref().unwrap();
            assert_eq!((health.test[1].as_str(), health.interval.as_str()), ("pg_isready", "2s"));
            assert!(health.retries > 0);
            continue;
        };
        hosts += 1;
        assert_eq!((build.as_str(), service.image.as_str()), (".", "adjutant"));
        assert_eq!(service.depends_on["db"].condition, "service_healthy");
        assert!(service.stop_grace_period.is_some(), "{name}");
        takes(&world, &service.command.iter().map(String::as_str).collect::<Vec<_>>()).await;
        assert!(service.command.contains(&format!("http://{name}:3000")), "{name}");
        assert!(service.ports.iter().all(|port| port.starts_with("127.0.0.1:")), "{name}");
        let address = &service.environment["ADJUTANT_DATABASE"];
        assert!(address.starts_with("postgres://") && !address.contains(":?"), "{address}");
        for secret in ["PGPASSWORD", "ADJUTANT_SERVE_TOKEN"] {
            assert!(service.environment[secret].starts_with("${"), "{name}: {secret}");
        }
    }
    assert_eq!(hosts, 2);
}

#[tokio::test]
async fn the_image_has_the_program_and_starts_it() {
    let text = read("Dockerfile").replace("\\\n", " ");
    let lines: Vec<(&str, &str)> = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .map(|line| line.split_once(' ').unwrap())
        .collect();
    assert!(lines.iter().all(|(word, _)| RECIPE_WORDS.contains(word)), "{lines:?}");
    let only = |word: &str| lines.iter().find(|(known, _)| *known == word).unwrap().1;
    assert_eq!(only("COPY"), "adjutant /usr/local/bin/adjutant");
    assert_eq!(only("USER"), "10001", "the manifests run it as the same user");
    assert_eq!(only("STOPSIGNAL"), "SIGTERM");
    let entry: Vec<String> = serde_json::from_str(only("ENTRYPOINT")).unwrap();
    assert_eq!(entry, ["tini", "--", "adjutant"]);
    let command: Vec<String> = serde_json::from_str(only("CMD")).unwrap();
    takes(&world(), &command.iter().map(String::as_str).collect::<Vec<_>>()).await;
}

#[test]
fn every_file_is_named_in_the_manual() {
    let manual = Path::new(DEPLOY).join("../docs/how-to/many-homes.md");
    let manual = fs::read_to_string(manual).unwrap();
    let mut folders: Vec<PathBuf> = vec![DEPLOY.into()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(DEPLOY).unwrap().display().to_string();
            assert!(manual.contains(&format!("deploy/{name}")), "{name}");
        }
    }
}
