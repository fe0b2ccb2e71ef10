use super::area::Area;
use super::hold::Hold;
use crate::collective::carrier::Carrier;
use crate::collective::plan::{Departure, Memory, Place};
use crate::collective::stream::Group;

/// What combines a group, if there is anything to combine.
pub(super) type Combine = Box<dyn Fn(Group<'_>) + Send>;

/// What a flight carries, and in the words and slots of its members.
pub(super) struct Load<'l> {
    pub(super) area: &'l Area,
    /// Where what is given lies in `given`: all of it, or a part of the result.
    pub(super) given: Option<&'l Hold>,
    /// Where in the result the source begins, where nothing else is given.
    pub(super) own: usize,
    pub(super) result: &'l Hold,
    pub(super) combine: &'l Combine,
    /// Whether anything was done.
    pub(super) moved: bool,
}

impl Load<'_> {
    /// Where a part of the result lies.
    fn result(&self, Place { memory, at, bytes }: Place) -> *mut u8 {
        let all = self.result.bytes();
        assert!(memory == Memory::Result && at + bytes <= all, "{bytes} bytes at {at} of {all}");
        self.result.as_ptr().wrapping_add(at)
    }

    /// Where a part of what is given lies.
    fn source(&self, place: Place) -> *const u8 {
        let Place { memory, at, bytes } = place;
        match (memory, self.given) {
            (Memory::Result, _) => self.result(place),
            (Memory::Source, None) => self.result(Place { memory: Memory::Result, at: self.own + at, bytes }),
            (Memory::Source, Some(given)) => {
                assert!(at + bytes <= given.bytes(), "{bytes} bytes at {at} of {}", given.bytes());
                given.as_ptr().wrapping_add(at)
            }
        }
    }
}

impl Carrier for Load<'_> {
    fn come(&self, slot: usize) -> u64 {
        self.area.come(slot)
    }

    fn told(&self, word: usize) -> u64 {
        self.area.told(word)
    }

    fn send(&mut self, departure: &Departure, slot: usize) {
        self.moved = true;
        let Departure { to, from, .. } = *departure;
        // SAFETY: so many bytes lie there (`source`), which the flight keeps until the stream of the runtime is quiet. A plan
        // writes again what it has sent when that has been delivered, and not before.
        unsafe { self.area.send(to, slot, self.source(from), from.bytes) };
    }

    fn tell(&mut self, rank: usize, word: usize, chunks: u64) {
        self.area.tell(rank, word, chunks);
    }

    fn keep(&mut self, slot: usize, into: Place) {
        self.moved = true;
        let (from, to) = (self.area.slot(slot, into.bytes), self.result(into));
        // SAFETY: the slot has that many bytes (`slot`), which are memory of the runtime that others write by such copies, and
        // the result has as many (`result`), which nobody has a reference to: they are given away when the flight has landed.
        unsafe { shmem_core::shared::copy(to, from, into.bytes) };
    }

    fn combine(&mut self, first: usize, members: usize, mine: usize, into: Place) {
        self.moved = true;
        let result = self.result(into);
        let operand = |member: usize| match (mine + members - member) % members {
            0 => result.cast_const(),
            before => self.area.slot((first + before - 1) % shmem_core::system::MOST_SLOTS, into.bytes),
        };
        (self.combine)(Group { members, operand: &operand, into: result, bytes: into.bytes });
    }
}
