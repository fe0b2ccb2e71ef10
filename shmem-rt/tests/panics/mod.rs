//! Calls that panic, and their panic messages.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// The file of this thread's last panic.
    static FILE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Returns the message of a call's panic.
///
/// # Panics
///
/// If the call does not panic, or if neither location nor message names a file of the tests. A user could not identify the call
/// then.
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
    // Messages about PEs that are other threads lack the call.
    let is_known = file.contains("tests/") || said.contains("tests/") || said.contains("another PE");
    assert!(is_known, "the panic is of {file}: {said}");
    said
}

/// Checks that each call panics, with a message that contains the text after `=>`.
macro_rules! refused {
    ($($call:expr => $text:expr;)*) => {$({
        let (said, text) = ($crate::panics::said(|| $call), $text);
        assert!(said.contains(&*text), "`{text}` is missing in: {said}");
    })*};
}
pub(crate) use refused;
