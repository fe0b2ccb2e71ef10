//! Objects of any element type in any memory. Each routine writes, reads or opens them.

use std::any::Any;
use std::ops::Range;

use bytemuck::{bytes_of, cast_slice, cast_slice_mut};
use shmem::array::Chosen;
use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{Here, On, PlainData, Result, Stores, SymAddr, Team, TeamBox};

use super::machine::NEWS;
use super::model::Span;
use super::panics;
use super::step::{Way, items};

#[derive(Clone, Copy, Symmetric)]
#[repr(C, align(4096))]
pub(crate) struct Page([u8; 4096]);

macro_rules! of_element {
    ($element:expr, $type:ident => $then:expr) => {
        match $element {
            Element::Byte => of_element!(@ $type = u8, $then),
            Element::Number | Element::Word => of_element!(@ $type = u64, $then),
            Element::Three => of_element!(@ $type = [u8; 3], $then),
            Element::Page => of_element!(@ $type = crate::object::Page, $then),
        }
    };
    (@ $type:ident = $of:ty, $then:expr) => {{
        type $type = $of;
        $then
    }};
}
pub(crate) use of_element;

pub(crate) struct Transfer<'t> {
    pub(crate) token: &'t dyn Stores,
    pub(crate) pe: Pe,
    pub(crate) at: Range<usize>,
    pub(crate) way: Way,
}

/// A phase of all PEs, or of the PEs of a team.
pub(crate) struct Phase<'p> {
    pub(crate) world: &'p mut World<Multiple>,
    pub(crate) team: Option<&'p Team>,
    pub(crate) frozen: bool,
    pub(crate) visit: &'p mut dyn FnMut(&mut Opened<'_>),
}

/// Returns the contents of the opened object. If it gets bytes, it writes them to the object first.
pub(crate) type Opened<'o> = dyn FnMut(Option<&[u8]>) -> Vec<u8> + 'o;

pub(crate) trait Object: Any + Sync {
    fn write(&self, _: Transfer<'_>, _: &[u8]) {
        unreachable!("words are updated");
    }

    fn read(&self, from: Transfer<'_>) -> Vec<u8>;

    /// Returns the contiguous parts of the object, by offsets from the start of this PE's arena slot; empty if the object has no
    /// address.
    fn spans(&self, world: &World<Multiple>, base: usize) -> Vec<Span>;

    fn free(self: Box<Self>, world: &World<Multiple>) -> Result<()>;

    fn open(&self, _: Phase<'_>) {
        unreachable!("words are not opened");
    }
}

pub(crate) fn boxed<O: Object>(made: Result<O>) -> Result<Box<dyn Object>> {
    Ok(Box::new(made?))
}

/// A contiguous list of elements on every PE.
pub(crate) trait Flat: Any + Sync {
    type Item: PlainData;

    fn place(&self, pe: Pe) -> On<'_, [Self::Item]>;

    fn own<'a>(&'a self, token: &'a dyn Stores) -> Here<'a, [Self::Item]>;

    fn free(self, _: &World<Multiple>) -> Result<()>
    where
        Self: Sized,
    {
        unreachable!("statics stay, and objects of a team are dropped")
    }

    fn open(&self, phase: Phase<'_>);
}

/// Opens an object by `local` or `frozen` of a world or a team.
macro_rules! open {
    ($phase:ident: $by:ident($($given:expr),*)) => {
        match $phase.frozen {
            true => $by.frozen($($given),*, |opened| ($phase.visit)(&mut |_| bytes_of_all(opened.iter()))),
            false => $by.local($($given),*, |#[allow(unused_mut, reason = "a reference need not be")] mut opened| ($phase.visit)(&mut |new| {
                let new = new.into_iter().flat_map(items);
                opened.iter_mut().zip(new).for_each(|(item, new)| *item = new);
                bytes_of_all(opened.iter())
            })),
        }
    };
}

/// Returns the bytes of borrowed elements. Checks that the references are aligned.
fn bytes_of_all<'i, T: PlainData>(items: impl Iterator<Item = &'i T>) -> Vec<u8> {
    let bytes = |item: &'i T| {
        assert!((&raw const *item).is_aligned(), "{} is not aligned", core::any::type_name::<T>());
        bytes_of(core::hint::black_box(item))
    };
    items.flat_map(bytes).copied().collect()
}

