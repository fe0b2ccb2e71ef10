//! Objects of any kind of elements, wherever they lie; and how single operations on them are carried out: by each routine
//! that does the same.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bytemuck::{cast_slice, cast_slice_mut};
use shmem::array::{Contiguous, Cyclic, Multi, Separate, Single};
use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{Here, On, PlainData, Result, Stores, SymAddr, TeamBox};
use shmem_core::array::Part;

use super::machine::{NEWS, WORDS};
use super::model::Span;
use super::opened::Phase;
use super::step::{Run, Storage, Way, items};

/// Aligned to a page.
#[derive(Clone, Copy, Symmetric)]
#[repr(C, align(4096))]
pub(crate) struct Page([u8; 4096]);

/// Evaluates an expression for the type of an element.
macro_rules! of_element {
    ($element:expr, $type:ident => $then:expr) => {
        match $element {
            Element::Byte => {
                type $type = u8;
                $then
            }
            Element::Number | Element::Word => {
                type $type = u64;
                $then
            }
            Element::Three => {
                type $type = [u8; 3];
                $then
            }
            Element::Page => {
                type $type = crate::object::Page;
                $then
            }
        }
    };
}
pub(crate) use of_element;

/// Elements of an object on a PE, and how they are moved.
#[derive(Clone, Copy)]
pub(crate) struct Transfer<'t> {
    pub(crate) token: &'t dyn Stores,
    pub(crate) pe: Pe,
    pub(crate) at: Run,
    pub(crate) way: Way,
}

/// An object of a program.
pub(crate) trait Object: Any + Sync {
    /// Writes bytes to them.
    fn write(&self, _: Transfer<'_>, _: &[u8]) {
        unreachable!("words are updated");
    }

    /// Their bytes.
    fn read(&self, from: Transfer<'_>) -> Vec<u8>;

    /// Where it lies, counted from the address at which this PE's place begins; nowhere: it has no address.
    fn spans(&self, world: &World<Multiple>, base: usize) -> Vec<Span>;

    fn free(self: Box<Self>, world: &World<Multiple>) -> Result<()>;

    /// Opens it in a phase.
    fn open(&self, _: Phase<'_>) {
        unreachable!("words are not opened");
    }
}

/// What came of an allocation, as an object.
pub(crate) fn boxed<O: Object>(made: Result<O>) -> Result<Box<dyn Object>> {
    Ok(Box::new(made?))
}

/// Elements one behind the other, on every PE.
pub(crate) trait Flat: Any + Sync {
    type Item: PlainData;

    fn place(&self, pe: Pe) -> On<'_, [Self::Item]>;

    /// The own copy.
    fn own<'a>(&'a self, _: &'a dyn Stores) -> Option<Here<'a, [Self::Item]>> {
        None
    }

    /// Where it lies, if it is an array.
    fn parts(&self) -> &[Part] {
        &[]
    }

    fn free(self, _: &World<Multiple>) -> Result<()>
    where
        Self: Sized,
    {
        unreachable!("statics stay, and objects of a team are dropped")
    }

    fn open(&self, phase: Phase<'_>);
}

impl<T: PlainData> Flat for SymBox<[T]> {
    type Item = T;

    fn place(&self, pe: Pe) -> On<'_, [T]> {
        self.on(pe)
    }

    fn own<'a>(&'a self, token: &'a dyn Stores) -> Option<Here<'a, [T]>> {
        Some(self.here(token))
    }

    fn free(self, world: &World<Multiple>) -> Result<()> {
        world.free(self)
    }

    fn open(&self, phase: Phase<'_>) {
        phase.of(self);
    }
}

impl<T: PlainData> Flat for TeamBox<[T]> {
    type Item = T;

    fn place(&self, pe: Pe) -> On<'_, [T]> {
        self.on(pe)
    }

    fn own<'a>(&'a self, token: &'a dyn Stores) -> Option<Here<'a, [T]>> {
        Some(self.here(token))
    }

    fn open(&self, phase: Phase<'_>) {
        phase.of_team(self);
    }
}

