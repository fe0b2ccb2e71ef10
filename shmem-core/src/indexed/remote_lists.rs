//! Lists with elements on other nodes, or in a job whose operations are observed. A list is cut into rounds of at most [`ROUND`]
//! elements. The elements of a round are sorted by PE, in thread-local buffers.
//!
//! The first pass over a round checks every index and counts the elements of each PE. The second pass is a counting sort of the
//! elements' numbers by PE. Then the part of each PE is carried out: on this node by the [kernel](Near), elsewhere by the
//! transport. Both take elements' numbers of 32 bits. So the elements of a PE are in groups of at most 2^32, and each group is
//! carried out by itself.

use core::cell::Cell;
use std::thread::LocalKey;

use super::listed::IndexBeyondEnd;
use super::listed::ListIndex;
use super::listed::sealed::{Span, Spread};
use crate::endpoint::{Endpoint, RemotePath};
use crate::pe::Pe;
use crate::transport::indexed::kernel::Near;
use crate::transport::{Change, Completes, Elements, ListRequest, Operand, Remote, Until};

/// Upper limit on the elements of a round.
const ROUND: usize = 128 << 10;

/// Upper limit on the bytes of the values in a round. A value that is longer than this is a round by itself.
const VALUES: usize = 1 << 20;

/// Upper limit on the elements of a group, so that their numbers fit in 32 bits.
const GROUP: usize = if usize::BITS > 32 { 1 << 32 } else { 1 << 31 };

/// Returns the upper limit on the elements of a round for `request`, with elements of `size` bytes.
fn round(request: ListRequest<'_>, size: usize) -> usize {
    match request {
        ListRequest::Place(_) => (VALUES / size).clamp(1, ROUND),
        ListRequest::Pick(_) | ListRequest::Change(..) => ROUND,
    }
}

/// The listed elements among at most 2^32 consecutive elements of one PE, so that 32 bits suffice for their numbers.
struct Group<'g> {
    pe: Pe,
    segment: u32,
    /// Bytes from the start of the PE's slot to element 0 of the group.
    offset: usize,
    /// Number of elements of the group, listed or not.
    length: usize,
    /// Bytes of an element.
    size: usize,
    /// Numbers of the listed elements in the group.
    indices: &'g [u32],
    /// The position of each listed element in the local memory of the request; `None` if the elements are in order.
    positions: Option<&'g [u32]>,
}

impl Group<'_> {
    /// Carries out `request` on the listed elements.
    ///
    /// # Safety
    ///
    /// The slot of the PE must have `length` aligned elements at `offset`, and every index must be below `length`. The local memory
    /// of `request` must cover all positions. For as long as `until` says, values must be readable and unchanged, and room for
    /// results must be writable and accessed by nobody else. If `request` changes elements, they must be words of its width, and
    /// room for results must be aligned for them.
    unsafe fn carry_out(&self, endpoint: &Endpoint, request: ListRequest<'_>, until: Until) {
        let Self { pe, segment, offset, length, size, indices, positions } = *self;
        if let Some(slot) = endpoint.mapped(pe, 0) {
            let near = Near { first: slot.wrapping_add(offset), size, indices };
            // SAFETY: `slot` is the start of a mapped slot of this node.
            let bell = unsafe { Endpoint::bell_at(slot) };
            // SAFETY: the elements are in a slot of this node, and the request has enough local memory (caller).
            return unsafe { near.carry_out(request, positions, || bell.ring_watchers()) };
        }
        let RemotePath { transport, channel } = endpoint.far();
        let elements = Elements { first: Remote { pe, segment, offset }, size, length, indices };
        // SAFETY: the elements are in a segment of the PE, and the request has enough local memory (caller).
        unsafe { transport.list(*channel, elements, request, positions, until) };
    }
}

