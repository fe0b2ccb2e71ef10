//! Where C calls, for what runs at every call: in checked mode, and for a trace.
//!
//! To read debug information takes milliseconds, and to unwind the stack microseconds. Each is done once for each way that leads
//! to a call; from then on a call is found by its return address. Between that and here lie frames of the library, whose sizes
//! are learned from the first unwinding: a function without a frame pointer has moved the stack pointer by the same number of
//! bytes whenever it calls from the same place, because its compiler finds the frame by that number alone. So the stack is
//! walked by one look for each frame. Where that is not so (frames with a pointer of their own, a library linked statically, a
//! profiler between the program and the library), all return addresses tell the call.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ffi::{CStr, c_int, c_void};
use std::hash::{BuildHasherDefault, Hasher};

use shmem::raw::collective;
use shmem_core::exclusion::Mutex;

use crate::refusal::{self, Place};

/// Return addresses that tell a way: the library's own, and the caller's behind them.
const FRAMES: usize = 48;

/// Ways that a thread keeps.
const MOST: usize = 1 << 14;

/// Names of files that were found, which are few.
static FILES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// Has places of calls found in C, and not in this library.
pub(crate) fn open() {
    // SAFETY: frames are captured and read. A panic there would end the process in its hook (`setup`), before it unwinds.
    unsafe { collective::find_callers_by(find) };
}

#[inline(never)]
fn find() -> Option<collective::Place> {
    let here = stack_pointer();
    // A thread that ends has no memory of its own any more, and nobody searches for it.
    KNOWN.try_with(|known| known.try_borrow_mut().ok()?.place(here)).ok().flatten()
}

/// What a thread knows of its calls.
#[derive(Default)]
struct Known {
    /// Bytes of the frame of [`find`]; 0: nothing has been learned.
    first: usize,
    steps: HashMap<usize, Step, BuildHasherDefault<Mixed>>,
    ways: HashMap<Vec<usize>, Option<collective::Place>>,
}

/// An address, mixed by a multiplication: it is looked up for each frame of each call, and nobody chooses it to meet others.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    fn write_usize(&mut self, number: usize) {
        let product = (self.0 ^ number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = product ^ product >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// What a return address leads to.
#[derive(Clone, Copy)]
enum Step {
    /// A frame of the library, of so many bytes.
    Over(usize),
    /// The program.
    Call(Option<collective::Place>),
}

impl Known {
    /// The place of a call, where `here` is the stack pointer of [`find`].
    fn place(&mut self, here: usize) -> Option<collective::Place> {
        if let Some(place) = self.walked(here) {
            return place;
        }
        let frames = Frame::all();
        let way: Vec<_> = frames.iter().map(|frame| frame.address).collect();
        if let Some(place) = self.ways.get(&way) {
            return *place;
        }
        if self.ways.len() == MOST {
            *self = Self::default();
        }
        let place = search();
        self.ways.insert(way, place);
        self.learn(&frames, here, place);
        place
    }

    /// The place of a call whose whole way is known.
    fn walked(&self, here: usize) -> Option<Option<collective::Place>> {
        let (mut stack, mut bytes) = (here, self.first);
        while bytes > 0 {
            stack += bytes;
            let address = std::ptr::with_exposed_provenance::<usize>(stack - size_of::<usize>());
            // SAFETY: the last word of a frame of this thread. `here` is in the frame of `find`; a frame that begins at `stack`
            // and has called from a known address has the size that was learned for that (`learn`), and ends with the return
            // address of its caller, whose frame begins behind it. So by induction all of these frames are live.
            match *self.steps.get(&unsafe { address.read() })? {
                Step::Over(more) => bytes = more,
                Step::Call(place) => return Some(place),
            }
        }
        None
    }

    /// Keeps the sizes of frames, from that of [`find`] to that of the program, which is the first outside this library.
    fn learn(&mut self, frames: &[Frame], here: usize, place: Option<collective::Place>) {
        let Some(begin) = frames.iter().position(|frame| frame.stack == here) else { return };
        let frames = &frames[begin..];
        let (own, _) = module(find as fn() -> Option<collective::Place> as usize);
        let Some(end) = frames.iter().position(|frame| module(frame.address).0 != own) else { return };
        let is_profiler = module(frames[end].address).1.is_some_and(refusal::is_exported);
        // Return addresses lie in the stack as such on this processor alone.
        let is_known = cfg!(target_arch = "x86_64") && !is_profiler;
        if !is_known || frames[..=end].windows(2).any(|pair| pair[0].has_pointer(&pair[1])) {
            return;
        }
        for pair in frames[..=end].windows(2) {
            let bytes = pair[1].stack - pair[0].stack;
            match pair[0].stack == here {
                true => self.first = bytes,
                false => _ = self.steps.insert(pair[0].address, Step::Over(bytes)),
            }
        }
        self.steps.insert(frames[end].address, Step::Call(place));
    }
}

fn search() -> Option<collective::Place> {
    let Place { file, line } = Place::of_the_call();
    (!file.is_empty()).then(|| (kept(file), line))
}

fn kept(file: String) -> &'static str {
    let mut files = FILES.lock();
    files.get(file.as_str()).copied().unwrap_or_else(|| {
        let file: &'static str = file.leak();
        files.insert(file);
        file
    })
}

