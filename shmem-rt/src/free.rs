//! Frees memory: at once by [`World::free`], or after all PEs have dropped the handle.

use shmem_core::array::{NumaArray, Storage};
use shmem_core::context::Initiator;
use shmem_core::heap::Owner;
use shmem_core::object::{SymAddr, SymBox};
use shmem_core::symmetric_data::{Contents, SymmetricData};
use shmem_core::system_area::SCRATCH_BYTES;

use crate::collective::Agreed;
use crate::dynamic_segments;
use crate::error::{ErrorKind, Result};
use crate::group::CallSignature;
use crate::thread::ThreadLevel;
use crate::world::World;

impl<L: ThreadLevel> World<L> {
    /// Frees memory at once: a [`SymBox`], a [`NumaArray`], or an address from `malloc`, `align`, `calloc` or
    /// `realloc`. Collective. (Dropping a `SymBox` frees it later, without a barrier.)
    ///
    /// # Errors
    ///
    /// If an address is not the start of an allocated block. The error text names the object at the address.
    ///
    /// # Panics
    ///
    /// If the address is not symmetric.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_free`.
    #[track_caller]
    pub fn free(&self, what: impl Free) -> Result<()> {
        let block = what.into_block();
        let (arguments, text) = match &block {
            Block::Handle(what, id) => ([0, *id], format!("{what} #{id}")),
            Block::At(address) => {
                let offset = self.offset_of("free", *address);
                ([1, offset as u64], format!("the block at offset {offset:#x}"))
            }
        };
        let subject = || text.clone();
        let signature = CallSignature::of_memory("free", &arguments, &subject);
        let agreed = self.team().agree_on(self.endpoint(), &signature);
        if let Block::At(_) = block {
            self.job().memory.ledger.lock().free_at(arguments[1] as usize)?;
            return Ok(());
        }
        // This PE's handle is dropped by now. The memory is reclaimed here, unless a named object has another handle.
        self.reclaim_for(&agreed);
        // A second agreement, so that the memory is free on all PEs when this function returns.
        agreed.again();
        let left = self.job().memory.ledger.lock().get(arguments[1]).copied();
        match left.filter(|left| left.owner == Owner::Name) {
            Some(left) => {
                let name = self.job().memory.names.given(&left).unwrap_or_else(|| text.clone());
                let why =
                    format!("`free` of {name}: a later job finds it by this name; remove the name instead");
                Err(ErrorKind::Refused(why).into())
            }
            None => Ok(()),
        }
    }

    /// Frees the memory of objects whose handles all PEs have dropped. Collective. Every allocation does this, too.
    #[track_caller]
    pub fn reclaim(&self) {
        let signature = CallSignature::of_memory("reclaim", &[], &String::new);
        self.reclaim_for(&self.team().agree_on(self.endpoint(), &signature));
    }

    /// Frees objects that all PEs have dropped: the intersection of the PEs' bitmaps of dropped objects.
    pub(crate) fn reclaim_for(&self, agreed: &Agreed<'_>) {
        let (mut first, mut words) = (0, self.job().memory.ledger.lock().words());
        while words > 0 {
            let mut window =
                self.job().memory.ledger.lock().pending_bitmap(first, words.min(SCRATCH_BYTES / 8));
            // The quiet follows the bitmap, because another thread may write to an object and drop it just before the bitmap.
            self.job().quiet_all();
            let bytes = bytemuck::cast_slice_mut(&mut window);
            agreed.reduce(bytes, |a: u64, b| a & b);
            let reclaimed = self.job().memory.ledger.lock().reclaim(first, &window).unwrap_or_else(|error| {
                self.job().abort(1, &format!("the heaps of the PEs differ: {error}"))
            });
            // SAFETY: all PEs have dropped the handles of `reclaimed`, because this collective combined the bitmaps of all PEs
            // (guarantee 2 of `Agreed`). Each PE was quiet before it sent its bitmap.
            unsafe { dynamic_segments::settle(self.job(), &reclaimed.freed) };
            words = words.saturating_sub(window.len());
            if reclaimed.next == 0 {
                return;
            }
            first = reclaimed.next;
        }
    }
}

/// The argument of [`World::free`]: a [`SymBox`], a [`NumaArray`] or a [`SymAddr`].
pub trait Free {
    #[doc(hidden)]
    fn into_block(self) -> Block;
}

#[doc(hidden)]
pub enum Block {
    /// Name and number of an object whose handle is freed.
    Handle(&'static str, u64),
    At(SymAddr),
}

impl<T: SymmetricData, const D: usize, S: Storage> Free for NumaArray<T, D, S> {
    fn into_block(self) -> Block {
        Block::Handle("array", self.id())
    }
}

impl<T: Contents + ?Sized> Free for SymBox<T> {
    fn into_block(self) -> Block {
        Block::Handle("object", self.id())
    }
}

impl Free for SymAddr {
    fn into_block(self) -> Block {
        Block::At(self)
    }
}
