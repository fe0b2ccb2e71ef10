//! A world of one, and a plugin with another.

use std::ffi::{CString, c_char, c_int, c_void};

unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

fn main() {
    let _world = shmem::init::<shmem::thread::Single>().unwrap();
    let file = CString::new(std::env::args().nth(1).unwrap()).unwrap();
    // SAFETY: a file of the name, bound at once.
    let plugin = unsafe { dlopen(file.as_ptr(), 2) };
    assert!(!plugin.is_null());
    // SAFETY: the library that was opened.
    let start = unsafe { dlsym(plugin, c"start".as_ptr()) };
    assert!(!start.is_null());
    // SAFETY: the plugin has a function of this name, which takes and gives nothing.
    let start: extern "C" fn() = unsafe { std::mem::transmute(start) };
    start();
    println!("both started");
}
