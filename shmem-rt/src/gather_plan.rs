//! Plans: lists of elements that are gathered repeatedly (inspector and executor; Saltz et al. 1991).
//!
//! When a plan is made, every PE learns which of its elements the other PEs need. Each call of the plan sends these elements
//! through a [`Halo`](crate::Halo), which synchronises two PEs only if one needs elements of the other.

use std::fmt;

use shmem_core::context::{Initiator, Stores};
use shmem_core::halo::{Edge, Halo, HaloToken};
use shmem_core::indexed::{Distribution, Indexed, ListIndex, Listed, Over};
use shmem_core::object::On;
use shmem_core::partition::show_size;
use shmem_core::pe::Pe;
use shmem_core::symmetric_data::{PlainData, SymmetricData};
use shmem_core::text::counted;

use crate::error::Result;
use crate::group::CallSignature;
use crate::thread::ThreadLevel;
use crate::world::World;

impl<L: ThreadLevel> World<L> {
    /// Makes a plan for a list of elements that the program gathers many times. Collective. Every PE passes its own
    /// list, which may be empty; all lists are of the same object.
    ///
    /// A sparse matrix times a vector:
    ///
    /// ```
    /// use shmem::prelude::*;
    ///
    /// #[shmem::main]
    /// fn main(world: &mut World) -> Result<()> {
    ///     let (me, n) = (world.my_pe(), 100 * world.n_pes());
    ///     let x = world.alloc(filled(1.0, 100))?;
    ///     // In row i there are three entries.
    ///     let columns: Vec<usize> = (me * 100..me * 100 + 100).flat_map(|i| [i, (i + 1) % n, i * 7 % n]).collect();
    ///     let mut plan = world.plan(x.over(world.team(), Block::of(n)).at(&columns))?;
    ///     let mut entries = vec![0.0; columns.len()];
    ///     let mut mine = vec![1.0; 100];
    ///     for _ in 0..5 {
    ///         plan.gather_from(world, &mut entries, &mine);
    ///         for (element, entries) in mine.iter_mut().zip(entries.chunks(3)) {
    ///             *element = 0.5 * entries[0] + 0.25 * entries[1] + 0.25 * entries[2];
    ///         }
    ///     }
    ///     assert_eq!(mine, [1.0; 100]);
    ///     plan.gather(world, &mut entries, x.on(world.me()));      // the same of the object itself
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// If memory for the values is short. The error is the same on every PE.
    ///
    /// # Panics
    ///
    /// If an index is beyond the end, or the objects of the PEs differ.
    #[track_caller]
    pub fn plan<T, D, X>(&self, list: Listed<'_, &Over<'_, T, D>, X>) -> Result<Plan<T>>
    where
        T: PlainData,
        D: Distribution,
        X: ListIndex,
    {
        let ((over, indices), pes) = (list.__parts(), self.n_pes());
        let (wanted, places) = sorted(over, indices.iter().map(|index| index.index()), pes);
        let share = over.pes().iter().position(|pe| *pe == self.me()).map_or(0, |rank| over.part(rank).len());
        let subject = || {
            let size = show_size(size_of::<T>() as u64);
            format!("{} of {size} over {}", counted(over.len(), "element"), counted(over.pes().len(), "PE"))
        };
        // The number of elements is not compared, because a PE outside the object's team passes an empty list of another object.
        let arguments = [size_of::<T>() as u64, align_of::<T>() as u64];
        let signature = CallSignature::of_memory("plan", &arguments, &subject);
        self.team().agree_on(self.endpoint(), &signature);

        // The PEs tell each other which elements they want, as indices of the owner's part.
        let counts: Vec<usize> = wanted.iter().map(Vec::len).collect();
        let mut given = Vec::new();
        let came = self.alltoallv(&wanted.concat(), &counts, &mut given);
        if let Some(element) = given.iter().find(|element| **element as usize >= share) {
            panic!(
                "another PE wants element {element} of this PE, which has {share}: all PEs plan for the same object"
            );
        }
        let neighbours: Vec<usize> = (0..pes).filter(|pe| counts[*pe] + came[*pe] > 0).collect();
        // The PEs exchange the numbers of their edges in the halo, because an edge names the number of the opposite edge.
        let mut numbers = vec![0; pes];
        neighbours.iter().enumerate().for_each(|(number, pe)| numbers[*pe] = number);
        let mut opposite = vec![0; pes];
        self.alltoall(&numbers, &mut opposite);
        let edges: Vec<Edge> =
            neighbours.iter().map(|pe| Edge::new(self.pes()[*pe], opposite[*pe], counts[*pe])).collect();
        Ok(Plan {
            me: self.me(),
            given: given.into_iter().map(|element| element as usize).collect(),
            counts: neighbours.iter().map(|pe| came[*pe]).collect(),
            halo: self.halo(&edges)?.__of("plan.gather"),
            packed: Vec::new(),
            found: vec![T::zeroed(); counts.iter().sum()],
            places,
        })
    }
}

