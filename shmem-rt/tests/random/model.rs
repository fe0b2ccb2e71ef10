//! The expected memory of each PE, and the handles that PEs hold. Each PE computes the model of all PEs by itself.
//!
//! Bytes are unknown if several threads write them without order, or if stray accesses reach them.

use std::ops::Range;

use super::step::{
    ADDRESSES, Act, Edge, Element, End, Home, Op, PARTITIONS, Pes, ProgramStep, SIGNALS, STATICS, SlotNumber,
    Stray, bytes, of,
};

/// The value of a byte, or [`UNKNOWN`].
pub(crate) type Cell = u16;

pub(crate) const UNKNOWN: Cell = 256;

/// Bytes above which the contents of an object are not modelled.
const BULK: usize = 1 << 16;

/// A contiguous part of an object: (offset in a PE's arena slot, first byte in the object, length).
pub(crate) type Span = (usize, usize, usize);

/// An object, the teams of a split, or a halo.
#[derive(Clone, Debug)]
pub(crate) struct Thing {
    pub(crate) home: Home,
    held: Pes,
    /// Groups of PEs that have allocated it together, in the order of ranks. Members of a group access each other's object.
    pub(crate) groups: Vec<Vec<usize>>,
    pub(crate) element: Element,
    pub(crate) len: usize,
    /// Bytes on each PE; empty on a PE without the object, and for large objects.
    pub(super) contents: Vec<Vec<Cell>>,
    spans: Vec<Span>,
    pub(crate) edges: Vec<Vec<Edge>>,
    /// Whether an exchange was never finished.
    pub(crate) abandoned: bool,
}

impl Thing {
    /// Makes a thing without contents. All PEs of its groups hold it.
    fn new(home: Home, groups: Vec<Vec<usize>>, element: Element, len: usize) -> Self {
        let held = Pes(groups.iter().flatten().fold(0, |held, pe| held | 1 << pe));
        let (contents, spans, edges) = (Vec::new(), Vec::new(), Vec::new());
        Self { home, held, groups, element, len, contents, spans, edges, abandoned: false }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.len * self.element.bytes()
    }

    pub(crate) fn is_bulk(&self) -> bool {
        self.bytes() > BULK
    }

    pub(crate) fn team_of(&self, pe: usize) -> Option<&Vec<usize>> {
        self.groups.iter().find(|group| group.contains(&pe))
    }

    /// Returns whether `pe` may access the object of `target`.
    fn reaches(&self, pe: usize, target: usize) -> bool {
        self.held.has(pe) && self.team_of(pe).is_some_and(|group| group.contains(&target))
    }

    fn is_held_by_all(&self) -> bool {
        self.groups.iter().flatten().all(|pe| self.held.has(*pe))
    }

    fn is_numbers(&self) -> bool {
        self.element == Element::Number && matches!(self.home, Home::Static | Home::Heap(_))
    }

    /// Returns the ranges of the object's bytes that are in a range of the arena slot.
    pub(super) fn part(&self, range: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
        self.spans.iter().filter_map(|(offset, start, len)| {
            let (from, to) = (range.start.max(*offset), range.end.min(offset + len));
            (from < to).then(|| start + (from - offset)..start + (to - offset))
        })
    }

    /// Returns the offset of the object's byte `at` in a PE's arena slot.
    fn offset_of(&self, at: usize) -> usize {
        let span = self.spans.iter().find(|(_, start, len)| (*start..start + len).contains(&at));
        span.map_or(0, |(offset, start, _)| offset + (at - start))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) pes: usize,
    pub(super) things: Vec<Option<Thing>>,
    pub(super) partitions: [bool; PARTITIONS],
    /// Addresses that programs keep, as offsets in a PE's arena slot.
    pub(crate) addresses: [Option<usize>; ADDRESSES],
    /// Stray accesses in flight, each with the range of its target's arena slot that it reaches.
    strays: Vec<(Stray, Range<usize>)>,
}

impl Model {
    pub(crate) fn new(pes: usize) -> Self {
        let (things, strays) = (vec![None; SIGNALS + 1], Vec::new());
        let (partitions, addresses) = ([false; PARTITIONS], [None; ADDRESSES]);
        let mut model = Self { pes, things, partitions, addresses, strays };
        for (slot, (element, len)) in STATICS.into_iter().enumerate().chain([(SIGNALS, (Element::Word, 1))]) {
            let mut object = Thing::new(Home::Static, model.groups(None), element, len);
            object.contents = vec![vec![0; object.bytes()]; pes];
            model.things[slot] = Some(object);
        }
        model
    }

    pub(crate) fn thing(&self, slot: SlotNumber) -> Option<&Thing> {
        self.things[slot].as_ref()
    }

    fn is(&self, slot: SlotNumber, fits: impl Fn(&Thing) -> bool) -> bool {
        self.thing(slot).is_some_and(fits)
    }

