//! Files of partitions: what is lost, what is refused.

#[cfg(not(miri))]
mod changed;
#[cfg(not(miri))]
mod files;
mod lossy;
mod simulated;
