//! Lists of which some elements are on other nodes, or of which an observer is told: sorted by PE, a round at a
//! time, in buffers that the thread keeps.
//!
//! The first pass over a round checks every index and counts how many elements each PE has, the second one writes their
//! numbers there, in 32 bits, in the order of the PEs. Then each PE's part goes where its memory is: to the
//! [kernel](Near) or to the transport. Elements beyond 2^32 of a PE are a group of their own, as those of another PE would be.

use core::cell::Cell;
use std::thread::LocalKey;

use super::listed::ListIndex;
use super::listed::Wrong;
use super::listed::sealed::{Span, Spread};
use crate::endpoint::{Endpoint, Far};
use crate::pe::Pe;
use crate::transport::indexed::kernel::Near;
use crate::transport::{Change, Completes, Elements, Operand, Remote, Until};

/// Elements of a round.
const ROUND: usize = 128 << 10;

/// Bytes of values that are sorted in one round: one value at least.
const VALUES: usize = 1 << 20;

/// Elements of a group, which have numbers of 32 bits.
const GROUP: usize = if usize::BITS > 32 { 1 << 32 } else { 1 << 31 };

/// What is done to the elements of a list.
#[derive(Clone, Copy)]
pub(super) enum Deed<'d> {
    /// Reads them, to where one behind the other goes.
    Pick(*mut u8),
    /// Writes them, from where one lies behind the other.
    Place(*const u8),
    /// Changes them, and writes what was there before to where one value behind the other goes, if anybody asks.
    Change(Change<'d>, Option<*mut u8>),
}

impl<'d> Deed<'d> {
    /// That for elements from `first` of the list on, so many.
    fn part(self, first: usize, count: usize, size: usize) -> Self {
        match self {
            Self::Pick(into) => Self::Pick(into.wrapping_add(first * size)),
            Self::Place(source) => Self::Place(source.wrapping_add(first * size)),
            Self::Change(change, before) => {
                let own = |operand: Operand<'d>| operand.part(first, count, change.width);
                let change =
                    Change { operand: own(change.operand), expected: own(change.expected), ..change };
                Self::Change(change, before.map(|before| before.wrapping_add(first * size)))
            }
        }
    }

    /// Elements that one round may have.
    fn round(self, size: usize) -> usize {
        match self {
            Self::Place(_) => (VALUES / size).clamp(1, ROUND),
            Self::Pick(_) | Self::Change(..) => ROUND,
        }
    }

    /// The first byte on the side of the caller, if there is one.
    pub(super) fn local(self) -> *const u8 {
        match self {
            Self::Pick(into) | Self::Change(_, Some(into)) => into,
            Self::Place(source) => source,
            Self::Change(_, None) => core::ptr::null(),
        }
    }

    /// Whether something comes back.
    fn is_answered(self) -> bool {
        matches!(self, Self::Pick(_) | Self::Change(_, Some(_)))
    }
}

/// Elements of one PE that have numbers of 32 bits.
struct Group<'g> {
    pe: Pe,
    /// Index of the segment.
    segment: u32,
    /// Bytes from the start of the slot to element 0.
    offset: usize,
    /// How many there are.
    length: usize,
    size: usize,
    /// Which.
    indices: &'g [u32],
    /// Where each belongs among what the deed is given; none: in that order.
    positions: Option<&'g [u32]>,
}

impl Group<'_> {
    /// # Safety
    ///
    /// Its elements must lie there, aligned, in the slot of the PE, and every index be below `length`. The deed must be given
    /// as much memory as it takes at all positions: to be read until this returns, and to be written for as long as
    /// `until` says; if it changes them, they must be words of its width.
    unsafe fn carry_out(&self, endpoint: &Endpoint, deed: Deed<'_>, until: Until) {
        let Self { pe, segment, offset, length, size, indices, positions } = *self;
        if let Some(slot) = endpoint.mapped(pe, 0) {
            let near = Near { first: slot.wrapping_add(offset), size, indices };
            return match deed {
                // SAFETY: elements in a slot of this node, and room for as many (caller).
                Deed::Pick(into) => unsafe { near.pick(into, positions) },
                // SAFETY: elements in a slot of this node, and as many values (caller).
                Deed::Place(source) => unsafe { near.place(source) },
                Deed::Change(change, before) => {
                    // SAFETY: the start of a slot of this node.
                    let bell = unsafe { Endpoint::bell_at(slot) };
                    let before = before.map(|before| (before, positions));
                    // SAFETY: words in a slot of this node, and room for as many values (caller).
                    unsafe { near.change(&change, before, || bell.ring_watchers()) };
                }
            };
        }
        let Far { transport, channel } = endpoint.far();
        let (channel, elements) =
            (*channel, Elements { first: Remote { pe, segment, offset }, size, length, indices });
        match deed {
            // SAFETY: elements in a segment of the PE, and room for as many (caller).
            Deed::Pick(into) => unsafe { transport.pick(channel, into, positions, elements, until) },
            // SAFETY: elements in a segment of the PE, and as many values (caller).
            Deed::Place(source) => unsafe { transport.place(channel, elements, source, until) },
            // SAFETY: words in a segment of the PE, and as many operands (caller).
            Deed::Change(change, None) => unsafe { transport.each(channel, elements, change) },
            // SAFETY: words in a segment of the PE, as many operands, and room for as many values (caller).
            Deed::Change(change, Some(before)) => unsafe {
                transport.fetch_each(channel, before, positions, elements, change, until);
            },
        }
    }
}

