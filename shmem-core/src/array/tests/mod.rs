//! Arrays against a plain function from indices to values.

mod chunking;
mod storage;
