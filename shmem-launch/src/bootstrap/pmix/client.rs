//! The calls of PMIx that a job needs, with types of Rust.

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
    /// Whether this client has left. Locked for reading during each call of PMIx: afterwards the library has shut down, or only
    /// MPI uses it.
    left: RwLock<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fact {
    Number(u64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Client {
    /// Joins the job; `None`: there is no server, because no launcher that speaks PMIx has started this process.
    pub(super) fn connect(library: &'static Library) -> io::Result<Option<Self>> {
        let mut me = pmix_proc_t { nspace: [0; 256], rank: PMIX_RANK_UNDEF };
        // SAFETY: room for this process's identity (`me`); no further information.
        let join = || unsafe { (library.init)(&raw mut me, std::ptr::null_mut(), 0) };
        // SAFETY: PMIx loads components, which install their own handlers, and
        // free nothing of others.
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

    /// Keeps this client from leaving as long as the guard lives.
    fn stay(&self) -> io::Result<RwLockReadGuard<'_, bool>> {
        let left = self.left.read();
        if *left {
            return Err(left_job(self.me.rank as usize));
        }
        Ok(left)
    }

    /// Asks for a fact about a process, or about the job (`PMIX_RANK_WILDCARD`).
    fn fact(&self, rank: u32, key: &CStr) -> io::Result<Fact> {
        let _staying = self.stay()?;
        let process = pmix_proc_t { rank, ..self.me };
        let mut value = std::ptr::null_mut();
        // SAFETY: this client has joined and does not leave meanwhile (`_staying`); a process of this job, a string that
        // ends with a zero, no further information, and room for the address of an answer, which then is ours.
        let status = unsafe {
            (self.library.get)(&raw const process, key.as_ptr(), std::ptr::null(), 0, &raw mut value)
        };
        let what = || format!("PMIx_Get of `{}` of process {rank}", key.to_string_lossy());
        check(self.library, &what(), status)?;
        // SAFETY: after success `value` is an answer, which nobody else reads or frees.
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
        // A launcher that does not know the count fails at `hosts`.
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
        // SAFETY: this client has joined and does not leave meanwhile (`_staying`); a string that ends with a zero, and a
        // value that is copied, not written to.
        let status = unsafe { (self.library.put)(PMIX_GLOBAL, key.as_ptr(), &raw mut value) };
        check(self.library, "PMIx_Put", status)?;
        // SAFETY: no arguments; this client has joined and does not leave meanwhile (`_staying`).
        let status = unsafe { (self.library.commit)() };
        check(self.library, "PMIx_Commit", status)
    }

    fn fence(&self) -> io::Result<()> {
        // All processes take part, and data are collected, because otherwise a fence under Slurm 22.05 does not wait for other nodes.
        let mut collect = pmix_info { key: [0; 512], flags: 0, value: empty_value() };
        for (to, from) in collect.key.iter_mut().zip(PMIX_COLLECT_DATA.to_bytes()) {
            *to = *from as c_char;
        }
        collect.value.type_ = PMIX_BOOL;
        collect.value.data.flag = true;
        let _staying = self.stay()?;
        // SAFETY: this client has joined and does not leave meanwhile (`_staying`); no processes: all of the job; one piece
        // of information, which is not kept.
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
        // Without waiting: another thread may wait in `leave` for a fence that never ends.
        let Some(_staying) = self.left.try_read().filter(|left| !**left) else { return };
        // SAFETY: this client has joined and does not leave meanwhile (`_staying`); a string that ends with a zero; no
        // processes: all of the job.
        let _ = unsafe { (self.library.abort)(code, c"".as_ptr(), std::ptr::null_mut(), 0) };
    }

    fn leave(&self) {
        let mut left = self.left.write();
        if std::mem::replace(&mut left, true) {
            return;
        }
        // SAFETY: this client has joined, leaves once, and is in no other call, nor will be (`left`); no further
        // information. The library counts MPI in the same process separately.
        let _ = unsafe { (self.library.finalize)(std::ptr::null(), 0) };
    }
}

/// Returns what an answer of `PMIx_Get` holds, and frees the answer. `None`: no type that a key here has.
///
/// # Safety
///
/// `value` must be an answer of `PMIx_Get`, which nobody else uses.
unsafe fn take(value: *mut pmix_value_t) -> Option<Fact> {
    // SAFETY: an answer (caller).
    let pmix_value_t { type_, data } = unsafe { value.read() };
    let number = |number: u64| Some(Fact::Number(number));
    // Launchers use different types of numbers.
    let fact = match type_ {
        // SAFETY: the type says which field was written.
        PMIX_SIZE => number(unsafe { data.size } as u64),
        // SAFETY: the type says which field was written.
        PMIX_INT | PMIX_INT32 => number(i64::from(unsafe { data.int32 }).cast_unsigned()),
        // SAFETY: the type says which field was written.
        PMIX_INT64 => number(unsafe { data.int64 }.cast_unsigned()),
        // SAFETY: the type says which field was written.
        PMIX_UINT | PMIX_UINT32 | PMIX_PROC_RANK => number(unsafe { data.uint32 }.into()),
        // SAFETY: the type says which field was written.
        PMIX_UINT64 => number(unsafe { data.uint64 }),
        PMIX_STRING => {
            // SAFETY: the type says which field was written.
            let text = unsafe { data.string };
            let fact = Fact::Text(match text.is_null() {
                true => String::new(),
                // SAFETY: a string of PMIx ends with a zero.
                false => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
            });
            // SAFETY: PMIx allocates with the C library, and gives the text away with the answer.
            unsafe { libc::free(text.cast()) };
            Some(fact)
        }
        PMIX_BYTE_OBJECT => {
            // SAFETY: the type says which field was written.
            let object = unsafe { data.bo };
            let bytes = match object.bytes.is_null() {
                true => Vec::new(),
                // SAFETY: the object has `size` bytes.
                false => unsafe { std::slice::from_raw_parts(object.bytes.cast(), object.size) }.to_vec(),
            };
            // SAFETY: PMIx allocates with the C library, and gives the bytes away with the answer.
            unsafe { libc::free(object.bytes.cast()) };
            Some(Fact::Bytes(bytes))
        }
        _ => None,
    };
    // SAFETY: PMIx allocates with the C library, and gives the answer away (caller).
    unsafe { libc::free(value.cast()) };
    fact
}

fn empty_value() -> pmix_value_t {
    // SAFETY: the value is numbers and pointers, for which zero is valid.
    unsafe { std::mem::zeroed() }
}

fn text(key: &str) -> io::Result<CString> {
    CString::new(key).map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a key with a zero in it"))
}

fn check(library: &Library, what: &str, status: pmix_status_t) -> io::Result<()> {
    if status == PMIX_SUCCESS {
        return Ok(());
    }
    // SAFETY: any number is allowed.
    let words: *const c_char = unsafe { (library.error_string)(status) };
    let words = match words.is_null() {
        true => "unknown".into(),
        // SAFETY: a string that ends with a zero and is never freed.
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
