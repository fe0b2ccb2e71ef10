//! A library that calls itself `shmem`, and calls other traits as those of the real one are called.
#![forbid(unsafe_code)]

pub use real::Symmetric;

pub mod __private {
    pub use real::__private::*;

    pub use Send as Pod;
    pub use Send as Zeroable;
    pub use Send as SymmetricData;

    pub trait PlainData {}

    impl<T: ?Sized> PlainData for T {}
}
