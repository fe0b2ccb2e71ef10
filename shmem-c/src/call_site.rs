//! [`CallSite`]: the line of C that calls the library, for error texts; and a cache of call sites for checked mode and traces.
//!
//! The line of a call comes from debug information. Without debug information, an error text names the calling function. Line and
//! name are read from the text of the standard library's backtrace, in which the exported function's frame is followed by its
//! caller's.
//!
//! Reading debug information takes milliseconds, and checked mode and traces need every call's line. So each thread caches lines.
//! The key is the return addresses of the innermost frames, up to and including the first one of the program. In a statically
//! linked executable, no frame can be recognised as the program's, and the key is the whole stack.

use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ffi::{CStr, c_int, c_void};
use std::fmt;

use shmem::c_interface::collective;
use shmem_core::exclusion::Mutex;

/// The place in the C program that calls the library.
#[derive(Debug, Default)]
pub(crate) struct CallSite {
    /// The source file, or without debug information the name of the calling function.
    pub(crate) file: String,
    /// The line number, or 0 if unknown.
    pub(crate) line: u32,
}

impl CallSite {
    /// Returns the call site of this thread's innermost call of the library.
    pub(crate) fn find() -> Self {
        Self::in_frames(&Backtrace::force_capture().to_string()).unwrap_or_default()
    }

    /// Returns the name of the library's routine in which this thread is.
    pub(crate) fn routine() -> Option<String> {
        let told = Backtrace::force_capture().to_string();
        let name = frames(&told).map(|(name, _)| name).find(|name| is_exported(name))?;
        Some(name.strip_prefix('p').unwrap_or(name).to_owned())
    }

    fn in_frames(told: &str) -> Option<Self> {
        let is_ours = |(name, place): &(&str, Option<&str>)| {
            is_exported(name) || place.is_some_and(|place| is_in_table(name, place))
        };
        let (name, place) = frames(told).skip_while(|frame| !is_ours(frame)).find(|frame| !is_ours(frame))?;
        place.and_then(Self::parsed).or_else(|| Some(Self { file: name.to_owned(), line: 0 }))
    }

    /// Returns file and line of a place such as `a.c:12:7` or `a.c:12`.
    fn parsed(text: &str) -> Option<Self> {
        let mut parts = text.rsplitn(3, ':');
        let (last, before, rest) = (parts.next()?, parts.next()?, parts.next());
        match (before.parse(), rest) {
            (Ok(line), Some(file)) => Some(Self { file: file.to_owned(), line }),
            _ => Some(Self {
                file: text.strip_suffix(last)?.trim_end_matches(':').to_owned(),
                line: last.parse().ok()?,
            }),
        }
    }
}

/// Returns the function's name and the source place of each frame of a backtrace, innermost first.
fn frames(told: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let mut lines = told.lines().map(str::trim).peekable();
    std::iter::from_fn(move || {
        let is_number = |(number, _): &(&str, &str)| number.parse::<usize>().is_ok();
        let name = lines.find_map(|line| line.split_once(": ").filter(is_number))?.1;
        Some((name, lines.peek().and_then(|next| next.strip_prefix("at "))))
    })
}

impl fmt::Display for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file.as_str(), self.line) {
            ("", _) => Ok(()),
            (name, 0) => write!(f, "; in {name}"),
            (file, line) => write!(f, "; at {file}:{line}"),
        }
    }
}

/// Returns whether a frame belongs to a routine of the table, by the names of its Rust function and file.
fn is_in_table(name: &str, place: &str) -> bool {
    name.rsplit("::").next() == Some("routine") && place.contains("table.rs:")
}

/// Returns whether a name is that of an exported routine.
fn is_exported(name: &str) -> bool {
    let others = ["start_pes", "my_pe", "num_pes", "shmalloc", "shfree", "shrealloc", "shmemalign"];
    let name = name.strip_prefix('p').unwrap_or(name);
    ["shmem_", "shmemx_"].iter().any(|start| name.starts_with(start)) && !name.contains("::")
        || others.iter().any(|other| name.trim_start_matches('_') == *other)
}