/// Carries out `request` on all elements of a list.
///
/// # Errors
///
/// The first index beyond the end. Earlier rounds are complete then.
///
/// # Safety
///
/// The local memory of `request` must have an element per index. For as long as `until` says, values must be readable and
/// unchanged, and room for results must be writable and accessed by nobody else. If `request` changes elements, they must be words
/// of its width, and room for results must be aligned for them.
pub(super) unsafe fn carry_out<P: Spread, X: ListIndex>(
    endpoint: &Endpoint,
    place: P,
    indices: &[X],
    request: ListRequest<'_>,
    until: Until,
) -> Result<(), IndexBeyondEnd> {
    let size = size_of::<P::Item>();
    let groups = place.span().share.div_ceil(GROUP).max(1);
    if size == 0 {
        return (0..indices.len()).try_for_each(|k| check(place, indices, k).map(drop));
    }
    let round = round(request, size);
    let begin = |number: usize| number * round;
    // The transport with transfers in flight from earlier rounds. `_completes` completes them, also on unwinding.
    let pending = Cell::new(None::<&RemotePath>);
    let _completes = Completes(|| {
        if let Some(far) = pending.get() {
            far.transport.quiet(far.channel);
        }
    });
    with_kept(&BUFFERS, |buffers| {
        (0..indices.len().div_ceil(round)).try_for_each(|number| {
            let list = &indices[begin(number)..indices.len().min(begin(number) + round)];
            let request = request.part(begin(number), list.len(), size);
            let told =
                |wrong: IndexBeyondEnd| IndexBeyondEnd { position: begin(number) + wrong.position, ..wrong };
            let is_only = list.len() == indices.len();
            // SAFETY: the caller's promise for the list covers this part. `_completes` completes the transfers of `pending`.
            unsafe {
                carry_out_round(endpoint, place, list, request, until, groups, is_only, &pending, buffers)
            }
            .map_err(told)
        })
    })
}

/// Returns the rank that has element `k` of a list, and the element's number there. Fails if the element's index is beyond the end.
#[inline(always)]
fn check<P: Spread, X: ListIndex>(place: P, list: &[X], k: usize) -> Result<(usize, usize), IndexBeyondEnd> {
    let index = list[k].index();
    if index < place.span().len {
        Ok(place.locator()(index))
    } else {
        Err(IndexBeyondEnd { position: k, index })
    }
}

/// Returns group number `part` of the PE with rank `rank`, with the elements `indices` listed in it.
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

