//! What panics say, and where they say that they are.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};

use shmem::prelude::*;

thread_local! {
    static PLACES: RefCell<Option<Vec<(String, u32)>>> = const { RefCell::new(None) };
}

/// Runs `body`: where each panic in it has said that it was, the file and the line. To be called by all PEs.
///
/// PEs may be threads of one process, and have one hook between them. So it stays, records for each thread what is its own,
/// and passes on everything else.
pub(crate) fn places<R>(world: &World, body: impl FnOnce() -> R) -> (R, Vec<(String, u32)>) {
    let others = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let place = info.location().map(|place| (place.file().to_owned(), place.line()));
        let is_recorded = PLACES.with_borrow_mut(|places| match (places, place) {
            (Some(places), Some(place)) => {
                places.push(place);
                true
            }
            _ => false,
        });
        if !is_recorded {
            others(info);
        }
    }));
    // Another PE's hook may have been taken, and not be there again.
    world.barrier_all();
    PLACES.set(Some(Vec::new()));
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    let places = PLACES.take().unwrap();
    // Its own was recorded as well, and not told.
    (result.unwrap_or_else(|_| panic!("the body panicked, at the last of {places:?}")), places)
}

/// What the panic of a call says.
///
/// # Panics
///
/// If there is none.
#[track_caller]
pub(crate) fn said<R>(call: impl FnOnce() -> R) -> String {
    let Err(panic) = panic::catch_unwind(AssertUnwindSafe(call)) else { panic!("it does not panic") };
    match panic.downcast::<String>() {
        Ok(said) => *said,
        Err(panic) => (*panic.downcast_ref::<&str>().expect("panics say a text")).to_owned(),
    }
}