/// Upper limit on the return addresses of a cache key.
const FRAMES: usize = 48;

/// Upper limit on the call sites in the cache of a thread.
const MOST: usize = 1 << 14;

/// Names of source files. They are never freed, because error texts and traces refer to them until the process ends.
static FILES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// Lets the runtime find the line of C that calls the library.
pub(crate) fn open() {
    // SAFETY: `find` only captures and reads frames. On a panic, the panic hook (`setup`) ends the process before unwinding.
    unsafe { collective::find_callers_by(find) };
}

fn find() -> Option<collective::Place> {
    // `try_with`, because thread-local memory of an ending thread is gone.
    KNOWN.try_with(|known| known.try_borrow_mut().ok()?.find()).ok().flatten()
}

#[derive(Default)]
struct Known {
    /// Results of [`is_inside`], by return address.
    inside: HashMap<usize, bool>,
    lines: HashMap<Vec<usize>, Option<collective::Place>>,
}

impl Known {
    fn find(&mut self) -> Option<collective::Place> {
        let key = self.return_addresses();
        if let Some(place) = self.lines.get(&key) {
            return *place;
        }
        if self.lines.len() == MOST {
            self.lines.clear();
        }
        let CallSite { file, line } = CallSite::find();
        let place = (!file.is_empty()).then(|| (kept(file), line));
        self.lines.insert(key, place);
        place
    }

    /// Returns the cache key of the present call: its return addresses, innermost first.
    fn return_addresses(&mut self) -> Vec<usize> {
        struct Walk<'a> {
            known: &'a mut Known,
            addresses: Vec<usize>,
        }
        extern "C" fn each(context: *mut c_void, walk: *mut c_void) -> c_int {
            // SAFETY: `walk` is the variable of the enclosing function, which does not use it during the backtrace.
            let walk = unsafe { &mut *walk.cast::<Walk<'_>>() };
            // SAFETY: the unwinder passes a `context` that is valid during this callback.
            let address = unsafe { _Unwind_GetIP(context) };
            walk.addresses.push(address);
            let is_inside = *walk.known.inside.entry(address).or_insert_with(|| is_inside(address));
            // A number other than 0 ends the walk.
            c_int::from(!is_inside || walk.addresses.len() == FRAMES)
        }
        let mut walk = Walk { known: self, addresses: Vec::new() };
        // SAFETY: `each` is a valid callback, and its argument is a pointer to `walk`.
        unsafe { _Unwind_Backtrace(each, (&raw mut walk).cast()) };
        walk.addresses
    }
}

unsafe extern "C" {
    // The unwinder of the standard library (Itanium C++ ABI: Exception Handling, 1.3).
    fn _Unwind_Backtrace(
        each: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

/// Returns whether a return address is in the library, or in a wrapper that a profiler has put between the program and the library.
fn is_inside(address: usize) -> bool {
    let (own, _) = module(find as fn() -> Option<collective::Place> as usize);
    let (module, name) = module(address);
    module == own || name.is_some_and(is_exported)
}

/// Returns the start of the executable or library that contains an address, and the function's name if it is exported.
fn module(address: usize) -> (usize, Option<&'static str>) {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // The return address may be just after the end of its function, if the call is the function's last instruction.
    let address = std::ptr::without_provenance(address.wrapping_sub(1));
    // SAFETY: `dladdr` accepts any address, and writes `found`.
    unsafe { libc::dladdr(address, found.as_mut_ptr()) };
    // SAFETY: `dladdr` has written `found`, or left the zeroes, which are a valid `Dl_info`.
    let found = unsafe { found.assume_init() };
    // SAFETY: `dli_sname` is not null, and its library stays mapped while one of its functions is on the stack.
    let name = (!found.dli_sname.is_null()).then(|| unsafe { CStr::from_ptr(found.dli_sname) });
    (found.dli_fbase.addr(), name.and_then(|name| name.to_str().ok()))
}

fn kept(file: String) -> &'static str {
    let mut files = FILES.lock();
    files.get(file.as_str()).copied().unwrap_or_else(|| {
        let file: &'static str = file.leak();
        files.insert(file);
        file
    })
}
