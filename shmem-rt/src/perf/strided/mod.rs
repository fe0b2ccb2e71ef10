//! Strided transfers, measured.

pub mod peers;
