//! TLS in front of a server, as a proxy puts it there: with a certificate of an authority that a test makes.

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use host::process::Launch;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tempfile::TempDir;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// Time limit for making a certificate.
const OPENSSL_TIMEOUT: Duration = Duration::from_secs(30);

/// An authority that signs certificates.
#[derive(Debug)]
pub struct Authority {
    dir: TempDir,
}

impl Authority {
    /// Makes a new one, which nobody trusts yet.
    pub fn new() -> Result<Self> {
        let authority = Self { dir: tempfile::tempdir()? };
        authority.make("ca", "Test authority", "basicConstraints = critical,CA:TRUE", &[])?;
        Ok(authority)
    }

    /// The file with its certificate.
    pub fn file(&self) -> PathBuf {
        self.path("ca.crt")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Makes a key and a certificate for a host, and returns both files.
    fn issue(&self, host: &str) -> Result<(PathBuf, PathBuf)> {
        let (ca, key) = (self.file(), self.path("ca.key"));
        let [ca, key] = [&ca, &key].map(|path| path.to_string_lossy().into_owned());
        self.make("leaf", host, &extensions_of(host), &["-CA", &ca, "-CAkey", &key])?;
        Ok((self.path("leaf.crt"), self.path("leaf.key")))
    }

    fn make(&self, file: &str, name: &str, extensions: &str, signed_by: &[&str]) -> Result<()> {
        let request = CertificateRequest::write(self.dir.path(), file, name, extensions)?;
        let arguments = request.arguments.iter().map(String::as_str);
        let launch = Launch {
            program: PathBuf::from("/usr/bin/openssl"),
            arguments: arguments.chain(signed_by.iter().copied()).map(Into::into).collect(),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            directory: self.dir.path().to_owned(),
        };
        let output = host::process::run(&launch, OPENSSL_TIMEOUT)?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.exit.is_success(), "openssl failed: {said}");
        Ok(())
    }
}

/// Extensions of the certificate of a host.
pub(crate) fn extensions_of(host: &str) -> String {
    format!("subjectAltName = DNS:{host}\nbasicConstraints = critical,CA:FALSE")
}

/// A key and a certificate that openssl is to make: `FILE.key` and `FILE.crt` of a folder.
#[derive(Debug)]
pub(crate) struct CertificateRequest {
    /// The file of the certificate
    pub(crate) certificate: PathBuf,
    /// Arguments of openssl
    pub(crate) arguments: Vec<String>,
}

impl CertificateRequest {
    /// Writes its configuration. Without more arguments the certificate is signed with its own key.
    pub(crate) fn write(folder: &Path, file: &str, name: &str, extensions: &str) -> Result<Self> {
        let path = |ending: &str| folder.join(format!("{file}.{ending}"));
        let (config, certificate) = (path("cnf"), path("crt"));
        fs::write(
            &config,
            format!(
                "[req]\ndistinguished_name = name\nx509_extensions = extensions\nprompt = no\n\
                 [name]\nCN = {name}\n[extensions]\n{extensions}\n"
            ),
        )?;
        let options = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
        let mut arguments: Vec<String> = options.split(' ').map(str::to_owned).collect();
        let files = [("-config", config), ("-keyout", path("key")), ("-out", certificate.clone())];
        for (option, file) in files {
            arguments.extend([option.to_owned(), file.to_string_lossy().into_owned()]);
        }
        Ok(Self { certificate, arguments })
    }
}

/// A proxy that ends TLS and passes on what it carries. It ends when this value is dropped.
#[derive(Debug)]
pub struct TlsProxy {
    port: u16,
    _tasks: JoinSet<()>,
}

impl TlsProxy {
    /// Starts a proxy in front of a server, with a certificate for `host`.
    pub async fn start(authority: &Authority, host: &str, server: &str) -> Result<Self> {
        let (certificate, key) = authority.issue(host)?;
        let acceptor = TlsAcceptor::from(Arc::new(config(&certificate, &key)?));
        let server = server.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let (acceptor, server) = (acceptor.clone(), server.clone());
                connections.spawn(async move {
                    // A client that does not trust the certificate hangs up.
                    let Ok(mut client) = acceptor.accept(client).await else { return };
                    let Ok(mut server) = TcpStream::connect(server).await else { return };
                    // Either side may break off.
                    drop(copy_bidirectional(&mut client, &mut server).await);
                });
            }
        });
        Ok(Self { port, _tasks: tasks })
    }

    /// Its address under a name of this machine.
    pub fn url(&self, host: &str) -> String {
        format!("https://{host}:{}", self.port)
    }
}

fn config(certificate: &Path, key: &Path) -> Result<ServerConfig> {
    let chain = CertificateDer::pem_file_iter(certificate).context("no certificate")?;
    let chain = chain.collect::<Result<Vec<_>, _>>().context("no certificate")?;
    let key = PrivateKeyDer::from_pem_file(key).context("no key")?;
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions()?.with_no_client_auth();
    Ok(builder.with_single_cert(chain, key)?)
}