    pub(crate) fn contents(&self, slot: SlotNumber, pe: usize) -> &[Cell] {
        self.thing(slot).and_then(|object| object.contents.get(pe)).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn placed(&mut self, slot: SlotNumber, spans: Vec<Span>) {
        if let Some(object) = &mut self.things[slot] {
            object.spans = spans;
        }
        self.spoil();
    }

    /// Returns whether every PE can carry out the step. If the world is `shared`, no phase can begin.
    pub(crate) fn allows(&self, step: &ProgramStep, shared: bool) -> bool {
        let free = |slot: &SlotNumber| self.things[*slot].is_none();
        let team = |slot: &Option<SlotNumber>| slot.is_none_or(|slot| self.is(slot, Thing::is_held_by_all));
        match step {
            ProgramStep::Reclaim | ProgramStep::Epoch { .. } => true,
            ProgramStep::Beside { .. } => !shared,
            ProgramStep::Together { team: of, .. } => team(of),
            ProgramStep::Halo { slot, .. } => free(slot),
            ProgramStep::Exchange { slot, .. } => self.is(*slot, Thing::is_held_by_all),
            ProgramStep::Partition { slot, .. } => !self.partitions[*slot],
            ProgramStep::DropPartition { slot } => {
                let lies_in_it = |thing: &Thing| thing.home == Home::Heap(Some(*slot));
                !shared && self.partitions[*slot] && !self.things.iter().flatten().any(lies_in_it)
            }
            ProgramStep::Alloc { slot, home, element, len, .. } => {
                free(slot)
                    && match home {
                        Home::Heap(partition) => partition.is_none_or(|slot| self.partitions[slot]),
                        Home::Array(_, chunks) => *element != Element::Word && len >= chunks && *chunks > 0,
                        Home::Team(slot) => team(&Some(*slot)) && *element != Element::Word,
                        Home::Static | Home::Split | Home::Halo => false,
                    }
            }
            ProgramStep::Drop { slot, pes, .. } => self
                .is(*slot, |thing| thing.home != Home::Static && thing.held.0 & pes.0 == pes.0 && pes.0 != 0),
            ProgramStep::Free { slot } => self.is(*slot, |thing| {
                matches!(thing.home, Home::Heap(_) | Home::Array(..)) && thing.is_held_by_all()
            }),
            ProgramStep::Keep { slot, byte, .. } => self.is(*slot, |object| {
                !matches!(object.home, Home::Team(_)) && object.is_held_by_all() && *byte < object.bytes()
            }),
            ProgramStep::Split { slot, parent, .. } => {
                free(slot) && parent.as_ref() != Some(slot) && team(parent)
            }
            ProgramStep::Phase { slot, .. } => !shared && self.may_open(*slot),
        }
    }

    pub(crate) fn may_open(&self, slot: SlotNumber) -> bool {
        self.is(slot, |object| {
            object.is_held_by_all()
                && match object.home {
                    Home::Static | Home::Heap(_) | Home::Array(..) => {
                        !object.is_bulk() && object.element != Element::Word
                    }
                    // The slot may have another split by now.
                    Home::Team(of) => {
                        self.is(of, |teams| teams.is_held_by_all() && teams.groups == object.groups)
                    }
                    Home::Split | Home::Halo => false,
                }
        })
    }

    pub(crate) fn allows_op(&self, me: usize, op: &Op) -> bool {
        let (read, written) = op.parts(me);
        read.iter().chain(&written).all(|(slot, pe, at)| {
            self.is(*slot, |object| {
                let fits = match op.act {
                    Act::Add(..) => object.element == Element::Word,
                    Act::PutFrom(own, _) | Act::GetInto(own, _) => object.is_numbers() && own != op.slot,
                    _ => object.element != Element::Word,
                };
                fits && object.reaches(me, *pe) && at.end <= object.len
            })
        })
    }

    pub(crate) fn apply(&mut self, step: &ProgramStep) {
        match step {
            ProgramStep::Alloc { slot, home, element, len, seed } => {
                let mut object = Thing::new(*home, self.groups(home.team()), *element, *len);
                let first = match (object.is_bulk(), element) {
                    (true, _) => Vec::new(),
                    (_, Element::Word) => vec![0; object.bytes()],
                    _ => bytes(*seed, object.bytes()),
                };
                let first: Vec<Cell> = first.into_iter().map(Cell::from).collect();
                let of_pe = |pe: usize| if object.held.has(pe) { first.clone() } else { Vec::new() };
                object.contents = (0..self.pes).map(of_pe).collect();
                self.things[*slot] = Some(object);
            }
            ProgramStep::Drop { slot, pes, .. } => {
                if let Some(thing) = &mut self.things[*slot] {
                    thing.held.0 &= !pes.0;
                }
                self.things[*slot].take_if(|thing| thing.held.0 == 0);
            }
            ProgramStep::Free { slot } => self.things[*slot] = None,
            ProgramStep::Keep { slot, address, byte } => {
                self.addresses[*address] = self.thing(*slot).map(|kept| kept.offset_of(*byte));
            }
            ProgramStep::Epoch { streams } => drop(self.epoch(streams)),
            ProgramStep::Split { slot, parent, wishes } => {
                let groups = self.groups_of(*parent, wishes);
                if !groups.is_empty() {
                    self.things[*slot] = Some(Thing::new(Home::Split, groups, Element::Byte, 0));
                }
            }
            ProgramStep::Phase { slot, frozen, seed, around: [before, after], .. } => {
                self.epoch(before);
                self.opened(*slot, *frozen, *seed);
                self.epoch(after);
            }
            ProgramStep::Halo { slot, element, edges } => {
                let halo = Thing::new(Home::Halo, self.groups(None), *element, 0);
                self.things[*slot] = Some(Thing { edges: edges.clone(), ..halo });
            }
            ProgramStep::Exchange { slot, end: End::Forgotten | End::Unwound, .. } => {
                if let Some(halo) = &mut self.things[*slot] {
                    halo.abandoned = true;
                }
            }
            ProgramStep::Partition { slot, .. } => self.partitions[*slot] = true,
            ProgramStep::DropPartition { slot } => self.partitions[*slot] = false,
            ProgramStep::Beside { steps, .. } | ProgramStep::Exchange { end: End::Finished(steps), .. } => {
                for step in steps {
                    if self.allows(step, true) {
                        self.apply(step);
                    }
                }
            }
            ProgramStep::Reclaim | ProgramStep::Together { .. } => {}
        }
        self.spoil();
    }

    fn groups(&self, split: Option<SlotNumber>) -> Vec<Vec<usize>> {
        match split {
            Some(slot) => self.thing(slot).map(|teams| teams.groups.clone()).unwrap_or_default(),
            None => vec![(0..self.pes).collect()],
        }
    }

    /// Returns the groups of a split, each in the order of ranks.
    pub(crate) fn groups_of(
        &self,
        parent: Option<SlotNumber>,
        wishes: &[(Option<u64>, i64)],
    ) -> Vec<Vec<usize>> {
        let mut groups = Vec::new();
        for mut parent in self.groups(parent) {
            // Equal keys keep the order of the parent's ranks.
            parent.sort_by_key(|pe| wishes[*pe]);
            parent.retain(|pe| wishes[*pe].0.is_some());
            let by_colour = parent.chunk_by(|one, other| wishes[*one].0 == wishes[*other].0);
            groups.extend(by_colour.map(<[usize]>::to_vec));
        }
        groups
    }

    /// Returns the cells that a PE sends over one of its edges in an exchange.
    pub(crate) fn cells(&self, slot: SlotNumber, seed: u64, pe: usize, edge: usize) -> Vec<u8> {
        let Some(halo) = self.thing(slot) else { return Vec::new() };
        let Some((other, opposite, _)) = halo.edges[pe][edge] else { return Vec::new() };
        let cells = halo.edges[other][opposite].map_or(0, |(.., cells)| cells);
        bytes(of(seed, pe * 16 + edge), cells * halo.element.bytes())
    }

    pub(crate) fn stray(&mut self, strays: &[Stray]) {
        self.spoil();
        let reach = |stray: &Stray| {
            let start = self.addresses[stray.address]?.checked_add_signed(stray.delta)?;
            Some((*stray, start..start.checked_add(stray.bytes)?))
        };
        self.strays = strays.iter().filter_map(reach).collect();
        self.spoil();
    }

    pub(crate) fn strays_of(&self, pe: usize) -> Vec<Stray> {
        self.strays.iter().map(|(stray, _)| *stray).filter(|stray| stray.pe == pe).collect()
    }

    /// Returns (PE, range of its arena slot) for each write of stray accesses.
    pub(super) fn reached(&self) -> impl Iterator<Item = (usize, Range<usize>)> + use<> {
        let writing = self.strays.clone().into_iter().filter(|(stray, _)| !stray.get);
        writing.map(|(stray, reach)| (stray.target, reach))
    }

    /// Marks bytes that strays reach as unknown.
    pub(super) fn spoil(&mut self) {
        for (target, range) in self.reached() {
            for object in self.things.iter_mut().flatten() {
                let spoiled: Vec<_> = object.part(&range).collect();
                let Some(contents) = object.contents.get_mut(target) else { continue };
                for part in spoiled {
                    contents.get_mut(part).into_iter().flatten().for_each(|cell| *cell = UNKNOWN);
                }
            }
        }
    }

    /// Records a phase. Each PE that holds the object has overwritten it, unless the phase is frozen.
    pub(super) fn opened(&mut self, slot: SlotNumber, frozen: bool, seed: u64) {
        let Some(object) = self.things[slot].as_mut().filter(|_| !frozen) else { return };
        for (pe, cells) in object.contents.iter_mut().enumerate().filter(|(pe, _)| object.held.has(*pe)) {
            let news = bytes(of(seed, pe), cells.len());
            cells.iter_mut().zip(news).for_each(|(cell, byte)| *cell = byte.into());
        }
    }
}
