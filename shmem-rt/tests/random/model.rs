//! What each memory must hold, and who holds which handle: the same on every PE, without asking anybody.
//!
//! Bytes that several threads write without order hold nobody knows what, and so do those that storms reach.
//! Everything else is known.

use std::collections::HashMap;
use std::ops::Range;

use super::step::{
    Blocks, Edge, Element, Home, Op, Pes, Slot, Split, Step, Storage, Storm, Stream, Update, byte, bytes, of,
};

/// A byte, or [`UNKNOWN`].
pub(crate) type Cell = u16;

pub(crate) const UNKNOWN: Cell = 256;

/// The static objects that every program finds: in these slots.
pub(crate) const STATICS: [(Element, usize); 4] =
    [(Element::Byte, 256), (Element::Number, 64), (Element::Number, 32), (Element::Word, 8)];

/// Slots of objects.
pub(crate) const OBJECTS: usize = 14;
/// Slots of teams, halos and partitions.
pub(crate) const OTHERS: usize = 3;
/// Slots of addresses.
pub(crate) const ADDRESSES: usize = 8;

/// More bytes than are written down.
const BULK: usize = 1 << 16;

#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) home: Home,
    pub(crate) element: Element,
    pub(crate) len: usize,
    /// For each PE, or nothing where it has none; of bulk, nothing at all.
    contents: Vec<Vec<Cell>>,
    /// Who holds it.
    pub(crate) held: Pes,
    /// Which PEs reach each other's.
    groups: Vec<Vec<usize>>,
    /// Where it lies in the place of a PE; bytes of the object that start there, and how many.
    spans: Vec<(usize, usize, usize)>,
}

impl Object {
    pub(crate) fn bytes(&self) -> usize {
        self.len * self.element.bytes()
    }

    pub(crate) fn is_bulk(&self) -> bool {
        self.bytes() > BULK
    }

    /// Whether `pe` may reach the object of `target`.
    pub(crate) fn reaches(&self, pe: usize, target: usize) -> bool {
        self.held.has(pe) && self.groups.iter().any(|group| group.contains(&pe) && group.contains(&target))
    }

    /// Whether all PEs that have it hold it.
    fn is_held_by_all(&self) -> bool {
        self.groups.iter().flatten().all(|pe| self.held.has(*pe))
    }

    /// Its bytes that lie in a range of a place.
    fn part(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let parts = self.spans.iter().map(|(offset, start, len)| {
            let (from, to) = (range.start.max(*offset), range.end.min(offset + len));
            if from < to { start + (from - offset)..start + (to - offset) } else { 0..0 }
        });
        parts.collect()
    }