/// Does something to all elements of a list.
///
/// # Errors
///
/// The first index of a round that no element has. What stands in earlier rounds is done then.
///
/// # Safety
///
/// The deed must be given as much memory as it takes for as many elements as there are in the list: to be read, and to be
/// written, for as long as `until` says. If it changes them, they must be words of its width.
pub(super) unsafe fn carry_out<P: Spread, X: ListIndex>(
    endpoint: &Endpoint,
    place: P,
    indices: &[X],
    deed: Deed<'_>,
    until: Until,
) -> Result<(), Wrong> {
    let size = size_of::<P::Item>();
    let groups = place.span().share.div_ceil(GROUP).max(1);
    if size == 0 {
        return (0..indices.len()).try_for_each(|k| check(place, indices, k).map(drop));
    }
    let is_sorted = place.pes().len() * groups == 1;
    let round = deed.round(size);
    let begin = |number: usize| number * round;
    // Dropped last: behind everything that it is to complete.
    let mut answers = Answers { far: None };
    with_kept(&BUFFERS, |buffers| {
        (0..indices.len().div_ceil(round)).try_for_each(|number| {
            let list = &indices[begin(number)..indices.len().min(begin(number) + round)];
            let deed = deed.part(begin(number), list.len(), size);
            let told = |wrong: Wrong| Wrong { position: begin(number) + wrong.position, ..wrong };
            if is_sorted {
                // SAFETY: the caller's promise, for a part of the list.
                return unsafe { straight(endpoint, place, list, deed, until, buffers) }.map_err(told);
            }
            let is_only = list.len() == indices.len();
            // SAFETY: the caller's promise, for a part of the list; what goes on beyond it is completed by `answers`.
            unsafe { sorted(endpoint, place, list, deed, until, groups, is_only, &mut answers, buffers) }
                .map_err(told)
        })
    })
}

/// Completes what was started without the caller's knowledge when it is dropped, by return or by unwinding.
struct Answers<'e> {
    far: Option<&'e Far>,
}

impl Drop for Answers<'_> {
    fn drop(&mut self) {
        if let Some(far) = self.far {
            drop(Completes(|| far.transport.quiet(far.channel)));
        }
    }
}

/// Which PE has element `k` of a list, and which element it is there.
#[inline(always)]
fn check<P: Spread, X: ListIndex>(place: P, list: &[X], k: usize) -> Result<(usize, usize), Wrong> {
    let index = list[k].index();
    if index < place.span().len { Ok(place.locator()(index)) } else { Err(Wrong { position: k, index }) }
}

fn group<'g, P: Spread>(
    place: &P,
    rank: usize,
    part: usize,
    indices: &'g [u32],
    positions: Option<&'g [u32]>,
) -> Group<'g> {
    let (size, Span { segment, offset, share, .. }) = (size_of::<P::Item>(), place.span());
    let (offset, length) = (offset + part * GROUP * size, (share - part * GROUP).min(GROUP));
    Group { pe: place.pes()[rank], segment, offset, length, size, indices, positions }
}

/// A round of a list of one group, which is in order as it is.
///
/// # Safety
///
/// As [`carry_out`].
unsafe fn straight<P: Spread, X: ListIndex>(
    endpoint: &Endpoint,
    place: P,
    list: &[X],
    deed: Deed<'_>,
    until: Until,
    buffers: &mut Buffers,
) -> Result<(), Wrong> {
    let indices = &mut buffers.indices;
    indices.clear();
    for k in 0..list.len() {
        indices.push(check(place, list, k)?.1 as u32);
    }
    // SAFETY: every index was checked, and is an element of the only PE; the rest is the caller's promise.
    unsafe { group(&place, 0, 0, indices, None).carry_out(endpoint, deed, until) };
    Ok(())
}

