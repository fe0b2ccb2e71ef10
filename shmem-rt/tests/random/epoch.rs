//! The model of an epoch: expected results of its threads' reads, and expected memory after it.

use std::collections::HashMap;

use super::model::{Cell, Model, UNKNOWN};
use super::step::{Act, ElementRange, Op, SIGNALS, SlotNumber, Stream, Way, bytes};

/// Expected bytes of each read of a thread; `None` for operations that read nothing.
pub(crate) type Reads = Vec<Option<Vec<Cell>>>;

impl Model {
    pub(crate) fn epoch(&mut self, streams: &[Stream]) -> Vec<Reads> {
        let mut epoch = Epoch { model: self, changes: HashMap::new() };
        for (thread, stream) in (1..).zip(streams) {
            stream.ops.iter().for_each(|op| epoch.mark(thread, stream.pe, op));
        }
        let reads = (1..).zip(streams).map(|(number, stream)| {
            let mut thread = Thread { number, pe: stream.pe, quiets: 1 };
            stream.ops.iter().map(|op| epoch.perform(&mut thread, op)).collect()
        });
        let (reads, changes) = (reads.collect(), epoch.changes);
        for ((slot, pe), changes) in changes {
            let Some(object) = &mut self.things[slot] else { continue };
            for (cell, change) in object.contents[pe].iter_mut().zip(changes) {
                if change.quiet > 0 {
                    *cell = change.value;
                }
            }
        }
        self.spoil();
        reads
    }
}

struct Thread {
    /// The thread's number, from 1.
    number: u32,
    pe: usize,
    /// Number of the thread's next quiet, from 1.
    quiets: u32,
}

/// The writes to a byte in an epoch.
#[derive(Clone, Copy, Default)]
struct Change {
    /// Number of the thread that has written the byte; 0 if none has, and `u32::MAX` if several have.
    writer: u32,
    /// Number of the writer's next quiet after its last write of the byte; 0 if nothing was written.
    quiet: u32,
    value: Cell,
}

struct Epoch<'m> {
    model: &'m Model,
    changes: HashMap<(SlotNumber, usize), Vec<Change>>,
}

impl Epoch<'_> {
    fn changes(&mut self, slot: SlotNumber, pe: usize) -> &mut [Change] {
        let model = self.model;
        self.changes.entry((slot, pe)).or_insert_with(|| {
            let mut changes = vec![Change::default(); model.contents(slot, pe).len()];
            let reached = model.reached().filter(|(target, _)| *target == pe);
            for part in reached
                .flat_map(|(_, range)| model.thing(slot).map(|it| it.part(&range).collect::<Vec<_>>()))
                .flatten()
            {
                changes.get_mut(part).into_iter().flatten().for_each(|change| change.writer = u32::MAX);
            }
            changes
        })
    }

    fn part(&mut self, (slot, pe, at): ElementRange) -> impl Iterator<Item = (&mut Change, Cell)> {
        let model = self.model;
        let element = model.thing(slot).map_or(0, |object| object.element.bytes());
        // Large objects have no modelled contents.
        let bytes =
            if model.contents(slot, pe).is_empty() { 0..0 } else { at.start * element..at.end * element };
        let before = &model.contents(slot, pe)[bytes.clone()];
        self.changes(slot, pe)[bytes].iter_mut().zip(before.iter().copied())
    }

    fn mark(&mut self, thread: u32, me: usize, op: &Op) {
        if let (true, (_, Some(written))) = (self.model.allows_op(me, op), op.parts(me)) {
            self.part(written).for_each(|(change, _)| {
                change.writer = if [0, thread].contains(&change.writer) { thread } else { u32::MAX };
            });
        }
    }

    /// Carries out an operation on the model. Returns the bytes that the operation reads.
    fn perform(&mut self, thread: &mut Thread, op: &Op) -> Option<Vec<Cell>> {
        if !self.model.allows_op(thread.pe, op) {
            return None;
        }
        let mine = thread.number;
        match (&op.act, op.parts(thread.pe)) {
            (Act::Write(_, way, seed), (_, Some(to))) => {
                let (pe, len) = (to.1, self.part(to.clone()).count());
                self.write(to, thread.quiets, bytes(*seed, len).into_iter().map(Cell::from).collect());
                if *way == Way::Signalled {
                    self.add((SIGNALS, pe, 0..1), thread, 1);
                }
                // The end of a scope is a quiet, and so is the wait for an owned transfer.
                thread.quiets += u32::from(way.quiets());
                None
            }
            (Act::Read(_, way), (Some(from), _)) => {
                let quiets = thread.quiets;
                let is_modelled = !self.model.contents(from.0, from.1).is_empty();
                let read = self.part(from).map(|(change, before)| match *change {
                    Change { writer: 0, .. } => before,
                    Change { writer, quiet: 0, .. } if writer == mine => before,
                    Change { writer, quiet, value } if writer == mine && quiet < quiets => value,
                    _ => UNKNOWN,
                });
                let read = read.collect();
                // The read precedes the quiet at the end of its scope.
                thread.quiets += u32::from(way.quiets());
                is_modelled.then_some(read)
            }
            (Act::PutFrom(..) | Act::GetInto(..), (Some(from), Some(to))) => {
                // The source may have its values before or after concurrent writes of the epoch.
                let values =
                    self.part(from).map(|(change, before)| if change.writer == 0 { before } else { UNKNOWN });
                let values = values.collect();
                self.write(to, thread.quiets, values);
                None
            }
            (Act::Add(_, number, fetches), (_, Some(word))) => {
                let before = self.add(word, thread, *number);
                fetches.then_some(before)
            }
            (Act::Quiet, _) => {
                thread.quiets += 1;
                None
            }
            _ => None,
        }
    }

    fn write(&mut self, to: ElementRange, quiets: u32, values: Vec<Cell>) {
        for ((change, _), value) in self.part(to).zip(values) {
            let ordered = change.quiet == 0 || change.quiet < quiets;
            change.value = if change.writer != u32::MAX && ordered { value } else { UNKNOWN };
            change.quiet = quiets;
        }
    }

    /// Adds to a word, and returns its old value. Additions of several threads commute.
    fn add(&mut self, word: ElementRange, thread: &Thread, number: u64) -> Vec<Cell> {
        let mut changes: Vec<_> = self.part(word).collect();
        let Change { writer, quiet, .. } = *changes[0].0;
        let now = changes.iter().map(|(change, before)| if quiet == 0 { *before } else { change.value });
        let now: Vec<Cell> = now.collect();
        let then = number_of(&now).map(|now| now.wrapping_add(number).to_le_bytes());
        for (i, (change, _)) in changes.iter_mut().enumerate() {
            (change.value, change.quiet) = (then.map_or(UNKNOWN, |then| then[i].into()), thread.quiets);
        }
        // Additions that no quiet separates may come in any order.
        let is_known = writer == thread.number && (quiet == 0 || quiet < thread.quiets);
        if is_known { now } else { vec![UNKNOWN; 8] }
    }
}

/// Returns the number in the bytes of a word, if all bytes are known.
fn number_of(word: &[Cell]) -> Option<u64> {
    let bytes: Result<Vec<u8>, _> = word.iter().map(|cell| u8::try_from(*cell)).collect();
    Some(u64::from_le_bytes(bytes.ok()?.try_into().ok()?))
}
