//! The fork server: `adjutant fork-server <room>`, a process that becomes supervisors on request.
//!
//! A supervisor that is started as a program pays for loading it and for a hundred thousand relocations. This
//! process has paid for them once and copies itself. A copy is a child of the server, as a supervisor that was
//! started is; it has the empty environment of this process and the arguments `supervise <run folder>`, by
//! which [`crate::run::supervisors_above`] recognises it. It ends when the server does, and holds no secret:
//! environments go past it, through pipes that only copies read.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendFlags, recvmsg, send,
};

use super::{SuperviseError, supervise, system};
use crate::process::{self, clone};
use crate::run::MAX_FOLDER_BYTES;

/// Serves requests from the standard input, a socket, until the server has gone. Returns in every copy, too,
/// once that has done its work as a supervisor.
pub fn serve_forks() -> Result<(), SuperviseError> {
    process::own_session().map_err(system("make a session"))?;
    let title = Title::find().map_err(system("find its arguments"))?;
    let program = std::env::args_os().next().unwrap_or_default();
    // A copy that could not be recognised must not begin.
    title.write(&[&program, OsStr::new("fork-server")]).map_err(system("change its arguments"))?;
    while let Some(request) = Request::receive().map_err(system("read a request"))? {
        let answer = match clone::sibling() {
            Ok(clone::Side::Copy) => {
                let folder = request.take_over().map_err(system("take over its pipes"))?;
                title
                    .write(&[&program, OsStr::new("supervise"), folder.as_os_str()])
                    .map_err(system("change its arguments"))?;
                return supervise(&folder);
            }
            Ok(clone::Side::Original { copy }) => copy.as_raw_nonzero().get(),
            Err(error) => -error.raw_os_error().unwrap_or(Errno::IO.raw_os_error()),
        };
        send(rustix::stdio::stdin(), &answer.to_ne_bytes(), SendFlags::NOSIGNAL)
            .map_err(|error| system("answer")(error.into()))?;
    }
    Ok(())
}

/// A supervisor that is wanted.
#[derive(Debug)]
struct Request {
    folder: PathBuf,
    /// Its standard input and output
    pipes: [OwnedFd; 2],
}

impl Request {
    /// Waits for one; none once the server has gone.
    fn receive() -> io::Result<Option<Self>> {
        let mut bytes = [0; MAX_FOLDER_BYTES];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received = rustix::io::retry_on_intr(|| {
            let mut parts = [io::IoSliceMut::new(&mut bytes)];
            let flags = RecvFlags::CMSG_CLOEXEC;
            recvmsg(rustix::stdio::stdin(), &mut parts, &mut control, flags)
        })?;
        if received.bytes == 0 {
            return Ok(None);
        }
        let mut pipes = control.drain().flat_map(|message| match message {
            RecvAncillaryMessage::ScmRights(all) => all.collect::<Vec<_>>(),
            _ => Vec::new(),
        });
        let (Some(input), Some(output), false) =
            (pipes.next(), pipes.next(), received.flags.contains(ReturnFlags::TRUNC))
        else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let folder = OsStr::from_bytes(bytes.get(..received.bytes).unwrap_or_default());
        Ok(Some(Self { folder: folder.into(), pipes: [input, output] }))
    }

    /// Puts the pipes where a supervisor expects them, in a copy. The socket is closed by that.
    fn take_over(self) -> io::Result<PathBuf> {
        let [input, output] = self.pipes;
        rustix::stdio::dup2_stdin(input)?;
        rustix::stdio::dup2_stdout(output)?;
        Ok(self.folder)
    }
}

/// The arguments of this process, as others see them.
#[derive(Debug, Clone, Copy)]
struct Title {
    at: u64,
    length: usize,
}

impl Title {
    fn find() -> io::Result<Self> {
        let stat = fs::read_to_string("/proc/self/stat")?;
        // The name in brackets may itself hold brackets and spaces. Behind it comes the third field.
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let mut ends = fields.split_ascii_whitespace().skip(45).map(str::parse::<u64>);
        match (ends.next(), ends.next()) {
            (Some(Ok(at @ 1..)), Some(Ok(end))) if end > at => {
                let length = usize::try_from(end - at).map_err(io::Error::other)?;
                Ok(Self { at, length })
            }
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Replaces them. What follows the last one is filled with zeros.
    fn write(self, words: &[&OsStr]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(self.length);
        for word in words {
            bytes.extend_from_slice(word.as_bytes());
            bytes.push(0);
        }
        if bytes.len() > self.length {
            return Err(Errno::NAMETOOLONG.into());
        }
        bytes.resize(self.length, 0);
        File::options().write(true).open("/proc/self/mem")?.write_all_at(&bytes, self.at)
    }
}
