//! The edges of all PEs, the check that they match, and the layout of the messages that are sent over them.

use crate::object::{On, Signal};
use crate::pe::Pe;

/// An edge of a PE's part of a grid: a neighbour, and the number of cells that arrive from this neighbour.
///
/// Edges are numbered in the order in which a PE passes them to `World::halo`. Each edge leads to an edge of the neighbour, which
/// leads back: cells that are sent over `WEST` arrive at the neighbour over `EAST`. Faces, edges and corners of blocks in any
/// number of dimensions are edges, and so are the cuts of an irregular mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Number of the neighbour, and number of the neighbour's edge that leads back. `None` without a neighbour.
    pub(super) other: Option<(usize, usize)>,
    /// Number of ghost cells that arrive over the edge.
    pub(super) cells: usize,
}

impl Edge {
    /// An edge without a neighbour. Cells that are sent over it are discarded, and no cells arrive.
    pub const BORDER: Self = Self { other: None, cells: 0 };

    /// An edge to the neighbour's edge `opposite`, from which `cells` ghost cells arrive. (The neighbour's edge determines the
    /// number of cells sent.) The neighbour may be this PE. If it is `None`, the edge is [`BORDER`](Self::BORDER).
    pub fn new(neighbour: impl Into<Option<Pe>>, opposite: usize, cells: usize) -> Self {
        match neighbour.into() {
            Some(pe) => Self { other: Some((pe.number(), opposite)), cells },
            None => Self::BORDER,
        }
    }

    /// Encodes a PE's edges as bytes, to be sent to other PEs.
    #[doc(hidden)]
    pub fn encode(edges: &[Self]) -> Vec<u8> {
        let words = edges.iter().flat_map(|edge| {
            let (pe, opposite) = edge.other.map_or((0, 0), |(pe, opposite)| (pe as u64 + 1, opposite as u64));
            [pe, opposite, edge.cells as u64]
        });
        words.flat_map(u64::to_le_bytes).collect()
    }

    /// Decodes the bytes of [`encode`](Self::encode).
    #[doc(hidden)]
    pub fn decode(bytes: &[u8]) -> Vec<Self> {
        let words: Vec<u64> = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let edge = |&[pe, opposite, cells]: &[u64; 3]| Self {
            other: pe.checked_sub(1).map(|pe| (pe as usize, opposite as usize)),
            cells: cells as usize,
        };
        words.as_chunks().0.iter().map(edge).collect()
    }
}

/// Least alignment of messages: two cache lines, because processors fetch lines in pairs.
const LINE: usize = 128;

const CACHE_LINE: usize = 64;

/// Number of cache lines of a message that an exchange prefetches. The processor prefetches the rest of a long message by itself.
const FIRST_LINES: usize = 8;

/// Bytes of the signal that follows the cells of a message.
const SIGNAL: usize = size_of::<u64>();

/// The layout of the messages of all PEs, and the links of one PE.
#[derive(Debug)]
pub struct HaloPlan {
    /// Bytes that every PE reserves for messages.
    pub bytes: usize,
    /// Alignment of the reserved bytes.
    pub align: usize,
    /// For each edge: `None` without a neighbour, or two PEs, each as its number and the buffers of its incoming messages over the
    /// edge. The first is this PE, the second the neighbour.
    links: Vec<Option<[(usize, MessageBuffers); 2]>>,
}

/// The two buffers for an edge's incoming message, which successive exchanges use alternately. Each has the cells, then a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageBuffers {
    /// Offset of the first buffer: in a plan from the start of the reserved memory, in a link from the start of a PE's slot.
    first: usize,
    step: usize,
    /// Bytes from the start of a buffer's cells to its signal.
    signal: usize,
    pub(super) cells: usize,
}

/// An edge of a PE that has a neighbour, with the buffers of its messages.
#[derive(Debug)]
pub struct Link {
    pub(super) pe: Pe,
    segment: u32,
    /// Buffers for incoming messages, in this PE's slot.
    pub(super) ours: MessageBuffers,
    /// Buffers for outgoing messages, in the neighbour's slot.
    pub(super) theirs: MessageBuffers,
    /// Number of the last exchange in which this edge was sent.
    pub(super) sent: u64,
}

