//! The trace of a job (`SHMEM_TRACE`), in the Trace Event Format of Chrome, which Perfetto reads as well.
//!
//! All PEs append to one file. Each write consists of whole lines, so lines are not mixed. The format allows that the
//! end of the list of events is missing, so the file of an aborted job can be loaded. If the name contains `%p`, which
//! stands for the PE's number, each PE writes a file of its own.
//!
//! Source: "Trace Event Format" (complete events `X`, metadata events `M`).

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::json;
use shmem_core::exclusion::Mutex;
use shmem_core::observe::Call;
use shmem_launch::bootstrap::Bootstrap;

use crate::caller::CallSite;
use crate::error::{ErrorKind, Result};
use crate::thread::thread_number;

const BUFFER: usize = 256 << 10;

pub(super) struct Trace {
    me: usize,
    ends: bool,
    path: PathBuf,
    /// The trace file. PEs other than its maker open it when they first write.
    file: OnceLock<Option<File>>,
    buffer: Mutex<Vec<u8>>,
}

impl Trace {
    /// Starts a trace. PE 0 (with `%p`, each PE) makes the file.
    pub(super) fn create(path: &str, me: usize) -> Result<Self> {
        let ends = me == 0 || path.contains("%p");
        let path = path.replace("%p", &me.to_string());
        let fault = |error: io::Error| {
            ErrorKind::Start(format!(
                "SHMEM_TRACE={path}: {error}; name a file that can be written, or unset it"
            ))
        };
        let file = OnceLock::new();
        if ends {
            let begun = begin(Path::new(&path)).map_err(fault)?;
            file.get_or_init(|| Some(begun));
        }
        let trace = Self { me, ends, path: path.into(), file, buffer: Mutex::default() };
        trace.write(
            &json!({"name": "process_name", "ph": "M", "pid": me, "args": {"name": format!("PE {me}")}}),
        );
        Ok(trace)
    }

    pub(super) fn add(&self, call: &Call<'_>, begun: u64, nanoseconds: u64) {
        let caller = CallSite::of(call.location);
        let mut args = json!({"at": caller.to_string()});
        if let Some(pe) = call.pe {
            args["pe"] = json!(pe.number());
        }
        if call.bytes > 0 {
            args["bytes"] = json!(call.bytes);
        }
        if let Some(plan) = call.plan {
            args["plan"] = json!(plan.to_string());
        }
        if let Some(barrier) = call.barrier {
            args["team"] = json!(barrier.team);
        }
        if call.endpoint != 0 {
            args["context"] = json!(call.endpoint);
        }
        self.write(&json!({
            "name": call.family.name(),
            "cat": call.family.effect().to_string(),
            "ph": "X",
            "pid": self.me,
            "tid": thread_number(),
            "ts": begun as f64 / 1e3,
            "dur": nanoseconds as f64 / 1e3,
            "args": args,
        }));
    }

    pub(super) fn save(&self) {
        self.flush(&mut self.buffer.lock());
    }

    pub(super) fn conclude(&self, bootstrap: &dyn Bootstrap) -> io::Result<()> {
        self.save();
        bootstrap.fence()?;
        if self.ends {
            let last = json!({"name": "end", "ph": "M", "pid": self.me, "args": {}});
            self.buffer.lock().extend_from_slice(format!("{last}\n]\n").as_bytes());
            self.save();
        }
        Ok(())
    }

    fn write(&self, event: &serde_json::Value) {
        let mut buffer = self.buffer.lock();
        buffer.extend_from_slice(format!("{event},\n").as_bytes());
        if buffer.len() >= BUFFER {
            self.flush(&mut buffer);
        }
    }

    fn flush(&self, buffer: &mut Vec<u8>) {
        // Errors are ignored, so that a full disk ends the trace, but not the program.
        if let Some(mut file) = self.file.get_or_init(|| join(&self.path).ok()).as_ref() {
            let _ = file.write_all(buffer);
        }
        buffer.clear();
    }
}

/// Makes the trace file. Replaces a file with the same name.
fn begin(path: &Path) -> io::Result<File> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => return Err(no_file()),
        // Another job may have removed the file since the check.
        Ok(_) => std::fs::remove_file(path).or_else(absent)?,
        Err(error) => absent(error)?,
    }
    let mut file = append(path, OpenOptions::new().create_new(true))?;
    file.write_all(b"[\n")?;
    Ok(file)
}

fn absent(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

fn no_file() -> io::Error {
    io::Error::other("it is a directory, a link or a device, and no file")
}

/// Opens the file that PE 0 has made, or makes a file if PE 0's is on another file system.
fn join(path: &Path) -> io::Result<File> {
    append(path, OpenOptions::new().create(true))
}

/// Opens a file for appending. Follows no link, does not block on a pipe, and refuses a file of another user.
fn append(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options.append(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC);
    let file = options.open(path)?;
    let found = file.metadata()?;
    match found.uid() {
        _ if !found.is_file() => Err(no_file()),
        user if user != rustix::process::geteuid().as_raw() => {
            Err(io::Error::other(format!("it is a file of user {user}")))
        }
        _ => Ok(file),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_own_files_are_written_to() {
        let directory = tempfile::tempdir().unwrap();
        let (path, victim) = (directory.path().join("trace"), directory.path().join("victim"));
        for target in [&victim, &directory.path().join("nowhere")] {
            std::fs::write(&victim, "precious").unwrap();
            symlink(target, &path).unwrap();
            assert!(begin(&path).is_err() && join(&path).is_err(), "a link");
            std::fs::remove_file(&path).unwrap();
        }
        assert!(!directory.path().join("nowhere").exists());
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
        let pipe = directory.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        for path in [Path::new("/dev/null"), directory.path(), &pipe] {
            assert!(begin(path).is_err() && join(path).is_err(), "{}", path.display());
            assert!(path.exists());
        }
        if std::os::unix::fs::chown(&victim, Some(65534), None).is_ok() {
            assert!(join(&victim).is_err(), "a file of another user");
        }
    }

    #[test]
    fn all_append_to_one_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace");
        std::fs::write(&path, "of another job").unwrap();
        let (mut first, mut second) = (begin(&path).unwrap(), join(&path).unwrap());
        first.write_all(b"1\n").unwrap();
        second.write_all(b"2\n").unwrap();
        first.write_all(b"3\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "[\n1\n2\n3\n");
    }
}
