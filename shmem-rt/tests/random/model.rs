//! What each memory must hold, and who holds which handle: the same on every PE, without asking anybody.
//!
//! Bytes that several threads write without order hold nobody knows what, and so do those that storms reach.
//! Everything else is known.

use std::ops::Range;

use super::step::{
    ADDRESSES, Edge, Element, End, Home, Op, PARTITIONS, Pes, SIGNALS, STATICS, Slot, Split, Step, Storm,
    bytes, of,
};

/// A byte, or [`UNKNOWN`].
pub(crate) type Cell = u16;

pub(crate) const UNKNOWN: Cell = 256;

/// More bytes than are written down.
const BULK: usize = 1 << 16;

/// Where a part of an object lies in the place of a PE; which of its bytes starts there, and how many.
pub(crate) type Span = (usize, usize, usize);

/// An object, the teams of a split, or a halo.
#[derive(Clone, Debug)]
pub(crate) struct Thing {
    pub(crate) home: Home,
    /// Who holds it.
    held: Pes,
    /// The PEs that have it together, in the order of their ranks: those of an object reach each other's.
    pub(crate) groups: Vec<Vec<usize>>,
    pub(crate) element: Element,
    pub(crate) len: usize,
    /// For each PE, or nothing where it has none; of bulk, nothing at all.
    pub(super) contents: Vec<Vec<Cell>>,
    spans: Vec<Span>,
    /// Those of each PE, of a halo.
    pub(crate) edges: Vec<Vec<Edge>>,
    /// Whether an exchange was never finished.
    pub(crate) abandoned: bool,
}

impl Thing {
    /// Without contents, held by all that have it.
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

    /// The members of the team of a PE.
    pub(crate) fn team_of(&self, pe: usize) -> Option<&Vec<usize>> {
        self.groups.iter().find(|group| group.contains(&pe))
    }

    /// Whether `pe` may reach the object of `target`.
    fn reaches(&self, pe: usize, target: usize) -> bool {
        self.held.has(pe) && self.team_of(pe).is_some_and(|group| group.contains(&target))
    }

    /// Whether all PEs that have it hold it.
    fn is_held_by_all(&self) -> bool {
        self.groups.iter().flatten().all(|pe| self.held.has(*pe))
    }

    /// Its bytes that lie in a range of a place.
    pub(super) fn part(&self, range: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
        self.spans.iter().filter_map(|(offset, start, len)| {
            let (from, to) = (range.start.max(*offset), range.end.min(offset + len));
            (from < to).then(|| start + (from - offset)..start + (to - offset))
        })
    }

    /// Where its byte lies.
    fn offset_of(&self, at: usize) -> usize {
        let span = self.spans.iter().find(|(_, start, len)| (*start..start + len).contains(&at));
        span.map_or(0, |(offset, start, _)| offset + (at - start))
    }
}

/// An address that was kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    /// Where it lies in the place of a PE.
    pub(crate) offset: usize,
    /// The object that was there, and its bytes.
    pub(crate) object: (Slot, usize),
}

#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) pes: usize,
    pub(crate) things: Vec<Option<Thing>>,
    pub(crate) partitions: [bool; PARTITIONS],
    pub(crate) addresses: [Option<Address>; ADDRESSES],
    /// Those that blow, and what each reaches in the place of its target.
    storms: Vec<(Storm, Range<usize>)>,
}

impl Model {
    pub(crate) fn new(pes: usize) -> Self {
        let (things, storms) = (vec![None; SIGNALS + 1], Vec::new());
        let (partitions, addresses) = ([false; PARTITIONS], [None; ADDRESSES]);
        let mut model = Self { pes, things, partitions, addresses, storms };
        for (slot, (element, len)) in STATICS.into_iter().enumerate().chain([(SIGNALS, (Element::Word, 1))]) {
            let mut object = Thing::new(Home::Static, model.groups(None), element, len);
            object.contents = vec![vec![0; object.bytes()]; pes];
            model.things[slot] = Some(object);
        }
        model
    }

    pub(crate) fn thing(&self, slot: Slot) -> Option<&Thing> {
        self.things[slot].as_ref()
    }