/// The error that the edges of the PEs do not match, with the reason as text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HaloError(String);

impl HaloPlan {
    /// Makes the plan of PE `me` from the edges of all PEs, for cells of `cell` bytes aligned to `align`. Fails with the first
    /// wrong edge in the order of PEs, so every PE gets the same error. Panics if `tables` has no entry for PE `me`, or `align` is
    /// no power of 2.
    pub fn new(me: usize, tables: &[Vec<Edge>], cell: usize, align: usize) -> Result<Self, HaloError> {
        assert!(me < tables.len(), "PE {me} has told no edges: {} PEs have", tables.len());
        assert!(align.is_power_of_two(), "cells are aligned to a power of two, not to {align}");
        for (pe, table) in tables.iter().enumerate() {
            for (edge, there) in table.iter().enumerate() {
                check(tables, pe, edge, *there)?;
            }
        }
        let align = align.max(LINE);
        let (mut bytes, mut messages) = (0, Vec::new());
        for table in tables {
            let (needed, those) = lay_out(table, cell, align);
            bytes = bytes.max(needed);
            messages.push(those);
        }
        let link = |(edge, one): (usize, &Edge)| {
            let (pe, opposite) = one.other?;
            Some([(me, messages[me][edge]), (pe, messages[pe][opposite])])
        };
        Ok(Self { bytes, align, links: tables[me].iter().enumerate().map(link).collect() })
    }

    /// Returns the PE's links, for memory at `offset` of `segment`. `pe` returns a PE by number. Panics if the memory's end
    /// overflows.
    pub fn links(self, segment: u32, offset: usize, pe: impl Fn(usize) -> Pe) -> Vec<Option<Link>> {
        let at = |messages: MessageBuffers| {
            let both = messages.step.saturating_mul(2).saturating_add(messages.first);
            assert!(
                offset.checked_add(both).is_some(),
                "a halo at offset {offset} ends beyond the last number"
            );
            MessageBuffers { first: offset + messages.first, ..messages }
        };
        let link = |[(_, ours), (number, theirs)]: [(usize, MessageBuffers); 2]| {
            let (ours, theirs) = (at(ours), at(theirs));
            Link { pe: pe(number), segment, ours, theirs, sent: 0 }
        };
        self.links.into_iter().map(|both| both.map(link)).collect()
    }
}

impl MessageBuffers {
    #[inline(always)]
    pub(super) fn cells_of(self, message: usize) -> usize {
        self.first + message * self.step
    }

    #[inline(always)]
    pub(super) fn signal_of(self, message: usize) -> usize {
        self.cells_of(message) + self.signal
    }

    #[inline(always)]
    pub(super) fn first_lines(self, message: usize) -> impl Iterator<Item = usize> {
        let (first, lines) = (self.cells_of(message), self.signal / CACHE_LINE + 1);
        (0..lines.min(FIRST_LINES)).map(move |line| first + line * CACHE_LINE)
    }
}

impl Link {
    /// Returns the place of an outgoing message's cells, on the neighbour.
    ///
    /// # Safety
    ///
    /// `T` must be the cell type of the link's halo. The halo must live for `'a`.
    #[inline(always)]
    pub(super) unsafe fn cells<'a, T: crate::symmetric_data::PlainData>(
        &self,
        message: usize,
    ) -> On<'a, [T]> {
        let Self { pe, segment, theirs, .. } = *self;
        // SAFETY: the plan reserved the cells in the segment, aligned for `T`. All PEs have the segment while a halo lives.
        unsafe { On::new(pe, segment, theirs.cells_of(message), theirs.cells) }
    }

    /// Returns the place of an outgoing message's signal, on the neighbour.
    ///
    /// # Safety
    ///
    /// The halo must live for `'a`.
    #[inline(always)]
    pub(super) unsafe fn signal<'a>(&self, message: usize) -> On<'a, Signal> {
        let Self { pe, segment, theirs, .. } = *self;
        // SAFETY: the plan reserved the signal in the segment, at a multiple of its size. All PEs have the segment
        // while a halo lives.
        unsafe { On::new(pe, segment, theirs.signal_of(message), 1) }
    }
}

