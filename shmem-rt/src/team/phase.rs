//! Phases of a team: references into objects of a team, opened by its members alone.
//!
//! Every operation needs a *token*, which borrows the PE's world. A phase of the world is sound because no PE has a token while any
//! PE is in it ([`phase`](crate::phase)). During a phase of a team, only its members have none; other PEs go on. Such a phase is
//! sound because other PEs cannot name the opened objects:
//!
//! 1. Only objects that this very team has allocated are opened (checked when the phase begins).
//! 2. These are in the memory of teams, which belongs to the segment of the system: no address names it (`Segments::find` never
//!    returns that segment), and only a [`TeamBox`] gives access to it.
//! 3. A `TeamBox` is made on members only, and names members only ([`TeamBox::on`] checks). So a PE whose box names bytes on PE p
//!    is in the team of that box together with p. All members know the same team and the same place and size of the object: before
//!    they exchanged anything else, they compared the signatures of their calls word for word
//!    ([`Agreed`](crate::collective::Agreed)).
//! 4. Bytes on p belong to one object at a time: p itself keeps the list of free ranges. p gives the bytes to another object only
//!    after all members of the first object's team have dropped their boxes, have completed their operations, and have then told p
//!    so (in a collective of that team, or of a team that contains it). So a PE that can name the bytes of an object of this team
//!    on p has a box of this very object, and is a member. A collective of a smaller team reads and writes such an object on its
//!    own members only, each by its own box.
//! 5. No member has a token: each has lent its world exclusively to this call. All endpoints of members are quiet, and the barriers
//!    before and after the body are checked barriers of the team, so (2) to (7) of the argument for the world hold for the members.
//!
//! Where PEs are threads of one process, a box can be handed from one PE to another by other means than this library. But a box and
//! a [`Pe`](shmem_core::pe::Pe) record the PE that made them. Both must be of one PE to give an address, and operations of other
//! PEs refuse that `Pe` (`Endpoint::mapped`). A phase refuses a box of another PE when it asks the box for its extent.
//!
//! [`TeamBox`]: super::TeamBox
//! [`TeamBox::on`]: super::TeamBox::on

use std::sync::Arc;

use shmem_core::context::Initiator;
use shmem_core::object::{Objects, SymmetricObject};
use shmem_core::symmetric_data::Contents;

use super::TeamBox;
use crate::group::Team;
use crate::phase::{FROZEN, LOCAL, Phase, PhaseKind};
use crate::thread::ThreadLevel;
use crate::world::World;

impl Team {
    /// Opens objects of this team exclusively on all members. Runs `body` between two barriers, with a `&mut` to the calling PE's
    /// copy of each object.
    ///
    /// # Panics
    ///
    /// If an object was not allocated by this team, or two of them overlap. A panic inside `body` ends the job.
    #[track_caller]
    pub fn local<L: ThreadLevel, O: TeamObjects, R>(
        &self,
        world: &mut World<L>,
        objects: O,
        body: impl for<'x> FnOnce(O::Mut<'x>) -> R,
    ) -> R {
        let phase = self.phase(world, LOCAL, objects);
        phase.run(world, Some(self), |endpoint| {
            // SAFETY: by (1) to (5) of the module's argument nobody else reaches the objects until `leave`: `phase` has checked
            // that this team has allocated them, and all members are in the phase. The extents do not overlap (`Phase::enter`), the
            // handles stay borrowed, and `mine(0)` is the start of this PE's slot.
            body(unsafe { objects.open(endpoint.mine(0)) })
        })
    }

    /// Opens objects of this team for reading on all members. Runs `body` between two barriers, with a `&` to the calling PE's copy
    /// of each object.
    ///
    /// # Panics
    ///
    /// If an object was not allocated by this team. A panic inside `body` ends the job.
    #[track_caller]
    pub fn frozen<L: ThreadLevel, O: TeamObjects, R>(
        &self,
        world: &mut World<L>,
        objects: O,
        body: impl for<'x> FnOnce(O::Ref<'x>) -> R,
    ) -> R {
        let phase = self.phase(world, FROZEN, objects);
        phase.run(world, Some(self), |endpoint| {
            // SAFETY: by (1) to (5) of the module's argument nobody writes the objects until `leave`: `phase` has checked that this
            // team has allocated them. The handles stay borrowed, and `mine(0)` is the start of this PE's slot.
            body(unsafe { objects.freeze(endpoint.mine(0)) })
        })
    }

    #[track_caller]
    fn phase<L: ThreadLevel, O: TeamObjects>(&self, world: &World<L>, kind: PhaseKind, objects: O) -> Phase {
        // A phase quiets only the endpoints of this PE. Where PEs are threads, a `Team` can have come from another PE.
        assert!(Arc::ptr_eq(&self.job, world.job()), "this is a team of another PE");
        // No other object has the place of a live box, so the place shows which team has allocated the box.
        Phase::enter(self, world.endpoint(), kind, objects, |place| self.uses.has_object_at(place))
    }
}

/// The objects that [`Team::local`](crate::Team::local) opens: a reference to a [`TeamBox`](crate::TeamBox), or a tuple or list of
/// them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an object of a team",
    label = "not allocated by a team",
    note = "the members of a team open what `team.alloc` gave them: other PEs can write all other symmetric objects; `world.local` opens those"
)]
pub trait TeamObjects: Objects {}

mod sealed {
    /// A [`TeamBox`](crate::TeamBox), or a reference to one: an element of a slice, array or `Vec`.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is not an object of a team",
        label = "not allocated by a team"
    )]
    pub trait TeamObject: super::SymmetricObject {}
}
use sealed::TeamObject;

impl<T: Contents + ?Sized + 'static> TeamObject for TeamBox<T> {}
impl<T: TeamObject> TeamObject for &T {}

#[diagnostic::do_not_recommend]
impl<T: TeamObject> TeamObjects for &T {}
impl<T: TeamObject> TeamObjects for &[T] {}
impl<T: TeamObject> TeamObjects for &Vec<T> {}
impl<T: TeamObject, const N: usize> TeamObjects for &[T; N] {}
impl<O: TeamObjects, const N: usize> TeamObjects for [O; N] {}

macro_rules! tuples {
    ($(($($name:ident)+))*) => {$(
        impl<$($name: TeamObjects),+> TeamObjects for ($($name,)+) {}
    )*};
}
tuples!((A)(A B)(A B C)(A B C D)(A B C D E)(A B C D E F)(A B C D E F G)(A B C D E F G H));
