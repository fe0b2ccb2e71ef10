//! Types and constants of libpmix, as in the headers of PMIx 4 and 5. If a system has the headers, a test compares the size, offset
//! or value of each with them (`layout.rs`).
#![allow(non_camel_case_types, non_snake_case, reason = "the names of C")]

use std::ffi::{CStr, c_char, c_int};

pub(super) const PMIX_RANK_UNDEF: u32 = u32::MAX;
pub(super) const PMIX_RANK_WILDCARD: u32 = u32::MAX - 1;
pub(super) const PMIX_HOSTNAME: &CStr = c"pmix.hname";
pub(super) const PMIX_NODEID: &CStr = c"pmix.nodeid";
pub(super) const PMIX_JOB_SIZE: &CStr = c"pmix.job.size";
pub(super) const PMIX_COLLECT_DATA: &CStr = c"pmix.collect";
pub(super) const PMIX_SUCCESS: pmix_status_t = 0;
pub(super) const PMIX_ERR_UNREACH: pmix_status_t = -25;
pub(super) const PMIX_ERR_NOT_FOUND: pmix_status_t = -46;
pub(super) const PMIX_BOOL: pmix_data_type_t = 1;
pub(super) const PMIX_STRING: pmix_data_type_t = 3;
pub(super) const PMIX_SIZE: pmix_data_type_t = 4;
pub(super) const PMIX_INT: pmix_data_type_t = 6;
pub(super) const PMIX_INT32: pmix_data_type_t = 9;
pub(super) const PMIX_INT64: pmix_data_type_t = 10;
pub(super) const PMIX_UINT: pmix_data_type_t = 11;
pub(super) const PMIX_UINT32: pmix_data_type_t = 14;
pub(super) const PMIX_UINT64: pmix_data_type_t = 15;
pub(super) const PMIX_BYTE_OBJECT: pmix_data_type_t = 27;
pub(super) const PMIX_PROC_RANK: pmix_data_type_t = 40;
pub(super) const PMIX_GLOBAL: pmix_scope_t = 3;

pub(super) type pmix_rank_t = u32;
pub(super) type pmix_status_t = c_int;
pub(super) type pmix_data_type_t = u16;
pub(super) type pmix_scope_t = u8;

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct pmix_proc_t {
    pub(super) nspace: [c_char; 256],
    pub(super) rank: pmix_rank_t,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct pmix_byte_object_t {
    pub(super) bytes: *mut c_char,
    pub(super) size: usize,
}

#[repr(C)]
pub(super) struct pmix_value_t {
    pub(super) type_: pmix_data_type_t,
    pub(super) data: pmix_data,
}

/// The data of a value: the union members that this client uses, and one with the size of the largest member.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) union pmix_data {
    pub(super) flag: bool,
    pub(super) string: *mut c_char,
    pub(super) size: usize,
    pub(super) int32: i32,
    pub(super) int64: i64,
    pub(super) uint32: u32,
    pub(super) uint64: u64,
    pub(super) bo: pmix_byte_object_t,
    longest: [u64; 3],
}

#[repr(C)]
pub(super) struct pmix_info {
    pub(super) key: [c_char; 512],
    pub(super) flags: u32,
    pub(super) value: pmix_value_t,
}
