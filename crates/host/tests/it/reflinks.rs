//! Copies into a worktree on a file system that can clone: they take no space of their own, and no copy changes another.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "mounting a disk takes programs, and a test that is not run says so"
)]

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use host::provision::Provisioner;

/// Size of the file that is copied; three do not fit.
const FILE_BYTES: usize = 80 << 20;
/// Size of the disk, of which XFS keeps a part for itself.
const DISK_BYTES: u64 = 320 << 20;

/// A disk of its own, until the end of the test.
struct Disk {
    _dir: tempfile::TempDir,
    mounted: PathBuf,
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ended = Command::new("umount").arg("--lazy").arg(&self.mounted).status();
    }
}

fn run(program: &str, arguments: &[&str]) -> Output {
    let ran = Command::new(program).args(arguments).output().unwrap();
    assert!(ran.status.success(), "{program}: {ran:?}");
    ran
}

impl Disk {
    /// Mounts an XFS. Only root can, and only where the kernel has loop devices: elsewhere there is none.
    fn new() -> Option<Self> {
        let is_root = String::from_utf8(run("id", &["-u"]).stdout).unwrap().trim() == "0";
        let formatter = ["/usr/sbin/mkfs.xfs", "/sbin/mkfs.xfs"]
            .into_iter()
            .find(|path| Path::new(path).exists())?;
        if !is_root || !Path::new("/dev/loop-control").exists() {
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let [image, mounted] = ["image", "disk"].map(|name| dir.path().join(name));
        File::create(&image).unwrap().set_len(DISK_BYTES).unwrap();
        fs::create_dir(&mounted).unwrap();
        let [from, to] = [&image, &mounted].map(|path| path.to_str().unwrap());
        run(formatter, &["-q", "-m", "reflink=1", from]);
        run("mount", &["-o", "loop", from, to]);
        Some(Self { mounted: mounted.clone(), _dir: dir })
    }
}

#[test]
fn copies_on_a_disk_that_can_clone_take_no_space_and_stay_apart() {
    let Some(disk) = Disk::new() else {
        eprintln!("not run: it takes root, loop devices and mkfs.xfs");
        return;
    };
    let project = disk.mounted.join("project");
    fs::create_dir(&project).unwrap();
    let mut bytes = vec![0; FILE_BYTES];
    File::open("/dev/urandom").unwrap().read_exact(&mut bytes).unwrap();
    let original = project.join("dependencies");
    fs::write(&original, &bytes).unwrap();
    for name in ["one", "two", "three"] {
        let worktree = disk.mounted.join(name);
        fs::create_dir(&worktree).unwrap();
        let mut provisioner = Provisioner::new(&project, &worktree).unwrap();
        // A copy in the usual way ends at a full disk.
        assert_eq!(provisioner.copy(Path::new("dependencies")).unwrap(), None, "{name}");
        assert!(fs::read(worktree.join("dependencies")).unwrap() == bytes, "{name}");
    }
    let mut copy = File::options().write(true).open(disk.mounted.join("one/dependencies")).unwrap();
    copy.seek(SeekFrom::Start(4096)).unwrap();
    copy.write_all(b"changed in a worktree").unwrap();
    copy.sync_all().unwrap();
    for name in ["project", "two", "three"] {
        let found = fs::read(disk.mounted.join(name).join("dependencies")).unwrap();
        assert!(found == bytes, "{name} is as it was");
    }
}
