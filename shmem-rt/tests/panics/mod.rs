//! Calls that are refused by a panic, and what is said of them.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// What the panic of a call says.
///
/// # Panics
///
/// If there is none.
#[track_caller]
pub(crate) fn said<R>(call: impl FnOnce() -> R) -> String {
    let Err(panic) = catch_unwind(AssertUnwindSafe(call)) else { panic!("it does not panic") };
    match panic.downcast::<String>() {
        Ok(said) => *said,
        Err(panic) => (*panic.downcast_ref::<&str>().expect("panics say a text")).to_owned(),
    }
}

/// Each call is refused, with a text that contains the one behind it.
macro_rules! refused {
    ($($call:expr => $text:expr;)*) => {$({
        let (said, text) = ($crate::panics::said(|| $call), $text);
        assert!(said.contains(&*text), "`{text}` is missing in: {said}");
    })*};
}
pub(crate) use refused;
