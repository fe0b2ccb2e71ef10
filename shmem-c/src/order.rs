//! `shmem_fence`, `shmem_quiet`, `shmem_pe_quiet`.

use std::ffi::c_int;

use shmem_core::context::untyped;

use crate::table::routines;
use crate::types::Ctx;
use crate::world::stream;

routines! {
    once {
        ctx "fence" "" () [] = fence;
        ctx "quiet" "" () [] = quiet;
        ctx "pe_quiet" "" (target_pes: *const c_int, npes: usize) [] = pe_quiet;
    }
}

#[inline(always)]
fn fence(ctx: Ctx, routine: &'static str) {
    if ctx != Ctx::INVALID {
        untyped::fence(stream(ctx, routine).endpoint(routine));
    }
}

#[inline(always)]
fn quiet(ctx: Ctx, routine: &'static str) {
    if ctx != Ctx::INVALID {
        untyped::quiet(stream(ctx, routine).endpoint(routine));
    }
}

unsafe fn pe_quiet(ctx: Ctx, routine: &'static str, pes: *const c_int, count: usize) {
    if ctx == Ctx::INVALID {
        return;
    }
    let stream = stream(ctx, routine);
    let endpoint = stream.endpoint(routine);
    for at in 0..count {
        // SAFETY: C gives so many numbers.
        let pe = unsafe { pes.wrapping_add(at).read() };
        untyped::quiet_pe(endpoint, stream.pe(routine, pe));
    }
}
