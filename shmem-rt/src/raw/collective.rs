//! Collectives of bytes, on teams.

pub use crate::collective::untyped::{
    Combined, Fold, Places, Strides, alltoall, alltoalls, broadcast, collect, fcollect, fold_ranks, reduce,
};
pub use crate::group::{Place, find_callers_by};
