//! Addresses and password files, sound and unsound.

use super::*;

fn parse(address: &str) -> Result<LedgerAddress, AddressError> {
    LedgerAddress::parse(address)
}

fn hosts(address: &LedgerAddress) -> Vec<String> {
    address.hosts().unwrap().into_iter().map(|host| host.name).collect()
}

#[test]
fn an_address_may_name_several_hosts() {
    let address = parse("postgres://crew@db-1,db-2:5433/adjutant").unwrap();
    assert_eq!(hosts(&address), ["db-1:5432", "db-2:5433"]);
    assert_eq!((address.role(), address.database()), ("crew", "adjutant"));
    assert_eq!(*address.tls(), TlsMode::MachineRoots);
}

#[test]
fn only_connections_on_this_machine_may_do_without_tls_unasked() {
    for (address, tls) in [
        ("postgres://crew@localhost/a", TlsMode::Off),
        ("postgres://crew@127.0.0.1:5433/a", TlsMode::Off),
        ("postgres://crew@%2Frun%2Fpostgresql/a", TlsMode::Off),
        ("postgres://crew@10.0.0.1/a", TlsMode::MachineRoots),
        ("postgres://crew@localhost,db-2/a", TlsMode::MachineRoots),
        ("postgres://crew@db-2/a?sslmode=disable", TlsMode::Off),
        ("postgres://crew@localhost/a?sslmode=verify-full", TlsMode::MachineRoots),
        ("postgres://crew@db-2/a?sslrootcert=/ca.pem", TlsMode::RootsFrom("/ca.pem".into())),
    ] {
        assert_eq!(*parse(address).unwrap().tls(), tls, "{address}");
    }
}

#[test]
fn an_address_with_a_password_is_refused() {
    for address in
        ["postgres://crew:hunter2@db/a", "postgres://crew@db/a?password=hunter2&sslmode=require"]
    {
        let error = parse(address).unwrap_err();
        assert_eq!(error, AddressError::Password);
        assert!(error.to_string().contains("PGPASSFILE") && !error.to_string().contains("hunter2"));
    }
}

#[test]
fn what_is_no_address_is_named() {
    for (address, part) in [
        ("state.db", "`postgres://`"),
        ("mysql://crew@db/a", "`postgres://`"),
        ("postgres://db/a", "no role"),
        ("postgres://crew@/a", "no host"),
        ("postgres://crew@db:port/a", "cannot be read"),
        ("postgres://crew@db/a?pool=5", "`pool`"),
        ("postgres://crew@db/a?sslmode=prefer", "`sslmode=prefer`"),
    ] {
        let error = parse(address).unwrap_err().to_string();
        assert!(error.contains(part), "{address}: {error}");
    }
}

#[test]
fn the_password_comes_from_the_environment_or_from_a_private_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pgpass");
    let lines = "# comment\ndb-1:5432:a:other:no\ndb-1:*:a:crew:o\\:n\\\\e:1\n*:*:*:*:rest\n";
    fs::write(&file, lines).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let from_file = Credentials { password: None, password_file: Some(file.clone()) };
    let address = parse("postgres://crew@db-1,db-2/a").unwrap().with_credentials(from_file.clone());
    assert!(address.hosts().unwrap_err().contains("chmod 600"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let passwords = |address: &LedgerAddress| -> Vec<String> {
        let hosts = address.hosts().unwrap();
        let password = |host: &LedgerHost| host.config.get_password().map(<[u8]>::to_vec);
        let passwords = hosts.iter().map(|host| password(host).unwrap_or_default());
        passwords.map(|bytes| String::from_utf8(bytes).unwrap()).collect()
    };
    assert_eq!(passwords(&address), ["o:n\\e:1", "rest"]);
    let given = Credentials { password: Some("given".into()), ..from_file };
    let address = address.with_credentials(given);
    assert_eq!(passwords(&address), ["given", "given"]);
    assert!(!format!("{address:?} {:?}", address.credentials).contains("given"));
}
