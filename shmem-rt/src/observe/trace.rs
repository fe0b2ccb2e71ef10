//! The trace of a job (`SHMEM_TRACE`), in the Trace Event Format of Chrome, which Perfetto reads as well.
//!
//! All PEs append to one file, each in whole lines of its own buffer: every append is one write to a file
//! opened for appending, so lines are not mixed. The file is a list of events, of which the format allows
//! the end to be missing; so what a job leaves that was ended by force can be looked at, too. At an orderly
//! end PE 0 closes the list. Where PEs share no file system, `%p` in the name is the PE's number, and each
//! has a file of its own.
//!
//! Source: "Trace Event Format" (complete events `X`, metadata events `M`).

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{MutexGuard, OnceLock};

use rustix::fs::OFlags;
use serde_json::json;
use shmem_core::exclusion::Mutex;
use shmem_core::observe::Call;
use shmem_launch::bootstrap::Bootstrap;

use crate::caller::Caller;
use crate::error::{ErrorKind, Result};

/// Bytes that are collected before they are written.
const BUFFER: usize = 256 << 10;

pub(super) struct Trace {
    me: usize,
    /// Whether it is this PE that ends the file.
    ends: bool,
    path: PathBuf,
    /// Of a PE that does not begin the file: opened when there is first something to write, behind whoever begins it.
    file: OnceLock<Option<File>>,
    buffer: Mutex<Vec<u8>>,
}

impl Trace {
    /// Opens the file; PE 0 makes it.
    pub(super) fn create(path: &str, me: usize) -> Result<Self> {
        let ends = me == 0 || path.contains("%p");
        let path = path.replace("%p", &me.to_string());
        let fault = |error: io::Error| {
            ErrorKind::Start(format!(
                "SHMEM_TRACE={path}: {error}; name a file that can be written, or unset it"
            ))
        };
        // Nobody appends before it is there: `announce`.
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

    /// Adds a call that has ended.
    pub(super) fn add(&self, call: &Call<'_>, begun: u64, nanoseconds: u64) {
        let caller = Caller::of(call.location);
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
        if let Some(meeting) = call.meeting {
            args["team"] = json!(meeting.team);
        }
        if call.endpoint != 0 {
            args["context"] = json!(call.endpoint);
        }
        self.write(&json!({
            "name": call.family.name(),
            "cat": call.family.effect().to_string(),
            "ph": "X",
            "pid": self.me,
            "tid": thread(),
            "ts": begun as f64 / 1e3,
            "dur": nanoseconds as f64 / 1e3,
            "args": args,
        }));
    }

    pub(super) fn save(&self) {
        self.flush(&mut self.buffer());
    }

    /// Ends the file, together with all PEs.
    pub(super) fn conclude(&self, bootstrap: &dyn Bootstrap) -> io::Result<()> {
        self.save();
        bootstrap.fence()?;
        if self.ends {
            let last = json!({"name": "end", "ph": "M", "pid": self.me, "args": {}});
            self.buffer().extend_from_slice(format!("{last}\n]\n").as_bytes());
            self.save();
        }
        Ok(())
    }

    fn write(&self, event: &serde_json::Value) {
        let mut buffer = self.buffer();
        buffer.extend_from_slice(format!("{event},\n").as_bytes());
        if buffer.len() >= BUFFER {
            self.flush(&mut buffer);
        }
    }

    fn flush(&self, buffer: &mut Vec<u8>) {
        // A disk that is full must not end the program: the trace ends there.
        if let Some(mut file) = self.file.get_or_init(|| join(&self.path).ok()).as_ref() {
            let _ = file.write_all(buffer);
        }
        buffer.clear();
    }

    fn buffer(&self) -> MutexGuard<'_, Vec<u8>> {
        self.buffer.lock()
    }
}

/// Opens the file anew. What bears its name may be a link that somebody else has left, and lead anywhere: a file or a link is removed, and
/// what a link leads to stays. What a terminal, a pipe or a device gets goes on.
fn begin(path: &Path) -> io::Result<File> {
    let anew = || match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => append(path, true),
    };
    let mut file = if is_stream(path)? { append(path, false) } else { again(anew) }?;
    file.write_all(b"[\n")?;
    Ok(file)
}

/// Opens the file that PE 0 has made; on another file system it is the first of its own.
fn join(path: &Path) -> io::Result<File> {
    again(|| match append(path, false) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => append(path, true),
        opened => opened,
    })
}

/// Opens a file, where somebody else may make one of the same name meanwhile.
fn again(open: impl Fn() -> io::Result<File>) -> io::Result<File> {
    for _ in 0..16 {
        match open() {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened,
        }
    }
    Err(io::Error::other("somebody makes it again and again"))
}

