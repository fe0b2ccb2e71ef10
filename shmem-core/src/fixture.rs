//! What unit tests of several modules stand on: slots without processes or mappings, so that Miri can look on, and an endpoint
//! over them; directories of invented files; processes of their own; what a call says that is refused; and what is allocated.

use std::alloc::{GlobalAlloc, Layout, System, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use crate::endpoint::{Endpoint, Far, Initiator, Stores, Waiting};
use crate::object::SymBox;
use crate::observe::Observer;
use crate::pe::Pe;
use crate::segment_table::Segments;
use crate::symmetric_data::Contents;
use crate::sync::Patience;
use crate::system_area::SYSTEM_BYTES;

const PAGE: usize = 4096;

/// Zeroed memory for some slots, freed on drop.
pub(crate) struct Slots {
    memory: *mut u8,
    layout: Layout,
    each: usize,
}

impl Slots {
    /// `count` slots with `bytes` bytes behind the system area of each.
    pub(crate) fn new(count: usize, bytes: usize) -> Self {
        let each = (SYSTEM_BYTES + bytes).next_multiple_of(PAGE);
        // Aligned here: an allocator that is asked for aligned pages writes all of their zeroes.
        let layout = Layout::array::<u128>((count * each + PAGE) / size_of::<u128>());
        let layout = layout.expect("the slots fit memory");
        // SAFETY: they are some bytes, at least those of a page.
        let memory = unsafe { alloc_zeroed(layout) };
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        Self { memory, layout, each }
    }

    pub(crate) fn stride(&self) -> usize {
        self.each
    }

    pub(crate) fn start_of(&self, number: usize) -> *mut u8 {
        let first = self.memory.addr().next_multiple_of(PAGE) - self.memory.addr();
        self.memory.wrapping_add(first + number * self.each)
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        // SAFETY: it was allocated in `new` with this layout, and nobody else frees it.
        unsafe { dealloc(self.memory, self.layout) };
    }
}

/// A PE of a job that consists of slots, as the token of its operations.
pub(crate) struct Token<More = ()> {
    // Before the slots: its transport delivers to them.
    endpoint: Endpoint,
    pub(crate) slots: Slots,
    /// What else the test needs of it.
    pub(crate) more: More,
}

// SAFETY: tests enter no exclusive phase.
unsafe impl<More> Initiator for Token<More> {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl<More> Stores for Token<More> {}

impl<More> Token<More> {
    /// PE `me`, whose slot is the first one. Whoever has no slot is reached by `far`.
    pub(crate) fn over(slots: Slots, me: Pe, far: Option<Far>, segments: Segments, more: More) -> Self {
        let (base, stride) = (slots.start_of(0), slots.stride());
        let waiting = Waiting::new(Patience::for_node(1, 1), || false, None, |_| String::new(), |_, _| ());
        let (segments, waiting) = (Arc::new(segments), Arc::new(waiting));
        // SAFETY: slots of `stride` bytes, all zeroes, which live as long as the endpoint.
        let endpoint = unsafe { Endpoint::new(base, stride, base, me, far, segments, waiting) };
        Self { endpoint, slots, more }
    }

    /// The same, of whose operations an observer is told.
    pub(crate) fn observed_by(self, observer: Option<Arc<dyn Observer>>) -> Self {
        Self { endpoint: self.endpoint.observed_by(observer), ..self }
    }
}

/// A box of `len` items of segment 1, `at` bytes behind the system area.
pub(crate) fn boxed<T: Contents + ?Sized>(at: usize, len: usize) -> SymBox<T> {
    // SAFETY: tests give places inside their slots that do not overlap, and aligned.
    unsafe { SymBox::__new(1, 1, SYSTEM_BYTES + at, len, Arc::default()) }
}

/// What a call says that panics.
#[track_caller]
pub(crate) fn refusal<T>(of: impl FnOnce() -> T) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| drop(of()))).unwrap_err();
    let text = panic.downcast::<String>();
    text.map_or_else(|panic| panic.downcast::<&str>().unwrap().to_string(), |text| *text)
}

#[track_caller]
pub(crate) fn assert_says(text: impl ToString, parts: &[&str]) {
    let text = text.to_string();
    for part in parts {
        assert!(text.contains(part), "`{part}` in: {text}");
    }
}

/// Runs this test again in a process, in which `body` runs, and returns its end and output. In that process: `None`.
/// `body` must be a closure of the test itself.
pub(crate) fn in_a_process<B: FnOnce()>(body: B) -> Option<(std::process::ExitStatus, String)> {
    const CHILD: &str = "SHMEM_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        body();
        return None;
    }
    // `shmem_core::module::tests::name::{{closure}}`
    let test = std::any::type_name::<B>().split("::").skip(1).take_while(|name| !name.starts_with('{'));
    let test = test.collect::<Vec<_>>().join("::");
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    let output = child.args(["--exact", &test, "--nocapture"]).env(CHILD, "1").output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(said.contains("running 1 test"), "there is no test `{test}`: {said}");
    Some((output.status, said))
}

/// As [`in_a_process`], which ends well: for what changes a process.
pub(crate) fn in_child(body: impl FnOnce()) {
    if let Some((status, said)) = in_a_process(body) {
        assert!(status.success() && said.contains("1 passed"), "{status}: {said}");
    }
}

/// As [`in_a_process`], which is aborted, and says why.
pub(crate) fn aborts(why: &str, body: impl FnOnce()) {
    if let Some((status, said)) = in_a_process(body) {
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        assert_eq!(signal, Some(libc::SIGABRT), "{said}");
        assert_says(said, &[why]);
    }
}

/// A directory of invented files, removed at the end.
pub(crate) struct Tree(tempfile::TempDir);

impl Tree {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let file = self.root().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
}

struct Counting;

thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

fn count(bytes: usize) {
    LIVE.set(LIVE.get().wrapping_add(bytes));
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

// SAFETY: every call is one of the system's allocator, with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get().wrapping_sub(layout.size()));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes that the calling thread has allocated more than it has freed; wraps below 0.
pub(crate) fn live() -> usize {
    LIVE.get()
}

pub(crate) fn allocations() -> usize {
    ALLOCATIONS.get()
}

/// Does work whose allocations do not count among these.
pub(crate) fn uncounted<R>(work: impl FnOnce() -> R) -> R {
    let before = allocations();
    let result = work();
    ALLOCATIONS.set(before);
    result
}
