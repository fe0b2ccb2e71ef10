//! Machines that tests invent.

use shmem_core::root::Root;

/// A machine made of files, gone when dropped.
pub(crate) struct Machine(tempfile::TempDir);

impl Machine {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            let path = machine.0.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        machine
    }

    pub(crate) fn root(&self) -> Root {
        Root::at(self.0.path())
    }
}
