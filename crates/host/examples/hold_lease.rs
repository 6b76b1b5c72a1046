//! Renews the lease of a run as long as it lives, for the tests: `hold_lease <run folder> <key> <milliseconds>`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use host::boot_clock::BootTime;
use host::run::RunFolder;

/// Interval between two renewals.
const RENEW_INTERVAL: Duration = Duration::from_millis(20);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, key, millis] = arguments.as_slice() else { return ExitCode::FAILURE };
    let Ok(lease) = millis.parse().map(Duration::from_millis) else { return ExitCode::FAILURE };
    let Ok(mut control) = RunFolder::open(Path::new(folder)).connect().await else {
        return ExitCode::FAILURE;
    };
    while control.renew_lease(key, BootTime::now().after(lease)).await.is_ok() {
        tokio::time::sleep(RENEW_INTERVAL).await;
    }
    ExitCode::SUCCESS
}
