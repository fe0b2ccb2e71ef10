//! The Rust half of the program `with_rust.c`.

use std::sync::atomic::AtomicI64;

#[unsafe(no_mangle)]
pub static rust_number: AtomicI64 = AtomicI64::new(2);

unsafe extern "C" {
    static c_number: AtomicI64;
    fn shmem_long_p(to: *const AtomicI64, value: i64, pe: i32);
}

/// Writes `value` to `c_number` of another PE, a global that C defines.
#[unsafe(no_mangle)]
pub extern "C" fn rust_send(value: i64, pe: i32) {
    let text = format!("{value}");
    // SAFETY: C defines `c_number`, and only its address is taken.
    let to = unsafe { &raw const c_number };
    // SAFETY: `to` points to a symmetric number, and `pe` is a PE of the job.
    unsafe { shmem_long_p(to, text.parse().unwrap(), pe) };
}
