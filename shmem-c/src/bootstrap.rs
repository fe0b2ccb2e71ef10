//! `shmemx_init_with`: makes a job of processes that MPI or another framework has started. They exchange bytes by callbacks that
//! the program passes.

use std::ffi::{CString, c_char, c_int, c_long, c_void};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use shmem::bootstrap::ProcessManager;

/// `shmemx_bootstrap_t`: which of the job's processes this one is, and functions by which they exchange bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Bootstrap {
    state: *mut c_void,
    pe: c_int,
    n_pes: c_int,
    put: Option<unsafe extern "C" fn(*mut c_void, *const c_char, *const c_void, usize) -> c_int>,
    fence: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
    get: Option<unsafe extern "C" fn(*mut c_void, c_int, *const c_char, *mut c_void, usize) -> c_long>,
    abort: Option<unsafe extern "C" fn(*mut c_void, c_int)>,
}

// SAFETY: the program keeps `state` valid, and allows calls from any thread (`shmemx.h`).
unsafe impl Send for Bootstrap {}
// SAFETY: the runtime makes one call at a time, except `abort`, which may run at any time (`shmemx.h`).
unsafe impl Sync for Bootstrap {}

static JOINED: AtomicBool = AtomicBool::new(false);

/// Whether the last `shmem_finalize` left a job that `shmemx_init_with` had joined. From then on `abort` is not called, because the
/// program may have freed `state`.
static LEFT: AtomicBool = AtomicBool::new(false);

pub(crate) fn join() {
    JOINED.store(true, Ordering::Release);
}

pub(crate) fn is_joined() -> bool {
    JOINED.load(Ordering::Acquire) && !has_left()
}

pub(crate) fn leave() {
    LEFT.store(true, Ordering::Release);
}

pub(crate) fn has_left() -> bool {
    LEFT.load(Ordering::Acquire)
}

impl Bootstrap {
    /// Returns why a field is invalid, if one is.
    pub(crate) fn mistake(&self) -> Option<String> {
        let is_there = [self.put.is_some(), self.fence.is_some(), self.get.is_some(), self.abort.is_some()];
        let missing =
            ["put", "fence", "get", "abort"].into_iter().zip(is_there).find(|(_, is_there)| !is_there);
        if let Some((name, _)) = missing {
            return Some(format!("has no function {name}: put, fence, get and abort are needed"));
        }
        let fits = (0..self.n_pes).contains(&self.pe);
        (!fits).then(|| format!("has pe {} of n_pes {}: processes are 0 to n_pes - 1", self.pe, self.n_pes))
    }
}

fn key(key: &str) -> io::Result<CString> {
    CString::new(key).map_err(io::Error::other)
}

fn checked(function: &str, status: c_int) -> io::Result<()> {
    if status == 0 { Ok(()) } else { Err(failed(function, status.into())) }
}

fn failed(function: &str, code: i64) -> io::Error {
    io::Error::other(format!("the program's function {function} failed ({code})"))
}

impl ProcessManager for Bootstrap {
    fn number(&self) -> usize {
        self.pe as usize
    }

    fn count(&self) -> usize {
        self.n_pes as usize
    }

    fn put(&self, name: &str, value: &[u8]) -> io::Result<()> {
        let (put, name) = (self.put.ok_or_else(|| failed("put", -1))?, key(name)?);
        // SAFETY: `put` is the program's function, and its arguments are a zero-terminated string, and a value with its length.
        let status = unsafe { put(self.state, name.as_ptr(), value.as_ptr().cast(), value.len()) };
        checked("put", status)
    }

    fn fence(&self) -> io::Result<()> {
        let fence = self.fence.ok_or_else(|| failed("fence", -1))?;
        // SAFETY: `fence` is the program's function, for this `state`.
        checked("fence", unsafe { fence(self.state) })
    }

    fn get(&self, process: usize, name: &str) -> io::Result<Vec<u8>> {
        let (get, name) = (self.get.ok_or_else(|| failed("get", -1))?, key(name)?);
        let mut value = vec![0; 1024];
        loop {
            let room = value.len();
            let into = value.as_mut_ptr().cast();
            // SAFETY: `get` is the program's function, and its arguments are a zero-terminated string, and a buffer with its size.
            let bytes = unsafe { get(self.state, process as c_int, name.as_ptr(), into, room) };
            let bytes = usize::try_from(bytes).map_err(|_| failed("get", bytes))?;
            value.resize(bytes, 0);
            if bytes <= room {
                return Ok(value);
            }
        }
    }

    fn abort(&self, code: i32) {
        if let Some(abort) = self.abort.filter(|_| !has_left()) {
            // SAFETY: `abort` is the program's function, for this `state`, which is valid until `leave`.
            unsafe { abort(self.state, code) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One value, kept by what it points to.
    unsafe extern "C" fn put(
        state: *mut c_void,
        _: *const c_char,
        value: *const c_void,
        bytes: usize,
    ) -> c_int {
        // SAFETY: the vector of the test.
        let kept = unsafe { &mut *state.cast::<Vec<u8>>() };
        // SAFETY: a value of so many bytes.
        let value = unsafe { std::slice::from_raw_parts(value.cast(), bytes) };
        kept.clear();
        kept.extend_from_slice(value);
        0
    }

    unsafe extern "C" fn get(
        state: *mut c_void,
        process: c_int,
        _: *const c_char,
        value: *mut c_void,
        bytes: usize,
    ) -> c_long {
        // SAFETY: the vector of the test.
        let kept = unsafe { &*state.cast::<Vec<u8>>() };
        // SAFETY: room for so many bytes.
        unsafe { std::ptr::copy_nonoverlapping(kept.as_ptr(), value.cast(), bytes.min(kept.len())) };
        if process == 0 { kept.len() as c_long } else { -2 }
    }

    unsafe extern "C" fn fence(_: *mut c_void) -> c_int {
        7
    }

    unsafe extern "C" fn abort(_: *mut c_void, _: c_int) {
        unreachable!("nobody calls it behind the end");
    }

    #[test]
    fn values_of_any_length_come_back() {
        let mut kept: Vec<u8> = Vec::new();
        let state = (&raw mut kept).cast();
        let ours = Bootstrap {
            state,
            pe: 0,
            n_pes: 1,
            put: Some(put),
            fence: Some(fence),
            get: Some(get),
            abort: Some(abort),
        };
        for bytes in [0, 1, 1023, 1024, 1025, 5000] {
            let value: Vec<u8> = (0..bytes).map(|k| k as u8).collect();
            ours.put("key", &value).unwrap();
            assert_eq!(ours.get(0, "key").unwrap(), value);
        }
        let said = |error: io::Error| error.to_string();
        assert_eq!(said(ours.get(1, "key").unwrap_err()), "the program's function get failed (-2)");
        assert_eq!(said(ours.fence().unwrap_err()), "the program's function fence failed (7)");
        assert_eq!(ours.mistake(), None);
        leave();
        ours.abort(1);
        let wrong = Bootstrap { pe: 1, ..ours };
        assert_eq!(wrong.mistake().unwrap(), "has pe 1 of n_pes 1: processes are 0 to n_pes - 1");
        let without = Bootstrap { get: None, ..ours };
        assert_eq!(without.mistake().unwrap(), "has no function get: put, fence, get and abort are needed");
    }
}
