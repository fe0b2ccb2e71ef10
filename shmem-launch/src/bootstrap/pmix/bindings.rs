//! Types and constants of libpmix, as bindgen writes them: `ci/bindings.sh` makes this file. The headers that
//! they come from are licensed BSD-3-Clause.
#![allow(
    missing_docs,
    missing_debug_implementations,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    dead_code,
    unreachable_pub,
    unsafe_op_in_unsafe_fn,
    clippy::all,
    clippy::pedantic,
    clippy::missing_safety_doc,
    clippy::multiple_unsafe_ops_per_block,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
#[derive(PartialEq, Eq, Copy, Clone, Debug, Hash)]
#[repr(C, align(8))]
pub struct __BindgenOpaqueArray8<T>(pub T);
impl<T: Copy + Default, const N: usize> Default for __BindgenOpaqueArray8<[T; N]> {
    fn default() -> Self {
        Self([<T as Default>::default(); N])
    }
}
pub const PMIX_RANK_UNDEF: u32 = 4294967295;
pub const PMIX_RANK_WILDCARD: u32 = 4294967294;
pub const PMIX_HOSTNAME: &[u8; 11] = b"pmix.hname\0";
pub const PMIX_NODEID: &[u8; 12] = b"pmix.nodeid\0";
pub const PMIX_LOCAL_PEERS: &[u8; 12] = b"pmix.lpeers\0";
pub const PMIX_JOB_SIZE: &[u8; 14] = b"pmix.job.size\0";
pub const PMIX_COLLECT_DATA: &[u8; 13] = b"pmix.collect\0";
pub const PMIX_SUCCESS: u32 = 0;
pub const PMIX_ERR_UNREACH: i32 = -25;
pub const PMIX_ERR_NOT_FOUND: i32 = -46;
pub const PMIX_BOOL: u32 = 1;
pub const PMIX_STRING: u32 = 3;
pub const PMIX_SIZE: u32 = 4;
pub const PMIX_INT: u32 = 6;
pub const PMIX_INT8: u32 = 7;
pub const PMIX_INT16: u32 = 8;
pub const PMIX_INT32: u32 = 9;
pub const PMIX_INT64: u32 = 10;
pub const PMIX_UINT: u32 = 11;
pub const PMIX_UINT8: u32 = 12;
pub const PMIX_UINT16: u32 = 13;
pub const PMIX_UINT32: u32 = 14;
pub const PMIX_UINT64: u32 = 15;
pub const PMIX_BYTE_OBJECT: u32 = 27;
pub const PMIX_PROC_RANK: u32 = 40;
pub const PMIX_GLOBAL: u32 = 3;
pub type __pid_t = ::core::ffi::c_int;
pub type __time_t = ::core::ffi::c_long;
pub type __suseconds_t = ::core::ffi::c_long;
pub type pid_t = __pid_t;
pub type time_t = __time_t;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct timeval {
    pub tv_sec: __time_t,
    pub tv_usec: __suseconds_t,
}
pub type pmix_nspace_t = [::core::ffi::c_char; 256usize];
pub type pmix_key_t = [::core::ffi::c_char; 512usize];
pub type pmix_rank_t = u32;
pub type pmix_proc_state_t = u8;
pub type pmix_job_state_t = u8;
pub type pmix_status_t = ::core::ffi::c_int;
pub type pmix_data_type_t = u16;
pub type pmix_scope_t = u8;
pub type pmix_data_range_t = u8;
pub type pmix_persistence_t = u8;
pub type pmix_info_directives_t = u32;
pub type pmix_alloc_directive_t = u8;
#[repr(C)]
#[repr(align(8))]
#[derive(Debug, Copy, Clone)]
pub struct pmix_coord {
    pub _bindgen_opaque_blob: __BindgenOpaqueArray8<[u8; 24usize]>,
}
pub type pmix_coord_t = pmix_coord;
pub type pmix_link_state_t = u8;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct pmix_cpuset_t {
    pub source: *mut ::core::ffi::c_char,
    pub bitmap: *mut ::core::ffi::c_void,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct pmix_topology_t {
    pub source: *mut ::core::ffi::c_char,
    pub topology: *mut ::core::ffi::c_void,
}
pub type pmix_locality_t = u16;
#[repr(C)]
#[repr(align(8))]
#[derive(Debug, Copy, Clone)]
pub struct pmix_geometry {
    pub _bindgen_opaque_blob: __BindgenOpaqueArray8<[u8; 40usize]>,
}
pub type pmix_geometry_t = pmix_geometry;
pub type pmix_device_type_t = u64;
#[repr(C)]
#[repr(align(8))]
#[derive(Debug, Copy, Clone)]
pub struct pmix_device_distance {
    pub _bindgen_opaque_blob: __BindgenOpaqueArray8<[u8; 32usize]>,
}
pub type pmix_device_distance_t = pmix_device_distance;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct pmix_byte_object {
    pub bytes: *mut ::core::ffi::c_char,
    pub size: usize,
}
pub type pmix_byte_object_t = pmix_byte_object;
#[repr(C)]
#[repr(align(8))]
#[derive(Debug, Copy, Clone)]
pub struct pmix_endpoint {
    pub _bindgen_opaque_blob: __BindgenOpaqueArray8<[u8; 32usize]>,
}
pub type pmix_endpoint_t = pmix_endpoint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct pmix_envar_t {
    pub envar: *mut ::core::ffi::c_char,
    pub value: *mut ::core::ffi::c_char,
    pub separator: ::core::ffi::c_char,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct pmix_proc {
    pub nspace: pmix_nspace_t,
    pub rank: pmix_rank_t,
}
pub type pmix_proc_t = pmix_proc;
#[repr(C)]
#[repr(align(8))]
#[derive(Debug, Copy, Clone)]
pub struct pmix_proc_info {
    pub _bindgen_opaque_blob: __BindgenOpaqueArray8<[u8; 296usize]>,
}
pub type pmix_proc_info_t = pmix_proc_info;
#[repr(C)]
#[repr(align(8))]
#[derive(Debug, Copy, Clone)]
pub struct pmix_data_array {
    pub _bindgen_opaque_blob: __BindgenOpaqueArray8<[u8; 24usize]>,
}
pub type pmix_data_array_t = pmix_data_array;
#[repr(C)]
#[repr(align(8))]
#[derive(Debug, Copy, Clone)]
pub struct pmix_data_buffer {
    pub _bindgen_opaque_blob: __BindgenOpaqueArray8<[u8; 40usize]>,
}
pub type pmix_data_buffer_t = pmix_data_buffer;
#[repr(C)]
#[repr(align(8))]
#[derive(Debug, Copy, Clone)]
pub struct pmix_proc_stats {
    pub _bindgen_opaque_blob: __BindgenOpaqueArray8<[u8; 352usize]>,
}
pub type pmix_proc_stats_t = pmix_proc_stats;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct pmix_disk_stats_t {
    pub disk: *mut ::core::ffi::c_char,
    pub num_reads_completed: u64,
    pub num_reads_merged: u64,
    pub num_sectors_read: u64,
    pub milliseconds_reading: u64,
    pub num_writes_completed: u64,
    pub num_writes_merged: u64,
    pub num_sectors_written: u64,
    pub milliseconds_writing: u64,
    pub num_ios_in_progress: u64,
    pub milliseconds_io: u64,
    pub weighted_milliseconds_io: u64,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct pmix_net_stats_t {
    pub net_interface: *mut ::core::ffi::c_char,
    pub num_bytes_recvd: u64,
    pub num_packets_recvd: u64,
    pub num_recv_errs: u64,
    pub num_bytes_sent: u64,
    pub num_packets_sent: u64,
    pub num_send_errs: u64,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct pmix_node_stats_t {
    pub node: *mut ::core::ffi::c_char,
    pub la: f32,
    pub la5: f32,
    pub la15: f32,
    pub total_mem: f32,
    pub free_mem: f32,
    pub buffers: f32,
    pub cached: f32,
    pub swap_cached: f32,
    pub swap_total: f32,
    pub swap_free: f32,
    pub mapped: f32,
    pub sample_time: timeval,
    pub diskstats: *mut pmix_disk_stats_t,
    pub ndiskstats: usize,
    pub netstats: *mut pmix_net_stats_t,
    pub nnetstats: usize,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct pmix_value {
    pub type_: pmix_data_type_t,
    pub data: pmix_value__bindgen_ty_1,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union pmix_value__bindgen_ty_1 {
    pub flag: bool,
    pub byte: u8,
    pub string: *mut ::core::ffi::c_char,
    pub size: usize,
    pub pid: pid_t,
    pub integer: ::core::ffi::c_int,
    pub int8: i8,
    pub int16: i16,
    pub int32: i32,
    pub int64: i64,
    pub uint: ::core::ffi::c_uint,
    pub uint8: u8,
    pub uint16: u16,
    pub uint32: u32,
    pub uint64: u64,
    pub fval: f32,
    pub dval: f64,
    pub tv: timeval,
    pub time: time_t,
    pub status: pmix_status_t,
    pub rank: pmix_rank_t,
    pub nspace: *mut pmix_nspace_t,
    pub proc_: *mut pmix_proc_t,
    pub bo: pmix_byte_object_t,
    pub persist: pmix_persistence_t,
    pub scope: pmix_scope_t,
    pub range: pmix_data_range_t,
    pub state: pmix_proc_state_t,
    pub pinfo: *mut pmix_proc_info_t,
    pub darray: *mut pmix_data_array_t,
    pub ptr: *mut ::core::ffi::c_void,
    pub adir: pmix_alloc_directive_t,
    pub envar: pmix_envar_t,
    pub coord: *mut pmix_coord_t,
    pub linkstate: pmix_link_state_t,
    pub jstate: pmix_job_state_t,
    pub topo: *mut pmix_topology_t,
    pub cpuset: *mut pmix_cpuset_t,
    pub locality: pmix_locality_t,
    pub geometry: *mut pmix_geometry_t,
    pub devtype: pmix_device_type_t,
    pub devdist: *mut pmix_device_distance_t,
    pub endpoint: *mut pmix_endpoint_t,
    pub dbuf: *mut pmix_data_buffer_t,
    pub pstats: *mut pmix_proc_stats_t,
    pub dkstats: *mut pmix_disk_stats_t,
    pub netstats: *mut pmix_net_stats_t,
    pub ndstats: *mut pmix_node_stats_t,
}
pub type pmix_value_t = pmix_value;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct pmix_info {
    pub key: pmix_key_t,
    pub flags: pmix_info_directives_t,
    pub value: pmix_value_t,
}
