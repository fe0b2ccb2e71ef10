//! Arrays against a plain function from indices to values.

mod affinity;
mod chunking;
mod chunks;
mod model;
mod storage;
mod views;
