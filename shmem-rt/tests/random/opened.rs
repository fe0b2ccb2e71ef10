//! What phases open, as bytes.

use bytemuck::{bytes_of, cast_slice, cast_slice_mut, pod_read_unaligned};
use shmem::array::{ArrayMut, ArrayRef, Storage};
use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{Objects, PlainData, Team, TeamBox};

/// What a phase opens of one object.
pub(crate) trait Opened {
    /// What it holds now.
    fn bytes(&self) -> Vec<u8>;

    /// Overwrites it; of what is frozen, nothing.
    fn set(&mut self, _: &[u8]) {}
}

/// A phase of all PEs, or of those of a team.
pub(crate) struct Phase<'p> {
    pub(crate) world: &'p mut World<Multiple>,
    pub(crate) team: Option<&'p Team>,
    /// Numbers that are opened beside the object.
    pub(crate) list: Vec<&'p SymBox<[u64]>>,
    pub(crate) frozen: bool,
    /// What is done with each of them: with the object first.
    pub(crate) visit: &'p mut dyn FnMut(&mut dyn Opened),
}

impl Phase<'_> {
    /// Opens an object of all PEs.
    pub(crate) fn of<O: Objects>(self, object: O)
    where
        for<'x> O::Mut<'x>: Opened,
        for<'x> O::Ref<'x>: Opened,
    {
        let Self { world, list, frozen, visit, .. } = self;
        match frozen {
            true => world.frozen((object, &list), |(mut opened, list)| {
                visit(&mut opened);
                list.into_iter().for_each(|mut numbers| visit(&mut numbers));
            }),
            false => world.local((object, &list), |(mut opened, mut list)| {
                visit(&mut opened);
                list.iter_mut().for_each(|numbers| visit(numbers));
            }),
        }
    }

    /// Opens an object of the team.
    pub(crate) fn of_team<T: PlainData>(self, object: &TeamBox<[T]>) {
        let Self { world, team, frozen, visit, .. } = self;
        let team = team.expect("a phase of the team that has the object");
        match frozen {
            true => team.frozen(world, object, |mut opened| visit(&mut opened)),
            false => team.local(world, object, |mut opened| visit(&mut opened)),
        }
    }
}

/// The bytes of a slice. A reference that is no element's is one to memory that is not there.
fn bytes_of_slice<T: PlainData>(items: &[T]) -> Vec<u8> {
    assert!(items.as_ptr().is_aligned(), "{} is not aligned", core::any::type_name::<T>());
    cast_slice(core::hint::black_box(items)).to_vec()
}

macro_rules! slices {
    ($([$($length:tt)*] $slice:ty;)*) => {$(
        impl<T: PlainData, $($length)*> Opened for &mut $slice {
            fn bytes(&self) -> Vec<u8> {
                bytes_of_slice(&self[..])
            }

            fn set(&mut self, bytes: &[u8]) {
                cast_slice_mut(&mut self[..]).copy_from_slice(bytes);
            }
        }

        impl<T: PlainData, $($length)*> Opened for &$slice {
            fn bytes(&self) -> Vec<u8> {
                bytes_of_slice(&self[..])
            }
        }
    )*};
}
slices! {
    [] [T];
    [const N: usize] [T; N];
}

impl<S: Storage> Opened for ArrayMut<'_, u64, 1, S> {
    fn bytes(&self) -> Vec<u8> {
        core::hint::black_box(self).iter().flat_map(bytes_of).copied().collect()
    }

    fn set(&mut self, bytes: &[u8]) {
        let numbers = bytes.chunks_exact(8).map(pod_read_unaligned);
        self.iter_mut().zip(numbers).for_each(|(number, new)| *number = new);
    }
}

impl<S: Storage> Opened for ArrayRef<'_, u64, 1, S> {
    fn bytes(&self) -> Vec<u8> {
        core::hint::black_box(self).iter().flat_map(bytes_of).copied().collect()
    }
}
