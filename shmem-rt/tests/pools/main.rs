//! Tests of the optional features `rayon` and `ndarray`.

#[cfg(feature = "rayon")]
mod array_parallel;
#[cfg(feature = "ndarray")]
mod ndarray;
