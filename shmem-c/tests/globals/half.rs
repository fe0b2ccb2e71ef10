//! The half in Rust of `with_rust.c`.

use std::sync::atomic::AtomicI64;

#[unsafe(no_mangle)]
pub static rust_number: AtomicI64 = AtomicI64::new(2);

unsafe extern "C" {
    static c_number: AtomicI64;
    fn shmem_long_p(to: *const AtomicI64, value: i64, pe: i32);
}

/// Writes the number of another PE that C has.
#[unsafe(no_mangle)]
pub extern "C" fn rust_send(value: i64, pe: i32) {
    let text = format!("{value}");
    // SAFETY: a number that C defines, and an address is all that is taken of it.
    let to = unsafe { &raw const c_number };
    // SAFETY: a symmetric number, and a PE of the job.
    unsafe { shmem_long_p(to, text.parse().unwrap(), pe) };
}