/// Returns, for each PE, the elements of its part that the list names (as indices of the part), ascending and each once; and for
/// each index of the list, the position of its element in the concatenation of all PEs' elements.
#[track_caller]
fn sorted<T: SymmetricData, D: Distribution>(
    over: &Over<'_, T, D>,
    indices: impl Iterator<Item = usize>,
    pes: usize,
) -> (Vec<Vec<u64>>, Vec<u32>) {
    // A loop instead of a closure: with a closure, a panic would report this line instead of the caller's.
    let (len, mut sorted) = (over.len(), Vec::with_capacity(indices.size_hint().0));
    for (position, index) in indices.enumerate() {
        assert!(
            index < len,
            "index {index} at position {position} of the list is beyond the end: the object has {} (0..{len})",
            counted(len, "element")
        );
        let (pe, element) = over.owner(index);
        sorted.push((pe.number(), element, position));
    }
    sorted.sort_unstable();
    let mut places = vec![0; sorted.len()];
    let mut elements = vec![Vec::new(); pes];
    for (count, same) in sorted.chunk_by(|one, next| (one.0, one.1) == (next.0, next.1)).enumerate() {
        let Ok(place) = u32::try_from(count) else { panic!("a plan of more than 2^32 elements") };
        same.iter().for_each(|(_, _, position)| places[*position] = place);
        let (pe, element, _) = same[0];
        elements[pe].push(element as u64);
    }
    (elements, places)
}

/// A list of elements that is gathered repeatedly. From [`World::plan`].
///
/// All PEs must gather equally often, not necessarily at the same time. The gathered value of an element is its value
/// when its owner calls. Each element is sent once, even if the list names it several times.
pub struct Plan<T> {
    me: Pe,
    /// Elements that other PEs want, as indices of this PE's part, grouped by PE.
    given: Vec<usize>,
    counts: Vec<usize>,
    halo: Halo<T>,
    packed: Vec<T>,
    found: Vec<T>,
    /// For each index of the list, the position of its value in `found`.
    places: Vec<u32>,
}

impl<T: PlainData> Plan<T> {
    /// Length of the list.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Number of different elements in the list.
    pub fn elements(&self) -> usize {
        self.found.len()
    }

    /// For each index of the list, the position of its value in the result of [`bring_from`](Self::bring_from).
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// Gathers the elements of the list: `into[k]` becomes the element of index `k`. `part` is the calling PE's part of the object.
    ///
    /// # Panics
    ///
    /// If `into` does not have the length of the list, `part` is not on the calling PE or lacks an element that other
    /// PEs want, or a panic interrupted an earlier call.
    #[track_caller]
    pub fn gather(&mut self, token: &(impl Stores + ?Sized), into: &mut [T], part: On<'_, [T]>) {
        self.check(into.len());
        let (me, pe) = (self.me, part.pe());
        assert!(pe == me, "this is the part of PE {pe}: PE {me} gives its own, `.on(world.me())`");
        self.check_part(part.len());
        let Self { given, packed, .. } = self;
        packed.resize(given.len(), T::zeroed());
        token.gather(packed, part.at(given));
        self.send(token);
        self.spread(into);
    }

    /// Like [`gather`](Self::gather), but the calling PE's part may be in any memory, also outside of the object. The
    /// token is the world, a context, or the phase of [`World::local_with_exchanges`].
    ///
    /// # Panics
    ///
    /// As [`gather`](Self::gather).
    #[track_caller]
    pub fn gather_from(&mut self, token: &(impl HaloToken + ?Sized), into: &mut [T], part: &[T]) {
        self.check(into.len());
        self.bring_from(token, part);
        self.spread(into);
    }

    /// Like [`gather_from`](Self::gather_from), but returns the value of each different element once; see [`places`](Self::places).
    ///
    /// # Panics
    ///
    /// If an element that other PEs want is not in `part`, or a panic interrupted an earlier call.
    #[track_caller]
    pub fn bring_from(&mut self, token: &(impl HaloToken + ?Sized), part: &[T]) -> &[T] {
        self.check_part(part.len());
        let Self { given, packed, .. } = self;
        packed.clear();
        packed.extend(given.iter().map(|element| part[*element]));
        self.send(token);
        &self.found
    }

    #[track_caller]
    fn send(&mut self, token: &(impl HaloToken + ?Sized)) {
        let Self { halo, packed, counts, found, .. } = self;
        let mut flight = halo.begin(token);
        let mut rest = &packed[..];
        for (edge, count) in counts.iter().enumerate() {
            let (cells, behind) = rest.split_at(*count);
            flight.send(edge, cells);
            rest = behind;
        }
        let ghosts = flight.finish();
        let mut room = &mut found[..];
        for edge in 0..counts.len() {
            let cells = ghosts.edge(edge);
            let (into, behind) = room.split_at_mut(cells.len());
            into.copy_from_slice(cells);
            room = behind;
        }
    }

    fn spread(&self, into: &mut [T]) {
        for (into, place) in into.iter_mut().zip(&self.places) {
            *into = self.found[*place as usize];
        }
    }

    #[track_caller]
    fn check_part(&self, len: usize) {
        if let Some(element) = self.given.iter().find(|element| **element >= len) {
            panic!("other PEs want element {element} of this PE, and it gives {len}: give all that it has");
        }
    }

    #[track_caller]
    fn check(&self, len: usize) {
        let indices = self.places.len();
        assert!(
            indices == len,
            "the list has {indices} indices, and there are {len} elements of the local slice: there is one for each index"
        );
    }
}

impl<T> fmt::Debug for Plan<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (indices, found, given) = (self.places.len(), self.found.len(), self.given.len());
        write!(f, "Plan ({indices} indices of {}; others want {given})", counted(found, "element"))
    }
}
