//! Results that are made tile by tile, of operands that are read when their turn comes, and written where they go: of items of any
//! size, without room for all of them.

use bytemuck::Pod;

use super::partials::Partials;

/// Writes what a rank has, from an item on.
pub(super) type Operands<'o, I> = &'o dyn Fn(usize, usize, &mut [I]);

/// Room for a tile of results.
pub(super) struct Made<I> {
    room: Partials,
    /// One item, if it is so large that the frame has no room for it.
    large: Vec<I>,
}

impl<I: Pod> Made<I> {
    /// Nothing is made yet.
    pub(super) fn new() -> Self {
        let is_large = size_of::<I>() > 0 && !Partials::has_room_for::<I>();
        Self { room: Partials::new(), large: if is_large { vec![I::zeroed()] } else { Vec::new() } }
    }

    /// Makes so many items by `fold`, some at a time. `read` reads bytes that a rank has from one on, and `write` writes results
    /// likewise.
    pub(super) fn fold(
        &mut self,
        items: usize,
        fold: &impl Fn(&mut [I], Operands<'_, I>),
        read: &dyn Fn(usize, usize, &mut [u8]),
        write: &mut dyn FnMut(usize, &[u8]),
    ) {
        let size = size_of::<I>();
        let room: &mut [I] = if self.large.is_empty() { self.room.of() } else { &mut self.large };
        let most = room.len();
        for first in (0..items).step_by(most) {
            let some = &mut room[..(items - first).min(most)];
            fold(some, &|rank, item, into| {
                read(rank, (first + item) * size, bytemuck::cast_slice_mut(into));
            });
            write(first * size, bytemuck::cast_slice(some));
        }
    }
}
