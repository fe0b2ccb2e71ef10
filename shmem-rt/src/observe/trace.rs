//! The trace of a job (`SHMEM_TRACE`), in the Trace Event Format of Chrome, which Perfetto reads as well.
//!
//! All PEs append to one file, each in whole lines of its own buffer: every append is one write to a file
//! opened for appending, so lines are not mixed. The file is a list of events, of which the format allows
//! the end to be missing; so what a job leaves that was ended by force can be looked at, too. At an orderly
//! end PE 0 closes the list. Where PEs share no file system, `%p` in the name is the PE's number, and each
//! has a file of its own.
//!
//! Source: "Trace Event Format" (complete events `X`, metadata events `M`).

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::json;
use shmem_core::observe::Call;

use crate::bootstrap::Bootstrap;
use crate::error::{Error, Result};

/// Bytes that are collected before they are written.
const BUFFER: usize = 256 << 10;

/// The trace of one PE.
pub(super) struct Trace {
    me: usize,
    /// Whether it is this PE that ends the file.
    ends: bool,
    file: File,
    buffer: Mutex<Vec<u8>>,
}

impl Trace {
    /// Opens the file; PE 0 makes it.
    pub(super) fn create(path: &str, me: usize) -> Result<Self> {
        let ends = me == 0 || path.contains("%p");
        let path = path.replace("%p", &me.to_string());
        let fault = |error: io::Error| Error::Trace { path: path.clone(), error: error.to_string() };
        // Nobody appends before it is there: `announce`.
        if ends {
            File::create(&path).and_then(|mut file| file.write_all(b"[\n")).map_err(fault)?;
        }
        let file = OpenOptions::new().append(true).create(true).open(&path).map_err(fault)?;
        let trace = Self { me, ends, file, buffer: Mutex::default() };
        trace.write(
            &json!({"name": "process_name", "ph": "M", "pid": me, "args": {"name": format!("PE {me}")}}),
        );
        Ok(trace)
    }

    /// Adds a call that has ended.
    pub(super) fn add(&self, call: &Call<'_>, begun: u64, nanoseconds: u64) {
        let mut args = json!({"at": format!("{}:{}", call.location.file(), call.location.line())});
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

    /// Writes what has been collected.
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
        let _ = (&self.file).write_all(buffer);
        buffer.clear();
    }

    fn buffer(&self) -> MutexGuard<'_, Vec<u8>> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of the calling thread among those of this process that issue operations.
fn thread() -> u32 {
    static THREADS: AtomicU32 = AtomicU32::new(0);
    thread_local! {
        static MINE: Cell<Option<u32>> = const { Cell::new(None) };
    }
    MINE.get().unwrap_or_else(|| {
        let number = THREADS.fetch_add(1, Ordering::Relaxed);
        MINE.set(Some(number));
        number
    })
}
