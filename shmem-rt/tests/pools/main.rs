//! What optional features add.

#[cfg(feature = "rayon")]
mod array_parallel;
#[cfg(feature = "ndarray")]
mod ndarray;
