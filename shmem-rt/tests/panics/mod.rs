//! Calls that are refused by a panic, and what is said of them.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// The file of this thread's last panic.
    static FILE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// What the panic of a call says.
///
/// # Panics
///
/// If there is none, or neither its place nor its text is of a test: then the user would not know which call it was.
#[track_caller]
pub(crate) fn said<R>(call: impl FnOnce() -> R) -> String {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            FILE.set(panic.location().map_or_else(String::new, |place| place.file().to_owned()));
            before(panic);
        }));
    });
    let Err(panic) = catch_unwind(AssertUnwindSafe(call)) else { panic!("it does not panic") };
    let said = match panic.downcast::<String>() {
        Ok(said) => *said,
        Err(panic) => (*panic.downcast_ref::<&str>().expect("panics say a text")).to_owned(),
    };
    let file = FILE.take();
    // Of a PE of another thread, in loopback alone, nobody knows the call.
    let is_known = file.contains("tests/") || said.contains("tests/") || said.contains("another PE");
    assert!(is_known, "the panic is of {file}: {said}");
    said
}

/// Each call is refused, with a text that contains the one behind it.
macro_rules! refused {
    ($($call:expr => $text:expr;)*) => {$({
        let (said, text) = ($crate::panics::said(|| $call), $text);
        assert!(said.contains(&*text), "`{text}` is missing in: {said}");
    })*};
}
pub(crate) use refused;