/// Whether it is a terminal, a pipe or a device, and not a file, or nothing.
fn is_stream(path: &Path) -> io::Result<bool> {
    let kind = match std::fs::symlink_metadata(path) {
        Ok(found) => found.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    if kind.is_dir() {
        return Err(io::Error::other("it is a directory"));
    }
    // No link is removed that stands for a device, as /dev/stdout does.
    if kind.is_symlink() && std::fs::metadata(path).is_ok_and(|target| !target.is_file()) {
        return Err(io::Error::other("it is a link to what is no file"));
    }
    Ok(!kind.is_file() && !kind.is_symlink())
}

/// Opens a file to append to, or makes a new one: no link is followed, and no file of another user is written to.
fn append(path: &Path, new: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // A pipe that nobody reads would hold up the start, and nobody would know why.
    let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
    options.append(true).create_new(new).custom_flags(flags);
    let file = options.open(path).map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => io::Error::other("it is a link, which is not followed"),
        Some(libc::ENXIO) => io::Error::other("nobody reads it: start who is to read it first"),
        _ => error,
    })?;
    let found = file.metadata()?;
    if found.is_file() && found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other(format!("it is a file of user {}", found.uid())));
    }
    // Whoever reads it may be slow.
    rustix::fs::fcntl_setfl(&file, OFlags::APPEND)?;
    Ok(file)
}

/// The number of the calling thread among those of this process that issue operations.
fn thread() -> u32 {
    static THREADS: AtomicU32 = AtomicU32::new(0);
    thread_local! {
        static MINE: u32 = THREADS.fetch_add(1, Ordering::Relaxed);
    }
    MINE.with(|number| *number)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};

    use rustix::fs::{CWD, FileType, Mode, fcntl_getfl, mknodat};

    use super::*;

    fn read(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    /// A directory that all may write to and in which nobody removes what is another's, as that for temporary files.
    fn sticky() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
        directory
    }

    #[test]
    fn what_a_link_leads_to_stays() {
        for user in [None, Some(65534)] {
            let directory = sticky();
            let (path, victim) = (directory.path().join("trace"), directory.path().join("victim"));
            std::fs::write(&victim, "precious").unwrap();
            symlink(&victim, &path).unwrap();
            if user.is_some() && lchown(&path, user, None).is_err() {
                return eprintln!("skipped: only root makes links of other users");
            }
            drop(begin(&path).unwrap());
            assert_eq!((read(&victim), read(&path)), ("precious".to_owned(), "[\n".to_owned()));
            assert!(std::fs::symlink_metadata(&path).unwrap().is_file());
        }
    }

    #[test]
    fn others_follow_no_link_either() {
        let directory = sticky();
        let (path, victim) = (directory.path().join("trace"), directory.path().join("victim"));
        for target in [&victim, &directory.path().join("nowhere")] {
            std::fs::write(&victim, "precious").unwrap();
            symlink(target, &path).unwrap();
            assert_eq!(join(&path).unwrap_err().to_string(), "it is a link, which is not followed");
            std::fs::remove_file(&path).unwrap();
        }
        assert!(!directory.path().join("nowhere").exists() && read(&victim) == "precious");
        if std::os::unix::fs::chown(&victim, Some(65534), None).is_ok() {
            assert_eq!(join(&victim).unwrap_err().to_string(), "it is a file of user 65534");
        }
    }

    #[test]
    fn all_append_to_one_file_and_devices_stay() {
        let directory = sticky();
        let path = directory.path().join("trace");
        std::fs::write(&path, "of another job").unwrap();
        let (mut first, mut second) = (begin(&path).unwrap(), join(&path).unwrap());
        first.write_all(b"1\n").unwrap();
        second.write_all(b"2\n").unwrap();
        first.write_all(b"3\n").unwrap();
        assert_eq!(read(&path), "[\n1\n2\n3\n");
        assert!(begin(Path::new("/dev/null")).is_ok());
        assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
        let link = directory.path().join("link");
        symlink("/dev/null", &link).unwrap();
        assert_eq!(begin(&link).unwrap_err().to_string(), "it is a link to what is no file");
        assert_eq!(begin(directory.path()).unwrap_err().to_string(), "it is a directory");
    }

    #[test]
    fn nobody_is_waited_for_to_read_a_pipe_but_who_reads_it_slowly() {
        let directory = sticky();
        let path = directory.path().join("pipe");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert!(begin(&path).unwrap_err().to_string().starts_with("nobody reads it"));
        let _reader = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&path).unwrap();
        assert!(!fcntl_getfl(begin(&path).unwrap()).unwrap().contains(OFlags::NONBLOCK));
    }
}
