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
pub trait TeamObjects: Objects + sealed::OfTeam {}

#[diagnostic::do_not_recommend]
impl<O: Objects + sealed::OfTeam> TeamObjects for O {}

/// Stands for a team in the methods of what is sealed.
#[derive(Debug)]
pub struct TeamKey(pub(super) Arc<Uses>);

pub(super) mod sealed {
    use shmem_core::data::Contents;

    use super::TeamKey;
    use crate::team::object::TeamBox;

    pub trait OfTeam {
        /// Whether the team with these uses has allocated all of them.
        fn are_of(self, team: &TeamKey) -> bool;
    }

    #[diagnostic::do_not_recommend]
    impl<T: Contents + ?Sized + 'static> OfTeam for &TeamBox<T> {
        fn are_of(self, team: &TeamKey) -> bool {
            self.is_of(&team.0)
        }
    }

    impl<'a, T: ?Sized> OfTeam for &&'a T
    where
        &'a T: OfTeam,
    {
        fn are_of(self, team: &TeamKey) -> bool {
            (*self).are_of(team)
        }
    }

    impl<'a, T> OfTeam for &'a [T]
    where
        &'a T: OfTeam,
    {
        fn are_of(self, team: &TeamKey) -> bool {
            self.iter().all(|object| object.are_of(team))
        }
    }

    impl<'a, T> OfTeam for &'a Vec<T>
    where
        &'a T: OfTeam,
    {
        fn are_of(self, team: &TeamKey) -> bool {
            self.as_slice().are_of(team)
        }
    }

    impl<'a, T, const N: usize> OfTeam for &'a [T; N]
    where
        &'a T: OfTeam,
    {
        fn are_of(self, team: &TeamKey) -> bool {
            self.as_slice().are_of(team)
        }
    }

    impl<O: OfTeam, const N: usize> OfTeam for [O; N] {
        fn are_of(self, team: &TeamKey) -> bool {
            self.into_iter().all(|objects| objects.are_of(team))
        }
    }

    macro_rules! tuples {
        ($(($($name:ident)+))*) => {$(
            impl<$($name: OfTeam),+> OfTeam for ($($name,)+) {
                fn are_of(self, team: &TeamKey) -> bool {
                    #[expect(non_snake_case, reason = "one binding per type parameter")]
                    let ($($name,)+) = self;
                    $($name.are_of(team))&&+
                }
            }
        )*};
    }
    tuples!((A)(A B)(A B C)(A B C D)(A B C D E)(A B C D E F)(A B C D E F G)(A B C D E F G H));
}
