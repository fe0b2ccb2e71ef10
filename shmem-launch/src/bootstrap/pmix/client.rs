//! The PMIx calls that a job needs, with Rust types.

use std::ffi::{CStr, CString, c_char};
use std::io;
use std::sync::RwLockReadGuard;

use shmem_core::exclusion::RwLock;
use shmem_core::loader::keep_signal_handlers;

use super::bindings::*;
use super::library::Library;
use crate::bootstrap::process_manager::{ProcessManager, left as left_job, numbered, unknown};

pub(in crate::bootstrap) struct Client {
    library: &'static Library,
    me: pmix_proc_t,
    /// Whether this client has left the job. Each PMIx call holds the read lock, because after the client has left, the library is
    /// shut down or only MPI uses it.
    left: RwLock<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fact {
    Number(u64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Client {
    /// Joins the job. Returns `None` if there is no server, because no PMIx launcher has started this process.
    pub(super) fn connect(library: &'static Library) -> io::Result<Option<Self>> {
        let mut me = pmix_proc_t { nspace: [0; 256], rank: PMIX_RANK_UNDEF };
        // SAFETY: `me` has space for this process's identity. The array of further information is empty.
        let join = || unsafe { (library.init)(&raw mut me, std::ptr::null_mut(), 0) };
        // SAFETY: `PMIx_Init` loads components, which may install signal handlers, but free no other handlers.
        let status = unsafe { keep_signal_handlers(join) };
        if status == PMIX_ERR_UNREACH {
            return Ok(None);
        }
        check(library, "PMIx_Init", status).map_err(|error| {
            io::Error::other(format!(
                "{error}; set SHMEM_SINGLETON=1 to run the program without its launcher"
            ))
        })?;
        Ok(Some(Self { library, me, left: RwLock::new(false) }))
    }

    /// Returns a guard that keeps this client from leaving the job while it lives.
    fn stay(&self) -> io::Result<RwLockReadGuard<'_, bool>> {
        let left = self.left.read();
        if *left {
            return Err(left_job(self.me.rank as usize));
        }
        Ok(left)
    }

    /// Returns the value of `key` for a process, or for the job (`PMIX_RANK_WILDCARD`).
    fn fact(&self, rank: u32, key: &CStr) -> io::Result<Fact> {
        let _staying = self.stay()?;
        let process = pmix_proc_t { rank, ..self.me };
        let mut value = std::ptr::null_mut();
        // SAFETY: `_staying` keeps this client joined. `process` is of this job, `key` is a C string, the array of information is
        // empty, and `value` has space for the address of an answer, which this client then owns.
        let status = unsafe {
            (self.library.get)(&raw const process, key.as_ptr(), std::ptr::null(), 0, &raw mut value)
        };
        let what = || format!("PMIx_Get of `{}` of process {rank}", key.to_string_lossy());
        check(self.library, &what(), status)?;
        // SAFETY: after success `value` is an answer of `PMIx_Get`, which only this function knows.
        unsafe { take(value) }.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{}: the answer is of no known type", what()))
        })
    }

    fn known_count(&self) -> io::Result<u32> {
        match self.fact(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE)? {
            Fact::Number(count) if (1..=u64::from(u32::MAX)).contains(&count) => Ok(count as u32),
            other => Err(unknown(format!("{other:?} processes"))),
        }
    }
}

