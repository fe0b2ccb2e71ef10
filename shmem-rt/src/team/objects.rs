//! What a phase of a team can open: its own objects.

use shmem_core::object::Objects;

/// What [`Team::local`](crate::Team::local) opens: `&object`, a tuple of them, or a list, of [`TeamBox`](crate::TeamBox)es.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an object of a team",
    label = "not allocated by a team",
    note = "the members of a team open what `team.alloc` gave them: other PEs can write all other symmetric objects; `world.local` opens those"
)]
pub trait TeamObjects: Objects + sealed::OfTeam {}

#[diagnostic::do_not_recommend]
impl<O: Objects + sealed::OfTeam> TeamObjects for O {}

mod sealed {
    use shmem_core::object::SymmetricObject;
    use shmem_core::symmetric_data::Contents;

    use crate::team::object::TeamBox;

    /// Objects that some team has allocated; a phase checks by their places which one.
    pub trait OfTeam {}

    /// A [`TeamBox`], or a reference to one: an element of a slice, array or `Vec`.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is not an object of a team",
        label = "not allocated by a team"
    )]
    pub trait TeamObject: SymmetricObject {}

    impl<T: Contents + ?Sized + 'static> TeamObject for TeamBox<T> {}
    impl<T: TeamObject> TeamObject for &T {}

    #[diagnostic::do_not_recommend]
    impl<T: TeamObject> OfTeam for &T {}
    impl<T: TeamObject> OfTeam for &[T] {}
    impl<T: TeamObject> OfTeam for &Vec<T> {}
    impl<T: TeamObject, const N: usize> OfTeam for &[T; N] {}
    impl<O: OfTeam, const N: usize> OfTeam for [O; N] {}

    macro_rules! tuples {
        ($(($($name:ident)+))*) => {$(
            impl<$($name: OfTeam),+> OfTeam for ($($name,)+) {}
        )*};
    }
    tuples!((A)(A B)(A B C)(A B C D)(A B C D E)(A B C D E F)(A B C D E F G)(A B C D E F G H));
}
