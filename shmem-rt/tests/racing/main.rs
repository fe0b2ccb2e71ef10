//! What PEs may rely on, in programs in which some write the same bytes at once on purpose, or ask for what is refused.

#[path = "../asleep/mod.rs"]
mod asleep;
#[path = "../asleep/attempts.rs"]
mod attempts;
#[path = "../dice/mod.rs"]
mod dice;

mod array_strided;
mod arrays;
mod context;
mod histories;
mod nonblocking;
mod phase;
mod reach;
mod statistics;
mod strided;
mod team;
mod testing;
mod threads;

fn is_loopback() -> bool {
    std::env::var("SHMEM_TRANSPORT").is_ok_and(|transport| transport == "loopback")
}

/// What is said of a call that is refused, by a panic.
#[track_caller]
fn refusal<R>(call: impl FnOnce() -> R) -> String {
    let call = std::panic::AssertUnwindSafe(|| drop(call()));
    let said = std::panic::catch_unwind(call).expect_err("it is not refused");
    said.downcast::<String>().map_or_else(|said| said.downcast::<&str>().unwrap().to_string(), |said| *said)
}
