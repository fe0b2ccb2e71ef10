//! What phases open, as bytes.

use std::any::Any;

use bytemuck::{bytes_of, cast_slice, cast_slice_mut, pod_read_unaligned};
use shmem::array::{ArrayMut, ArrayRef, Separate, Storage};
use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{Objects, PlainData, Team, TeamBox};

use super::object::Object;

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
    pub(crate) frozen: bool,
    /// What is opened as well.
    pub(crate) beside: Option<&'p dyn Object>,
    pub(crate) visit: &'p mut dyn FnMut(&mut [&mut dyn Opened]),
}

impl Phase<'_> {
    /// Opens an object of all PEs.
    pub(crate) fn of<O: Objects>(self, object: O)
    where
        for<'x> O::Mut<'x>: Opened,
        for<'x> O::Ref<'x>: Opened,
    {
        let Self { world, frozen, beside, visit, .. } = self;
        // Lists of one or of none: whatever it is that is opened as well.
        let (bytes, numbers) = (list::<SymBox<[u8]>>(beside), list::<SymBox<[u64]>>(beside));
        let arrays = list::<NumaArray<u64, 1, Separate>>(beside);
        let statics = list::<&'static Symmetric<[u64; 64]>>(beside);
        let all = (object, &bytes, &numbers, &arrays, &statics);
        macro_rules! visited {
            () => {
                |(mut one, mut bytes, mut numbers, mut arrays, mut statics)| {
                    let mut all: Vec<&mut dyn Opened> = vec![&mut one];
                    all.extend(bytes.iter_mut().map(|opened| opened as &mut dyn Opened));
                    all.extend(numbers.iter_mut().map(|opened| opened as &mut dyn Opened));
                    all.extend(arrays.iter_mut().map(|opened| opened as &mut dyn Opened));
                    all.extend(statics.iter_mut().map(|opened| opened as &mut dyn Opened));
                    visit(&mut all);
                }
            };
        }
        match frozen {
            true => world.frozen(all, visited!()),
            false => world.local(all, visited!()),
        }
    }

    /// Opens an object of the team.
    pub(crate) fn of_team<T: PlainData>(self, object: &TeamBox<[T]>) {
        let Self { world, team, frozen, visit, .. } = self;
        let team = team.expect("a phase of the team that has the object");
        match frozen {
            true => team.frozen(world, object, |mut opened| visit(&mut [&mut opened])),
            false => team.local(world, object, |mut opened| visit(&mut [&mut opened])),
        }
    }
}

/// An object as a list of it alone, if it is of a type.
fn list<T: Any>(object: Option<&dyn Object>) -> Vec<&T> {
    let object = object.map(|object| object as &dyn Any);
    object.and_then(|object| object.downcast_ref()).into_iter().collect()
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
