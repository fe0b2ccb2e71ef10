//! Programs out of one number.

use super::model::{Model, Thing, is_number_box};
use super::step::{
    ADDRESSES, Edge, Element, End, HALOS, Home, OBJECTS, Op, PARTITIONS, Pes, Program, Run, STATICS, Slot,
    Split, Step, Storage, Storm, Stream, TEAMS, Token, Way,
};
use crate::dice::Dice;
use crate::together::{ALL, Call, MOST};

/// The steps of a program that are drawn for it; a few of them do not fit, and are left out.
const STEPS: usize = 45;

const TOKENS: [Token; 9] = [
    Token::World,
    Token::World,
    Token::Private,
    Token::Serialized,
    Token::Multiple,
    Token::InTurn,
    Token::Registered,
    Token::Session,
    Token::Leaked,
];

/// The program of a seed.
pub(crate) fn program(seed: u64, pes: usize) -> Program {
    let dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ pes as u64);
    let mut draw = Draw { dice, model: Model::new(pes), pes };
    // The first numbers of such a generator are alike.
    for _ in 0..8 {
        draw.below(2);
    }
    let mut steps = Vec::new();
    while steps.len() < STEPS {
        let step = draw.step();
        steps.extend(draw.taken(step, false));
    }
    steps
}

struct Draw {
    dice: Dice,
    /// As it is when the next step is carried out.
    model: Model,
    pes: usize,
}

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.dice.below(n as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn seed(&mut self) -> u64 {
        self.dice.below(1 << 30)
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// Some of the PEs, mostly all.
    fn some(&mut self) -> Pes {
        let all = Pes::all(self.pes);
        if self.one_in(2) { all } else { Pes(1 + self.below(all.0 as usize) as u32) }
    }

    /// A step that fits, which is carried out on the model.
    fn taken(&mut self, step: Step, shared: bool) -> Option<Step> {
        self.model.allows(&step, shared).then(|| {
            self.model.apply(&step);
            step
        })
    }

    fn team(&mut self) -> Slot {
        self.below(TEAMS.len()) + TEAMS.start
    }

    fn halo_slot(&mut self) -> Slot {
        self.below(HALOS.len()) + HALOS.start
    }

    fn step(&mut self) -> Step {
        match self.below(30) {
            0..=4 => self.alloc(),
            5..=8 => self.epoch(),
            9..=10 => self.window(),
            11..=14 => self.phase(),
            15..=16 => self.exchange(),
            17 => self.halo(),
            18 => self.split(),
            19 if self.one_in(2) => Step::DropPartition { slot: self.below(PARTITIONS) },
            19 => Step::Partition { slot: self.below(PARTITIONS), bytes: 1 + self.below(1 << 18) as u64 },
            20 => Step::Drop { slot: self.halo_slot(), pes: self.some(), forget: self.one_in(6) },
            21 => Step::Drop { slot: self.team(), pes: self.some(), forget: false },
            _ => self.quiet_step(),
        }
    }

    /// A step that may stand inside another one.
    fn quiet_step(&mut self) -> Step {
        match self.below(12) {
            0..=1 => self.alloc(),
            2..=4 => Step::Drop { slot: self.object(), pes: self.some(), forget: self.one_in(12) },
            5 => Step::Free { slot: self.object() },
            6..=7 => Step::Reclaim,
            8..=9 => self.keep(),
            10 => self.epoch(),
            _ => Step::Together {
                team: if self.one_in(2) { None } else { Some(self.team()) },
                call: {
                    let most = if self.one_in(8) { MOST } else { 200 };
                    Call::draw(&mut self.dice, ALL, most)
                },
            },
        }
    }

    /// A slot, mostly of something that is there.
    fn object(&mut self) -> Slot {
        let slot = self.below(OBJECTS.end);
        if self.model.thing(slot).is_some() || self.one_in(4) { slot } else { self.below(OBJECTS.end) }
    }

    fn keep(&mut self) -> Step {
        let byte = if self.one_in(2) { 0 } else { self.below(64) };
        Step::Keep { slot: self.object(), address: self.below(ADDRESSES), byte }
    }

    fn alloc(&mut self) -> Step {
        let free = (STATICS.len()..OBJECTS.end).find(|slot| self.model.thing(*slot).is_none());
        let slot = free.unwrap_or(STATICS.len() + self.below(OBJECTS.end - STATICS.len()));
        let home = match self.below(9) {
            0..=2 => Home::Heap(None),
            3 => Home::Heap(Some(self.below(PARTITIONS))),
            4..=5 => Home::Array(self.of(&Storage::ALL), 1 + self.below(4)),
            _ => Home::Team(self.team()),
        };
        let elements =
            [Element::Byte, Element::Number, Element::Number, Element::Three, Element::Page, Element::Word];
        let element = match home {
            Home::Array(..) => Element::Number,
            _ => self.of(&elements),
        };
        let len = match (element, home) {
            // More than is modelled: what takes long to be copied.
            (_, Home::Array(..)) if self.one_in(4) => (1 << 14) << self.below(8),
            (Element::Page, _) => self.below(3),
            _ if self.one_in(10) => self.below(2),
            _ => self.below(200),
        };
        Step::Alloc { slot, home, element, len, seed: self.seed() }
    }

    fn run(&mut self, of: usize) -> Run {
        let first = self.below(of + 1);
        Run { first, len: self.below(of - first + 1) }
    }

    fn op(&mut self, me: usize) -> Op {
        let (slot, pe) = (self.object(), if self.one_in(3) { me } else { self.below(self.pes) });
        let Some(object) = self.model.thing(slot).cloned() else { return Op::Quiet };
        if object.element == Element::Word {
            let (word, number, fetches) = (self.below(object.len.max(1)), self.seed(), self.one_in(3));
            return Op::Add { slot, pe, word, number, fetches };
        }
        let len = object.len.min(4096);
        match self.below(12) {
            0..=4 => Op::Write { slot, pe, at: self.run(len), way: self.of(&Way::ALL), seed: self.seed() },
            5..=8 => Op::Read { slot, pe, at: self.run(len), way: self.of(&Way::ALL) },
            9 => {
                Op::Copy { to: slot, from: self.object(), pe, elements: self.below(20), get: self.one_in(2) }
            }
            10 => Op::Fence,
            _ => Op::Quiet,
        }
    }

    fn epoch(&mut self) -> Step {
        Step::Epoch { streams: self.streams() }
    }

    fn streams(&mut self) -> Vec<Stream> {
        let mut streams = Vec::new();
        for pe in 0..self.pes {
            let threads = if self.one_in(3) { 1 + self.below(3) } else { 1 };
            for thread in 0..threads {
                let token = if thread == 0 && self.one_in(2) { Token::World } else { self.of(&TOKENS) };
                let count = self.below(7);
                streams.push(Stream { pe, token, ops: (0..count).map(|_| self.op(pe)).collect() });
            }
        }
        streams
    }

    fn storms(&mut self) -> Vec<Storm> {
        let kept: Vec<Slot> = (0..ADDRESSES).filter(|slot| self.model.addresses[*slot].is_some()).collect();
        if kept.is_empty() {
            return Vec::new();
        }
        let count = 1 + self.below(4);
        (0..count)
            .map(|_| {
                let bytes = match self.below(6) {
                    0 => 0,
                    1 => 1 << 20,
                    2 => 1 << 17,
                    3 => 1 << 13,
                    _ => 1 + self.below(600),
                };
                let delta = match self.below(5) {
                    0 => self.below(1 << 22) as isize - (1 << 21),
                    1 => self.below(1 << 14) as isize - (1 << 13),
                    _ => 0,
                };
                Storm {
                    pe: self.below(self.pes),
                    address: self.of(&kept),
                    delta,
                    bytes,
                    target: self.below(self.pes),
                    get: self.one_in(4),
                }
            })
            .collect()
    }

    fn window(&mut self) -> Step {
        if self.one_in(2)
            && let Some(attack) = self.attack()
        {
            return attack;
        }
        let storms = self.storms();
        let count = 3 + self.below(6);
        Step::Window { storms, steps: self.inner(Vec::new(), count, true) }
    }

    /// The memory of an array goes while it is written to as a whole by its address, and something else comes there.
    fn attack(&mut self) -> Option<Step> {
        let is_array = |thing: &Thing| matches!(thing.home, Home::Array(..));
        let is_array = |slot: Slot| self.model.thing(slot).is_some_and(is_array);
        let kept = self.model.addresses.iter().enumerate();
        let kept = kept.filter_map(|(address, kept)| Some((address, kept.as_ref()?.object)));
        let kept: Vec<_> = kept.filter(|(_, (slot, _))| is_array(*slot)).collect();
        if kept.is_empty() {
            let arrays: Vec<Slot> = OBJECTS.filter(|slot| is_array(*slot)).collect();
            let slot = *arrays.get(self.below(arrays.len().max(1)))?;
            return Some(Step::Keep { slot, address: self.below(ADDRESSES), byte: 0 });
        }
        let (address, (slot, bytes)) = self.of(&kept);
        let storms = (0..1 + self.below(3)).map(|_| {
            let (pe, target, get) = (self.below(self.pes), self.below(self.pes), self.one_in(4));
            Storm { pe, address, delta: 0, bytes: bytes - self.below(64).min(bytes), target, get }
        });
        let storms = storms.collect();
        let gone = Step::Drop { slot, pes: Pes::all(self.pes), forget: false };
        let first = vec![gone, Step::Reclaim, self.halo(), self.exchange()];
        Some(Step::Window { storms, steps: self.inner(first, 7, true) })
    }

    /// So many steps that stand inside another one, as the model is when they are carried out; these first, if they fit.
    fn inner(&mut self, first: Vec<Step>, count: usize, exchanges: bool) -> Vec<Step> {
        let before = self.model.clone();
        let first = first.into_iter().filter_map(|step| self.taken(step, true));
        let mut steps: Vec<Step> = first.collect();
        for _ in 0..count * 4 {
            let step = match self.below(8) {
                0 if exchanges => self.exchange(),
                1 if exchanges => self.halo(),
                _ => self.quiet_step(),
            };
            if steps.len() < count {
                steps.extend(self.taken(step, true));
            }
        }
        self.model = before;
        steps
    }

    fn phase(&mut self) -> Step {
        let fits = OBJECTS.filter(|slot| self.model.may_open(*slot));
        let is_of_teams =
            |slot: &Slot| self.model.thing(*slot).is_some_and(|thing| thing.home.team().is_some());
        let (of_teams, others): (Vec<Slot>, Vec<Slot>) = fits.partition(is_of_teams);
        // Those of teams, if there are any, as often as all others.
        let (slot, list, storms) = match of_teams.is_empty() || self.one_in(2) {
            true => {
                let slot = self.of(&others);
                let numbers =
                    |other: &Slot| *other != slot && self.model.thing(*other).is_some_and(is_number_box);
                (slot, others.into_iter().filter(numbers).collect(), Vec::new())
            }
            false => (self.of(&of_teams), Vec::new(), self.storms()),
        };
        let around = [0, 1].map(|_| if self.one_in(2) { self.streams() } else { Vec::new() });
        Step::Phase { slot, list, frozen: self.one_in(3), seed: self.seed(), storms, around }
    }

    fn split(&mut self) -> Step {
        let slot = self.team();
        if self.one_in(4) {
            let (start, stride) = (self.below(self.pes), self.below(5) as isize - 2);
            return Step::Split { slot, parent: None, split: Split::Strided(start, stride, self.below(4)) };
        }
        let parent = if self.one_in(3) { Some(self.team()) } else { None };
        let colour = |colour: usize| colour.checked_sub(1).map(|colour| colour as u64);
        let wishes = (0..self.pes).map(|_| (colour(self.below(4)), self.below(5) as i64 - 2));
        Step::Split { slot, parent, split: Split::By(wishes.collect()) }
    }

    fn halo(&mut self) -> Step {
        let slot = HALOS.clone().find(|slot| self.model.thing(*slot).is_none()).unwrap_or(HALOS.start);
        let mut edges: Vec<Vec<Edge>> = vec![Vec::new(); self.pes];
        for _ in 0..1 + self.below(2 * self.pes) {
            let (a, b) = (self.below(self.pes), self.below(self.pes));
            let (there, back) = (self.below(40), self.below(40));
            if self.one_in(6) {
                edges[a].push(None);
            }
            let first = edges[a].len();
            let second = if a == b { first + 1 } else { edges[b].len() };
            edges[a].push(Some((b, second, there)));
            edges[b].push(Some((a, first, back)));
        }
        let element = self.of(&[Element::Byte, Element::Number, Element::Three]);
        Step::Halo { slot, element, edges }
    }

    fn exchange(&mut self) -> Step {
        let count = self.below(4);
        let end = match self.below(16) {
            0 => End::Forgotten,
            1 => End::Unwound,
            _ => End::Finished(self.inner(Vec::new(), count, false)),
        };
        Step::Exchange { slot: self.halo_slot(), seed: self.seed(), iter: self.one_in(3), end }
    }
}
