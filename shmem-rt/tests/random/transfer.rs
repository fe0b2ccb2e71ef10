//! How single operations of a program are carried out: by each routine that does the same.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytemuck::cast_slice;
use shmem::prelude::*;
use shmem::{Here, On, PlainData, Stores, SymAddr, TeamBox};

use super::step::{Blocks, Way, items};

/// Aligned to a line of the cache.
#[derive(Clone, Copy, Symmetric)]
#[repr(C, align(64))]
pub(crate) struct Line([u64; 8]);

/// Aligned to a page.
#[derive(Clone, Copy, Symmetric)]
#[repr(C, align(4096))]
pub(crate) struct Page([u8; 4096]);

/// Elements one behind the other, on every PE.
pub(crate) trait Flat<T: PlainData> {
    fn place(&self, pe: Pe) -> On<'_, [T]>;

    /// The own copy.
    fn own<'a>(&'a self, token: &'a dyn Stores) -> Option<Here<'a, [T]>>;

    /// Its address; `None`: it has none.
    fn address(&self, token: &dyn Stores) -> Option<SymAddr>;

    /// Writes blocks by `strided!`, if it takes this object.
    fn put_written(&self, _: &World<shmem::thread::Multiple>, _: Pe, _: Blocks, _: &[T]) -> bool {
        false
    }

    /// Reads blocks by `strided!`.
    fn get_written(&self, _: &World<shmem::thread::Multiple>, _: Pe, _: Blocks, _: &mut [T]) -> bool {
        false
    }
}

macro_rules! written {
    ($t:ty) => {
        fn put_written(
            &self,
            world: &World<shmem::thread::Multiple>,
            pe: Pe,
            at: Blocks,
            data: &[$t],
        ) -> bool {
            let (object, end) = (self, at.end());
            strided!(world, object@pe[dyn at.first..end; dyn at.stride; dyn at.block] = data[..]);
            true
        }

        fn get_written(
            &self,
            world: &World<shmem::thread::Multiple>,
            pe: Pe,
            at: Blocks,
            data: &mut [$t],
        ) -> bool {
            let (object, end) = (self, at.end());
            strided!(world, data[..] = object@pe[dyn at.first..end; dyn at.stride; dyn at.block]);
            true
        }
    };
}

macro_rules! boxes {
    ($($t:ty: [$($written:tt)*];)*) => {$(
        impl Flat<$t> for SymBox<[$t]> {
            fn place(&self, pe: Pe) -> On<'_, [$t]> {
                self.on(pe)
            }

            fn own<'a>(&'a self, token: &'a dyn Stores) -> Option<Here<'a, [$t]>> {
                Some(self.here(token))
            }

            fn address(&self, token: &dyn Stores) -> Option<SymAddr> {
                Some(self.here(token).addr())
            }

            $($written)*
        }

        impl Flat<$t> for TeamBox<[$t]> {
            fn place(&self, pe: Pe) -> On<'_, [$t]> {
                self.on(pe)
            }

            fn own<'a>(&'a self, token: &'a dyn Stores) -> Option<Here<'a, [$t]>> {
                Some(self.here(token))
            }

            fn address(&self, _: &dyn Stores) -> Option<SymAddr> {
                None
            }
        }
    )*};
}
boxes! {
    u8: [written!(u8);];
    u64: [written!(u64);];
    // Two dimensions for `strided!`.
    [u8; 3]: [];
    Line: [written!(Line);];
    Page: [written!(Page);];
}

macro_rules! statics {
    ($($t:ty, $n:literal;)*) => {$(
        impl Flat<$t> for Symmetric<[$t; $n]> {
            fn place(&self, pe: Pe) -> On<'_, [$t]> {
                self.on(pe).index(..)
            }

            fn own<'a>(&'a self, token: &'a dyn Stores) -> Option<Here<'a, [$t]>> {
                Some(self.here(token).index(..))
            }

            fn address(&self, token: &dyn Stores) -> Option<SymAddr> {
                Some(self.here(token).addr())
            }

            written!($t);
        }
    )*};
}
statics! { u8, 256; u64, 64; u64, 32; }

impl<S: shmem::array::Contiguous> Flat<u64> for NumaArray<u64, 1, S> {
    fn place(&self, pe: Pe) -> On<'_, [u64]> {
        self.slice_on(pe)
    }

    fn own<'a>(&'a self, _: &'a dyn Stores) -> Option<Here<'a, [u64]>> {
        None
    }

    fn address(&self, _: &dyn Stores) -> Option<SymAddr> {
        None
    }
}

/// What an expected panic says.
const EXPECTED: &str = "this panic is part of the program";

thread_local! {
    static EXPECTS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Panics that a program expects are not printed.
pub(crate) fn quiet_hook() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !EXPECTS.get() {
            before(info);
        }
    }));
}

/// Whether something panics.
pub(crate) fn panics<R>(body: impl FnOnce() -> R) -> bool {
    EXPECTS.set(true);
    let caught = catch_unwind(AssertUnwindSafe(body)).is_err();
    EXPECTS.set(false);
    caught
}