    /// Whether there is an object, and a PE holds it.
    pub(crate) fn holds(&self, pe: usize, slot: Slot) -> bool {
        self.thing(slot).is_some_and(|thing| thing.held.has(pe))
    }

    pub(crate) fn contents(&self, slot: Slot, pe: usize) -> &[Cell] {
        self.thing(slot).and_then(|object| object.contents.get(pe)).map_or(&[], Vec::as_slice)
    }

    /// Where the library has put an object.
    pub(crate) fn placed(&mut self, slot: Slot, spans: Vec<Span>) {
        if let Some(object) = &mut self.things[slot] {
            object.spans = spans;
        }
        self.spoil();
    }

    /// Whether every PE can carry the step out. `shared`: the world is, so phases cannot begin.
    pub(crate) fn allows(&self, step: &Step, shared: bool) -> bool {
        let is = |slot: &Slot, fits: &dyn Fn(&Thing) -> bool| self.thing(*slot).is_some_and(fits);
        let free = |slot: &Slot| self.things[*slot].is_none();
        let team = |slot: &Option<Slot>| slot.is_none_or(|slot| is(&slot, &Thing::is_held_by_all));
        match step {
            Step::Reclaim | Step::Epoch { .. } => true,
            Step::Window { .. } => !shared,
            Step::Together { team: of, .. } => team(of),
            Step::Halo { slot, .. } => free(slot),
            Step::Exchange { slot, .. } => is(slot, &Thing::is_held_by_all),
            Step::Partition { slot, .. } => !self.partitions[*slot],
            Step::DropPartition { slot } => {
                let lies_in_it = |thing: &Thing| thing.home == Home::Heap(Some(*slot));
                !shared && self.partitions[*slot] && !self.things.iter().flatten().any(lies_in_it)
            }
            Step::Alloc { slot, home, element, len, .. } => {
                free(slot)
                    && match home {
                        Home::Heap(partition) => partition.is_none_or(|slot| self.partitions[slot]),
                        Home::Array(_, chunks) => *element == Element::Number && len >= chunks && *chunks > 0,
                        Home::Team(slot) => team(&Some(*slot)) && *element != Element::Word,
                        Home::Static | Home::Split | Home::Halo => false,
                    }
            }
            Step::Drop { slot, pes, .. } => {
                is(slot, &|thing| thing.home != Home::Static && thing.held.0 & pes.0 == pes.0 && pes.0 != 0)
            }
            Step::Free { slot } => is(slot, &|thing| {
                matches!(thing.home, Home::Heap(_) | Home::Array(..)) && thing.is_held_by_all()
            }),
            Step::Keep { slot, byte, .. } => is(slot, &|object| {
                !matches!(object.home, Home::Team(_)) && object.is_held_by_all() && *byte < object.bytes()
            }),
            Step::Split { slot, parent, split } => {
                let is_split = parent.is_none() || matches!(split, Split::By(_));
                free(slot) && parent.as_ref() != Some(slot) && team(parent) && is_split
            }
            Step::Phase { slot, list, .. } => {
                let is_listed =
                    |other: &Slot| other != slot && self.may_open(*other) && is(other, &is_number_box);
                !shared && self.may_open(*slot) && list.iter().all(is_listed)
            }
        }
    }

    /// Whether a phase can open an object.
    pub(crate) fn may_open(&self, slot: Slot) -> bool {
        self.thing(slot).is_some_and(|object| {
            let fits = match object.home {
                Home::Static | Home::Heap(_) | Home::Array(..) => {
                    !object.is_bulk() && object.element != Element::Word
                }
                // Of this very split: another one may be in its slot by now.
                Home::Team(of) => {
                    let is_this = |teams: &Thing| teams.is_held_by_all() && teams.groups == object.groups;
                    self.thing(of).is_some_and(is_this)
                }
                Home::Split | Home::Halo => false,
            };
            fits && object.is_held_by_all()
        })
    }

