//! Objects of any kind of elements, wherever they lie; and how single operations on them are carried out: by each routine
//! that does the same.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bytemuck::{bytes_of, cast_slice};
use shmem::array::{Cyclic, Multi, Separate, Single, Storage};
use shmem::prelude::*;
use shmem::thread::Multiple;
use shmem::{Here, On, PlainData, Result, Stores, SymAddr, TeamBox};

use super::machine::{NEWS, WORDS};
use super::model::Span;
use super::opened::Phase;
use super::step::{self, Run, Way, items};

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
    fn own<'a>(&'a self, token: &'a dyn Stores) -> Here<'a, [Self::Item]>;

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

    fn own<'a>(&'a self, token: &'a dyn Stores) -> Here<'a, [T]> {
        self.here(token)
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

    fn own<'a>(&'a self, token: &'a dyn Stores) -> Here<'a, [T]> {
        self.here(token)
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

    fn own<'a>(&'a self, token: &'a dyn Stores) -> Here<'a, [T]> {
        self.here(token).index(..)
    }

    fn open(&self, phase: Phase<'_>) {
        phase.of(*self);
    }
}

/// Writes items to a place by a way that objects and arrays have.
macro_rules! written {
    ($to:ident, $place:ident, $items:ident) => {{
        let token = $to.token;
        match $to.way {
            Way::Each => (0..$to.at.len).zip(&$items).for_each(|(i, item)| token.p($place.index(i), *item)),
            Way::Scope => token.scope(|scope| scope.put($place, &$items[..])),
            Way::Panicking => {
                let panicked = panics(|| {
                    token.scope(|scope| {
                        scope.put($place, &$items[..]);
                        std::panic::panic_any(EXPECTED);
                    });
                });
                assert!(panicked);
            }
            Way::Owned => {
                let back = token.put_owned($place, $items.clone()).wait();
                let same = cast_slice::<_, u8>(&back) == cast_slice::<_, u8>(&$items);
                assert!(same, "an owned buffer comes back as it was");
            }
            Way::Forgotten => std::mem::forget(token.put_owned($place, $items)),
            Way::Signalled => token.put_signal($place, &$items[..], NEWS.on($to.pe), SignalOp::Add(1)),
            _ => token.put($place, &$items[..]),
        }
    }};
}

/// The bytes of items that are read from a place by such a way.
macro_rules! read {
    ($from:ident, $place:ident, $item:ty) => {{
        let (token, mut items) = ($from.token, vec![<$item as bytemuck::Zeroable>::zeroed(); $from.at.len]);
        match $from.way {
            Way::Each => {
                (0..$from.at.len).zip(&mut items).for_each(|(i, item)| *item = token.g($place.index(i)));
            }
            Way::Scope | Way::Panicking => token.scope(|scope| scope.get(&mut items[..], $place)),
            Way::Owned => items = token.get_owned(items, $place).wait(),
            _ => token.get(&mut items[..], $place),
        }
        cast_slice(&items).to_vec()
    }};
}

impl<F: Flat> Object for F {
    fn write(&self, to: Transfer<'_>, data: &[u8]) {
        let (items, place): (Vec<F::Item>, _) = (items(data), self.place(to.pe).index(to.at.range()));
        match (to.way, address(self, to.token)) {
            (Way::Bytes, Some(address)) => {
                to.token.putmem(address.add(to.at.first * size_of::<F::Item>()), data, to.pe);
            }
            (Way::Here, _) => {
                let own = self.own(to.token);
                to.at.range().zip(&items).for_each(|(i, item)| own.index(i).store(*item));
            }
            _ => written!(to, place, items),
        }
    }

    fn read(&self, from: Transfer<'_>) -> Vec<u8> {
        let place = self.place(from.pe).index(from.at.range());
        match (from.way, address(self, from.token)) {
            (Way::Bytes, Some(address)) => {
                let mut bytes = vec![0; from.at.len * size_of::<F::Item>()];
                from.token.getmem(&mut bytes, address.add(from.at.first * size_of::<F::Item>()), from.pe);
                bytes
            }
            (Way::Here, _) => {
                let own = self.own(from.token);
                from.at.range().flat_map(|i| bytes_of(&own.index(i).load()).to_vec()).collect()
            }
            _ => read!(from, place, F::Item),
        }
    }

    fn spans(&self, world: &World<Multiple>, base: usize) -> Vec<Span> {
        let place = |address: SymAddr| {
            (address.as_ptr() as usize - base, 0, self.own(world).len() * size_of::<F::Item>())
        };
        address(self, world).map(place).into_iter().collect()
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
    Some(object.own(token).addr()).filter(|address| token.address(address.as_ptr()).is_ok())
}

/// An array, in whatever pieces.
struct Array<S: Storage>(NumaArray<u64, 1, S>);

impl<S: Storage> Object for Array<S> {
    fn write(&self, to: Transfer<'_>, data: &[u8]) {
        let (items, place) = (items::<u64>(data), self.0.on(to.pe).index(to.at.range()));
        written!(to, place, items);
    }

    fn read(&self, from: Transfer<'_>) -> Vec<u8> {
        let place = self.0.on(from.pe).index(from.at.range());
        read!(from, place, u64)
    }

    fn spans(&self, _: &World<Multiple>, _: usize) -> Vec<Span> {
        let mut start = 0;
        let spans = self.0.parts().list().iter().map(|part| {
            let bytes = part.elements * 8;
            start += bytes;
            (part.offset, start - bytes, bytes)
        });
        spans.collect()
    }

    fn free(self: Box<Self>, world: &World<Multiple>) -> Result<()> {
        world.free(self.0)
    }

    fn open(&self, phase: Phase<'_>) {
        phase.of(&self.0);
    }
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
    storage: step::Storage,
    len: usize,
    chunks: usize,
    numbers: &[u64],
) -> Result<Box<dyn Object>> {
    let array = world.array([len]).chunks(chunks);
    macro_rules! made {
        ($storage:expr) => {
            boxed(match numbers.is_empty() {
                true => array.storage($storage).zeroed().map(Array),
                false => array.storage($storage).from_fn(|[i]| numbers[i]).map(Array),
            })
        };
    }
    match storage {
        step::Storage::Single => made!(Single),
        step::Storage::Separate => made!(Separate),
        step::Storage::Cyclic => made!(Cyclic::default()),
        step::Storage::Multi => made!(Multi),
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
    caught(body).is_err()
}

/// Runs something whose panic is not printed.
pub(crate) fn caught<R>(body: impl FnOnce() -> R) -> std::thread::Result<R> {
    EXPECTS.set(true);
    let caught = catch_unwind(AssertUnwindSafe(body));
    EXPECTS.set(false);
    caught
}
