//! Programs out of one number.

use super::model::{ADDRESSES, Model, OBJECTS, OTHERS, STATICS, STORAGES};
use super::step::{
    Blocks, Edge, Element, Home, Op, Pes, Program, Slot, Split, Step, Storm, Stream, Token, Update, Way,
};
use crate::dice::Dice;
use crate::together::{ALL, Call, MOST};

/// The steps of a program that are drawn for it; a few of them do not fit, and are left out.
const STEPS: usize = 45;

const WAYS: [Way; 9] = [
    Way::Typed,
    Way::Each,
    Way::Bytes,
    Way::Scope,
    Way::Panicking,
    Way::Owned,
    Way::Forgotten,
    Way::Here,
    Way::Written,
];

const TOKENS: [Token; 8] = [
    Token::World,
    Token::World,
    Token::Private,
    Token::Serialized,
    Token::Multiple,
    Token::InTurn,
    Token::Registered,
    Token::Leaked,
];

/// The program of a seed.
pub(crate) fn program(seed: u64, pes: usize) -> Program {
    let dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ pes as u64);
    let mut draw = Draw { dice, model: Model::new(pes), pes, kept: [None; ADDRESSES] };
    // The first numbers of such a generator are alike.
    for _ in 0..8 {
        draw.below(2);
    }
    let mut steps = Vec::new();
    while steps.len() < STEPS {
        let step = draw.step();
        if draw.model.allows(&step, false) {
            draw.take(&step);
            steps.push(step);
        }
    }
    steps
}