/// A round of a list of several groups. `is_only`: there is no other round.
///
/// # Safety
///
/// As [`carry_out`], but that what is to be written may still be on its way on return, until `answers` is dropped.
#[expect(clippy::too_many_arguments, reason = "those of the whole list, and those of the round")]
unsafe fn sorted<'e, P: Spread, X: ListIndex>(
    endpoint: &'e Endpoint,
    place: P,
    list: &[X],
    deed: Deed<'_>,
    until: Until,
    groups: usize,
    is_only: bool,
    answers: &mut Answers<'e>,
    buffers: &mut Buffers,
) -> Result<(), Wrong> {
    let Buffers { counts, indices, positions, values, expected } = buffers;
    let number_of = |(rank, element): (usize, usize)| rank * groups + element / GROUP;
    counts.clear();
    counts.resize(place.pes().len() * groups, 0);
    for k in 0..list.len() {
        counts[number_of(check(place, list, k)?)] += 1;
    }
    let (mut next, mut far) = (0, 0);
    for (number, count) in counts.iter_mut().enumerate() {
        far += usize::from(*count > 0 && place.pes()[number / groups].on_node().is_none());
        next += core::mem::replace(count, next);
    }
    indices.resize(list.len(), 0);
    positions.resize(list.len(), 0);
    for k in 0..list.len() {
        let found = check(place, list, k)?;
        let at = &mut counts[number_of(found)];
        indices[*at as usize] = (found.1 % GROUP) as u32;
        positions[*at as usize] = k as u32;
        *at += 1;
    }
    // Sources go in the order of the groups, and are free again when their messages are made; answers come from several PEs
    // at a time.
    let size = size_of::<P::Item>();
    let deed = match deed {
        Deed::Pick(_) => deed,
        Deed::Place(source) => {
            values.clear();
            for position in &*positions {
                let from = source.wrapping_add(*position as usize * size);
                // SAFETY: one of as many elements as the round has, which are readable (caller), in private memory.
                values.extend_from_slice(unsafe { core::slice::from_raw_parts(from, size) });
            }
            Deed::Place(values.as_ptr())
        }
        Deed::Change(change, before) => {
            let operand = in_order(change.operand, positions, size, values);
            let expected = in_order(change.expected, positions, size, expected);
            Deed::Change(Change { operand, expected, ..change }, before)
        }
    };
    let until = match (deed.is_answered(), until) {
        (true, Until::Return) if far > 1 || !is_only => {
            answers.far = endpoint.far_if_any();
            Until::Quiet
        }
        (true, until) => until,
        (false, _) => Until::Return,
    };
    let before = if let Deed::Change(_, before) = deed { before } else { None };
    let mut begin = 0;
    for (number, end) in counts.iter().enumerate() {
        let range = begin..*end as usize;
        begin = range.end;
        if range.is_empty() {
            continue;
        }
        let (indices, positions) = (&indices[range.clone()], &positions[range.clone()]);
        // What is read goes to its position; what is written or changed lies in the order of the groups.
        let (deed, positions) = match (deed, deed.part(range.start, range.len(), size)) {
            (Deed::Pick(_), _) => (deed, Some(positions)),
            (_, Deed::Change(change, _)) => (Deed::Change(change, before), Some(positions)),
            (_, part) => (part, None),
        };
        let group = group(&place, number / groups, number % groups, indices, positions);
        // SAFETY: every index was checked, and is an element of this PE and part; positions are below the length of the
        // round, for which the deed has memory (caller), or values that were put in order here; what comes beyond this call is completed
        // by `answers`, where the caller does not complete it.
        unsafe { group.carry_out(endpoint, deed, until) };
    }
    Ok(())
}

/// Operands in the order of positions.
fn in_order<'o>(operand: Operand<'o>, positions: &[u32], width: usize, into: &'o mut Vec<u8>) -> Operand<'o> {
    let Operand::Own(packed) = operand else { return operand };
    into.clear();
    match width {
        4 => into.extend(positions.iter().flat_map(|position| packed.as_chunks::<4>().0[*position as usize])),
        _ => into.extend(positions.iter().flat_map(|position| packed.as_chunks::<8>().0[*position as usize])),
    }
    Operand::Own(into)
}

/// Room in which a list is sorted, for one round at a time: it grows to 3 MiB at most, whatever lists there are, and to one
/// element where that is larger.
#[derive(Default)]
struct Buffers {
    /// How many elements each group has, and then where the next of it goes.
    counts: Vec<u32>,
    /// Numbers of elements, group by group.
    indices: Vec<u32>,
    /// Where in the round each of these comes from.
    positions: Vec<u32>,
    /// Values, or operands, in the same order.
    values: Vec<u8>,
    /// What is expected, in the same order.
    expected: Vec<u8>,
}

thread_local! {
    static BUFFERS: Cell<Buffers> = Cell::default();
}

/// Calls `body` with what the calling thread keeps. Inside of another such call there is nothing, and some is made.
pub(super) fn with_kept<T: Default, R>(key: &'static LocalKey<Cell<T>>, body: impl FnOnce(&mut T) -> R) -> R {
    // A thread that ends has none any more.
    let mut kept = key.try_with(Cell::take).unwrap_or_default();
    let result = body(&mut kept);
    _ = key.try_with(|cell| cell.set(kept));
    result
}
