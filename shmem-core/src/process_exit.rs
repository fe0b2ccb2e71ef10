//! The end of the process.
//!
//! Only the program calls `exit` or returns from `main`. The library calls [`end`], which flushes the standard output and runs no
//! destructors, because another thread may be in a transfer to memory that a destructor would free.
//!
//! `exit` runs the destructors of the calling thread's thread-locals, the newest first, then the handlers of `atexit`. Before any
//! destructor frees memory, transfers to it must complete. So the function that completes them must be the newest (`run_first`).
//! glibc keeps the destructors in a list, from which a program cannot remove any. A word of thread-local memory points to the
//! newest entry. `Newest` finds this word: it alone changes at each of two further registrations. Unless it still points to our
//! last entry, `run_first` registers again. If the word is not found, every call registers again, which takes some 50 bytes. musl's
//! `exit` runs no destructors of thread-locals.

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::io::Write as _;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use rustix::thread::gettid;

/// Time limit for flushing streams, because another thread may keep a stream locked for ever. `tell` has the same limit.
const PATIENCE: Duration = Duration::from_secs(2);

/// Ends the process with `code`, without running exit handlers or destructors. Flushes Rust's standard output and C's streams, then
/// calls `tell`, which notifies other processes.
///
/// May be called anywhere: during a transfer, in a destructor, in a handler of `atexit`, by several threads.
pub fn end(code: i32, tell: impl Fn() + Sync) -> ! {
    let end = End { code, tell: &tell };
    end.limit(End::conclude_late);
    flush();
    end.conclude()
}

/// The end of the process, in progress. The value is in a stack frame that never returns.
struct End<'t> {
    code: i32,
    tell: &'t (dyn Fn() + Sync),
}

/// ID of the thread that has called `tell`; 0: none yet.
static TELLS: AtomicI32 = AtomicI32::new(0);

impl End<'_> {
    /// Starts a thread that calls `late`, which acts after the time limit. If the thread does not start, there is no limit.
    fn limit(&self, late: extern "C" fn(*mut c_void) -> *mut c_void) {
        let (this, mut thread) = (ptr::from_ref(self).cast_mut().cast(), MaybeUninit::uninit());
        // SAFETY: `late` takes a pointer to an `End`, and may run in any thread. A thread of the C library can start even in
        // destructors, where the standard library's thread-locals are gone.
        _ = unsafe { libc::pthread_create(thread.as_mut_ptr(), ptr::null(), late, this) };
    }

    /// Ends the process after the time limit, if a flush is slow.
    extern "C" fn conclude_late(this: *mut c_void) -> *mut c_void {
        std::thread::sleep(PATIENCE);
        // SAFETY: `limit` passed an `End`. Its fields are `Sync`, and it is in a frame that never returns, because `end` does not
        // return, and no function that `end` calls unwinds.
        unsafe { &*this.cast::<End<'_>>() }.conclude()
    }

    /// Ends the process after the time limit, if `tell` is slow.
    extern "C" fn leave_late(this: *mut c_void) -> *mut c_void {
        std::thread::sleep(PATIENCE);
        // SAFETY: `limit` passed an `End`, which stays valid (`conclude_late`).
        unsafe { &*this.cast::<End<'_>>() }.leave()
    }

    /// Calls `tell`, and ends the process. If several threads call this, the first one does so, and the others wait for the end.
    fn conclude(&self) -> ! {
        let me = gettid().as_raw_nonzero().get();
        match TELLS.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed) {
            // If `tell` panics, the process ends as well.
            Ok(_) => {
                self.limit(Self::leave_late);
                _ = catch_unwind(AssertUnwindSafe(self.tell));
            }
            // `tell` itself has called `end` on this thread, so `tell` is not called again.
            Err(first) if first == me => {}
            Err(_) => loop {
                std::thread::sleep(Duration::MAX);
            },
        }
        self.leave()
    }

    fn leave(&self) -> ! {
        // SAFETY: `_exit` takes any number, and never returns.
        unsafe { libc::_exit(self.code) }
    }
}

unsafe extern "C" {
    static stdout: *mut libc::FILE;
}

/// Flushes all streams. Bytes that cannot be written are lost.
fn flush() {
    // SIGPIPE is ignored, so that a pipe without a reader is an error, and does not kill a program in C.
    // SAFETY: changes a signal's disposition, in a process that is about to end.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    // SAFETY: reads a variable of the C library, which programs set only before they have threads.
    let out = unsafe { stdout };
    // Standard output is flushed first, because another stream, or Rust's, may be locked.
    // SAFETY: `out` is a stream of the C library, or null, which stands for all streams.
    unsafe { libc::fflush(out) };
    flush_own();
    // SAFETY: a null pointer stands for all streams.
    unsafe { libc::fflush(ptr::null_mut()) };
}

