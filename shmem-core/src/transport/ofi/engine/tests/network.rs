//! A network of PEs in one process: it loses no message, has little room, and reorders. Threads may share it.

use core::sync::atomic::AtomicU32;

use super::super::*;
use crate::fixture::{Slots, uncounted};
use crate::pe::Pe;
use crate::strided::Pattern;
use crate::system_area::SYSTEM_BYTES;
use crate::transport::target::Target;
use crate::transport::{Change, Elements, ListRequest, Remote, SignalOp, Until};

const SEGMENT: u32 = 1;

/// Steps without a message in flight after which a wait counts as endless.
const PATIENCE: u32 = 1000;

pub(super) fn secret() -> Secret {
    Secret::of_bytes([9; Secret::BYTES])
}

/// Takes the token out of a message, as wires do.
pub(super) fn take_token(message: &mut [u8]) -> u64 {
    let Some(token) = message.get_mut(TOKEN) else { return 0 };
    let taken = u64::from_le_bytes((&*token).try_into().unwrap());
    token.fill(0);
    taken
}

/// Some PEs, and the messages in flight.
pub(super) struct Network {
    pub(super) engines: Vec<Engine>,
    pub(super) places: Slots,
    /// Whether other threads may hold messages that are not in flight here.
    pub(super) is_shared: bool,
    /// Messages in flight to each PE.
    under_way: Mutex<Vec<Vec<Moving>>>,
    /// The slots that each PE lends.
    lent: Mutex<Vec<Vec<Vec<u8>>>>,
    slot: usize,
    /// Most messages in flight to each PE.
    room: usize,
    dice: AtomicU64,
    idle: AtomicU32,
    /// Copies of all messages, if `heard` was called.
    sent: Mutex<Option<Vec<Vec<u8>>>>,
}

// SAFETY: places are memory that engines and tests use by bytes that are given to one thread at a time.
unsafe impl Sync for Network {}

enum Moving {
    Sent(Vec<u8>),
    /// Its bytes are in a slot; the target is not notified yet.
    Written {
        slot: u32,
        bytes: usize,
    },
}

/// One PE's end of the wire.
pub(super) struct End<'a> {
    pub(super) network: &'a Network,
    pub(super) me: usize,
}

impl Network {
    pub(super) fn new(pes: usize, bytes: usize, limits: Limits, room: usize, seed: u64) -> Self {
        let places = Slots::new(pes, bytes);
        let engine = |pe: usize| {
            let engine = Engine::new(pe, pes, limits, secret());
            let range = SYSTEM_BYTES..SYSTEM_BYTES + bytes;
            // SAFETY: a slot of that many bytes, all zeroes, dropped together with the engine.
            engine.register(SEGMENT, unsafe { Target::new(places.start_of(pe), range) });
            engine
        };
        Self {
            engines: (0..pes).map(engine).collect(),
            places,
            is_shared: false,
            under_way: Mutex::new((0..pes).map(|_| Vec::new()).collect()),
            lent: Mutex::new(vec![Vec::new(); pes]),
            slot: limits.slot,
            room,
            dice: AtomicU64::new(seed | 1),
            idle: AtomicU32::new(0),
            sent: Mutex::new(None),
        }
    }

    /// The messages since the last call. Nothing is kept before the first.
    pub(super) fn heard(&self) -> Vec<Vec<u8>> {
        self.sent.lock().replace(Vec::new()).unwrap_or_default()
    }

