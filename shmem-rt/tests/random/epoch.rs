//! What the threads of an epoch read, and what is there behind it.

use std::collections::HashMap;
use std::ops::Range;

use super::model::{Cell, Model, UNKNOWN};
use super::step::{Op, Run, Slot, Stream, Way, byte};

/// What a thread is expected to read, operation by operation.
pub(crate) type Reads = Vec<Option<Vec<Cell>>>;

impl Model {
    /// What the threads of an epoch read. Behind it, the model has what they have written.
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
        for (stream, op) in streams.iter().flat_map(|stream| stream.ops.iter().map(move |op| (stream, op))) {
            if let Op::Write { pe, way: Way::Signalled, .. } = op
                && self.allows_op(stream.pe, op)
            {
                self.signal(*pe);
            }
        }
        for ((slot, pe), cells) in epoch.cells {
            let Some(object) = &mut self.things[slot] else { continue };
            for (cell, change) in object.contents[pe].iter_mut().zip(cells) {
                if change.quiet > 0 {
                    *cell = change.value;
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
    /// Which quiet its last write comes before; 0: there was none.
    quiet: u32,
    value: Cell,
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
            let Some(object) = model.thing(slot) else { return cells };
            for (_, range) in model.reached().filter(|(target, _)| *target == pe) {
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
                let element = model.thing(*slot)?.element.bytes();
                // Where the own copy is meant, it is that of the thread's PE.
                let pe = if *way == Way::Here { me } else { *pe };
                Some((*slot, pe, bytes_of(*at, element).collect()))
            }
            Op::Copy { to, pe, elements, get, .. } => {
                Some((*to, if *get { me } else { *pe }, (0..elements * 8).collect()))
            }
            Op::Add { slot, pe, word, .. } => Some((*slot, *pe, (word * 8..word * 8 + 8).collect())),
            _ => None,
        }
    }

    fn mark(&mut self, model: &Model, number: usize, me: usize, op: &Op) {
        let Some((slot, pe, bytes)) = Self::written(model, me, op) else { return };
        let cells = self.of(model, slot, pe);
        for at in bytes {
            let Some(cell) = cells.get_mut(at) else { continue };
            let writer = number as u32 + 1;
            cell.writer = if cell.writer == 0 || cell.writer == writer { writer } else { u32::MAX };
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
            Op::Fence => None,
            Op::Write { way, seed, .. } => {
                let (slot, pe, bytes) = Self::written(model, me, op)?;
                for (i, at) in bytes.into_iter().enumerate() {
                    self.write(model, slot, pe, at, *quiets, byte(*seed, i).into());
                }
                // A scope, and a wait, end in a quiet.
                *quiets += u32::from(way.quiets());
                None
            }
            Op::Read { slot, pe, at, way } => {
                let element = model.thing(*slot)?.element.bytes();
                let pe = if *way == Way::Here { me } else { *pe };
                // What is read inside a scope is read before its quiet.
                let read = bytes_of(*at, element).map(|at| self.read(model, *slot, pe, at, number, *quiets));
                let read = read.collect();
                *quiets += u32::from(way.quiets());
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
            Op::Add { slot, pe, word, number: by, fetches } => {
                let (slot, pe, first) = (*slot, *pe, *word * 8);
                let value = |cells: &mut dyn Iterator<Item = Cell>| -> Option<u64> {
                    let bytes = cells.map(|cell| u8::try_from(cell).ok()).collect::<Option<Vec<_>>>()?;
                    Some(u64::from_le_bytes(bytes.try_into().ok()?))
                };
                let before = model.contents(slot, pe).get(first..first + 8);
                let before = before.and_then(|cells| value(&mut cells.iter().copied()));
                let cells = self.of(model, slot, pe).get_mut(first..first + 8)?;
                let Change { writer, quiet, .. } = cells[0];
                let now = if quiet == 0 { before } else { value(&mut cells.iter().map(|cell| cell.value)) };
                // Additions may change places.
                let then = now.map(|now| now.wrapping_add(*by).to_le_bytes());
                for (i, cell) in cells.iter_mut().enumerate() {
                    (cell.value, cell.quiet) = (then.map_or(UNKNOWN, |then| then[i].into()), *quiets);
                }
                // What others, or the thread itself, add meanwhile may have come before.
                let is_told = writer == number as u32 + 1 && (quiet == 0 || quiet < *quiets);
                let told = now.filter(|_| is_told).map(|now| now.to_le_bytes().map(Cell::from));
                fetches.then(|| told.unwrap_or([UNKNOWN; 8]).to_vec())
            }
        }
    }
}

fn bytes_of(at: Run, element: usize) -> Range<usize> {
    at.first * element..(at.first + at.len) * element
}
