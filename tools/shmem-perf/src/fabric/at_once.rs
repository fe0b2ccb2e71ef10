//! A libfabric whose writes are complete at once: `fabric-shim`, which has a switch for it.

use std::ffi::c_int;
use std::path::PathBuf;

use shmem_core::loader::Loaded;

use crate::sources::{self, Missing};

/// The shim's file, and its package.
const FILE: &str = "libfabric_shim.so";
const PACKAGE: &str = "fabric-shim";

/// The shim: beside this program, where a build leaves it; built if it is not there and the sources are.
///
/// # Errors
///
/// If it is neither there nor can it be built.
pub fn library() -> Result<PathBuf, Missing> {
    sources::built(FILE, &["-p", PACKAGE, "--lib"])
}

/// The switch of a shim that this process has loaded.
#[derive(Clone, Copy, Debug)]
pub struct Switch(extern "C" fn(c_int));

impl Switch {
    /// That of the library that this process has loaded as its libfabric, if it has one.
    ///
    /// # Safety
    ///
    /// The library is loaded, so that nothing of it runs for the first time.
    pub unsafe fn of(library: &str) -> Option<Self> {
        // SAFETY: what its initialisers do is done (caller).
        let library = unsafe { Loaded::open(library) }.ok()?;
        // SAFETY: the one function of that name is the shim's, and has this type.
        unsafe { library.function(c"fabric_shim_at_once", None) }.ok().map(Self)
    }

    /// Does something while writes are complete at once and reach nobody. Nothing is under way before.
    pub fn during<R>(self, body: impl FnOnce() -> R) -> R {
        (self.0)(1);
        let result = body();
        (self.0)(0);
        result
    }
}