impl<T: PlainData + Sync, const N: usize> Flat for &'static Symmetric<[T; N]> {
    type Item = T;

    fn place(&self, pe: Pe) -> On<'_, [T]> {
        self.on(pe).index(..)
    }

    fn own<'a>(&'a self, token: &'a dyn Stores) -> Option<Here<'a, [T]>> {
        Some(self.here(token).index(..))
    }

    fn open(&self, phase: Phase<'_>) {
        phase.of(*self);
    }
}

impl<S: Contiguous> Flat for NumaArray<u64, 1, S> {
    type Item = u64;

    fn place(&self, pe: Pe) -> On<'_, [u64]> {
        self.slice_on(pe)
    }

    fn parts(&self) -> &[Part] {
        NumaArray::parts(self).list()
    }

    fn free(self, world: &World<Multiple>) -> Result<()> {
        world.free(self)
    }

    fn open(&self, phase: Phase<'_>) {
        phase.of(self);
    }
}

impl<F: Flat> Object for F {
    fn write(&self, to: Transfer<'_>, data: &[u8]) {
        let Transfer { token, pe, at, way, .. } = to;
        let (items, place): (Vec<F::Item>, _) = (items(data), self.place(pe).index(at.range()));
        match (way, self.own(token), address(self, token)) {
            (Way::Each, ..) => (0..at.len).zip(&items).for_each(|(i, item)| token.p(place.index(i), *item)),
            (Way::Bytes, _, Some(address)) => {
                token.putmem(address.add(at.first * size_of::<F::Item>()), data, pe);
            }
            (Way::Scope, ..) => token.scope(|scope| scope.put(place, &items[..])),
            (Way::Panicking, ..) => {
                let panicked = panics(|| {
                    token.scope(|scope| {
                        scope.put(place, &items[..]);
                        std::panic::panic_any(EXPECTED);
                    });
                });
                assert!(panicked);
            }
            (Way::Owned, ..) => {
                let back = token.put_owned(place, items).wait();
                assert_eq!(cast_slice::<F::Item, u8>(&back), data, "an owned buffer comes back as it was");
            }
            (Way::Forgotten, ..) => std::mem::forget(token.put_owned(place, items)),
            (Way::Here, Some(own), _) => {
                at.range().zip(&items).for_each(|(i, item)| own.index(i).store(*item));
            }
            (Way::Signalled, ..) => token.put_signal(place, &items[..], NEWS.on(pe), SignalOp::Add(1)),
            _ => token.put(place, &items[..]),
        }
    }

    fn read(&self, from: Transfer<'_>) -> Vec<u8> {
        let Transfer { token, pe, at, way, .. } = from;
        let mut items = vec![<F::Item as bytemuck::Zeroable>::zeroed(); at.len];
        let place = self.place(pe).index(at.range());
        match (way, self.own(token), address(self, token)) {
            (Way::Each, ..) => {
                (0..at.len).zip(&mut items).for_each(|(i, item)| *item = token.g(place.index(i)));
            }
            (Way::Bytes, _, Some(address)) => {
                let from = address.add(at.first * size_of::<F::Item>());
                token.getmem(cast_slice_mut(&mut items), from, pe);
            }
            (Way::Scope | Way::Panicking, ..) => token.scope(|scope| scope.get(&mut items[..], place)),
            (Way::Owned, ..) => items = token.get_owned(items, place).wait(),
            (Way::Here, Some(own), _) => {
                at.range().zip(&mut items).for_each(|(i, item)| *item = own.index(i).load());
            }
            // Some objects have no own copy; it is the same PE.
            _ => token.get(&mut items[..], place),
        }
        cast_slice(&items).to_vec()
    }

    fn spans(&self, world: &World<Multiple>, base: usize) -> Vec<Span> {
        if let (Some(own), Some(address)) = (self.own(world), address(self, world)) {
            return vec![(address.as_ptr() as usize - base, 0, own.len() * size_of::<F::Item>())];
        }
        spans(self.parts())
    }

    fn free(self: Box<Self>, world: &World<Multiple>) -> Result<()> {
        Flat::free(*self, world)
    }

    fn open(&self, phase: Phase<'_>) {
        Flat::open(self, phase);
    }
}

