//! Waiting for words of the calling PE, by operations that say in words of their own what they wait for.

use std::panic::Location;

use shmem_core::endpoint::Endpoint;
use shmem_core::system::Activity;
use shmem_core::text::Text;

/// Waits until `done`, which looks at words of the calling PE that others change by atomics. `subject` says what the
/// operation waits for.
pub(crate) fn until(
    endpoint: &Endpoint,
    operation: &'static str,
    location: &'static Location<'static>,
    done: impl FnMut() -> bool,
    subject: impl Fn() -> String,
) {
    // SAFETY: its bell is listened to, as by everybody who waits for a word of this PE.
    let bell = &unsafe { endpoint.system() }.doorbell;
    endpoint.waiting().until(
        endpoint,
        done,
        |timeout, done| bell.watch(timeout, done),
        || Activity {
            operation: Text::head(operation),
            subject: Text::head(&subject()),
            file: Text::tail(location.file()),
            line: location.line(),
            ..Activity::NONE
        },
    );
}
