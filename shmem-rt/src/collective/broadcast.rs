//! broadcast: sends the root's data to all members.
//!
//! Long data between nodes travel along two [binary trees](super::schedule::TwoTree).

use core::ops::Range;

use shmem_core::context::{Contribution, Initiator};
use shmem_core::object::Extent;
use shmem_core::observe::Family;
use shmem_core::partition::show_size;
use shmem_core::pe::Pe;
use shmem_launch::env::CollectiveWay as Way;

use super::barrier_payload::{Shares, room_of_one};
use super::choose::Pattern;
use super::compared_argument::{Argument, Root};
use super::request::{Started, Task};
use super::staging::{Ring, Staged, Turn};
use super::user_buffer::{RecvBuf, SendBuf};
use crate::group::{CallSignature, Collective, Team};

impl Team {
    /// Copies the root's data to every member. `data` is a [`Contribution`]: `&mut x` is changed in place, a value `x` is replaced
    /// by the root's and returned, and of a symmetric object `&OBJECT` the own copy is changed. All members' `data` have equal
    /// length.
    ///
    /// ```no_run
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) -> Result<()> {
    /// let first = world.pe(0)?;
    /// let seed = world.broadcast(u64::from(std::process::id()), first);
    /// let mut table = vec![0.0; 1000];
    /// world.broadcast(&mut table, first);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If `root` is not a member, or a symmetric object is of a team that lacks a member of this one.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_broadcast`.
    #[track_caller]
    pub fn broadcast<X, R>(&self, token: &(impl Initiator + ?Sized), data: X, root: Pe) -> R
    where
        X: Contribution<R>,
    {
        let root = Root::of(self, root, "broadcast");
        let argument = Argument::of::<X::Item>(self, token, data.place(token));
        let here = root.is_here(self);
        argument.changed(data, (here, !here), |_, data| {
            let (bytes, from) = (data.len(), data.object());
            let (words, subject) = ([root.word(), bytes as u64], || show(&argument, bytes, &root));
            argument.run(Family::Broadcast, words, &subject, bytes, |collective, signature| {
                collective.broadcast(signature, from, data, root.rank);
            });
        })
    }

    /// Starts a [`broadcast`](Self::broadcast) and returns: a [wait](Started::wait) returns the result. `data` is read before this
    /// returns. [`start_barrier`](Self::start_barrier) has the rules of started collectives.
    ///
    /// # Panics
    ///
    /// If `root` is not a member, or a symmetric object is of a team that lacks a member of this one.
    ///
    /// Source: MPI 4.1, `MPI_Ibcast`; OpenSHMEM 1.6, `shmem_broadcast`.
    #[doc(alias = "MPI_Ibcast")]
    #[track_caller]
    pub fn start_broadcast<'t, X, R>(
        &'t self,
        token: &'t (impl Initiator + ?Sized),
        data: X,
        root: Pe,
    ) -> Started<'t, R>
    where
        X: Contribution<R> + 't,
    {
        let root = Root::of(self, root, "start_broadcast");
        let argument = Argument::of::<X::Item>(self, token, data.place(token));
        let given = data.read(token, |items| bytemuck::cast_slice(items).to_vec());
        let bytes = given.len();
        let (words, subject) = ([root.word(), bytes as u64], || show(&argument, bytes, &root));
        let task = Task::of(self.steps(Pattern::Broadcast(bytes), root.rank, 1), given);
        argument.start(Family::StartBroadcast, words, &subject, (bytes, task), move |result| {
            data.change(token, |items| bytemuck::cast_slice_mut(items).copy_from_slice(result))
        })
    }
}

fn show<K: Initiator + ?Sized>(argument: &Argument<'_, K>, bytes: usize, root: &Root) -> String {
    format!("{} from PE {}", argument.name_or(|| show_size(bytes as u64)), root.pe)
}

impl Collective<'_> {
    /// Runs [`Team::broadcast`] on bytes. `from` is the data's place in symmetric memory, if they are a symmetric object.
    pub(super) fn broadcast(
        &self,
        signature: &CallSignature<'_>,
        from: Option<Extent>,
        mut data: RecvBuf<'_>,
        root: usize,
    ) {
        let (bytes, is_root) = (data.len(), root == self.team.rank());
        let way = self.way(signature, Pattern::Broadcast(bytes), from.is_some());
        match (way, from) {
            (Way::Windows, _) => {
                return self.pipelined(
                    signature,
                    (Pattern::Broadcast(bytes), root),
                    SendBuf::EMPTY,
                    data,
                    None,
                );
            }
            (Way::Direct, Some(from)) => {
                self.meet(signature);
                if !is_root {
                    data.copy_from(0, self.copy_on(root, from).into());
                }
                return self.leave_source(signature, root);
            }
            _ => {}
        }
        let by_ring = way == Way::Rings;
        // Chunks are short, because readers can begin when the first chunk is in the ring.
        let most = match by_ring {
            true => (bytes / 8).next_multiple_of(4 << 10).clamp(8 << 10, Ring::CHUNK),
            false => room_of_one(self.team.size(), self.team.node_count()),
        };
        let staged = Staged {
            by_ring,
            total: bytes,
            at_once: most,
            bytes: most.min(bytes),
            writes: is_root,
            reads: !is_root,
        };
        let shares = |part: Range<usize>| Shares::Of { rank: root, bytes: part.len() };
        self.staged(signature, staged, shares, |turn| match turn {
            Turn::Write(part, mut room) => data.source().read(part.start, room.part(0, part.len())),
            Turn::Read(part, come) => data.write(part.start, come(root, 0, part.len())),
        });
    }
}