/// The address of the own copy, if it has one.
fn address(object: &impl Flat, token: &dyn Stores) -> Option<SymAddr> {
    object.own(token).map(|own| own.addr()).filter(|address| token.address(address.as_ptr()).is_ok())
}

/// Where the parts of an array lie.
fn spans(parts: &[Part]) -> Vec<Span> {
    let mut start = 0;
    let spans = parts.iter().map(|part| {
        let bytes = part.elements * 8;
        start += bytes;
        (part.offset, start - bytes, bytes)
    });
    spans.collect()
}

/// Numbers one behind the other, with an own copy.
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

/// An array of numbers.
pub(crate) fn array(
    world: &World<Multiple>,
    storage: Storage,
    len: usize,
    chunks: usize,
    numbers: &[u64],
) -> Result<Box<dyn Object>> {
    let array = world.array([len]).chunks(chunks);
    macro_rules! made {
        ($storage:expr) => {
            match numbers.is_empty() {
                true => array.storage($storage).zeroed(),
                false => array.storage($storage).from_fn(|[i]| numbers[i]),
            }
        };
    }
    match storage {
        Storage::Single => boxed(made!(Single)),
        Storage::Separate => boxed(made!(Separate)),
        Storage::Cyclic => boxed(made!(Cyclic::default())),
        Storage::Multi => boxed(made!(Multi).map(Pieces)),
    }
}

/// An array in pieces, of which only a part is reached by elements.
struct Pieces(NumaArray<u64, 1, Multi>);

impl Object for Pieces {
    fn write(&self, to: Transfer<'_>, data: &[u8]) {
        to.token.put(self.0.on(to.pe).index(to.at.range()), &items::<u64>(data)[..]);
        to.complete();
    }

    fn read(&self, from: Transfer<'_>) -> Vec<u8> {
        let mut numbers = vec![0_u64; from.at.len];
        from.token.get(&mut numbers[..], self.0.on(from.pe).index(from.at.range()));
        from.complete();
        cast_slice(&numbers).to_vec()
    }

    fn spans(&self, _: &World<Multiple>, _: usize) -> Vec<Span> {
        spans(self.0.parts().list())
    }

    fn free(self: Box<Self>, world: &World<Multiple>) -> Result<()> {
        world.free(self.0)
    }

    fn open(&self, phase: Phase<'_>) {
        phase.of(&self.0);
    }
}

/// Words for atomic operations: those of a box, or the static ones.
pub(crate) struct Words(pub(crate) Option<SymBox<[Atomic<u64>]>>);

impl Words {
    pub(crate) fn on(&self, pe: Pe) -> On<'_, [Atomic<u64>]> {
        self.0.as_ref().map_or_else(|| WORDS.on(pe).index(..), |words| words.on(pe))
    }
}

impl Object for Words {
    fn read(&self, from: Transfer<'_>) -> Vec<u8> {
        let words = from.at.range().map(|word| from.token.fetch(self.on(from.pe).index(word)));
        words.flat_map(u64::to_le_bytes).collect()
    }

    fn spans(&self, world: &World<Multiple>, base: usize) -> Vec<Span> {
        let words = self.0.as_ref().map_or_else(|| WORDS.here(world).index(..), |words| words.here(world));
        vec![(words.addr().as_ptr() as usize - base, 0, words.len() * 8)]
    }

    fn free(self: Box<Self>, world: &World<Multiple>) -> Result<()> {
        self.0.map_or(Ok(()), |words| world.free(words))
    }
}

/// The word in which signals are counted.
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

impl Transfer<'_> {
    /// What has only one routine does not end in the quiet that the model expects of the way.
    fn complete(&self) {
        if self.way.quiets() {
            self.token.quiet();
        }
    }
}

/// What an expected panic says.
const EXPECTED: &str = "this panic is part of the program";

thread_local! {
    static EXPECTS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Panics that a program expects are not printed.
pub(crate) fn quiet_hook() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !EXPECTS.get() {
            before(info);
        }
    }));
}

/// Whether something panics.
pub(crate) fn panics<R>(body: impl FnOnce() -> R) -> bool {
    EXPECTS.set(true);
    let caught = catch_unwind(AssertUnwindSafe(body)).is_err();
    EXPECTS.set(false);
    caught
}