fn check(tables: &[Vec<Edge>], pe: usize, edge: usize, one: Edge) -> Result<(), HaloError> {
    let Some((neighbour, opposite)) = one.other else { return Ok(()) };
    let Some(there) = tables.get(neighbour) else {
        let count = tables.len();
        return Err(HaloError(format!(
            "edge {edge} of PE {pe} leads to PE {neighbour}, and the PEs that make this halo are {count} (0..{count}): \
             `Edge::new` takes a PE of this job"
        )));
    };
    let Some(back) = there.get(opposite) else {
        let count = there.len();
        return Err(HaloError(format!(
            "edge {edge} of PE {pe} leads to edge {opposite} of PE {neighbour}, which has {count} (0..{count}): \
             `Edge::new` takes the number that the edge has there"
        )));
    };
    if back.other == Some((pe, edge)) {
        return Ok(());
    }
    let back = match back.other {
        Some((pe, edge)) => format!("to edge {edge} of PE {pe}"),
        None => "nowhere".to_owned(),
    };
    Err(HaloError(format!(
        "edge {edge} of PE {pe} leads to edge {opposite} of PE {neighbour}, and that one leads {back}: halos \
         are exchanged both ways, so the two ends of an edge must name each other"
    )))
}

/// Lays out the incoming messages of a PE. Returns their total bytes, and the messages of each edge. Sizes saturate.
fn lay_out(table: &[Edge], cell: usize, align: usize) -> (usize, Vec<MessageBuffers>) {
    let mut end = 0_usize;
    let up = |bytes: usize, to: usize| bytes.saturating_add(to - 1) / to * to;
    let messages = table.iter().map(|edge| {
        let signal = up(edge.cells.saturating_mul(cell), SIGNAL);
        let step = up(signal.saturating_add(SIGNAL), align);
        let messages = MessageBuffers { first: end, step, signal, cells: edge.cells };
        if edge.other.is_some() {
            end = end.saturating_add(step.saturating_mul(2));
        }
        messages
    });
    let messages = messages.collect();
    (end, messages)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fixture::refusal;

    /// Up to 6 PEs with randomly paired edges, some on the border.
    fn fitting() -> impl Strategy<Value = Vec<Vec<Edge>>> {
        let counts = proptest::collection::vec(0..6_usize, 1..7);
        counts.prop_flat_map(|counts| {
            let ends: Vec<_> =
                counts.iter().enumerate().flat_map(|(pe, n)| (0..*n).map(move |edge| (pe, edge))).collect();
            let cells = proptest::collection::vec(0..100_usize, ends.len());
            (Just(counts), Just(ends).prop_shuffle(), cells, any::<bool>()).prop_map(
                |(counts, ends, cells, own)| {
                    let mut tables: Vec<_> = counts.iter().map(|n| vec![Edge::BORDER; *n]).collect();
                    let mut cells = cells.into_iter();
                    let mut set = |(pe, edge): (usize, usize), other| {
                        tables[pe][edge] = Edge { other: Some(other), cells: cells.next().unwrap() };
                    };
                    let (pairs, rest) = ends.as_chunks();
                    for [a, b] in pairs {
                        set(*a, *b);
                        set(*b, *a);
                    }
                    // An edge that leads to itself.
                    if let ([end], true) = (rest, own) {
                        set(*end, *end);
                    }
                    tables
                },
            )
        })
    }

    proptest! {
        #[test]
        fn the_messages_of_a_pe_lie_apart_and_both_ends_agree(
            tables in fitting(), cell in 1..40_usize, align in 0..9_u32,
        ) {
            let align = 1 << align;
            let (cell, pes) = (cell * align, tables.len());
            // Byte ranges of each PE that messages write.
            let mut written: Vec<Vec<(usize, usize)>> = vec![Vec::new(); pes];
            for me in 0..pes {
                let plan = HaloPlan::new(me, &tables, cell, align).unwrap();
                let bytes = plan.bytes;
                for (edge, link) in plan.links.iter().enumerate() {
                    let Some([(_, ours), (pe, theirs)]) = *link else {
                        prop_assert_eq!(tables[me][edge], Edge::BORDER);
                        continue;
                    };
                    let (there, opposite) = tables[me][edge].other.unwrap();
                    let back = HaloPlan::new(there, &tables, cell, align).unwrap().links[opposite].unwrap();
                    prop_assert_eq!((pe, theirs), (there, back[0].1));
                    prop_assert_eq!((ours.cells, theirs.cells), (tables[me][edge].cells, tables[pe][opposite].cells));
                    for message in 0..2 {
                        let (cells, signal) = (theirs.cells_of(message), theirs.signal_of(message));
                        prop_assert!(cells % align == 0 && cells % LINE == 0 && signal % SIGNAL == 0);
                        prop_assert!(cells + theirs.cells * cell <= signal && signal + SIGNAL <= bytes);
                        written[pe].push((cells, signal + SIGNAL));
                    }
                }
            }
            for mut written in written {
                written.sort_unstable();
                prop_assert!(written.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{written:?}");
            }
        }

        #[test]
        fn an_edge_that_leads_elsewhere_is_found_on_every_pe(
            tables in fitting(), pe: prop::sample::Index, edge: prop::sample::Index, to in (0..6_usize, 0..7_usize),
        ) {
            let mut tables = tables;
            let (pes, pe) = (tables.len(), pe.index(tables.len()));
            prop_assume!(!tables[pe].is_empty());
            let edge = edge.index(tables[pe].len());
            let to = (to.0 % pes, to.1);
            prop_assume!(tables[pe][edge].other != Some(to) && to != (pe, edge));
            tables[pe][edge].other = Some(to);
            let first = HaloPlan::new(0, &tables, 8, 8).unwrap_err();
            prop_assert!((1..pes).all(|me| HaloPlan::new(me, &tables, 8, 8).unwrap_err() == first));
            let text = first.to_string();
            prop_assert!(text.contains(&format!("edge {edge} of PE {pe}")), "{}", text);
        }
    }

    /// Edges of PEs of one job: `ordered::halo` of shmem-rt.
    #[test]
    fn what_does_not_fit_is_named() {
        let to = |pe, edge| Edge { other: Some((pe, edge)), cells: 1 };
        // Edges of other PEs come as bytes.
        let far = Edge::decode(&[[6_u64, 0, 1].map(u64::to_le_bytes).as_flattened(), &[0; 24]].concat());
        let said = |me, tables: &[Vec<Edge>]| HaloPlan::new(me, tables, 8, 8).unwrap_err().to_string();
        assert_eq!(
            said(1, &[far.clone(), vec![]]),
            "edge 0 of PE 0 leads to PE 5, and the PEs that make this halo are 2 (0..2): `Edge::new` takes a PE of this job"
        );
        let tables: Vec<_> = [vec![far], vec![vec![Edge::BORDER; 2]; 5]].concat();
        assert!(said(0, &tables).contains("edge 0 of PE 5, and that one leads nowhere"));
        let none = || _ = HaloPlan::new(5, &[vec![], vec![]], 8, 8);
        assert_eq!(refusal(none), "PE 5 has told no edges: 2 PEs have");
        let odd = || _ = HaloPlan::new(0, &[vec![]], 8, 0);
        assert_eq!(refusal(odd), "cells are aligned to a power of two, not to 0");
        let plan = HaloPlan::new(0, &[vec![to(0, 0)]], 8, 256).unwrap();
        let beyond = || _ = plan.links(1, usize::MAX, |_| unreachable!());
        assert_eq!(refusal(beyond), format!("a halo at offset {} ends beyond the last number", usize::MAX));
        let large = Edge { cells: usize::MAX, ..to(0, 0) };
        assert!(HaloPlan::new(0, &[vec![large]], 8, 8).unwrap().bytes >= usize::MAX - 256);
    }
}
