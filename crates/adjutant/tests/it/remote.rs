//! A command line on another machine than the server: over TLS, with what has to be refused, and what needs the server's
//! own machine.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::tls::{Authority, TlsProxy};
use testkit::{Agent, CommandOutput, Server, World};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

/// A server behind a TLS proxy, and a machine that knows it as the home `shop`.
struct Remote {
    server: Server,
    owner: World,
    authority: Authority,
    proxy: TlsProxy,
    /// It has neither a home nor a server
    client: World,
    token: String,
}

impl Remote {
    async fn start() -> Self {
        let owner = crate::world().await;
        let server = owner.up().await.unwrap();
        let authority = Authority::new().unwrap();
        let proxy = TlsProxy::start(&authority, "localhost", &server.url).await.unwrap();
        let token = owner.operator().await.unwrap();
        let mut client = World::bare(crate::BINARY).unwrap();
        client.set("SSL_CERT_FILE", authority.file().display().to_string());
        let remote = Self { server, owner, authority, proxy, client, token };
        remote.write_homes(&remote.proxy.url("localhost"), "");
        remote
    }

    /// Writes the file of homes with one home, `shop`.
    fn write_homes(&self, url: &str, more: &str) {
        let folder = self.client.user().join(".config/adjutant");
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("homes.yaml");
        let token = &self.token;
        fs::write(&file, format!("shop:\n  url: {url}\n  token: {token}\n{more}")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    }

    async fn run(&self, arguments: &[&str]) -> CommandOutput {
        self.client.run(&[&["--home", "shop"], arguments].concat()).await.unwrap()
    }

    async fn json(&self, arguments: &[&str]) -> Value {
        self.run(&[arguments, &["--json"]].concat()).await.ok().unwrap().json().unwrap()
    }

    /// Runs a command that must fail and say these things, and never the token.
    async fn refused(&self, arguments: &[&str], parts: &[&str]) -> CommandOutput {
        let ran = self.run(arguments).await;
        assert_ne!(ran.code, Some(0), "{arguments:?}: {ran:?}");
        for part in parts {
            assert!(ran.stderr.contains(part), "{arguments:?} does not say `{part}`: {ran:?}");
        }
        assert!(!ran.stderr.contains(&self.token), "{ran:?}");
        ran
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_streams_and_the_bridge_work_over_tls() {
    let remote = Remote::start().await;
    assert_eq!(remote.json(&["status"]).await["url"], remote.server.url);
    remote.run(&["tasks", "add", "Fix the parser"]).await.ok().unwrap();
    assert_eq!(remote.json(&["tasks"]).await["tasks"][0]["title"], "Fix the parser");
    assert_eq!(remote.json(&["audit", "verify"]).await["ok"], true);
    // The link is for the address by which this machine reaches the server.
    let link = remote.json(&["open", "--print"]).await;
    let base = format!("{}/#login=", remote.proxy.url("localhost"));
    assert!(link["url"].as_str().unwrap().starts_with(&base), "{link}");

    // A stream that stays open.
    let arguments = ["--home", "shop", "events", "-f", "--json", "--after", "0"];
    let mut following = remote.client.command(&arguments).stderr(Stdio::inherit()).spawn().unwrap();
    let mut events = BufReader::new(following.stdout.take().unwrap()).lines();
    remote.run(&["tasks", "add", "Fix the lexer"]).await.ok().unwrap();
    let mut titles = Vec::new();
    while titles.len() < 2 {
        let event: Value =
            serde_json::from_str(&events.next_line().await.unwrap().unwrap()).unwrap();
        titles.extend(event["data"]["title"].as_str().map(str::to_owned));
    }
    assert_eq!(titles, ["Fix the parser", "Fix the lexer"]);
    drop(following);

    // The bridge, as an agent elsewhere starts it.
    let Agent { id, token } = remote.owner.enlist("planner", &[]).await.unwrap();
    let mut bridge = remote.client.command(&["mcp"]);
    bridge.env("ADJUTANT_URL", remote.proxy.url("localhost"));
    bridge.env("ADJUTANT_AGENT_ID", &id).env("ADJUTANT_TOKEN", &token);
    let mut bridge = bridge.stdin(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
    let opening = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    let mut input = bridge.stdin.take().unwrap();
    input.write_all(format!("{opening}\n").as_bytes()).await.unwrap();
    let mut answers = BufReader::new(bridge.stdout.take().unwrap()).lines();
    let answer: Value = serde_json::from_str(&answers.next_line().await.unwrap().unwrap()).unwrap();
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_that_proves_nothing_is_refused_with_what_to_do() {
    let mut remote = Remote::start().await;
    let stranger = Authority::new().unwrap();
    remote.client.set("SSL_CERT_FILE", stranger.file().display().to_string());
    let unknown = ["signed by an authority that this machine does not trust", "SSL_CERT_FILE"];
    for command in [&["status"][..], &["ps"], &["run", "x"], &["events", "-f"]] {
        let ran = remote.refused(command, &unknown).await;
        assert_eq!(ran.code, Some(6), "{command:?}");
    }
    remote.client.set("SSL_CERT_FILE", remote.authority.file().display().to_string());
    remote.run(&["ps"]).await.ok().unwrap();
    // The certificate is for `localhost`.
    remote.write_homes(&remote.proxy.url("127.0.0.1"), "");
    remote.refused(&["ps"], &["another name than that of the address"]).await;
    // The server itself speaks no TLS.
    remote.write_homes(&remote.server.url.replace("http://127.0.0.1", "https://localhost"), "");
    remote.refused(&["ps"], &["speaks no TLS", "`http://`"]).await;
    remote.client.set("SSL_CERT_FILE", "/dev/null");
    remote.write_homes(&remote.proxy.url("localhost"), "");
    remote.refused(&["ps"], &["trusts no certificate authority", "SSL_CERT_FILE"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_goes_nowhere_in_the_clear_unless_somebody_says_so() {
    let mut remote = Remote::start().await;
    // 192.0.2.0/24 is for documents: nobody is there, and nothing may be sent.
    let far = "http://192.0.2.1:3001";
    remote.write_homes(far, "");
    let said =
        ["plain HTTP beyond this machine", "ssh -L", "insecure: true", "ADJUTANT_INSECURE=1"];
    let ran = remote.refused(&["ps"], &said).await;
    assert_eq!(ran.code, Some(2));
    // Loopback stays on this machine.
    remote.write_homes(&remote.server.url, "");
    remote.run(&["ps"]).await.ok().unwrap();
    remote.write_homes("crew.example:3001", "");
    remote.refused(&["ps"], &["is not a server's address", "https://HOST"]).await;
    remote.write_homes("https://me:hunter2@crew.example", "");
    let ran = remote.refused(&["ps"], &["is not a server's address"]).await;
    assert!(!ran.stderr.contains("hunter2"), "{ran:?}");
    // By the environment, too.
    remote.client.set("ADJUTANT_URL", far);
    remote.client.set("ADJUTANT_TOKEN", remote.token.clone());
    let ran = remote.client.run(&["ps"]).await.unwrap();
    assert!(ran.stderr.contains("plain HTTP beyond this machine"), "{ran:?}");
    remote.client.set("ADJUTANT_URL", remote.server.url.clone());
    remote.client.run(&["ps"]).await.unwrap().ok().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_does_not_know_the_token_is_not_sent_it() {
    let mut remote = Remote::start().await;
    remote.token = format!("adjop_{}", "0".repeat(32));
    remote.write_homes(&remote.proxy.url("localhost"), "");
    remote.refused(&["ps"], &["does not know your token"]).await;
    let audit = remote.owner.run(&["audit", "list", "--json"]).await.unwrap().ok().unwrap();
    assert!(!audit.stdout.contains("adjop_0000"), "{audit:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_needs_the_machine_of_the_server_says_so() {
    let remote = Remote::start().await;
    let url = remote.proxy.url("localhost");
    let local = [
        &["up"][..],
        &["down"],
        &["token"],
        &["doctor"],
        &["config", "get"],
        &["attach", "sp_0123456789abcdef"],
        &["backup", "crew.tar"],
        &["restore", "crew.tar"],
        &["home", "list"],
        &["home", "check"],
        &["home", "import"],
    ];
    for command in local {
        let said = ["needs the machine of the server", url.as_str(), "`shop` in homes.yaml"];
        let ran = remote.refused(command, &said).await;
        assert_eq!(ran.code, Some(2), "{command:?}");
    }
    remote.refused(&["run", "--cwd", "src", "x"], &["a folder of the server's machine"]).await;
    let named = remote.client.run(&["--home", "shpo", "ps"]).await.unwrap();
    assert!(named.stderr.contains("homes.yaml has `shop`"), "{named:?}");
    // With the address alone it is the same.
    let mut client = remote.client;
    client.set("ADJUTANT_URL", url.clone());
    client.set("ADJUTANT_TOKEN", remote.token.clone());
    client.run(&["ps"]).await.unwrap().ok().unwrap();
    let down = client.run(&["down"]).await.unwrap();
    assert!(down.stderr.contains("`ADJUTANT_URL`"), "{down:?}");
}
