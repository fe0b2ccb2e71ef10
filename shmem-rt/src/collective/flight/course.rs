use core::iter::FusedIterator;
use std::sync::Arc;

use shmem_core::system::MOST_SLOTS;

use super::area::Area;
use crate::collective::cursor::Cursor;
use crate::collective::plan::{Arrival, Chunks, Departure, Levels, Plan, Radices, Relay, Rotation, Tree};

/// The least chunk: a shorter one takes about as long.
const LEAST: usize = 2 << 10;

/// What one member does in a flight behind its meeting: a plan, written down. It outlives the call that has made it.
pub(super) struct Course {
    pub(super) cursor: Cursor<std::vec::IntoIter<Departure>, Arrivals>,
    /// Words in which the member is told what it may send.
    pub(super) words: usize,
}

impl Course {
    /// Gives all members what the one with a rank has; nothing, if there is nothing to bring.
    pub(super) fn broadcast(area: &Area, root: usize, bytes: usize) -> Option<Self> {
        let chunks = chunks(area, bytes)?;
        let trees = Tree::both(area.size(), area.rank(), root, chunks, MOST_SLOTS);
        Some(Self::of(&trees[..Tree::ways(area.size())]))
    }

    /// Combines items of `grain` bytes; nothing, if there is nothing to combine.
    pub(super) fn reduction(area: &Area, bytes: usize, grain: usize) -> Option<Self> {
        if !is_brought(area, bytes) {
            return None;
        }
        let radices = Radices::of(area.size());
        let most = chunk(area, bytes / radices.each()[0]);
        Some(Self::of(&[Levels::new(area.rank(), radices, bytes, most, grain, MOST_SLOTS)]))
    }

    /// Gives all members what each has, so many bytes; nothing, if there is nothing to bring.
    pub(super) fn blocks(area: &Area, bytes: usize) -> Option<Self> {
        let chunks = chunks(area, bytes)?;
        Some(Self::of(&[Relay::new(area.size(), area.rank(), chunks, MOST_SLOTS)]))
    }

    /// Gives each member a part of what each has, so many bytes; nothing, if there is nothing to bring.
    pub(super) fn parts(area: &Area, bytes: usize) -> Option<Self> {
        let chunks = chunks(area, bytes)?;
        Some(Self::of(&[Rotation::new(area.size(), area.rank(), chunks, MOST_SLOTS)]))
    }

    fn of(plans: &[impl Plan]) -> Self {
        let strands = plans.iter().map(|plan| {
            let departures: Vec<Departure> = plan.departures().collect();
            let arrivals = Arrivals { all: plan.arrivals().collect(), next: 0 };
            (departures.into_iter(), [arrivals.clone(), arrivals])
        });
        Self { cursor: Cursor::new(strands, MOST_SLOTS), words: plans[0].words() }
    }
}

/// Whether anybody else is to have any bytes.
fn is_brought(area: &Area, bytes: usize) -> bool {
    area.size() > 1 && bytes > 0
}

/// Bytes as chunks, if there is anything to bring.
fn chunks(area: &Area, bytes: usize) -> Option<Chunks> {
    is_brought(area, bytes).then(|| Chunks::new(bytes, chunk(area, bytes), 1))
}

/// How long chunks are of so many bytes that come along one way: short enough that several are under way.
fn chunk(area: &Area, bytes: usize) -> usize {
    (bytes / 8).next_power_of_two().clamp(LEAST, area.most())
}

/// What comes, in that order.
#[derive(Clone)]
pub(super) struct Arrivals {
    all: Arc<[Arrival]>,
    next: usize,
}

impl Iterator for Arrivals {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let arrival = self.all.get(self.next).copied();
        self.next += usize::from(arrival.is_some());
        arrival
    }

    fn nth(&mut self, n: usize) -> Option<Arrival> {
        self.next = self.all.len().min(self.next.saturating_add(n));
        self.next()
    }
}

impl FusedIterator for Arrivals {}
