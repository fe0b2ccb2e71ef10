//! A program may call itself `core`, and its `compile_error!` need not be one.
#![forbid(unsafe_code)]

extern crate self as core;

use shmem::prelude::*;

pub use std::{clone, cmp, default, file, fmt, line, marker, module_path, ops, option};

#[macro_export]
macro_rules! compile_error {
    ($($message:tt)*) => {};
}

#[derive(Clone, Copy, Symmetric)]
enum Never {
    One = 1,
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Row {
    text: &'static str,
}

#[symmetric]
static mut COUNT: u64 = 1;

fn main() {}