/// Flushes Rust's standard output. If a signal handler calls this during a write, the flush panics, and the panic is not reported.
fn flush_own() {
    let (me, is_flushing) = (gettid(), Arc::new(AtomicBool::new(true)));
    // Silences a panic of the flush. A panicking thread cannot set the hook, but is not in a write, so its flush does not panic.
    if !std::thread::panicking() {
        let (hook, is_flushing) = (panic::take_hook(), Arc::clone(&is_flushing));
        panic::set_hook(Box::new(move |info| {
            if !(is_flushing.load(Ordering::Relaxed) && gettid() == me) {
                hook(info);
            }
        }));
    }
    _ = catch_unwind(|| std::io::stdout().flush());
    is_flushing.store(false, Ordering::Relaxed);
}

#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
pub(crate) use glibc::run_first;

/// Does nothing, because `exit` runs no destructors of thread-locals here.
#[cfg(not(all(target_os = "linux", target_env = "gnu", not(miri))))]
pub(crate) fn run_first(_: fn()) {}

#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
mod glibc {
    use core::cell::Cell;
    use core::ffi::{c_int, c_void};
    use core::ops::Range;
    use std::sync::OnceLock;

    unsafe extern "C" {
        fn __cxa_thread_atexit_impl(
            run: unsafe extern "C" fn(*mut c_void),
            argument: *mut c_void,
            library: *const u8,
        ) -> c_int;
        static __dso_handle: u8;
    }

    thread_local! {
        /// This thread's newest list entry right after our last registration; 0 after `run` has run.
        static OURS: Cell<usize> = const { Cell::new(0) };
    }

    /// Registers `run` to run before the destructors of all existing thread-locals. `run` must be the same in all calls.
    pub(crate) fn run_first(run: fn()) {
        let newest = Newest::find(run);
        if newest.is_some_and(|newest| newest.read() == OURS.get()) {
            return;
        }
        register(run);
        OURS.set(newest.map_or(0, Newest::read));
    }

    fn register(run: fn()) {
        unsafe extern "C" fn entered(run: *mut c_void) {
            // The list entry is freed now, and its address may be reused.
            OURS.set(0);
            // SAFETY: `register` passed a function of this type.
            let run = unsafe { core::mem::transmute::<*mut c_void, fn()>(run) };
            run();
        }
        // SAFETY: `entered` expects `run`. `entered` stays loaded, as does the program or library of `__dso_handle`.
        let failed =
            unsafe { __cxa_thread_atexit_impl(entered, run as *mut c_void, &raw const __dso_handle) };
        assert_eq!(failed, 0, "there is no memory for a destructor");
    }

    /// The word in the C library's thread-local memory that points to the newest destructor. Given by its distance from `errno`.
    #[derive(Clone, Copy)]
    struct Newest(isize);

    impl Newest {
        /// Finds the word that points to the newest destructor; `None`: not exactly one word qualifies.
        fn find(run: fn()) -> Option<Self> {
            static FOUND: OnceLock<Option<Newest>> = OnceLock::new();
            *FOUND.get_or_init(|| {
                let block = thread_block()?;
                let mut seen = [(); 3].map(|()| vec![0; block.len() / size_of::<usize>()]);
                for words in &mut seen {
                    register(run);
                    for (word, address) in words.iter_mut().zip(block.clone().step_by(size_of::<usize>())) {
                        // SAFETY: `address` is that of an aligned word of the block.
                        *word = unsafe { read(address) };
                    }
                }
                let [first, second, third] = seen;
                let mut changed =
                    (0..first.len()).filter(|at| first[*at] != second[*at] && second[*at] != third[*at]);
                let address = block.start + changed.next()? * size_of::<usize>();
                changed.next().is_none().then(|| Self(address.wrapping_sub(errno()).cast_signed()))
            })
        }

        /// The value of this word in the calling thread: the address of the newest list entry.
        fn read(self) -> usize {
            // SAFETY: in every thread the block has the same layout, with the word at the same distance from `errno`.
            unsafe { read(errno().wrapping_add_signed(self.0)) }
        }
    }

    fn errno() -> usize {
        // SAFETY: returns the address of the calling thread's `errno`.
        unsafe { libc::__errno_location() }.expose_provenance()
    }

    /// Reads a word of thread-local memory.
    ///
    /// # Safety
    ///
    /// `address` must be that of an aligned word of thread-local memory of the calling thread.
    unsafe fn read(address: usize) -> usize {
        // SAFETY: the word is memory of this thread, valid while the thread runs (caller). The read is volatile, because the C
        // library changes the word in calls of this thread.
        unsafe { core::ptr::with_exposed_provenance::<usize>(address).read_volatile() }
    }