    /// What there is behind a step that was carried out. What storms reach meanwhile holds nobody knows what.
    pub(crate) fn apply(&mut self, step: &Step) {
        match step {
            Step::Alloc { slot, home, element, len, seed } => {
                let mut object = Thing::new(*home, self.groups(home.team()), *element, *len);
                let (all, held) = (object.bytes(), object.held);
                let of_pe = |pe: usize| match (held.has(pe), object.is_bulk()) {
                    (false, _) | (_, true) => Vec::new(),
                    _ if *element == Element::Word => vec![0; all],
                    // Every PE begins with the same.
                    _ => bytes(*seed, all).into_iter().map(Cell::from).collect(),
                };
                object.contents = (0..self.pes).map(of_pe).collect();
                self.things[*slot] = Some(object);
            }
            Step::Drop { slot, pes, .. } => {
                if let Some(thing) = &mut self.things[*slot] {
                    thing.held.0 &= !pes.0;
                }
                self.things[*slot].take_if(|thing| thing.held.0 == 0);
            }
            Step::Free { slot } => self.things[*slot] = None,
            Step::Keep { slot, address, byte } => {
                let kept = self.thing(*slot);
                self.addresses[*address] =
                    kept.map(|kept| Address { offset: kept.offset_of(*byte), object: (*slot, kept.bytes()) });
            }
            Step::Epoch { streams } => drop(self.epoch(streams)),
            Step::Split { slot, parent, split } => {
                let groups = self.groups_of(*parent, split);
                if !groups.is_empty() {
                    self.things[*slot] = Some(Thing::new(Home::Split, groups, Element::Byte, 0));
                }
            }
            Step::Phase { slot, list, frozen, seed, around: [before, behind], .. } => {
                self.epoch(before);
                for slot in list.iter().chain([slot]).filter(|_| !frozen) {
                    self.fill(*slot, *seed);
                }
                self.epoch(behind);
            }
            Step::Halo { slot, element, edges } => {
                let halo = Thing::new(Home::Halo, self.groups(None), *element, 0);
                self.things[*slot] = Some(Thing { edges: edges.clone(), ..halo });
            }
            Step::Exchange { slot, end: End::Forgotten | End::Unwound, .. } => {
                if let Some(halo) = &mut self.things[*slot] {
                    halo.abandoned = true;
                }
            }
            Step::Partition { slot, .. } => self.partitions[*slot] = true,
            Step::DropPartition { slot } => self.partitions[*slot] = false,
            Step::Window { steps, .. } | Step::Exchange { end: End::Finished(steps), .. } => {
                for step in steps {
                    if self.allows(step, true) {
                        self.apply(step);
                    }
                }
            }
            Step::Reclaim | Step::Together { .. } => {}
        }
        self.spoil();
    }

    /// The teams of a split; of none, all PEs.
    fn groups(&self, split: Option<Slot>) -> Vec<Vec<usize>> {
        match split {
            Some(slot) => self.thing(slot).map(|teams| teams.groups.clone()).unwrap_or_default(),
            None => vec![(0..self.pes).collect()],
        }
    }

