//! [`LaunchError`]: why a job could not be started.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

/// The error for a job that did not start. None of its processes is left.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct LaunchError {
    text: String,
    code: u8,
}

impl LaunchError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), code: 2 }
    }

    pub(crate) fn missing(text: String) -> Self {
        Self { text, code: 127 }
    }

    /// Returns the exit code that shells use: 127 for a missing program or launcher, 126 for a program that cannot be run, else 2.
    pub fn code(&self) -> u8 {
        self.code
    }

    pub(crate) fn process(pe: usize, why: &io::Error) -> Self {
        let remedy = match why.kind() {
            io::ErrorKind::WouldBlock => {
                "; raise the limit of this user's processes (ulimit -u), or start fewer"
            }
            _ => "",
        };
        Self::new(format!("the process of PE {pe} could not be started: {why}{remedy}"))
    }

    /// Returns the error for a program that the kernel did not run as a PE.
    pub(crate) fn program(pe: usize, program: &OsStr, why: &io::Error) -> Self {
        let (name, file) = (program.display(), Path::new(program));
        let is_path = program.as_encoded_bytes().contains(&b'/');
        match why.raw_os_error() {
            Some(libc::ENOENT) if is_path && file.exists() => Self {
                text: format!("`{name}` cannot be run: its interpreter or loader is missing"),
                code: 126,
            },
            Some(libc::ENOENT) if !is_path && file.is_file() => Self::missing(format!(
                "there is no program `{name}`; a file of that name is in this directory: did you mean `./{name}`?"
            )),
            Some(libc::ENOENT) => Self::missing(format!("there is no program `{name}`")),
            Some(libc::EACCES) => Self { text: format!("`{name}` cannot be run: {why}"), code: 126 },
            _ => Self::process(pe, why),
        }
    }

    pub(crate) fn system(what: &'static str) -> impl Fn(io::Error) -> Self {
        move |why| Self::new(format!("{what}: {why}"))
    }
}