    pub(super) fn end(&self, me: usize) -> End<'_> {
        End { network: self, me }
    }

    /// The bytes of a PE after its system area.
    pub(super) fn memory(&self, pe: usize, bytes: usize) -> Vec<u8> {
        let start = self.places.start_of(pe).wrapping_add(SYSTEM_BYTES);
        // SAFETY: a slot has so many bytes, and no other thread uses it.
        unsafe { core::slice::from_raw_parts(start, bytes) }.to_vec()
    }

    pub(super) fn roll(&self, sides: usize) -> usize {
        let mut x = self.dice.load(Ordering::Relaxed);
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.dice.store(x, Ordering::Relaxed);
        (x >> 20) as usize % sides
    }

    /// Delivers a random message; then every PE sends its pending answers. Panics if there was none for many steps: a wait is
    /// endless.
    pub(super) fn step(&self) {
        let start = self.roll(self.engines.len());
        let pes = (0..self.engines.len()).map(|i| (start + i) % self.engines.len());
        let next = {
            let under_way = &mut *self.under_way.lock();
            let to = pes.clone().find(|&pe| !under_way[pe].is_empty());
            to.map(|to| {
                let which = self.roll(under_way[to].len());
                (to, under_way[to].swap_remove(which))
            })
        };
        if let Some((to, message)) = next {
            self.idle.store(0, Ordering::Relaxed);
            self.deliver(to, &message);
        } else {
            let idle = self.idle.fetch_add(1, Ordering::Relaxed);
            assert!(idle < PATIENCE || self.is_shared, "somebody waits, and nothing is under way");
            std::thread::yield_now();
            pes.clone().for_each(|pe| self.engines[pe].flush_answers(&self.end(pe)).unwrap());
        }
        for pe in pes {
            self.engines[pe].drain(&self.end(pe)).unwrap();
        }
    }

    /// Delivers until a channel of a PE is quiet.
    pub(super) fn quiet(&self, pe: usize, channel: Channel) {
        while !self.engines[pe].is_quiet(channel) {
            self.step();
        }
    }

    /// Delivers all messages in flight to a PE, which sends no answers.
    pub(super) fn deliver_all(&self, pe: usize) {
        let messages = core::mem::take(&mut self.under_way.lock()[pe]);
        messages.iter().for_each(|message| self.deliver(pe, message));
    }

    fn deliver(&self, pe: usize, message: &Moving) {
        let carried_out = match message {
            Moving::Sent(message) => self.engines[pe].arrived(&self.end(pe), message),
            &Moving::Written { slot, bytes } => {
                let message = &mut self.lent.lock()[pe][slot as usize][..bytes];
                let token = take_token(message);
                let carried_out = self.engines[pe].landed(&self.end(pe), slot, token, message);
                // The message was carried out.
                message.fill(0x5A);
                carried_out
            }
        };
        carried_out.unwrap();
    }

    /// Sends a message to a PE, if there is room; `moving` makes the message in flight of its bytes.
    fn write(
        &self,
        pe: usize,
        bytes: usize,
        write: &mut dyn FnMut(&mut [u8]),
        moving: impl FnOnce(Vec<u8>) -> Moving,
    ) -> Sent {
        let mut under_way = self.under_way.lock();
        if under_way[pe].len() >= self.room || self.roll(8) == 0 {
            return Sent::Full;
        }
        let mut message = uncounted(|| vec![0xA5; bytes]);
        write(&mut message);
        uncounted(|| {
            if let Some(sent) = &mut *self.sent.lock() {
                sent.push(message.clone());
            }
            under_way[pe].push(moving(message));
        });
        Sent::Done
    }

    /// Delivers until all messages are answered.
    pub(super) fn settle(&self) {
        while self.engines.iter().any(|engine| engine.unanswered().next().is_some()) {
            self.step();
        }
        assert!(self.under_way.lock().iter().all(Vec::is_empty), "what is not answered was sent");
        assert!(self.engines.iter().all(|engine| !engine.owes()), "somebody still owes something");
    }
}