macro_rules! places {
    () => {
        fn place(&self, pe: Pe) -> On<'_, [Self::Item]> {
            self.on(pe).index(..)
        }

        fn own<'a>(&'a self, token: &'a dyn Stores) -> Here<'a, [Self::Item]> {
            self.here(token).index(..)
        }
    };
}

impl<T: PlainData> Flat for SymBox<[T]> {
    type Item = T;

    places!();

    fn free(self, world: &World<Multiple>) -> Result<()> {
        world.free(self)
    }

    fn open(&self, phase: Phase<'_>) {
        let world = phase.world;
        open!(phase: world(self));
    }
}

impl<T: PlainData> Flat for TeamBox<[T]> {
    type Item = T;

    places!();

    fn open(&self, phase: Phase<'_>) {
        let team = phase.team.expect("a phase of the team that has the object");
        open!(phase: team(phase.world, self));
    }
}

impl<T: PlainData + Sync, const N: usize> Flat for &'static Symmetric<[T; N]> {
    type Item = T;

    places!();

    fn open(&self, phase: Phase<'_>) {
        let world = phase.world;
        open!(phase: world(*self));
    }
}

/// Writes items to a part of a flat object or of an array.
macro_rules! write {
    ($to:ident, $place:ident, $items:ident) => {{
        let token = $to.token;
        match $to.way {
            Way::Each => $items.iter().enumerate().for_each(|(i, item)| token.p($place.index(i), *item)),
            Way::Scope | Way::StridedScope => token.scope(|scope| scope.put($place, &$items[..])),
            Way::Panicking => assert!(panics(|| token.scope(|scope| {
                scope.put($place, &$items[..]);
                panic!("a part of the program");
            }))),
            Way::Owned => {
                let back = token.put_owned($place, $items.clone()).wait();
                let is_same = cast_slice::<_, u8>(&back) == cast_slice::<_, u8>(&$items);
                assert!(is_same, "an owned buffer comes back as it was");
            }
            Way::Forgotten => std::mem::forget(token.put_owned($place, $items)),
            Way::Signalled => token.put_signal($place, &$items[..], NEWS.on($to.pe), SignalOp::Add(1)),
            _ => token.put($place, &$items[..]),
        }
    }};
}

/// Reads the bytes of items from a part of a flat object or of an array.
macro_rules! read {
    ($from:ident, $place:ident, $item:ty) => {{
        let (token, mut items) = ($from.token, vec![<$item as bytemuck::Zeroable>::zeroed(); $from.at.len()]);
        match $from.way {
            Way::Each => items.iter_mut().enumerate().for_each(|(i, item)| *item = token.g($place.index(i))),
            Way::Scope | Way::Panicking | Way::StridedScope => {
                token.scope(|scope| scope.get(&mut items[..], $place))
            }
            Way::Owned => items = token.get_owned(items, $place).wait(),
            _ => token.get(&mut items[..], $place),
        }
        cast_slice(&items).to_vec()
    }};
}

/// `count` blocks of `block` elements each. They begin at the element `first`, and are `stride` elements apart.
#[derive(Clone, Copy)]
struct Blocks {
    first: usize,
    stride: usize,
    block: usize,
    count: usize,
}

/// Splits `len` elements into three lists: blocks, the gaps between them, and the rest. Lengths depend on `len`.
fn dealt(len: usize) -> impl Iterator<Item = Blocks> {
    let (block, gap) = (1 + [0, len / 4 % 4, len / 4 % 32][len % 3], len / 8 % 12);
    let stride = block + gap;
    let count = len / stride;
    let parts = [(0, block, count), (block, gap, count), (count * stride, len % stride, 1)];
    let blocks = parts.map(|(first, block, count)| Blocks { first, stride, block, count });
    blocks.into_iter().filter(|blocks| blocks.block * blocks.count > 0)
}

impl Blocks {
    /// Returns the stride of the blocks in private memory.
    fn apart(&self) -> usize {
        self.block + self.count % 3
    }

    fn room<T: PlainData>(&self) -> Vec<T> {
        vec![T::zeroed(); self.count * self.apart()]
    }

