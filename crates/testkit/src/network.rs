//! Machines with a network of their own: each is a network namespace with a link to this machine, where PostgreSQL and the
//! clients are, a second one for PostgreSQL alone, and one to the other machine. A link can be cut.
//!
//! Needs root, and `ip`, `nsenter` and `unshare`, which `tools/setup` brings.

use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// First address of a range that is kept for tests of networks (RFC 2544).
const FIRST_ADDRESS: u32 = u32::from_be_bytes([198, 18, 0, 0]);
/// Addresses of one network.
const ADDRESSES: u32 = 16;
/// Networks in that range.
const NETWORKS: u32 = 8_192;

/// Two machines, their links, and this machine between them.
#[derive(Debug)]
pub struct Network {
    number: u32,
    hosts: Vec<Host>,
}

/// A machine of a network.
#[derive(Debug)]
struct Host {
    /// Keeps the namespace while it runs; it ends with this process
    holder: Child,
    pid: u32,
}

impl Network {
    /// Makes a network with two machines.
    pub async fn new() -> Result<Self> {
        let own = fs::metadata("/proc/self").context("no /proc")?;
        ensure!(
            std::os::unix::fs::MetadataExt::uid(&own) == 0,
            "this test makes network namespaces, which takes root: run it as root, as continuous integration does"
        );
        // No two processes that live have the same number.
        let mut network = Self { number: std::process::id() % NETWORKS, hosts: Vec::new() };
        for number in 0..2 {
            let host = Host::start().await?;
            for (link, here, there) in [
                (Link::Database, network.database(), network.address(number, Link::Database)),
                (Link::Front, network.front(), network.address(number, Link::Front)),
            ] {
                let (outside, inside) = (network.interface(number, link), link.name());
                let pid = host.pid;
                ip(&format!("link add {outside} type veth peer name {inside} netns {pid}")).await?;
                ip(&format!("addr add {here}/32 peer {there}/32 dev {outside}")).await?;
                ip(&format!("link set {outside} up")).await?;
                host.ip(&format!("addr add {there}/32 peer {here}/32 dev {inside}")).await?;
                host.ip(&format!("link set {inside} up")).await?;
            }
            host.ip("link set lo up").await?;
            network.hosts.push(host);
        }
        let (one, other) = (&network.hosts[0], &network.hosts[1]);
        one.ip(&format!("link add peer type veth peer name peer netns {}", other.pid)).await?;
        for (number, host) in network.hosts.iter().enumerate() {
            let [here, there] = [number, 1 - number].map(|it| network.address(it, Link::Peer));
            host.ip(&format!("addr add {here}/32 peer {there}/32 dev peer")).await?;
            host.ip("link set peer up").await?;
        }
        Ok(network)
    }

    /// All addresses of the network, as PostgreSQL's rules name them.
    pub fn range(&self) -> String {
        format!("{}/28", self.at(0))
    }

    /// Where PostgreSQL has to listen, so that all machines reach it.
    pub fn database(&self) -> Ipv4Addr {
        self.at(1)
    }

    fn front(&self) -> Ipv4Addr {
        self.at(2)
    }

    /// Where clients of this machine reach one.
    pub fn front_of(&self, host: usize) -> Ipv4Addr {
        self.address(host, Link::Front)
    }

    /// Where the other machine reaches one.
    pub fn peer_of(&self, host: usize) -> Ipv4Addr {
        self.address(host, Link::Peer)
    }

    fn address(&self, host: usize, link: Link) -> Ipv4Addr {
        self.at(4 + u32::try_from(host * 4 + link as usize).unwrap_or(0))
    }

    fn at(&self, number: u32) -> Ipv4Addr {
        (FIRST_ADDRESS + self.number * ADDRESSES + number).into()
    }

    fn interface(&self, host: usize, link: Link) -> String {
        // Names of interfaces have at most 15 characters.
        format!("adj{}l{}h{host}", self.number, link as usize)
    }

    /// Writes a script that runs a program on a machine. The process keeps its number.
    pub fn script(&self, host: usize, program: &Path, folder: &Path) -> Result<PathBuf> {
        let path = folder.join(format!("on-machine-{host}"));
        let (pid, program) = (self.hosts[host].pid, program.display());
        fs::write(&path, format!("#!/bin/sh\nexec nsenter -t {pid} -n '{program}' \"$@\"\n"))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(path)
    }

    /// Cuts the link of a machine to PostgreSQL: what is sent over it gets lost, and nobody hears of it.
    pub async fn cut(&self, host: usize) -> Result<()> {
        ip(&format!("link set {} down", self.interface(host, Link::Database))).await
    }

    /// Mends that link.
    pub async fn mend(&self, host: usize) -> Result<()> {
        ip(&format!("link set {} up", self.interface(host, Link::Database))).await
    }
}

/// A link of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// To PostgreSQL
    Database,
    /// To the clients
    Front,
    /// To the other machine
    Peer,
}

impl Link {
    const fn name(self) -> &'static str {
        match self {
            Self::Database => "db",
            Self::Front => "front",
            Self::Peer => "peer",
        }
    }
}

impl Host {
    async fn start() -> Result<Self> {
        // It lives for as long as it can read from us.
        let mut holder = Command::new("unshare")
            .args(["--net", "sh", "-c", "echo made; exec cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("could not run `unshare`")?;
        let pid = holder.id().context("it has ended already")?;
        let stdout = holder.stdout.take().context("it has a standard output")?;
        let made = BufReader::new(stdout).lines().next_line().await?;
        ensure!(made.as_deref() == Some("made"), "no network namespace could be made");
        Ok(Self { holder, pid })
    }

    async fn ip(&self, arguments: &str) -> Result<()> {
        ensure!(self.holder.id().is_some(), "the machine has ended");
        run("nsenter", &format!("-t {} -n ip {arguments}", self.pid)).await
    }
}

async fn ip(arguments: &str) -> Result<()> {
    run("ip", arguments).await
}

async fn run(program: &str, arguments: &str) -> Result<()> {
    let mut command = Command::new(program);
    let command = command.args(arguments.split(' ')).env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    let done = command.output().await;
    let done = done.with_context(|| format!("`{program}` is missing; run tools/setup"))?;
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "{program} {arguments}: {said}");
    Ok(())
}