impl End<'_> {
    /// The initiator of a channel of this PE.
    pub(super) fn on(&self, channel: Channel) -> Initiator<'_> {
        self.network.engines[self.me].on(self, channel)
    }

    pub(super) fn put(&self, channel: Channel, to: Remote, source: &[u8], pattern: &Pattern) {
        assert!(pattern.hulls().1 <= source.len());
        // SAFETY: the source holds all blocks (asserted); where they go is checked at the target.
        unsafe { self.on(channel).put(to, source.as_ptr(), pattern) };
    }

    pub(super) fn put_signal(
        &self,
        channel: Channel,
        to: Remote,
        source: &[u8],
        signal: (Remote, SignalOp),
        patient: bool,
    ) {
        // SAFETY: the source has so many bytes; where they go, and the signal, are checked at the target.
        unsafe { self.on(channel).put_signal(to, source.as_ptr(), source.len(), signal, patient) };
    }

    /// Reads blocks, which are there on return.
    pub(super) fn get(&self, channel: Channel, into: &mut [u8], from: Remote, pattern: &Pattern) {
        assert!(pattern.hulls().0 <= into.len());
        // SAFETY: all blocks lie in `into` (asserted), which stays until this returns; where they are is checked at the target.
        unsafe { self.on(channel).get(into.as_mut_ptr(), from, pattern, Until::Return) };
    }

    /// Changes words, without results.
    pub(super) fn change(&self, channel: Channel, words: Elements<'_>, change: Change<'_>) {
        // SAFETY: no memory is given, operands are counted (`Change`), and words are checked at the target.
        unsafe { self.on(channel).list(words, ListRequest::Change(change, None), None, Until::Return) };
    }

    pub(super) fn place(&self, channel: Channel, to: Elements<'_>, source: &[u8]) {
        assert!(to.len() * to.size <= source.len());
        let request = ListRequest::Place(source.as_ptr());
        // SAFETY: the source has so many elements (asserted); where they go is checked at the target.
        unsafe { self.on(channel).list(to, request, None, Until::Return) };
    }

    /// Reads elements, or changes words and returns the old values.
    pub(super) fn fetch(&self, channel: Channel, list: Elements<'_>, change: Option<Change<'_>>) -> Vec<u8> {
        // Aligned for words.
        let mut found = vec![0_u64; (list.len() * list.size).div_ceil(8)];
        let into = found.as_mut_ptr().cast();
        let request =
            change.map_or(ListRequest::Pick(into), |change| ListRequest::Change(change, Some(into)));
        // SAFETY: there is room for all elements until this returns; where they are is checked at the target.
        unsafe { self.on(channel).list(list, request, None, Until::Return) };
        bytemuck::cast_slice(&found)[..list.len() * list.size].to_vec()
    }
}

impl Wire for End<'_> {
    fn try_send(&self, pe: usize, bytes: usize, write: &mut dyn FnMut(&mut [u8])) -> Sent {
        assert_ne!(pe, self.me, "nobody sends to itself");
        assert!(bytes <= self.network.engines[pe].limits.message, "a message is cut to its length");
        self.network.write(pe, bytes, write, Moving::Sent)
    }

    fn reaches(&self, pe: usize) -> bool {
        pe != self.me
    }

    fn lend(&self, grant: usize) -> Option<Region> {
        let lent = &mut self.network.lent.lock()[self.me];
        uncounted(|| lent.resize(lent.len().max((grant + 1) * SLOTS), vec![0; self.network.slot]));
        Some(Region { address: grant as u64, key: self.me as u64, mark: grant as u32 })
    }

    fn try_write(&self, pe: usize, slot: BounceSlot, bytes: usize, write: &mut dyn FnMut(&mut [u8])) -> Sent {
        let grant = slot.number / SLOTS as u32;
        let place = Region { address: grant.into(), key: pe as u64, mark: grant };
        assert_eq!((slot.region, slot.index), (place, slot.number as usize % SLOTS));
        let is_it =
            |moving: &Moving| matches!(moving, Moving::Written { slot: held, .. } if *held == slot.number);
        assert!(
            !self.network.under_way.lock()[pe].iter().any(is_it),
            "what lies in the slot is not taken out yet"
        );
        self.network.write(pe, bytes, write, |message| {
            self.network.lent.lock()[pe][slot.number as usize][..bytes].copy_from_slice(&message);
            Moving::Written { slot: slot.number, bytes }
        })
    }

    fn progress(&self) {
        self.network.step();
    }
}

/// A wire that panics when it sends. `reaches`: whether it reaches other PEs.
pub(super) struct Broken {
    pub(super) reaches: bool,
}

impl Wire for Broken {
    fn try_send(&self, _: usize, _: usize, _: &mut dyn FnMut(&mut [u8])) -> Sent {
        panic!("the wire is broken")
    }

    fn reaches(&self, _: usize) -> bool {
        self.reaches
    }

    fn progress(&self) {}
}

/// Memory of a PE, `offset` bytes after its system area.
pub(super) fn remote(pe: usize, offset: usize) -> Remote {
    // SAFETY: no operation of the arena uses it.
    let pe = unsafe { Pe::new(pe as u32, Pe::OFF_NODE) };
    Remote { pe, segment: SEGMENT, offset: SYSTEM_BYTES + offset }
}