    /// Returns (number of an element, its index in private memory) for all elements.
    fn elements(&self) -> impl Iterator<Item = (usize, usize)> {
        let Self { first, stride, block, count } = *self;
        let apart = self.apart();
        (0..count).flat_map(move |k| (0..block).map(move |i| (first + k * stride + i, k * apart + i)))
    }
}

/// Distributes items to blocks, and packs the items of each into private memory.
fn packed<T: PlainData>(items: &[T]) -> Vec<(Blocks, Vec<T>)> {
    let pack = |blocks: Blocks| {
        let mut own = blocks.room();
        blocks.elements().for_each(|(at, place)| own[place] = items[at]);
        (blocks, own)
    };
    dealt(items.len()).map(pack).collect()
}

/// Returns the bytes of items that were read into packed blocks.
fn unpacked<T: PlainData>(all: &[(Blocks, Vec<T>)], len: usize) -> Vec<u8> {
    let mut items = vec![T::zeroed(); len];
    all.iter().for_each(|(blocks, own)| blocks.elements().for_each(|(at, place)| items[at] = own[place]));
    cast_slice(&items).to_vec()
}

impl<F: Flat> Object for F {
    fn write(&self, to: Transfer<'_>, data: &[u8]) {
        let (items, place): (Vec<F::Item>, _) = (items(data), self.place(to.pe).index(to.at.clone()));
        let (size, start) = (size_of::<F::Item>(), address(self, to.token));
        match (to.way, start) {
            (Way::Strided | Way::StridedScope, _) => {
                for (blocks, own) in &packed(&items) {
                    let (Blocks { first, stride, block, count }, apart) = (*blocks, blocks.apart());
                    let there = place.index(first..);
                    match (start, block) {
                        (Some(start), _) if count % 2 == 0 => {
                            let (start, own) = (start.add((to.at.start + first) * size), cast_slice(own));
                            let (stride, apart, block) = (size * stride, size * apart, size * block);
                            to.token.iputmem(start, own, stride, apart, block, count, to.pe);
                        }
                        (_, 1) => to.token.iput(there, own, stride, apart, count),
                        _ => to.token.ibput(there, own, stride, apart, block, count),
                    }
                }
                // A scope has no such routines. Its end completes earlier operations.
                if to.way == Way::StridedScope {
                    to.token.quiet();
                }
            }
            (Way::Bytes, Some(address)) => {
                to.token.putmem(address.add(to.at.start * size_of::<F::Item>()), data, to.pe);
            }
            (Way::Here, _) => {
                let own = self.own(to.token);
                to.at.zip(&items).for_each(|(i, item)| own.index(i).store(*item));
            }
            _ => write!(to, place, items),
        }
    }

    fn read(&self, from: Transfer<'_>) -> Vec<u8> {
        let place = self.place(from.pe).index(from.at.clone());
        let (size, start) = (size_of::<F::Item>(), address(self, from.token));
        match (from.way, start) {
            (Way::Strided | Way::StridedScope, _) => {
                let room = |blocks: Blocks| (blocks, blocks.room::<F::Item>());
                let mut all: Vec<_> = dealt(from.at.len()).map(room).collect();
                for (blocks, own) in &mut all {
                    let (Blocks { first, stride, block, count }, apart) = (*blocks, blocks.apart());
                    let there = place.index(first..);
                    match (start, block) {
                        (Some(start), _) if count % 2 == 0 => {
                            let start = start.add((from.at.start + first) * size);
                            let (stride, apart, block) = (size * stride, size * apart, size * block);
                            from.token.igetmem(
                                cast_slice_mut(own),
                                start,
                                apart,
                                stride,
                                block,
                                count,
                                from.pe,
                            );
                        }
                        (_, 1) => from.token.iget(own, there, apart, stride, count),
                        _ => from.token.ibget(own, there, apart, stride, block, count),
                    }
                }
                unpacked(&all, from.at.len())
            }
            (Way::Bytes, Some(address)) => {
                let mut bytes = vec![0; from.at.len() * size_of::<F::Item>()];
                from.token.getmem(&mut bytes, address.add(from.at.start * size_of::<F::Item>()), from.pe);
                bytes
            }
            (Way::Here, _) => {
                let own = self.own(from.token);
                from.at.flat_map(|i| bytes_of(&own.index(i).load()).to_vec()).collect()
            }
            _ => read!(from, place, F::Item),
        }
    }

