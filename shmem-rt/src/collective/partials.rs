//! Room for partial results.

use bytemuck::Pod;

/// Room for the partial results of a [fold](super::tree::fold), in the frame of whoever folds. It stays in the first
/// cache whatever there is to fold: of more ranks the tiles are shorter.
pub(super) struct Partials([u128; Self::BYTES / size_of::<u128>()]);

impl Partials {
    pub(super) const BYTES: usize = 4 << 10;

    /// Whether there is room for an item: neither very large, nor aligned like nothing else.
    pub(super) const fn has_room_for<I>() -> bool {
        align_of::<I>() <= align_of::<Self>() && size_of::<I>() <= Self::BYTES
    }

    /// Lends room for so many items of whatever size, or for more: in the frame, if that is enough.
    pub(super) fn with<I: Pod, R>(items: usize, work: impl FnOnce(&mut [I]) -> R) -> R {
        if align_of::<I>() > align_of::<Self>() || items.saturating_mul(size_of::<I>()) > Self::BYTES {
            return work(&mut vec![I::zeroed(); items]);
        }
        work(Self::new().of())
    }

    /// Room with nothing in it.
    pub(super) const fn new() -> Self {
        Self([0; _])
    }

    /// As many numbers as there is room for.
    pub(super) fn of<N: Pod>(&mut self) -> &mut [N] {
        let bytes = bytemuck::bytes_of_mut(&mut self.0);
        bytemuck::cast_slice_mut(&mut bytes[..Self::BYTES / size_of::<N>() * size_of::<N>()])
    }
}