impl ProcessManager for Client {
    fn name(&self) -> &'static str {
        "PMIx"
    }

    fn number(&self) -> usize {
        self.me.rank as usize
    }

    fn count(&self) -> usize {
        // Returns 0 if the launcher does not know the count. Then `hosts` fails.
        self.known_count().map_or(0, |count| count as usize)
    }

    fn hosts(&self) -> io::Result<Vec<u32>> {
        let (count, me) = (self.known_count()?, self.me.rank);
        if me >= count {
            return Err(unknown(format!("process {me} of {count}")));
        }
        if count == 1 {
            return Ok(vec![0]);
        }
        let host = |rank| self.fact(rank, PMIX_NODEID).or_else(|_| self.fact(rank, PMIX_HOSTNAME));
        Ok(numbered((0..count).map(host).collect::<io::Result<Vec<Fact>>>()?))
    }

    fn put(&self, key: &str, value: &[u8]) -> io::Result<()> {
        let key = text(key)?;
        let _staying = self.stay()?;
        let bytes = pmix_byte_object_t { bytes: value.as_ptr().cast_mut().cast(), size: value.len() };
        let mut value = empty_value();
        value.type_ = PMIX_BYTE_OBJECT;
        value.data.bo = bytes;
        // SAFETY: `_staying` keeps this client joined. `key` is a C string. PMIx copies `value`, and does not write to it.
        let status = unsafe { (self.library.put)(PMIX_GLOBAL, key.as_ptr(), &raw mut value) };
        check(self.library, "PMIx_Put", status)?;
        // SAFETY: `_staying` keeps this client joined. There are no arguments.
        let status = unsafe { (self.library.commit)() };
        check(self.library, "PMIx_Commit", status)
    }

    fn fence(&self) -> io::Result<()> {
        // Collect data from all processes, because otherwise a fence of Slurm 22.05 does not wait for other nodes.
        let mut collect = pmix_info { key: [0; 512], flags: 0, value: empty_value() };
        for (to, from) in collect.key.iter_mut().zip(PMIX_COLLECT_DATA.to_bytes()) {
            *to = *from as c_char;
        }
        collect.value.type_ = PMIX_BOOL;
        collect.value.data.flag = true;
        let _staying = self.stay()?;
        // SAFETY: `_staying` keeps this client joined. A null list of processes means the whole job. `collect` outlives the call.
        let status = unsafe { (self.library.fence)(std::ptr::null(), 0, &raw const collect, 1) };
        check(self.library, "PMIx_Fence", status)
    }

    fn get(&self, process: usize, key: &str) -> io::Result<Vec<u8>> {
        match self.fact(process as u32, &text(key)?)? {
            Fact::Bytes(bytes) => Ok(bytes),
            other => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("PE {process} put bytes under `{key}`, and the launcher gives {other:?}"),
            )),
        }
    }

    fn abort(&self, code: i32) {
        // `try_read`, because another thread may hold the lock in `leave`, waiting for a fence that never ends.
        let Some(_staying) = self.left.try_read().filter(|left| !**left) else { return };
        // SAFETY: `_staying` keeps this client joined. The text is a C string. A null list of processes means the whole job.
        let _ = unsafe { (self.library.abort)(code, c"".as_ptr(), std::ptr::null_mut(), 0) };
    }

    fn leave(&self) {
        let mut left = self.left.write();
        if std::mem::replace(&mut left, true) {
            return;
        }
        // SAFETY: this client has joined, and leaves once. The write lock excludes other calls, now and later (`left`). The array
        // of information is empty. If MPI uses the library in this process, PMIx counts its initialisation separately.
        let _ = unsafe { (self.library.finalize)(std::ptr::null(), 0) };
    }
}

/// Returns the content of an answer of `PMIx_Get`, and frees the answer. Returns `None` if the content is no [`Fact`].
///
/// # Safety
///
/// `value` must be an answer of `PMIx_Get`, and used by no other code.
unsafe fn take(value: *mut pmix_value_t) -> Option<Fact> {
    // SAFETY: `value` is an answer (caller).
    let pmix_value_t { type_, data } = unsafe { value.read() };
    let number = |number: u64| Some(Fact::Number(number));
    // Launchers use integer types of different sizes for the same key.
    let fact = match type_ {
        // SAFETY: `type_` says that this field was written.
        PMIX_SIZE => number(unsafe { data.size } as u64),
        // SAFETY: `type_` says that this field was written.
        PMIX_INT | PMIX_INT32 => number(i64::from(unsafe { data.int32 }).cast_unsigned()),
        // SAFETY: `type_` says that this field was written.
        PMIX_INT64 => number(unsafe { data.int64 }.cast_unsigned()),
        // SAFETY: `type_` says that this field was written.
        PMIX_UINT | PMIX_UINT32 | PMIX_PROC_RANK => number(unsafe { data.uint32 }.into()),
        // SAFETY: `type_` says that this field was written.
        PMIX_UINT64 => number(unsafe { data.uint64 }),
        PMIX_STRING => {
            // SAFETY: `type_` says that this field was written.
            let text = unsafe { data.string };
            let fact = Fact::Text(match text.is_null() {
                true => String::new(),
                // SAFETY: a string of PMIx is a C string, and `text` is not null.
                false => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
            });
            // SAFETY: PMIx allocates with `malloc`, and the receiver of an answer owns its text.
            unsafe { libc::free(text.cast()) };
            Some(fact)
        }
        PMIX_BYTE_OBJECT => {
            // SAFETY: `type_` says that this field was written.
            let object = unsafe { data.bo };
            let bytes = match object.bytes.is_null() {
                true => Vec::new(),
                // SAFETY: `bytes` is not null, and has `size` bytes.
                false => unsafe { std::slice::from_raw_parts(object.bytes.cast(), object.size) }.to_vec(),
            };
            // SAFETY: PMIx allocates with `malloc`, and the receiver of an answer owns its bytes.
            unsafe { libc::free(object.bytes.cast()) };
            Some(Fact::Bytes(bytes))
        }
        _ => None,
    };
    // SAFETY: PMIx allocates with `malloc`, and the receiver owns the answer (caller).
    unsafe { libc::free(value.cast()) };
    fact
}