/// Writes the bytes of `data` to blocks of a place.
pub(crate) fn write<T: PlainData>(
    world: &World<shmem::thread::Multiple>,
    token: &dyn Stores,
    object: &impl Flat<T>,
    pe: Pe,
    at: Blocks,
    way: Way,
    data: &[u8],
) {
    let items: Vec<T> = items(data);
    let (place, one) = (object.place(pe), at.count <= 1);
    let range = at.first..at.end();
    match way {
        Way::Each => {
            for (i, item) in at.elements().zip(&items) {
                token.p(place.index(i), *item);
            }
        }
        Way::Bytes => {
            let Some(address) = object.address(token).filter(|at| token.address(at.as_ptr()).is_ok()) else {
                return write(world, token, object, pe, at, Way::Typed, data);
            };
            let to = address.add(at.first * size_of::<T>());
            let unit = size_of::<T>();
            match one {
                true => token.putmem(to, data, pe),
                false => {
                    token.iputmem(to, data, at.stride * unit, at.block * unit, at.block * unit, at.count, pe)
                }
            }
        }
        Way::Scope => token.scope(|scope| match one {
            true => scope.put(place.index(range), &items[..]),
            false => scope.ibput(place.index(at.first..), &items, at.stride, at.block, at.block, at.count),
        }),
        Way::Panicking => {
            let panicked = panics(|| {
                token.scope(|scope| {
                    match one {
                        true => scope.put(place.index(range), &items[..]),
                        false => {
                            scope.ibput(
                                place.index(at.first..),
                                &items,
                                at.stride,
                                at.block,
                                at.block,
                                at.count,
                            );
                        }
                    }
                    std::panic::panic_any(EXPECTED);
                });
            });
            assert!(panicked);
        }
        Way::Owned if one => {
            let back = token.put_owned(place.index(range), items.clone()).wait();
            assert_eq!(cast_slice::<T, u8>(&back), data, "an owned buffer comes back as it was");
        }
        Way::Owned => {
            token.ibput(place.index(at.first..), &items, at.stride, at.block, at.block, at.count);
            token.quiet();
        }
        Way::Forgotten if one => std::mem::forget(token.put_owned(place.index(range), items)),
        Way::Here => {
            let Some(own) = object.own(token) else {
                return write(world, token, object, pe, at, Way::Typed, data);
            };
            for (i, item) in at.elements().zip(&items) {
                own.index(i).store(*item);
            }
        }
        // It has no stride of 0, which a block of nothing may have.
        Way::Written if at.len() > 0 && object.put_written(world, pe, at, &items) => {
            // It was the world's, and a quiet of the token completes what is the token's.
            world.quiet();
        }
        // Some objects have no own copy; it is the same PE.
        _ if one => token.put(place.index(range), &items[..]),
        _ => token.ibput(place.index(at.first..), &items, at.stride, at.block, at.block, at.count),
    }
}

/// Reads blocks of a place.
pub(crate) fn read<T: PlainData>(
    world: &World<shmem::thread::Multiple>,
    token: &dyn Stores,
    object: &impl Flat<T>,
    pe: Pe,
    at: Blocks,
    way: Way,
) -> Vec<u8> {
    let mut items = vec![T::zeroed(); at.len()];
    let (place, one) = (object.place(pe), at.count <= 1);
    let range = at.first..at.end();
    match way {
        Way::Each => {
            for (i, item) in at.elements().zip(&mut items) {
                *item = token.g(place.index(i));
            }
        }
        Way::Bytes => {
            let Some(address) = object.address(token).filter(|at| token.address(at.as_ptr()).is_ok()) else {
                return read(world, token, object, pe, at, Way::Typed);
            };
            let (from, unit) = (address.add(at.first * size_of::<T>()), size_of::<T>());
            let into = bytemuck::cast_slice_mut(&mut items);
            match one {
                true => token.getmem(into, from, pe),
                false => token.igetmem(
                    into,
                    from,
                    at.block * unit,
                    at.stride * unit,
                    at.block * unit,
                    at.count,
                    pe,
                ),
            }
        }
        Way::Scope | Way::Panicking => token.scope(|scope| match one {
            true => scope.get(&mut items[..], place.index(range)),
            false => {
                scope.ibget(&mut items, place.index(at.first..), at.block, at.stride, at.block, at.count)
            }
        }),
        Way::Owned if one => items = token.get_owned(items, place.index(range)).wait(),
        Way::Owned => {
            token.ibget(&mut items, place.index(at.first..), at.block, at.stride, at.block, at.count);
            token.quiet();
        }
        Way::Here => {
            let Some(own) = object.own(token) else {
                return read(world, token, object, pe, at, Way::Typed);
            };
            for (i, item) in at.elements().zip(&mut items) {
                *item = own.index(i).load();
            }
        }
        Way::Written if at.len() > 0 && object.get_written(world, pe, at, &mut items) => {}
        _ if one => token.get(&mut items[..], place.index(range)),
        _ => token.ibget(&mut items, place.index(at.first..), at.block, at.stride, at.block, at.count),
    }
    cast_slice(&items).to_vec()
}
