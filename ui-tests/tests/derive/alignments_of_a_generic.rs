//! However the attribute comes to stand there: it is read when it does.
use shmem::Symmetric;

#[derive(Clone, Copy, Symmetric)]
#[repr(C, r#align(32))]
struct Raw<T> {
    value: T,
}

#[repr(align(32))]
#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Above<T> {
    value: T,
}

#[derive(Clone, Copy, Symmetric)]
#[cfg_attr(all(), repr(align(32)))]
#[repr(C)]
struct Conditional<T> {
    value: T,
}

macro_rules! structure {
    ($name:ident: $whole:meta, $other:ident: $($part:tt)*) => {
        #[derive(Clone, Copy, Symmetric)]
        #[$whole]
        struct $name<T> {
            value: T,
        }

        #[derive(Clone, Copy, Symmetric)]
        #[repr(C, $($part)*)]
        struct $other<T> {
            value: T,
        }
    };
}
structure!(Whole: repr(C, align(32)), Part: align(32));

fn main() {}
