//! `shmem_fence`, `shmem_quiet`, `shmem_pe_quiet`.

use std::ffi::c_int;

use shmem_core::context::untyped;

use crate::context::Call;
use crate::table::routines;

routines! {
    once {
        ctx "fence" "" () [] = |call: Call| if !call.is_invalid() { untyped::fence(call.endpoint()) };
        ctx "quiet" "" () [] = |call: Call| if !call.is_invalid() { untyped::quiet(call.endpoint()) };
        ctx "pe_quiet" "" (target_pes: *const c_int, npes: usize) [] = pe_quiet;
    }
}

unsafe fn pe_quiet(call: Call, pes: *const c_int, count: usize) {
    if call.is_invalid() {
        return;
    }
    let endpoint = call.endpoint();
    for at in 0..count {
        // SAFETY: the C program passes `count` PE numbers at `pes`.
        let pe = unsafe { pes.wrapping_add(at).read() };
        untyped::quiet_pe(endpoint, call.pe(pe));
    }
}
