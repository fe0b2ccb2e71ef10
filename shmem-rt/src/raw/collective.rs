//! Collectives of bytes, on teams.

pub use crate::caller::{Place, find_callers_by};
pub use crate::collective::untyped::{
    Combined, Fold, Places, Strides, alltoall, alltoalls, broadcast, collect, fcollect, fold_ranks, reduce,
};