/// A function that has called, and waits for the return.
struct Frame {
    /// Where it goes on then.
    address: usize,
    /// Its stack pointer.
    stack: usize,
    /// What it has in the register for frame pointers.
    pointer: usize,
}

unsafe extern "C" {
    // Of the unwinder that the standard library uses (Itanium C++ ABI: Exception Handling, 1.3).
    fn _Unwind_Backtrace(
        each: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
    fn _Unwind_GetGR(context: *mut c_void, register: c_int) -> usize;
}

/// The register for frame pointers, as unwinders number them: `rbp`, or `x29`.
const POINTER: c_int = if cfg!(target_arch = "x86_64") { 6 } else { 29 };

impl Frame {
    /// The calling thread's, innermost first, as many as tell a way.
    fn all() -> Vec<Self> {
        extern "C" fn each(context: *mut c_void, all: *mut c_void) -> c_int {
            // SAFETY: the vector of the caller below, which nobody else uses meanwhile.
            let all = unsafe { &mut *all.cast::<Vec<Frame>>() };
            // SAFETY: the unwinder gives a context, which is valid during this call.
            let address = unsafe { _Unwind_GetIP(context) };
            // SAFETY: the same.
            let stack = unsafe { _Unwind_GetCFA(context) };
            // SAFETY: the same; the register is one that functions save for their callers, so it is known in every frame.
            let pointer = unsafe { _Unwind_GetGR(context, POINTER) };
            all.push(Frame { address, stack, pointer });
            // Any other number ends it.
            c_int::from(all.len() == FRAMES)
        }
        let mut all: Vec<Self> = Vec::new();
        // SAFETY: `each` is such a function, for the pointer that is handed to it.
        unsafe { _Unwind_Backtrace(each, (&raw mut all).cast()) };
        all
    }

    /// Whether it may be found by a frame pointer, in front of which lie the caller's own and the return address. Then its
    /// size may be another one the next time.
    fn has_pointer(&self, caller: &Self) -> bool {
        caller.stack <= self.stack || self.pointer.wrapping_add(2 * size_of::<usize>()) == caller.stack
    }
}

/// The start of the executable or library that an address lies in, and the name of its function, if that is exported.
fn module(address: usize) -> (usize, Option<&'static str>) {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // A return address may lie behind the last instruction of its function.
    let address = std::ptr::without_provenance(address.wrapping_sub(1));
    // SAFETY: it looks the address up, and writes the description.
    unsafe { libc::dladdr(address, found.as_mut_ptr()) };
    // SAFETY: written, or zeroes, which are a description of nothing.
    let found = unsafe { found.assume_init() };
    // SAFETY: null, or a text of a library, which is mapped while its function is on the stack.
    let name = (!found.dli_sname.is_null()).then(|| unsafe { CStr::from_ptr(found.dli_sname) });
    (found.dli_fbase.addr(), name.and_then(|name| name.to_str().ok()))
}

/// The stack pointer of the caller, into which this is always put.
#[inline(always)]
fn stack_pointer() -> usize {
    let pointer: usize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: it reads a register.
    unsafe {
        core::arch::asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        pointer = 0;
    }
    pointer
}
