//! `shmrun` and this test's own binary as commands.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

pub(crate) fn itself() -> std::path::PathBuf {
    std::env::current_exe().unwrap()
}

/// `shmrun`, without input.
pub(crate) fn bare_shmrun(options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shmrun"));
    command.args(options).stdin(Stdio::null());
    with_default_signals(&mut command);
    command
}

/// Restores signals that the caller of the tests may ignore (`nohup`, or a background job of a shell without job control).
pub(crate) fn with_default_signals(command: &mut Command) {
    let default = || {
        for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP] {
            // SAFETY: allowed between `fork` and `exec`; no handler is installed.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: the closure makes system calls only.
    unsafe { command.pre_exec(default) };
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