struct Draw {
    dice: Dice,
    model: Model,
    pes: usize,
    /// Whose address is kept, and how many bytes it has.
    kept: [Option<(Slot, usize)>; ADDRESSES],
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
        let all = (1_usize << self.pes) - 1;
        Pes(if self.one_in(2) { all } else { 1 + self.below(all) } as u32)
    }

    /// Carries a step out on the model, as far as later steps depend on it.
    fn take(&mut self, step: &Step) {
        let model = &mut self.model;
        match step {
            Step::Alloc { slot, home, element, len, seed } => {
                model.alloc(*slot, *home, *element, *len, *seed)
            }
            Step::Drop { slot, pes, .. } => model.drop_object(*slot, *pes),
            Step::Free { slot } => model.drop_object(*slot, Pes(u32::MAX)),
            Step::Realloc { slot, len } => model.realloc(*slot, *len),
            Step::Keep { slot, address, .. } => {
                model.addresses[*address] = Some(0);
                self.kept[*address] = model.object(*slot).map(|object| (*slot, object.bytes()));
            }
            Step::Split { slot, parent, split } => {
                let groups = model.groups_of(*parent, split);
                if !groups.is_empty() {
                    let held = Pes(groups.iter().flatten().fold(0, |held, pe| held | 1 << pe));
                    model.teams[*slot] = Some(super::model::Teams { groups, held });
                }
            }
            Step::DropTeam { slot, pes } => {
                if let Some(teams) = &mut model.teams[*slot] {
                    teams.held.0 &= !pes.0;
                    if teams.held.0 == 0 {
                        model.teams[*slot] = None;
                    }
                }
            }
            Step::Halo { slot, element, edges } => {
                let held = Pes((1 << self.pes) - 1);
                let halo =
                    super::model::Halo { element: *element, edges: edges.clone(), held, abandoned: false };
                model.halos[*slot] = Some(halo);
            }
            Step::Abandon { slot, .. } => {
                if let Some(halo) = &mut model.halos[*slot] {
                    halo.abandoned = true;
                }
            }
            Step::DropHalo { slot, pes, .. } => {
                if let Some(halo) = &mut model.halos[*slot] {
                    halo.held.0 &= !pes.0;
                    if halo.held.0 == 0 {
                        model.halos[*slot] = None;
                    }
                }
            }
            Step::Partition { slot, .. } => model.partitions[*slot] = Some(()),
            Step::DropPartition { slot } => model.partitions[*slot] = None,
            Step::Window { steps, .. } | Step::Exchange { hold: steps, .. } => {
                for step in steps {
                    if self.model.allows(step, true) {
                        self.take(step);
                    }
                }
            }
            _ => {}
        }
    }

    fn step(&mut self) -> Step {
        match self.below(31) {
            30 => self.window(),
            0..=4 => self.alloc(),
            5..=8 => self.epoch(),
            9 => self.window(),
            10 => self.team_phase(),
            11 => self.phase(),
            12 => self.exchange(),
            13 => self.halo(),
            14 => self.split(),
            15 => match self.below(4) {
                0 => Step::DropTeam { slot: self.below(OTHERS), pes: self.some() },
                1 => Step::Vast { team: None },
                2 => Step::Vast { team: Some(self.below(OTHERS)) },
                _ => Step::Partition { slot: self.below(OTHERS), bytes: 1 + self.below(1 << 18) as u64 },
            },
            16 => match self.below(3) {
                0 => Step::DropPartition { slot: self.below(OTHERS) },
                1 => Step::Locked { threads: 1 + self.below(3), times: 1 + self.below(8) as u64 },
                _ => Step::Abandon { slot: self.below(OTHERS), seed: self.seed(), forget: self.one_in(2) },
            },
            17 => Step::DropHalo { slot: self.below(OTHERS), pes: self.some(), forget: self.one_in(6) },
            18..=19 => Step::Messages { slot: self.below(OBJECTS), len: self.below(9), seed: self.seed() },
            20 => self.phase(),
            21 => self.team_phase(),
            22 => self.exchange(),
            _ => self.quiet_step(),
        }
    }

    /// A step that may stand inside another one.
    fn quiet_step(&mut self) -> Step {
        match self.below(13) {
            0..=1 => self.alloc(),
            2..=4 => Step::Drop { slot: self.object(), pes: self.some(), forget: self.one_in(12) },
            5 => Step::Free { slot: self.object() },
            6..=7 => Step::Reclaim,
            8..=9 => self.keep(),
            10 => self.epoch(),
            11 => Step::Realloc { slot: self.object(), len: 1 + self.below(3000) },
            _ => Step::Together {
                team: if self.one_in(2) { None } else { Some(self.below(OTHERS)) },
                call: {
                    let most = if self.one_in(8) { MOST } else { 200 };
                    Call::draw(&mut self.dice, ALL, most)
                },
            },
        }
    }

    /// A slot, mostly of something that is there.
    fn object(&mut self) -> Slot {
        let slot = self.below(OBJECTS);
        let is_there = self.model.object(slot).is_some();
        if is_there || self.one_in(4) { slot } else { self.below(OBJECTS) }
    }

    fn keep(&mut self) -> Step {
        let byte = if self.one_in(2) { 0 } else { self.below(64) };
        Step::Keep { slot: self.object(), address: self.below(ADDRESSES), byte }
    }

    fn alloc(&mut self) -> Step {
        let free = (STATICS.len()..OBJECTS).find(|slot| self.model.object(*slot).is_none());
        let slot = free.unwrap_or(STATICS.len() + self.below(OBJECTS - STATICS.len()));
        let home = match self.below(10) {
            0..=2 => Home::Heap(None),
            3 => Home::Heap(Some(self.below(OTHERS))),
            4 => Home::Block,
            5..=6 => Home::Array(self.of(&STORAGES), 1 + self.below(4)),
            _ => Home::Team(self.below(OTHERS)),
        };
        let elements = [
            Element::Byte,
            Element::Number,
            Element::Number,
            Element::Three,
            Element::Line,
            Element::Page,
            Element::Word,
        ];
        let element = match home {
            Home::Block => Element::Byte,
            Home::Array(..) => Element::Number,
            _ => self.of(&elements),
        };
        let len = match (element, home) {
            // More than is modelled: what takes long to be copied.
            (_, Home::Array(..)) if self.one_in(4) => (1 << 14) << self.below(8),
            (Element::Page, _) => self.below(3),
            (Element::Line, _) => self.below(8),
            _ if self.one_in(10) => self.below(2),
            _ => self.below(200),
        };
        Step::Alloc { slot, home, element, len, seed: self.seed() }
    }

    fn blocks(&mut self, len: usize) -> Blocks {
        let first = self.below(len + 1);
        let room = len - first;
        if self.one_in(2) || room < 2 {
            let block = self.below(room + 1);
            return Blocks { first, block, stride: block, count: 1 };
        }
        let block = 1 + self.below(room / 2);
        let stride = block + self.below(room / 2);
        let most = (room - block) / stride + 1;
        Blocks { first, block, stride, count: 1 + self.below(most) }
    }

    fn op(&mut self, me: usize) -> Op {
        let (slot, pe) = (self.object(), if self.one_in(3) { me } else { self.below(self.pes) });
        let Some(object) = self.model.object(slot).cloned() else { return Op::Quiet };
        if object.element == Element::Word {
            let n = self.seed();
            let update = match self.below(8) {
                0 => Update::Xor(n),
                1 => Update::Set(n),
                2 => Update::Swap(n),
                3 => Update::CompareSwap(0, n),
                4 => Update::FetchAdd(n),
                _ => Update::Add(n),
            };
            return Op::Update { slot, pe, word: self.below(object.len.max(1)), update };
        }
        let len = object.len.min(4096);
        match self.below(12) {
            0..=4 => Op::Write { slot, pe, at: self.blocks(len), way: self.of(&WAYS), seed: self.seed() },
            5..=8 => Op::Read { slot, pe, at: self.blocks(len), way: self.of(&WAYS) },
            9 => {
                Op::Copy { to: slot, from: self.object(), pe, elements: self.below(20), get: self.one_in(2) }
            }
            10 if self.one_in(2) => Op::Beyond { slot, pe, past: self.below(3), get: self.one_in(2) },
            10 => Op::Fence,
            _ => Op::Quiet,
        }
    }

    fn epoch(&mut self) -> Step {
        let mut streams = Vec::new();
        for pe in 0..self.pes {
            let threads = if self.one_in(3) { 1 + self.below(3) } else { 1 };
            for thread in 0..threads {
                let token = if thread == 0 && self.one_in(2) { Token::World } else { self.of(&TOKENS) };
                let count = self.below(7);
                streams.push(Stream { pe, token, ops: (0..count).map(|_| self.op(pe)).collect() });
            }
        }
        Step::Epoch { streams }
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
        let steps = self.inner(count, true);
        Step::Window { storms, steps }
    }

    /// The memory of an array goes while it is written to as a whole by its address, and something else comes there.
    fn attack(&mut self) -> Option<Step> {
        let is_array =
            |slot: Slot| self.model.object(slot).is_some_and(|object| matches!(object.home, Home::Array(..)));
        let fitting = (0..ADDRESSES).filter_map(|address| Some((address, self.kept[address]?)));
        let fitting: Vec<_> = fitting.filter(|(_, (slot, _))| is_array(*slot)).collect();
        if fitting.is_empty() {
            let arrays: Vec<Slot> = (0..OBJECTS).filter(|slot| is_array(*slot)).collect();
            let slot = *arrays.get(self.below(arrays.len().max(1)))?;
            return Some(Step::Keep { slot, address: self.below(ADDRESSES), byte: 0 });
        }
        let (address, (slot, bytes)) = self.of(&fitting);
        let storms = (0..1 + self.below(3)).map(|_| {
            let (pe, target, get) = (self.below(self.pes), self.below(self.pes), self.one_in(4));
            Storm { pe, address, delta: 0, bytes: bytes - self.below(64).min(bytes), target, get }
        });
        let storms = storms.collect();
        let before = self.model.clone();
        let mut steps = Vec::new();
        let all = Pes((1 << self.pes) - 1);
        let gone =
            [Step::Drop { slot, pes: all, forget: false }, Step::Reclaim, self.halo(), self.exchange()];
        for step in gone {
            if self.model.allows(&step, true) {
                self.take(&step);
                steps.push(step);
            }
        }
        steps.extend(self.inner(3, true));
        self.model = before;
        Some(Step::Window { storms, steps })
    }

    /// Steps that stand inside another one, as the model is when they are carried out.
    fn inner(&mut self, count: usize, exchanges: bool) -> Vec<Step> {
        let before = self.model.clone();
        let mut steps = Vec::new();
        for _ in 0..count * 4 {
            let step = match self.below(8) {
                0 if exchanges => self.exchange(),
                1 if exchanges => self.halo(),
                _ => self.quiet_step(),
            };
            if steps.len() < count && self.model.allows(&step, true) {
                self.take(&step);
                steps.push(step);
            }
        }
        self.model = before;
        steps
    }

    fn phase(&mut self) -> Step {
        let fitting: Vec<Slot> = (0..OBJECTS)
            .filter(|slot| {
                let phase = Step::Phase { objects: vec![*slot], frozen: false, seed: 0 };
                self.model.allows(&phase, false)
            })
            .collect();
        let mut objects = vec![self.of(&fitting)];
        let second = self.of(&fitting);
        let both = Step::Phase { objects: vec![objects[0], second], frozen: false, seed: 0 };
        if self.model.allows(&both, false) && self.one_in(2) {
            objects.push(second);
        }
        Step::Phase { objects, frozen: self.one_in(3), seed: self.seed() }
    }

    fn team_phase(&mut self) -> Step {
        let fitting: Vec<Slot> = (0..OBJECTS)
            .filter(|slot| {
                let step = Step::TeamPhase { slot: *slot, frozen: false, seed: 0, storms: Vec::new() };
                self.model.allows(&step, false)
            })
            .collect();
        let slot = if fitting.is_empty() { self.below(OBJECTS) } else { self.of(&fitting) };
        Step::TeamPhase { slot, frozen: self.one_in(3), seed: self.seed(), storms: self.storms() }
    }

    fn split(&mut self) -> Step {
        let slot = self.below(OTHERS);
        if self.one_in(4) {
            let (start, stride) = (self.below(self.pes), self.below(5) as isize - 2);
            return Step::Split { slot, parent: None, split: Split::Strided(start, stride, self.below(4)) };
        }
        let parent = if self.one_in(3) { Some(self.below(OTHERS)) } else { None };
        let colours = (0..self.pes).map(|_| self.below(4).checked_sub(1).map(|colour| colour as u64));
        Step::Split { slot, parent, split: Split::By(colours.collect()) }
    }

    fn halo(&mut self) -> Step {
        let free = (0..OTHERS).find(|slot| self.model.halos[*slot].is_none());
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
        let element = self.of(&[Element::Byte, Element::Number, Element::Three, Element::Line]);
        Step::Halo { slot: free.unwrap_or_default(), element, edges }
    }

    fn exchange(&mut self) -> Step {
        let count = self.below(4);
        let hold = self.inner(count, false);
        Step::Exchange { slot: self.below(OTHERS), seed: self.seed(), iter: self.one_in(3), hold }
    }
}
