//! Plans for PEs that are not on this node: the transport moves the blocks.

use crate::endpoint::Endpoint;
use crate::pe::Pe;
use crate::strided::{Level, Plan};
use crate::transport::{Blocks, Remote};

/// A symmetric place on a PE that is not on this node.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) pe: Pe,
    pub(super) segment: u32,
    pub(super) offset: usize,
}

impl Place {
    fn remote(self, further: usize) -> Remote {
        Endpoint::remote(self.pe, self.segment, self.offset + further)
    }
}

/// Moves what `plan` says to another node: a call of the transport for each innermost loop.
///
/// # Safety
///
/// From `from` on, every block of the plan must be readable; from `to` on, every block must lie in the
/// segment.
#[cold]
#[inline(never)]
pub(super) unsafe fn put(endpoint: &Endpoint, plan: &Plan, to: Place, from: *const u8) {
    let far = endpoint.far();
    let block = plan.pattern().block();
    plan.pattern().each_row(|a, b, Level { count, to: to_stride, from: from_stride }| {
        let blocks = |stride| Blocks { block, count, stride };
        let (to_blocks, from_blocks) = (blocks(to_stride), blocks(from_stride));
        // SAFETY: the blocks of one loop, on each side (caller).
        unsafe {
            far.transport.put_blocks(
                far.channel,
                to.remote(a),
                to_blocks,
                from.wrapping_add(b),
                from_blocks,
            )
        };
    });
}

/// Moves what `plan` says from another node: a call of the transport for each block.
///
/// # Safety
///
/// From `to` on, every block of the plan must be writable; from `from` on, every block must lie in the
/// segment.
#[cold]
#[inline(never)]
pub(super) unsafe fn get(endpoint: &Endpoint, plan: &Plan, to: *mut u8, from: Place) {
    let far = endpoint.far();
    let block = plan.pattern().block();
    plan.pattern().each_block(|a, b| {
        // SAFETY: one block on each side (caller).
        unsafe { far.transport.get(far.channel, to.wrapping_add(a), from.remote(b), block) };
    });
}