/// Carries out a round. `is_only` says whether the list has no other round.
///
/// # Safety
///
/// As [`carry_out`]. In addition, if this function sets `pending`, the rules for room for results must hold until a quiet of
/// `pending`, because results may arrive after the return.
#[expect(clippy::too_many_arguments, reason = "those of the whole list, and those of the round")]
unsafe fn carry_out_round<'e, P: Spread, X: ListIndex>(
    endpoint: &'e Endpoint,
    place: P,
    list: &[X],
    request: ListRequest<'_>,
    until: Until,
    groups: usize,
    is_only: bool,
    pending: &Cell<Option<&'e RemotePath>>,
    buffers: &mut Buffers,
) -> Result<(), IndexBeyondEnd> {
    let Buffers { counts, indices, positions, values, expected } = buffers;
    let number_of = |(rank, element): (usize, usize)| rank * groups + element / GROUP;
    counts.clear();
    counts.resize(place.pes().len() * groups, 0);
    indices.clear();
    for k in 0..list.len() {
        let found = check(place, list, k)?;
        counts[number_of(found)] += 1;
        indices.push((found.1 % GROUP) as u32);
    }
    if counts.len() == 1 {
        // SAFETY: every index was checked, and is an element of the only group. The caller ensures the rest.
        unsafe { group(&place, 0, 0, indices, None).carry_out(endpoint, request, until) };
        return Ok(());
    }
    let (mut next, mut far) = (0, 0);
    for (number, count) in counts.iter_mut().enumerate() {
        far += usize::from(*count > 0 && place.pes()[number / groups].on_node().is_none());
        next += core::mem::replace(count, next);
    }
    positions.resize(list.len(), 0);
    for k in 0..list.len() {
        let found = check(place, list, k)?;
        let at = &mut counts[number_of(found)];
        indices[*at as usize] = (found.1 % GROUP) as u32;
        positions[*at as usize] = k as u32;
        *at += 1;
    }
    // Values to send are copied in the order of the groups. Each call of the transport returns when it no longer needs the copies.
    // Results from several PEs are received concurrently, and completed together.
    let size = size_of::<P::Item>();
    let request = match request {
        ListRequest::Pick(_) => request,
        ListRequest::Place(source) => {
            values.clear();
            for position in &*positions {
                let from = source.wrapping_add(*position as usize * size);
                // SAFETY: `position` is below the round's length, so the value is readable (caller). It is in private memory.
                values.extend_from_slice(unsafe { core::slice::from_raw_parts(from, size) });
            }
            ListRequest::Place(values.as_ptr())
        }
        ListRequest::Change(change, before) => {
            let operand = in_order(change.operand, positions, size, values);
            let expected = in_order(change.expected, positions, size, expected);
            ListRequest::Change(Change { operand, expected, ..change }, before)
        }
    };
    let until = match (request.into().is_some(), until) {
        (true, Until::Return) if far > 1 || !is_only => {
            pending.set(endpoint.far_if_any());
            Until::Quiet
        }
        (true, until) => until,
        (false, _) => Until::Return,
    };
    let before = if let ListRequest::Change(_, before) = request { before } else { None };
    let mut begin = 0;
    for (number, end) in counts.iter().enumerate() {
        let range = begin..*end as usize;
        begin = range.end;
        if range.is_empty() {
            continue;
        }
        let (indices, positions) = (&indices[range.clone()], &positions[range.clone()]);
        // Results are written to the positions of their elements. Operands are already in the order of the groups.
        let (request, positions) = match (request, request.part(range.start, range.len(), size)) {
            (ListRequest::Pick(_), _) => (request, Some(positions)),
            (_, ListRequest::Change(change, _)) => (ListRequest::Change(change, before), Some(positions)),
            (_, part) => (part, None),
        };
        let group = group(&place, number / groups, number % groups, indices, positions);
        // SAFETY: every index was checked, and is an element of this group. The request's local memory covers all positions of the
        // round (caller), or is the values that were sorted above. The caller or `pending` completes transfers in flight.
        unsafe { group.carry_out(endpoint, request, until) };
    }
    Ok(())
}

/// Copies operands to `into` in the order of `positions`. An operand that is the same for all elements is returned unchanged.
fn in_order<'o>(operand: Operand<'o>, positions: &[u32], width: usize, into: &'o mut Vec<u8>) -> Operand<'o> {
    let Operand::Own(packed) = operand else { return operand };
    into.clear();
    match width {
        4 => into.extend(positions.iter().flat_map(|position| packed.as_chunks::<4>().0[*position as usize])),
        _ => into.extend(positions.iter().flat_map(|position| packed.as_chunks::<8>().0[*position as usize])),
    }
    Operand::Own(into)
}

/// A thread's buffers for one round. Apart from `counts`, they grow to at most 3 MiB, or to one element if an element is larger.
#[derive(Default)]
struct Buffers {
    /// First the number of elements of each group; during the sort, the position of the group's next element.
    counts: Vec<u32>,
    /// Numbers of the elements, group by group.
    indices: Vec<u32>,
    /// Position in the round of each element in `indices`.
    positions: Vec<u32>,
    /// Values to write, or operands, group by group.
    values: Vec<u8>,
    /// Expected values, group by group.
    expected: Vec<u8>,
}

thread_local! {
    static BUFFERS: Cell<Buffers> = Cell::default();
}

/// Calls `body` with the calling thread's buffers. A nested call gets new buffers.
pub(super) fn with_kept<T: Default, R>(key: &'static LocalKey<Cell<T>>, body: impl FnOnce(&mut T) -> R) -> R {
    // A thread that is ending may have lost its buffers.
    let mut kept = key.try_with(Cell::take).unwrap_or_default();
    let result = body(&mut kept);
    _ = key.try_with(|cell| cell.set(kept));
    result
}
