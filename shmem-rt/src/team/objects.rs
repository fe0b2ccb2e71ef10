//! What a phase of a team can open: its own objects.

use std::sync::Arc;

use shmem_core::object::Objects;

use crate::state::uses::Uses;

/// What [`Team::local`](crate::Team::local) opens: `&object`, a tuple of them, or a list, of [`TeamBox`](crate::TeamBox)es.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an object of a team",
    label = "not allocated by a team",
    note = "the members of a team open what `team.alloc` gave them: other PEs can write all other symmetric objects; `world.local` opens those"
)]
pub trait TeamObjects: Objects + sealed::Sealed {
    /// Whether the team with these uses has allocated all of them.
    #[doc(hidden)]
    fn __are_of(self, team: &TeamKey) -> bool;
}

/// Stands for a team in the methods of [`TeamObjects`].
#[doc(hidden)]
#[derive(Debug)]
pub struct TeamKey(pub(super) Arc<Uses>);

mod sealed {
    use shmem_core::data::Contents;
    use shmem_core::object::SymmetricObject;

    use super::TeamKey;
    use crate::team::object::TeamBox;

    pub trait Sealed {}

    /// An object of a team, or a reference to one: what lists of objects consist of.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is not an object of a team",
        label = "not allocated by a team"
    )]
    pub trait TeamObject: SymmetricObject {
        /// Whether the team with these uses has allocated it.
        fn is_of(&self, team: &TeamKey) -> bool;
    }

    impl<T: Contents + ?Sized + 'static> TeamObject for TeamBox<T> {
        fn is_of(&self, team: &TeamKey) -> bool {
            TeamBox::is_of(self, &team.0)
        }
    }

    impl<T: TeamObject> TeamObject for &T {
        fn is_of(&self, team: &TeamKey) -> bool {
            T::is_of(self, team)
        }
    }
}

impl<T: sealed::TeamObject> sealed::Sealed for &T {}

#[diagnostic::do_not_recommend]
impl<T: sealed::TeamObject> TeamObjects for &T {
    fn __are_of(self, team: &TeamKey) -> bool {
        self.is_of(team)
    }
}

impl<T: sealed::TeamObject> sealed::Sealed for &[T] {}

impl<T: sealed::TeamObject> TeamObjects for &[T] {
    fn __are_of(self, team: &TeamKey) -> bool {
        self.iter().all(|object| object.is_of(team))
    }
}

impl<T: sealed::TeamObject> sealed::Sealed for &Vec<T> {}

impl<T: sealed::TeamObject> TeamObjects for &Vec<T> {
    fn __are_of(self, team: &TeamKey) -> bool {
        self.as_slice().__are_of(team)
    }
}

impl<T: sealed::TeamObject, const N: usize> sealed::Sealed for &[T; N] {}

impl<T: sealed::TeamObject, const N: usize> TeamObjects for &[T; N] {
    fn __are_of(self, team: &TeamKey) -> bool {
        self.as_slice().__are_of(team)
    }
}

macro_rules! tuples {
    ($($name:ident)+) => {
        impl<$($name: TeamObjects),+> sealed::Sealed for ($($name,)+) {}

        impl<$($name: TeamObjects),+> TeamObjects for ($($name,)+) {
            fn __are_of(self, team: &TeamKey) -> bool {
                #[expect(non_snake_case, reason = "one binding per type parameter")]
                let ($($name,)+) = self;
                $($name.__are_of(team))&&+
            }
        }
    };
}
tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);

impl<O: TeamObjects, const N: usize> sealed::Sealed for [O; N] {}

impl<O: TeamObjects, const N: usize> TeamObjects for [O; N] {
    fn __are_of(self, team: &TeamKey) -> bool {
        self.into_iter().all(|objects| objects.__are_of(team))
    }
}