    /// The calling thread's thread-local memory of the library that has `errno`, in whole words.
    fn thread_block() -> Option<Range<usize>> {
        unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
            // SAFETY: `info` is valid for this call (`dl_iterate_phdr`).
            let info = unsafe { &*info };
            // SAFETY: the table has `dlpi_phnum` program headers.
            let headers = unsafe { core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
            let start = info.dlpi_tls_data.addr();
            let Some(header) = headers.iter().find(|header| header.p_type == libc::PT_TLS) else { return 0 };
            if !(start..start + header.p_memsz as usize).contains(&errno()) {
                return 0;
            }
            let word = size_of::<usize>();
            let whole = start.next_multiple_of(word)..(start + header.p_memsz as usize) / word * word;
            // SAFETY: `thread_block` passed this pointer.
            unsafe { *found.cast::<Option<Range<usize>>>() = Some(whole) };
            1
        }
        let mut found: Option<Range<usize>> = None;
        // SAFETY: `look` takes these arguments, and `found` outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
        found
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn who_is_the_newest_already_registers_no_more() {
            struct Other;
            impl Drop for Other {
                fn drop(&mut self) {
                    std::hint::black_box(self);
                }
            }
            thread_local!(static OTHER: Other = const { Other });
            fn run() {}
            let newest = Newest::find(run).expect("this C library keeps a list");
            let seen = move |step: &dyn Fn()| {
                let before = newest.read();
                step();
                before != newest.read()
            };
            for thread in 0..2 {
                let in_turn = std::thread::spawn(move || {
                    assert!(seen(&|| run_first(run)), "first, on thread {thread}");
                    assert!(!seen(&|| run_first(run)), "again");
                    assert!(seen(&|| OTHER.with(|_| ())), "another destructor");
                    assert!(seen(&|| run_first(run)), "behind it");
                    assert!(!seen(&|| run_first(run)), "and again");
                });
                in_turn.join().unwrap();
            }
        }
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use std::io::Read as _;
    use std::process::{Child, Command, Stdio};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    const CHILD: &str = "EXIT_TEST_CHILD";

    unsafe extern "C" {
        fn flockfile(stream: *mut libc::FILE);
    }

    fn child(how: &str) -> Child {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args([
            "--exact",
            "process_exit::tests::nothing_holds_up_an_end",
            "--nocapture",
            "--test-threads=1",
        ]);
        child.env(CHILD, how).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// In a handler of a signal, in the middle of a write to Rust's standard output, which nobody reads.
    fn end_in_a_write() {
        extern "C" fn handler(_: libc::c_int) {
            end(7, || ());
        }
        // SAFETY: a handler that does not come back.
        unsafe { libc::signal(libc::SIGUSR1, handler as *const () as libc::sighandler_t) };
        // SAFETY: gives the number of this thread.
        let writer = unsafe { libc::pthread_self() };
        std::thread::spawn(move || {
            let (out, now) = (std::io::stdout(), Timespec { tv_sec: 0, tv_nsec: 0 });
            let is_full = || poll(&mut [PollFd::new(&out, PollFlags::OUT)], Some(&now)) == Ok(0);
            while !is_full() {
                std::thread::yield_now();
            }
            // SAFETY: a thread that writes until the process ends.
            unsafe { libc::pthread_kill(writer, libc::SIGUSR1) };
        });
        print!("{}", "x".repeat(1 << 20));
    }

    fn end_beside_a_locked_stream() {
        let (locked, is_locked) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            // SAFETY: a new stream.
            let other = unsafe { libc::tmpfile() };
            // SAFETY: a stream that is never closed, if there is one.
            unsafe { flockfile(other) };
            locked.send(other.is_null()).unwrap();
            std::thread::sleep(Duration::MAX);
        });
        assert!(!is_locked.recv().unwrap());
        // SAFETY: the C library's stream, and a text.
        unsafe { libc::fputs(c"held back".as_ptr(), stdout) };
        end(7, || ())
    }

    #[test]
    fn nothing_holds_up_an_end() {
        if std::env::var_os(CHILD).is_some() {
            // SAFETY: the death of a process that hangs.
            unsafe { libc::alarm(60) };
        }
        match std::env::var(CHILD).as_deref() {
            Ok("in a write") => end_in_a_write(),
            Ok("beside a locked stream") => end_beside_a_locked_stream(),
            Ok(_) => end(7, || std::thread::sleep(Duration::MAX)),
            Err(_) => {}
        }
        let all = ["in a write", "beside a locked stream", "and nobody is told"].map(|how| (how, child(how)));
        for (how, mut child) in all {
            let (mut out, mut err) = (String::new(), String::new());
            child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
            assert_eq!((child.wait().unwrap().code(), &*err), (Some(7), ""), "{how}");
            child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
            assert!(how != "beside a locked stream" || out.ends_with("held back"), "{out}");
        }
    }
}
