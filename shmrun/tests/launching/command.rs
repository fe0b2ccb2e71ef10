//! `shmrun` and this test's own binary as commands, and what they say.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

/// This test's binary.
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

/// Whoever runs the tests may ignore signals (`nohup` does, and a shell without job control, for what
/// it runs in the background).
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
