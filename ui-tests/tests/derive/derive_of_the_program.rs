//! `derive` is a macro like others, and a program may call another one so.
#![forbid(unsafe_code)]

use changes::words as derive;
use shmem::Symmetric;
use std::prelude::v1::derive as standard;

#[standard(Clone, Copy)]
#[standard(Symmetric)]
#[derive((C) => (C, align(32)))]
#[repr(C)]
pub struct Row<T> {
    value: T,
}

fn main() {}