    fn spans(&self, world: &World<Multiple>, base: usize) -> Vec<Span> {
        let bytes = self.own(world).len() * size_of::<F::Item>();
        let span = |address: SymAddr| (address.as_ptr() as usize - base, 0, bytes);
        address(self, world).map(span).into_iter().collect()
    }

    fn free(self: Box<Self>, world: &World<Multiple>) -> Result<()> {
        Flat::free(*self, world)
    }

    fn open(&self, phase: Phase<'_>) {
        Flat::open(self, phase);
    }
}

/// Returns the address of this PE's own copy, if the library knows it.
fn address(object: &impl Flat, token: &dyn Stores) -> Option<SymAddr> {
    Some(object.own(token).addr()).filter(|address| token.address(address.as_ptr()).is_ok())
}

/// An object as a contiguous list of numbers.
pub(crate) fn numbers(object: &dyn Object) -> &dyn Flat<Item = u64> {
    let object: &dyn Any = object;
    if let Some(boxed) = object.downcast_ref::<SymBox<[u64]>>() {
        boxed
    } else if let Some(still) = object.downcast_ref::<&'static Symmetric<[u64; 64]>>() {
        still
    } else {
        object.downcast_ref::<&'static Symmetric<[u64; 32]>>().expect("the model says that it is numbers")
    }
}

/// (By `strided!`: `racing::array_strided`.)
impl<T: PlainData + Sync> Object for NumaArray<T, 1, Chosen> {
    fn write(&self, to: Transfer<'_>, data: &[u8]) {
        let (place, items) = (self.on(to.pe).index(to.at.clone()), items::<T>(data));
        match to.way {
            Way::Here => self.here(to.token).index(to.at).copy_from(&items),
            _ => write!(to, place, items),
        }
    }

    fn read(&self, from: Transfer<'_>) -> Vec<u8> {
        let place = self.on(from.pe).index(from.at.clone());
        match from.way {
            Way::Here => {
                let mut items = vec![T::zeroed(); from.at.len()];
                self.here(from.token).index(from.at).copy_to(&mut items);
                cast_slice(&items).to_vec()
            }
            _ => read!(from, place, T),
        }
    }

    fn spans(&self, _: &World<Multiple>, _: usize) -> Vec<Span> {
        let mut start = 0;
        let spans = self.parts().iter().map(|part| {
            let bytes = part.elements * size_of::<T>();
            start += bytes;
            (part.offset, start - bytes, bytes)
        });
        spans.collect()
    }

    fn free(self: Box<Self>, world: &World<Multiple>) -> Result<()> {
        world.free(*self)
    }

    fn open(&self, phase: Phase<'_>) {
        let world = phase.world;
        open!(phase: world(self));
    }
}

pub(crate) struct Words(pub(crate) SymBox<[Atomic<u64>]>);

impl Object for Words {
    fn read(&self, from: Transfer<'_>) -> Vec<u8> {
        let words = from.at.map(|word| from.token.fetch(self.0.on(from.pe).index(word)));
        words.flat_map(u64::to_le_bytes).collect()
    }

    fn spans(&self, world: &World<Multiple>, base: usize) -> Vec<Span> {
        let words = self.0.here(world);
        vec![(words.addr().as_ptr() as usize - base, 0, words.len() * 8)]
    }

    fn free(self: Box<Self>, world: &World<Multiple>) -> Result<()> {
        world.free(self.0)
    }
}

pub(crate) struct News;

impl Object for News {
    fn read(&self, from: Transfer<'_>) -> Vec<u8> {
        from.token.signal_fetch(NEWS.on(from.pe)).to_le_bytes().to_vec()
    }

    fn spans(&self, world: &World<Multiple>, base: usize) -> Vec<Span> {
        vec![(NEWS.here(world).addr().as_ptr() as usize - base, 0, 8)]
    }

    fn free(self: Box<Self>, _: &World<Multiple>) -> Result<()> {
        unreachable!("statics stay")
    }
}