    fn overlaps(&self, range: &Range<usize>) -> bool {
        self.spans.iter().any(|(offset, _, len)| *offset < range.end && range.start < offset + len)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Teams {
    pub(crate) groups: Vec<Vec<usize>>,
    pub(crate) held: Pes,
}

impl Teams {
    pub(crate) fn of(&self, pe: usize) -> Option<&Vec<usize>> {
        self.groups.iter().find(|group| group.contains(&pe))
    }

    fn is_held_by_all(&self) -> bool {
        self.groups.iter().flatten().all(|pe| self.held.has(*pe))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Halo {
    pub(crate) element: Element,
    pub(crate) edges: Vec<Vec<Edge>>,
    pub(crate) held: Pes,
    pub(crate) abandoned: bool,
}

/// What a thread is expected to read, operation by operation.
pub(crate) type Reads = Vec<Option<Vec<Cell>>>;

#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) pes: usize,
    pub(crate) objects: Vec<Option<Object>>,
    pub(crate) teams: Vec<Option<Teams>>,
    pub(crate) halos: Vec<Option<Halo>>,
    pub(crate) partitions: Vec<Option<()>>,
    /// Where kept addresses lie in the place of a PE.
    pub(crate) addresses: Vec<Option<usize>>,
    /// Bytes on which programs wait, in every place: storms leave them alone.
    pub(crate) vital: Vec<Range<usize>>,
    /// Those that blow, and what each reaches in the place of its target.
    storms: Vec<(Storm, Range<usize>)>,
}

impl Model {
    pub(crate) fn new(pes: usize) -> Self {
        let all = Pes((1 << pes) - 1);
        let mut objects: Vec<Option<Object>> = Vec::new();
        for (element, len) in STATICS {
            let contents = vec![vec![0; len * element.bytes()]; pes];
            let groups = vec![(0..pes).collect()];
            let spans = Vec::new();
            objects.push(Some(Object {
                home: Home::Static,
                element,
                len,
                contents,
                held: all,
                groups,
                spans,
            }));
        }
        objects.resize(OBJECTS, None);
        let (storms, vital) = (Vec::new(), Vec::new());
        let (teams, halos) = (vec![None; OTHERS], vec![None; OTHERS]);
        let (partitions, addresses) = (vec![None; OTHERS], vec![None; ADDRESSES]);
        Self { pes, objects, teams, halos, partitions, addresses, vital, storms }
    }

    fn all(&self) -> Pes {
        Pes((1 << self.pes) - 1)
    }

    pub(crate) fn object(&self, slot: Slot) -> Option<&Object> {
        self.objects.get(slot)?.as_ref()
    }

    pub(crate) fn contents(&self, slot: Slot, pe: usize) -> &[Cell] {
        self.object(slot).and_then(|object| object.contents.get(pe)).map_or(&[], Vec::as_slice)
    }

    /// Where the library has put an object.
    pub(crate) fn placed(&mut self, slot: Slot, spans: Vec<(usize, usize, usize)>) {
        if let Some(object) = &mut self.objects[slot] {
            object.spans = spans;
        }
        self.spoil();
    }

    /// Where an object's byte lies.
    pub(crate) fn offset_of(&self, slot: Slot, at: usize) -> Option<usize> {
        let spans = &self.object(slot)?.spans;
        let span = spans.iter().find(|(_, start, len)| (*start..start + len).contains(&at))?;
        Some(span.0 + (at - span.1))
    }

    /// Whether every PE can carry the step out. `shared`: the world is, so phases cannot begin.
    pub(crate) fn allows(&self, step: &Step, shared: bool) -> bool {
        let free = |slot: &Slot| *slot >= STATICS.len() && *slot < OBJECTS && self.objects[*slot].is_none();
        let team = |slot: &Option<Slot>| {
            slot.is_none_or(|slot| self.teams[slot].as_ref().is_some_and(Teams::is_held_by_all))
        };
        match step {
            Step::Alloc { slot, home, element, len, .. } => {
                free(slot)
                    && match home {
                        Home::Static => false,
                        Home::Heap(Some(partition)) => self.partitions[*partition].is_some(),
                        Home::Heap(None) => true,
                        Home::Block => *element == Element::Byte && *len > 0,
                        Home::Array(_, chunks) => *element == Element::Number && len >= chunks && *chunks > 0,
                        Home::Team(slot) => team(&Some(*slot)) && *element != Element::Word,
                    }
            }
            Step::Vast { team: of } => team(of),
            Step::Drop { slot, pes, .. } => self.object(*slot).is_some_and(|object| {
                !matches!(object.home, Home::Static | Home::Block)
                    && object.held.0 & pes.0 == pes.0
                    && pes.0 != 0
            }),
            Step::Free { slot } => self.object(*slot).is_some_and(|object| {
                !matches!(object.home, Home::Static | Home::Team(_)) && object.is_held_by_all()
            }),
            Step::Realloc { slot, len } => {
                *len > 0 && self.object(*slot).is_some_and(|object| object.home == Home::Block)
            }
            Step::Reclaim | Step::Locked { .. } => true,
            Step::Keep { slot, byte, .. } => self.object(*slot).is_some_and(|object| {
                !matches!(object.home, Home::Team(_)) && object.is_held_by_all() && *byte < object.bytes()
            }),
            Step::Epoch { .. } => true,
            Step::Window { .. } => !shared,
            Step::Messages { slot, len, .. } => self.object(*slot).is_some_and(|object| {
                matches!(object.home, Home::Static | Home::Heap(_))
                    && object.element == Element::Number
                    && object.is_held_by_all()
                    && *len * self.pes <= object.len
            }),
            Step::Together { team: of, .. } => team(of),
            Step::Split { slot, parent, split } => {
                self.teams[*slot].is_none()
                    && parent.as_ref() != Some(slot)
                    && team(parent)
                    && (parent.is_none() || matches!(split, Split::By(_)))
            }
            Step::DropTeam { slot, pes } => {
                self.teams[*slot].as_ref().is_some_and(|teams| teams.held.0 & pes.0 == pes.0 && pes.0 != 0)
            }
            Step::Phase { objects, .. } => {
                // Not every pair of types is opened.
                let is_second = |slot: Slot| {
                    self.object(slot).is_some_and(|object| match object.home {
                        Home::Static => slot < 2,
                        Home::Heap(_) => matches!(object.element, Element::Byte | Element::Number),
                        Home::Array(storage, _) => storage == Storage::Separate,
                        Home::Block | Home::Team(_) => false,
                    })
                };
                !shared
                    && objects.get(1).is_none_or(|second| is_second(*second))
                    && objects.iter().all(|slot| {
                        self.object(*slot).is_some_and(|object| {
                            object.is_held_by_all()
                                && !object.is_bulk()
                                && !matches!(object.home, Home::Block | Home::Team(_))
                                && object.element != Element::Word
                        })
                    })
            }
            Step::TeamPhase { slot, .. } => {
                !shared
                    && self.object(*slot).is_some_and(|object| match object.home {
                        Home::Team(of) => {
                            // Of this very split: another one may be in its slot by now.
                            object.is_held_by_all()
                                && team(&Some(of))
                                && self.teams[of].as_ref().is_some_and(|teams| teams.groups == object.groups)
                        }
                        _ => false,
                    })
            }
            Step::Halo { slot, .. } => self.halos[*slot].is_none(),
            Step::Exchange { slot, .. } | Step::Abandon { slot, .. } => {
                self.halos[*slot].as_ref().is_some_and(|halo| halo.held == self.all())
            }
            Step::DropHalo { slot, pes, .. } => {
                self.halos[*slot].as_ref().is_some_and(|halo| halo.held.0 & pes.0 == pes.0 && pes.0 != 0)
            }
            Step::Partition { slot, .. } => self.partitions[*slot].is_none(),
            Step::DropPartition { slot } => {
                !shared
                    && self.partitions[*slot].is_some()
                    && !self.objects.iter().flatten().any(|object| object.home == Home::Heap(Some(*slot)))
            }
        }
    }

    /// Makes an object known.
    pub(crate) fn alloc(&mut self, slot: Slot, home: Home, element: Element, len: usize, seed: u64) {
        let groups = match home {
            Home::Team(of) => self.teams[of].as_ref().map(|teams| teams.groups.clone()).unwrap_or_default(),
            _ => vec![(0..self.pes).collect()],
        };
        let held = Pes(groups.iter().flatten().fold(0, |held, pe| held | 1 << pe));
        let all = len * element.bytes();
        let of_pe = |pe: usize| match (held.has(pe), all > BULK, home) {
            (false, ..) | (_, true, _) => Vec::new(),
            (.., Home::Block) => vec![UNKNOWN; all],
            // Every PE begins with the same.
            _ if element == Element::Word => vec![0; all],
            _ => bytes(seed, all).into_iter().map(Cell::from).collect(),
        };
        let contents = (0..self.pes).map(of_pe).collect();
        let spans = Vec::new();
        self.objects[slot] = Some(Object { home, element, len, contents, held, groups, spans });
        self.spoil();
    }

    pub(crate) fn realloc(&mut self, slot: Slot, len: usize) {
        if let Some(object) = &mut self.objects[slot] {
            object.contents.iter_mut().for_each(|contents| contents.resize(len, UNKNOWN));
            object.len = len;
        }
    }

    pub(crate) fn drop_object(&mut self, slot: Slot, pes: Pes) {
        if let Some(object) = &mut self.objects[slot] {
            object.held.0 &= !pes.0;
            if object.held.0 == 0 {
                self.objects[slot] = None;
            }
        }
    }

    /// The groups of a split, in the order of ranks.
    pub(crate) fn groups_of(&self, parent: Option<Slot>, split: &Split) -> Vec<Vec<usize>> {
        let parents = match parent {
            Some(slot) => self.teams[slot].as_ref().map(|teams| teams.groups.clone()).unwrap_or_default(),
            None => vec![(0..self.pes).collect()],
        };
        match split {
            Split::Strided(start, stride, size) => {
                let pes = (0..*size as isize).map(|i| *start as isize + i * stride);
                let pes: Vec<usize> = pes.filter_map(|pe| usize::try_from(pe).ok()).collect();
                let fits = pes.len() == *size && *size > 0 && pes.iter().all(|pe| *pe < self.pes);
                let fits = fits && (*stride != 0 || *size == 1);
                if fits { vec![pes] } else { Vec::new() }
            }
            Split::By(colours) => {
                let mut groups = Vec::new();
                for parent in parents {
                    let mut named: Vec<u64> = parent.iter().filter_map(|pe| colours[*pe]).collect();
                    named.sort_unstable();
                    named.dedup();
                    for colour in named {
                        let of_colour = |pe: &usize| colours[*pe] == Some(colour);
                        groups.push(parent.iter().copied().filter(of_colour).collect());
                    }
                }
                groups
            }
        }
    }

    /// What is in an exchange on its way from a PE over one of its edges: the cells that the other one expects.
    pub(crate) fn cells(&self, slot: Slot, seed: u64, pe: usize, edge: usize) -> Vec<u8> {
        let Some(halo) = &self.halos[slot] else { return Vec::new() };
        let Some((other, opposite, _)) = halo.edges[pe][edge] else { return Vec::new() };
        let cells = halo.edges[other][opposite].map_or(0, |(.., cells)| cells);
        bytes(of(seed, pe * 16 + edge), cells * halo.element.bytes())
    }

    /// Storms begin to blow.
    pub(crate) fn storm(&mut self, storms: &[Storm]) {
        let reach = storms.iter().filter_map(|storm| Some((*storm, self.reach(storm)?)));
        self.storms = reach.filter(|(_, reach)| self.is_harmless(reach)).collect();
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

    /// What a storm reaches, in the place of its target.
    fn reach(&self, storm: &Storm) -> Option<Range<usize>> {
        let start = self.addresses[storm.address]?.checked_add_signed(storm.delta)?;
        Some(start..start.checked_add(storm.bytes)?)
    }

    /// Whether a storm leaves alone what programs wait for.
    fn is_harmless(&self, reach: &Range<usize>) -> bool {
        self.vital.iter().all(|vital| vital.end <= reach.start || reach.end <= vital.start)
    }

    /// What storms reach holds nobody knows what.
    fn spoil(&mut self) {
        let reached = self.reached();
        for object in self.objects.iter_mut().flatten() {
            for (target, range) in &reached {
                if !object.overlaps(range) {
                    continue;
                }
                let spoiled = object.part(range);
                let Some(contents) = object.contents.get_mut(*target) else { continue };
                for part in spoiled {
                    if let Some(cells) = contents.get_mut(part) {
                        cells.fill(UNKNOWN);
                    }
                }
            }
        }
    }

    /// What storms write to: on which PE, and where in its place.
    fn reached(&self) -> Vec<(usize, Range<usize>)> {
        let writing = self.storms.iter().filter(|(storm, _)| !storm.get);
        writing.map(|(storm, reach)| (storm.target, reach.clone())).collect()
    }

    /// Overwrites an object on a PE.
    pub(crate) fn overwrite(&mut self, slot: Slot, pe: usize, first: usize, with: &[u8]) {
        if let Some(object) = &mut self.objects[slot]
            && let Some(cells) = object.contents[pe].get_mut(first..first + with.len())
        {
            cells.iter_mut().zip(with).for_each(|(cell, byte)| *cell = (*byte).into());
        }
        self.spoil();
    }

    /// Whether a thread can carry an operation out.
    pub(crate) fn allows_op(&self, pe: usize, op: &Op) -> bool {
        let fits = |slot: Slot, target: usize, end: usize| {
            self.object(slot).is_some_and(|object| object.reaches(pe, target) && end <= object.len)
        };
        match op {
            Op::Write { slot, pe: target, at, .. } | Op::Read { slot, pe: target, at, .. } => {
                fits(*slot, *target, at.end())
                    && self.object(*slot).is_some_and(|o| o.element != Element::Word)
            }
            Op::Copy { to, from, pe: target, elements, get } => {
                let (far, near) = if *get { (from, to) } else { (to, from) };
                let kind = |slot: Slot| self.object(slot).map(|object| object.element);
                let is_flat = |slot: Slot| {
                    self.object(slot).is_some_and(|o| matches!(o.home, Home::Heap(_) | Home::Static))
                };
                to != from
                    && kind(*to) == Some(Element::Number)
                    && kind(*from) == Some(Element::Number)
                    && is_flat(*to)
                    && is_flat(*from)
                    && fits(*far, *target, *elements)
                    && fits(*near, pe, *elements)
            }
            Op::Update { slot, pe: target, word, .. } => {
                fits(*slot, *target, *word + 1)
                    && self.object(*slot).is_some_and(|o| o.element == Element::Word)
            }
            Op::Beyond { slot, pe: target, .. } => {
                fits(*slot, *target, 0)
                    && self.object(*slot).is_some_and(|o| o.element != Element::Word && o.home != Home::Block)
            }
            Op::Quiet | Op::Fence => true,
        }
    }

    /// What the threads of an epoch read, and what is there behind it.
    pub(crate) fn epoch(&mut self, streams: &[Stream]) -> Vec<Reads> {
        let mut epoch = Epoch::default();
        for (number, stream) in streams.iter().enumerate() {
            for op in stream.ops.iter().filter(|op| self.allows_op(stream.pe, op)) {
                epoch.mark(self, number, stream.pe, op);
            }
        }
        let reads = streams.iter().enumerate().map(|(number, stream)| {
            let mut quiets = 1;
            let ops = stream.ops.iter();
            ops.map(|op| match self.allows_op(stream.pe, op) {
                true => epoch.perform(self, number, stream.pe, &mut quiets, op),
                false => None,
            })
            .collect()
        });
        let reads = reads.collect();
        for ((slot, pe), cells) in epoch.cells {
            let Some(object) = &mut self.objects[slot] else { continue };
            for (at, cell) in object.contents[pe].iter_mut().enumerate() {
                if cells[at].quiet > 0 {
                    *cell = cells[at].value;
                }
            }
        }
        self.spoil();
        reads
    }
}

/// What happens to a byte in an epoch.
#[derive(Clone, Copy, Default)]
struct Change {
    /// 0: nobody writes it; `u32::MAX`: several threads; else the thread that does, from 1.
    writer: u32,
    /// Of which kind all its updates are, if of one; for words.
    class: Class,
    /// Which quiet its last write comes before; 0: there was none.
    quiet: u32,
    value: Cell,
}

/// Which updates may change places.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Class {
    #[default]
    None,
    Add,
    Xor,
    Other,
}

#[derive(Default)]
struct Epoch {
    cells: HashMap<(Slot, usize), Vec<Change>>,
}

impl Epoch {
    fn of(&mut self, model: &Model, slot: Slot, pe: usize) -> &mut Vec<Change> {
        let len = model.contents(slot, pe).len();
        self.cells.entry((slot, pe)).or_insert_with(|| {
            let mut cells = vec![Change::default(); len];
            let Some(object) = model.object(slot) else { return cells };
            for (_, range) in model.reached().into_iter().filter(|(target, _)| *target == pe) {
                for part in object.part(&range) {
                    if let Some(cells) = cells.get_mut(part) {
                        cells.iter_mut().for_each(|cell| cell.writer = u32::MAX);
                    }
                }
            }
            cells
        })
    }

    /// The bytes that an operation writes, in order.
    fn written(model: &Model, me: usize, op: &Op) -> Option<(Slot, usize, Vec<usize>)> {
        match op {
            Op::Write { slot, pe, at, way, .. } => {
                let element = model.object(*slot)?.element.bytes();
                // Where the own copy is meant, it is that of the thread's PE.
                let pe = if *way == super::step::Way::Here { me } else { *pe };
                Some((*slot, pe, bytes_of(*at, element).collect()))
            }
            Op::Copy { to, pe, elements, get, .. } => {
                Some((*to, if *get { me } else { *pe }, (0..elements * 8).collect()))
            }
            Op::Update { slot, pe, word, .. } => Some((*slot, *pe, (word * 8..word * 8 + 8).collect())),
            _ => None,
        }
    }

    fn mark(&mut self, model: &Model, number: usize, me: usize, op: &Op) {
        let Some((slot, pe, bytes)) = Self::written(model, me, op) else { return };
        let class = match op {
            Op::Update { update: Update::Add(_) | Update::FetchAdd(_), .. } => Class::Add,
            Op::Update { update: Update::Xor(_), .. } => Class::Xor,
            _ => Class::Other,
        };
        let cells = self.of(model, slot, pe);
        for at in bytes {
            let Some(cell) = cells.get_mut(at) else { continue };
            let writer = number as u32 + 1;
            cell.writer = if cell.writer == 0 || cell.writer == writer { writer } else { u32::MAX };
            cell.class = if cell.class == Class::None || cell.class == class { class } else { Class::Other };
        }
    }

    /// A byte as a thread reads it.
    fn read(&mut self, model: &Model, slot: Slot, pe: usize, at: usize, number: usize, quiets: u32) -> Cell {
        let before = model.contents(slot, pe).get(at).copied().unwrap_or(UNKNOWN);
        let Some(cell) = self.of(model, slot, pe).get(at) else { return UNKNOWN };
        match cell.writer {
            0 => before,
            // What it has written, and what has come there since.
            // It writes it only later.
            writer if writer == number as u32 + 1 && cell.quiet == 0 => before,
            writer if writer == number as u32 + 1 && cell.quiet < quiets => cell.value,
            _ => UNKNOWN,
        }
    }

    fn write(&mut self, model: &Model, slot: Slot, pe: usize, at: usize, quiets: u32, value: Cell) {
        let Some(cell) = self.of(model, slot, pe).get_mut(at) else { return };
        let ordered = cell.quiet == 0 || cell.quiet < quiets;
        cell.value = if cell.writer != u32::MAX && ordered { value } else { UNKNOWN };
        cell.quiet = quiets;
    }

    fn perform(
        &mut self,
        model: &Model,
        number: usize,
        me: usize,
        quiets: &mut u32,
        op: &Op,
    ) -> Option<Vec<Cell>> {
        match op {
            Op::Quiet => {
                *quiets += 1;
                None
            }
            Op::Fence | Op::Beyond { .. } => None,
            Op::Write { way, seed, .. } => {
                let (slot, pe, bytes) = Self::written(model, me, op)?;
                // A scope, and a wait, end in a quiet.
                let is_quiet = quiets_itself(*way);
                for (i, at) in bytes.into_iter().enumerate() {
                    self.write(model, slot, pe, at, *quiets, byte(*seed, i).into());
                }
                *quiets += u32::from(is_quiet);
                None
            }
            Op::Read { slot, pe, at, way } => {
                let element = model.object(*slot)?.element.bytes();
                let pe = if *way == super::step::Way::Here { me } else { *pe };
                // What is read inside a scope is read before its quiet.
                let read = bytes_of(*at, element).map(|at| self.read(model, *slot, pe, at, number, *quiets));
                let read = read.collect();
                *quiets += u32::from(quiets_itself(*way));
                Some(read)
            }
            Op::Copy { from, pe, elements, get, .. } => {
                let source = if *get { *pe } else { me };
                // What is written while it is under way may be part of it.
                let values: Vec<Cell> = (0..elements * 8)
                    .map(|at| match self.of(model, *from, source).get(at) {
                        Some(cell) if cell.writer == 0 => model.contents(*from, source)[at],
                        _ => UNKNOWN,
                    })
                    .collect();
                let (slot, pe, bytes) = Self::written(model, me, op)?;
                for (at, value) in bytes.into_iter().zip(values) {
                    self.write(model, slot, pe, at, *quiets, value);
                }
                None
            }
            Op::Update { slot, pe, word, update } => {
                let (slot, pe, first) = (*slot, *pe, *word * 8);
                let before: Option<Vec<u8>> = model
                    .contents(slot, pe)
                    .get(first..first + 8)
                    .and_then(|cells| cells.iter().map(|cell| u8::try_from(*cell).ok()).collect());
                let cells = self.of(model, slot, pe);
                let cell = *cells.get(first)?;
                let number_of = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
                let known = |cells: &[Change]| -> Option<u64> {
                    let now = cells[first..first + 8].iter().map(|cell| u8::try_from(cell.value).ok());
                    if cell.quiet == 0 {
                        before.as_deref().map(number_of)
                    } else {
                        Some(number_of(&now.collect::<Option<Vec<_>>>()?))
                    }
                };
                let now = known(cells);
                let is_own = cell.writer == number as u32 + 1;
                let in_order = is_own && (cell.quiet == 0 || cell.quiet < *quiets);
                let is_sure = matches!(cell.class, Class::Add | Class::Xor) || in_order;
                let then = now.filter(|_| is_sure).map(|now| match update {
                    Update::Add(n) | Update::FetchAdd(n) => now.wrapping_add(*n),
                    Update::Xor(n) => now ^ n,
                    Update::Set(n) | Update::Swap(n) => *n,
                    Update::CompareSwap(expected, desired) => {
                        if now == *expected {
                            *desired
                        } else {
                            now
                        }
                    }
                });
                for i in 0..8 {
                    cells[first + i].value = then.map_or(UNKNOWN, |then| then.to_le_bytes()[i].into());
                    cells[first + i].quiet = *quiets;
                }
                let fetches =
                    matches!(update, Update::FetchAdd(_) | Update::Swap(_) | Update::CompareSwap(..));
                let told = now.filter(|_| in_order);
                fetches.then(|| match told {
                    Some(now) => now.to_le_bytes().map(Cell::from).to_vec(),
                    None => vec![UNKNOWN; 8],
                })
            }
        }
    }
}

/// Whether all that the token has started is complete behind it.
pub(crate) fn quiets_itself(way: super::step::Way) -> bool {
    use super::step::Way;
    matches!(way, Way::Scope | Way::Panicking | Way::Owned)
}

fn bytes_of(at: Blocks, element: usize) -> impl Iterator<Item = usize> {
    at.elements().flat_map(move |i| i * element..(i + 1) * element)
}

/// The storages, to choose from.
pub(crate) const STORAGES: [Storage; 4] =
    [Storage::Single, Storage::Separate, Storage::Cyclic, Storage::Multi];