fn empty_value() -> pmix_value_t {
    // SAFETY: a `pmix_value_t` consists of integers and pointers, for which zeroes are valid.
    unsafe { std::mem::zeroed() }
}

fn text(key: &str) -> io::Result<CString> {
    CString::new(key).map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a key with a zero in it"))
}

fn check(library: &Library, what: &str, status: pmix_status_t) -> io::Result<()> {
    if status == PMIX_SUCCESS {
        return Ok(());
    }
    // SAFETY: `PMIx_Error_string` accepts any status.
    let words: *const c_char = unsafe { (library.error_string)(status) };
    let words = match words.is_null() {
        true => "unknown".into(),
        // SAFETY: `words` is not null, and a C string that is never freed.
        false => unsafe { CStr::from_ptr(words) }.to_string_lossy(),
    };
    let kind = match status {
        PMIX_ERR_NOT_FOUND => io::ErrorKind::NotFound,
        _ => io::ErrorKind::Other,
    };
    Err(io::Error::new(kind, format!("{what}: {words} ({status})")))
}

#[cfg(test)]
mod tests {
    use std::ffi::c_int;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Calls of a library that only counts them.
    static CALLS: AtomicUsize = AtomicUsize::new(0);

    macro_rules! counted {
        ($($name:ident($($of:ty),*) = $status:ident;)*) => {$(
            extern "C" fn $name($(_: $of),*) -> pmix_status_t {
                CALLS.fetch_add(1, Ordering::Relaxed);
                $status
            }
        )*};
    }
    counted! {
        init(*mut pmix_proc_t, *mut pmix_info, usize) = PMIX_SUCCESS;
        finalize(*const pmix_info, usize) = PMIX_SUCCESS;
        put(pmix_scope_t, *const c_char, *mut pmix_value_t) = PMIX_SUCCESS;
        commit() = PMIX_SUCCESS;
        fence(*const pmix_proc_t, usize, *const pmix_info, usize) = PMIX_SUCCESS;
        get(*const pmix_proc_t, *const c_char, *const pmix_info, usize, *mut *mut pmix_value_t) = PMIX_ERR_NOT_FOUND;
        abort(c_int, *const c_char, *mut pmix_proc_t, usize) = PMIX_SUCCESS;
    }

    extern "C" fn error_string(_: pmix_status_t) -> *const c_char {
        c"counted".as_ptr()
    }

    static COUNTED: Library = Library { init, finalize, put, commit, fence, get, abort, error_string };

    #[test]
    fn who_has_left_asks_the_library_for_nothing() {
        let client = Client::connect(&COUNTED).unwrap().unwrap();
        client.put("key", b"value").unwrap();
        client.fence().unwrap();
        assert_eq!(client.get(0, "key").unwrap_err().kind(), io::ErrorKind::NotFound);
        client.abort(1);
        assert_eq!(CALLS.load(Ordering::Relaxed), 6);
        client.leave();
        assert_eq!(CALLS.load(Ordering::Relaxed), 7);
        for error in [client.put("key", b"value"), client.fence(), client.get(0, "key").map(drop)] {
            let error = error.unwrap_err();
            assert!(error.to_string().contains("has left the job"), "{error}");
        }
        client.abort(1);
        client.leave();
        assert_eq!(CALLS.load(Ordering::Relaxed), 7);
    }
}
