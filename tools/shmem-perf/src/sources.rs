//! What a build leaves beside this program: found there, or built where the sources are.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Why something is not there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Missing {
    #[error("the file of this program is not known: {0}")]
    Program(#[from] io::Error),
    #[error("{file} is not beside this program: `cargo build --release {built_by}` in the sources builds it")]
    File { file: PathBuf, built_by: String },
    #[error("`cargo build {built_by}` has failed: {said}")]
    Build { built_by: String, said: String },
}

/// A file beside this program, where a build leaves it; built, by these arguments of `cargo build`, if it is not there and the
/// sources are.
pub(crate) fn built(name: &str, arguments: &[&str]) -> Result<PathBuf, Missing> {
    let this = std::env::current_exe()?;
    let file = this.with_file_name(name);
    let sources = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"));
    if !file.is_file() && sources.is_file() {
        build(&this, sources, arguments)?;
    }
    let missing = || Missing::File { file: file.clone(), built_by: arguments.join(" ") };
    file.is_file().then_some(file.clone()).ok_or_else(missing)
}

/// Builds into the directory of a program.
fn build(this: &Path, sources: &Path, arguments: &[&str]) -> Result<(), Missing> {
    // target/release/shmem-perf
    let Some(target) = this.ancestors().nth(2) else { return Ok(()) };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet"]).args(arguments).arg("--manifest-path").arg(sources);
    build.args((!cfg!(debug_assertions)).then_some("--release")).env("CARGO_TARGET_DIR", target);
    let failed = |said: String| Missing::Build { built_by: arguments.join(" "), said };
    let output = build.output().map_err(|error| failed(error.to_string()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(failed(said.trim().to_owned())) }
}
