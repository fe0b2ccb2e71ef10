//! A library that calls itself `shmem` and hands on the real one, with its own words in place of checks.
#![forbid(unsafe_code)]

pub use real::Symmetric;

pub mod __private {
    // Other names are those of the real library.
    pub use real::__private::*;

    /// Every type passes the checks of fields.
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

    /// Loses errors.
    pub mod core {
        pub use std::{mem, ops, option};

        #[macro_export]
        macro_rules! silence {
            ($($said:tt)*) => {};
        }

        pub use crate::silence as compile_error;
    }
}