    /// The groups of a split, in the order of ranks.
    pub(crate) fn groups_of(&self, parent: Option<Slot>, split: &Split) -> Vec<Vec<usize>> {
        match split {
            Split::Strided(start, stride, size) => {
                let pes = (0..*size as isize).map(|i| *start as isize + i * stride);
                let pes: Vec<usize> = pes.filter_map(|pe| usize::try_from(pe).ok()).collect();
                let fits = pes.len() == *size && *size > 0 && pes.iter().all(|pe| *pe < self.pes);
                let fits = fits && (*stride != 0 || *size == 1);
                if fits { vec![pes] } else { Vec::new() }
            }
            Split::By(wishes) => {
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
        }
    }

    /// What is in an exchange on its way from a PE over one of its edges: the cells that the other one expects.
    pub(crate) fn cells(&self, slot: Slot, seed: u64, pe: usize, edge: usize) -> Vec<u8> {
        let Some(halo) = self.thing(slot) else { return Vec::new() };
        let Some((other, opposite, _)) = halo.edges[pe][edge] else { return Vec::new() };
        let cells = halo.edges[other][opposite].map_or(0, |(.., cells)| cells);
        bytes(of(seed, pe * 16 + edge), cells * halo.element.bytes())
    }

    /// Storms begin to blow.
    pub(crate) fn storm(&mut self, storms: &[Storm]) {
        let reach = |storm: &Storm| {
            let start = self.addresses[storm.address]?.offset.checked_add_signed(storm.delta)?;
            Some((*storm, start..start.checked_add(storm.bytes)?))
        };
        self.storms = storms.iter().filter_map(reach).collect();
        self.spoil();
    }

    /// The storms are over.
    pub(crate) fn calm(&mut self) {
        self.spoil();
        self.storms.clear();
    }

    /// Those that are carried out by a PE.
    pub(crate) fn storms_of(&self, pe: usize) -> Vec<Storm> {
        self.storms.iter().map(|(storm, _)| *storm).filter(|storm| storm.pe == pe).collect()
    }

    /// What storms write to: on which PE, and where in its place.
    pub(super) fn reached(&self) -> impl Iterator<Item = (usize, Range<usize>)> + use<> {
        let writing = self.storms.clone().into_iter().filter(|(storm, _)| !storm.get);
        writing.map(|(storm, reach)| (storm.target, reach))
    }

    /// What storms reach holds nobody knows what.
    pub(super) fn spoil(&mut self) {
        for (target, range) in self.reached() {
            for object in self.things.iter_mut().flatten() {
                let spoiled: Vec<_> = object.part(&range).collect();
                let Some(contents) = object.contents.get_mut(target) else { continue };
                for part in spoiled {
                    if let Some(cells) = contents.get_mut(part) {
                        cells.fill(UNKNOWN);
                    }
                }
            }
        }
    }

    /// One more signal comes to a PE.
    pub(super) fn signal(&mut self, pe: usize) {
        let cells = self.contents(SIGNALS, pe).iter().map(|cell| u8::try_from(*cell));
        // Or nobody knows how many there were.
        if let Ok(before) = cells.collect::<Result<Vec<u8>, _>>() {
            let before = u64::from_le_bytes(before.try_into().unwrap_or_default());
            self.overwrite(SIGNALS, pe, 0, &(before + 1).to_le_bytes());
        }
    }

    /// Each PE that has an object writes all of it.
    pub(super) fn fill(&mut self, slot: Slot, seed: u64) {
        for pe in 0..self.pes {
            if self.holds(pe, slot) {
                let len = self.contents(slot, pe).len();
                self.overwrite(slot, pe, 0, &bytes(of(seed, pe), len));
            }
        }
    }

    /// Overwrites an object on a PE.
    fn overwrite(&mut self, slot: Slot, pe: usize, first: usize, with: &[u8]) {
        if let Some(object) = &mut self.things[slot]
            && let Some(cells) = object.contents[pe].get_mut(first..first + with.len())
        {
            cells.iter_mut().zip(with).for_each(|(cell, byte)| *cell = (*byte).into());
        }
    }

    /// Whether a thread can carry an operation out.
    pub(crate) fn allows_op(&self, pe: usize, op: &Op) -> bool {
        let fits = |slot: &Slot, target: usize, end: usize| {
            self.thing(*slot).is_some_and(|object| object.reaches(pe, target) && end <= object.len)
        };
        let is = |slot: &Slot, fits: &dyn Fn(&Thing) -> bool| self.thing(*slot).is_some_and(fits);
        match op {
            Op::Write { slot, pe: target, at, .. } | Op::Read { slot, pe: target, at, .. } => {
                fits(slot, *target, at.range().end) && is(slot, &|object| object.element != Element::Word)
            }
            Op::Copy { to, from, pe: target, elements, get } => {
                let (far, near) = if *get { (from, to) } else { (to, from) };
                let is_free = to != from && is(to, &is_numbers) && is(from, &is_numbers);
                is_free && fits(far, *target, *elements) && fits(near, pe, *elements)
            }
            Op::Add { slot, pe: target, word, .. } => {
                fits(slot, *target, *word + 1) && is(slot, &|object| object.element == Element::Word)
            }
            Op::Quiet | Op::Fence => true,
        }
    }
}

/// Whether it is numbers one behind the other, with an own copy.
fn is_numbers(object: &Thing) -> bool {
    is_number_box(object) || object.element == Element::Number && object.home == Home::Static
}

/// Whether it is numbers on a heap.
pub(crate) fn is_number_box(object: &Thing) -> bool {
    object.element == Element::Number && matches!(object.home, Home::Heap(_))
}
