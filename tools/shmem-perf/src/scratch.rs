//! A directory for files that go away again, which nobody else may look into.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The directory. It goes away with this, and all that is in it.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// A new one, among temporary files.
    pub(crate) fn new() -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("shmem-perf-{}-{number}", std::process::id());
            let directory = std::env::temp_dir().join(name);
            match DirBuilder::new().mode(0o700).create(&directory) {
                Ok(()) => return Ok(Self(directory)),
                // Left by a process of the same number that was ended by force, or by somebody who guessed it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left lies among temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn it_is_the_users_alone_and_nobody_takes_its_place() {
        let victim = tempfile::tempdir().unwrap();
        // Whoever guesses the next names leaves links there.
        let guessed =
            |number| std::env::temp_dir().join(format!("shmem-perf-{}-{number}", std::process::id()));
        let links: Vec<_> =
            (0..50).map(guessed).filter(|link| symlink(victim.path(), link).is_ok()).collect();
        let scratch = Scratch::new().unwrap();
        links.iter().for_each(|link| std::fs::remove_file(link).unwrap());
        let found = std::fs::symlink_metadata(scratch.path()).unwrap();
        assert!(found.is_dir() && found.permissions().mode() & 0o777 == 0o700);
        std::fs::write(scratch.path().join("file"), "text").unwrap();
        assert_eq!(std::fs::read_dir(victim.path()).unwrap().count(), 0);
        let path = scratch.path().to_owned();
        drop(scratch);
        assert!(!path.exists());
    }
}
