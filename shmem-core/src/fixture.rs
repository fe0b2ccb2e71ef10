//! Fixtures for unit tests of several modules: slots without processes or mappings, which Miri can run, and an endpoint on them;
//! directories of simulated files; tests in child processes; texts of panics; counts of allocations.

use std::alloc::{GlobalAlloc, Layout, System, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use crate::endpoint::{Endpoint, Initiator, RemotePath, Stores, Waiting};
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
    /// Makes `count` slots, with `bytes` bytes behind the system area of each.
    pub(crate) fn new(count: usize, bytes: usize) -> Self {
        let each = (SYSTEM_BYTES + bytes).next_multiple_of(PAGE);
        // This module aligns the slots itself, because `alloc_zeroed` would write zeroes to all pages if it had to align them.
        let layout = Layout::array::<u128>((count * each + PAGE) / size_of::<u128>());
        let layout = layout.expect("the slots fit memory");
        // SAFETY: the layout has a size of at least a page, which is not 0.
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
        // SAFETY: `memory` was allocated in `new` with this layout, and is freed only here.
        unsafe { dealloc(self.memory, self.layout) };
    }
}

/// A PE of a job whose PEs have these [`Slots`]. The value is also a token: it lets a test issue the PE's operations.
pub(crate) struct Token<More = ()> {
    // Dropped before the slots, because its transport delivers to them.
    endpoint: Endpoint,
    pub(crate) slots: Slots,
    pub(crate) more: More,
}

// SAFETY: tests never enter `World::local`, so operations are always allowed.
unsafe impl<More> Initiator for Token<More> {
    fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl<More> Stores for Token<More> {}

impl<More> Token<More> {
    /// Makes PE `me`, with the first slot. `far` reaches PEs without a slot.
    pub(crate) fn over(
        slots: Slots,
        me: Pe,
        far: Option<RemotePath>,
        segments: Segments,
        more: More,
    ) -> Self {
        let (base, stride) = (slots.start_of(0), slots.stride());
        let waiting = Waiting::new(Patience::for_node(1, 1), || false, None, |_| String::new(), |_, _| ());
        let (segments, waiting) = (Arc::new(segments), Arc::new(waiting));
        // SAFETY: `base` is the start of slots of `stride` bytes, all zero, which live as long as the endpoint.
        let endpoint = unsafe { Endpoint::new(base, stride, base, me, far, segments, waiting) };
        Self { endpoint, slots, more }
    }

    /// Sets an observer of the PE's operations.
    pub(crate) fn observed_by(self, observer: Option<Arc<dyn Observer>>) -> Self {
        Self { endpoint: self.endpoint.observed_by(observer), ..self }
    }
}

/// A [`SymBox`] of `len` items in segment 1, `at` bytes behind the system area.
pub(crate) fn boxed<T: Contents + ?Sized>(at: usize, len: usize) -> SymBox<T> {
    // SAFETY: tests pass aligned offsets inside their slots, and objects that do not overlap.
    unsafe { SymBox::__new(1, 1, SYSTEM_BYTES + at, len, Arc::default()) }
}

/// Returns the text with which `of` panics.
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

/// Runs the calling test again in a child process, and returns the child's exit status and output. In the child, runs `body` and
/// returns `None`. `body` must be a closure of the test itself, because its type names the test.
pub(crate) fn in_a_process<B: FnOnce()>(body: B) -> Option<(std::process::ExitStatus, String)> {
    const CHILD: &str = "SHMEM_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        body();
        return None;
    }
    // The type is named `shmem_core::module::tests::name::{{closure}}`.
    let test = std::any::type_name::<B>().split("::").skip(1).take_while(|name| !name.starts_with('{'));
    let test = test.collect::<Vec<_>>().join("::");
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    let output = child.args(["--exact", &test, "--nocapture"]).env(CHILD, "1").output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(said.contains("running 1 test"), "there is no test `{test}`: {said}");
    Some((output.status, said))
}

/// Runs `body` in a child process, which must succeed. For tests that change their process.
pub(crate) fn in_child(body: impl FnOnce()) {
    if let Some((status, said)) = in_a_process(body) {
        assert!(status.success() && said.contains("1 passed"), "{status}: {said}");
    }
}

/// Runs `body` in a child process, which must abort with the text `why`.
pub(crate) fn aborts(why: &str, body: impl FnOnce()) {
    if let Some((status, said)) = in_a_process(body) {
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        assert_eq!(signal, Some(libc::SIGABRT), "{said}");
        assert_says(said, &[why]);
    }
}

/// A directory of simulated files, removed when dropped.
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
        // SAFETY: `layout` is as `alloc` requires (caller).
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: `layout` is as `alloc_zeroed` requires (caller).
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get().wrapping_sub(layout.size()));
        // SAFETY: `block` was allocated by this allocator with `layout` (caller), so by `System`.
        unsafe { System.dealloc(block, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes allocated by the calling thread, minus bytes freed by it; wraps below 0.
pub(crate) fn live() -> usize {
    LIVE.get()
}

pub(crate) fn allocations() -> usize {
    ALLOCATIONS.get()
}

/// Runs `work`, and leaves the allocations in it out of [`allocations`].
pub(crate) fn uncounted<R>(work: impl FnOnce() -> R) -> R {
    let before = allocations();
    let result = work();
    ALLOCATIONS.set(before);
    result
}
