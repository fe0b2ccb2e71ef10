//! Splits patterns: at borders between ranges of memory ([`each_part`]), and to limit the size of a message ([`each_fitting`]).
//!
//! To a program an array is one range of elements, but its memory may be several ranges (pieces) on several NUMA nodes. A pattern
//! for the one range is cut into parts, each in one piece at the destination and in one at the source. A contiguous transfer across
//! a border becomes two, and a column becomes one loop for each piece. So the number of parts follows from the number of pieces,
//! and from the number of blocks only where blocks cross a border.

use super::loop_nest::{Level, Pattern};

/// A piece of an object's memory: a contiguous range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Bytes from the start of the object to the piece, counted as if the object were one range.
    pub start: usize,
    /// Length of the piece, in bytes.
    pub bytes: usize,
    /// Index of the segment that contains the piece.
    pub segment: u32,
    /// Bytes from the start of a PE's slot, or of private memory, to the piece.
    pub offset: usize,
}

impl Piece {
    /// Returns the only piece of an object whose memory is one range.
    pub const fn whole(segment: u32, offset: usize) -> Self {
        Self { start: 0, bytes: usize::MAX, segment, offset }
    }

    fn end(&self) -> usize {
        self.start.saturating_add(self.bytes)
    }
}

/// The destination or the source of a pattern: the object's pieces, sorted and without gaps, and the start of the pattern's first
/// block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pieced<'a> {
    pub(crate) pieces: &'a [Piece],
    /// Bytes from the start of the object to the first block.
    pub(crate) at: usize,
}

impl Pieced<'_> {
    fn piece(&self) -> Piece {
        let behind = self.pieces.partition_point(|piece| piece.start <= self.at);
        let piece = behind.checked_sub(1).map(|before| self.pieces[before]);
        match piece.filter(|piece| self.at < piece.end()) {
            Some(piece) => piece,
            None => panic!("byte {} lies in no piece of the object", self.at),
        }
    }

    /// Returns the address of the first block, and the number of bytes from there to the end of its piece.
    fn spot(&self) -> (Spot, usize) {
        let piece = self.piece();
        let inside = self.at - piece.start;
        let Some(offset) = piece.offset.checked_add(inside) else {
            panic!("byte {} of the object lies further away than any memory reaches", self.at)
        };
        (Spot { segment: piece.segment, offset }, piece.bytes - inside)
    }

    /// Returns a copy whose first block is `bytes` bytes later.
    fn further(self, bytes: usize) -> Self {
        Self { at: self.at + bytes, ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) segment: u32,
    /// Bytes from the start of a PE's slot, or of private memory, to this place.
    pub(crate) offset: usize,
}

/// Splits `pattern` into parts that are in one piece at the destination and in one at the source. Calls `each` with the start at
/// the destination, the start at the source, and the pattern of each part. Panics if a block is in no piece, or beyond the address
/// space.
pub(crate) fn each_part(
    pattern: &Pattern,
    to: Pieced<'_>,
    from: Pieced<'_>,
    mut each: impl FnMut(Spot, Spot, Pattern),
) {
    if pattern.block() > 0 {
        let hulls = pattern.hulls();
        for (hull, side) in [(hulls.0, to), (hulls.1, from)] {
            assert!(side.at.checked_add(hull).is_some(), "a pattern reaches further than any memory");
        }
        PiecedPattern { pattern: *pattern, sides: [to, from] }.cut(TO, &mut |part| {
            part.cut(FROM, &mut |part| {
                each(part.sides[TO].spot().0, part.sides[FROM].spot().0, part.pattern)
            });
        });
    }
}

const TO: usize = 0;
const FROM: usize = 1;

/// A part of a pattern, with both sides of the part.
#[derive(Clone, Copy)]
struct PiecedPattern<'a> {
    pattern: Pattern,
    sides: [Pieced<'a>; 2],
}

impl PiecedPattern<'_> {
    /// Returns the number of bytes from the start of the first block to the end of its piece, and to the end of the last block.
    fn room_and_hull(&self, side: usize) -> (usize, usize) {
        (self.sides[side].spot().1, <[usize; 2]>::from(self.pattern.hulls())[side])
    }

    /// Returns a part with another `pattern`. Its destination and source start `further` bytes behind those of this part.
    fn with(&self, pattern: Pattern, further: [usize; 2]) -> Self {
        let [to, from] = self.sides;
        Self { pattern, sides: [to.further(further[TO]), from.further(further[FROM])] }
    }

    /// Cuts the loop of the largest stride into ranges of turns that are in one piece. A turn across a boundary is cut further.
    fn cut(&self, side: usize, each: &mut dyn FnMut(Self)) {
        let (room, hull) = self.room_and_hull(side);
        if hull <= room {
            return each(*self);
        }
        let strides = |level: Level| [level.to, level.from];
        let levels = self.pattern.levels().iter().enumerate();
        let Some((widest, level)) = levels.max_by_key(|(_, level)| strides(**level)[side]) else {
            let block = self.pattern.block();
            each(self.with(Pattern::contiguous(room), [0; 2]));
            return self.with(Pattern::contiguous(block - room), [room; 2]).cut(side, each);
        };
        let mut turn = 0;
        while turn < level.count {
            let inside = self.pattern.with_count(widest, 1);
            let first = self.with(inside, strides(*level).map(|stride| turn * stride));
            let (room, hull) = first.room_and_hull(side);
            turn += match room.checked_sub(hull) {
                None => {
                    first.cut(side, each);
                    1
                }
                Some(left) => {
                    let more = left.checked_div(strides(*level)[side]).unwrap_or(usize::MAX);
                    let turns = more.saturating_add(1).min(level.count - turn);
                    each(Self { pattern: self.pattern.with_count(widest, turns), ..first });
                    turns
                }
            };
        }
    }
}

/// Splits `pattern` into parts of at most `most` bytes, of about equal length. Calls `each` with the offset at the destination, the
/// offset at the source, and the pattern of each part. Panics if `most` is 0, or the pattern reaches beyond the address space.
pub(crate) fn each_fitting(pattern: &Pattern, most: usize, mut each: impl FnMut(usize, usize, Pattern)) {
    assert!(most > 0, "a part has at least a byte");
    if pattern.block() > 0 {
        pattern.require_memory();
        cut(pattern, 0, 0, most, &mut each);
    }
}

fn cut(pattern: &Pattern, to: usize, from: usize, most: usize, each: &mut dyn FnMut(usize, usize, Pattern)) {
    if pattern.bytes() <= most {
        return each(to, from, *pattern);
    }
    let Some(&outer) = pattern.levels().first() else {
        let block = pattern.block();
        return each_share(block, most, |at, bytes| each(to + at, from + at, Pattern::contiguous(bytes)));
    };
    let turn = pattern.with_count(0, 1);
    let place = |i: usize| (to + i * outer.to, from + i * outer.from);
    match most / turn.bytes() {
        0 => (0..outer.count).map(place).for_each(|(to, from)| cut(&turn, to, from, most, each)),
        turns => each_share(outer.count, turns, |first, count| {
            let (to, from) = place(first);
            each(to, from, pattern.with_count(0, count));
        }),
    }
}

/// Divides `all` into as few shares as possible of at most `most`. Calls `each` with the start and the length of each share.
fn each_share(all: usize, most: usize, mut each: impl FnMut(usize, usize)) {
    let share = all.div_ceil(all.div_ceil(most));
    (0..all).step_by(share).for_each(|start| each(start, share.min(all - start)));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Pieces of these lengths, which are apart and in another order in memory.
    fn pieces(lengths: &[usize]) -> Vec<Piece> {
        let mut start = 0;
        let count = lengths.len();
        let place = |(i, &bytes): (usize, &usize)| {
            let piece = Piece { start, bytes, segment: 1 + (i % 3) as u32, offset: (count - i) * 10_000 };
            start += bytes;
            piece
        };
        lengths.iter().enumerate().map(place).collect()
    }

    /// The place of byte `at` of the object.
    fn find(pieces: &[Piece], at: usize) -> (u32, usize) {
        let piece = pieces.iter().find(|p| (p.start..p.start + p.bytes).contains(&at)).expect("a piece");
        (piece.segment, piece.offset + at - piece.start)
    }

    fn patterns() -> impl Strategy<Value = Pattern> {
        let level = (1..6_usize, 0..150_usize, 0..150_usize);
        let level = level.prop_map(|(count, to, from)| Level { count, to, from });
        (1..60_usize, vec(level, 0..5)).prop_map(|(block, levels)| Pattern::of_levels(block, &levels))
    }

    /// Destination and source of each byte that a pattern moves.
    fn bytes(pattern: &Pattern) -> Vec<(usize, usize)> {
        let mut bytes = Vec::new();
        pattern.each_block(|to, from| bytes.extend((0..pattern.block()).map(|i| (to + i, from + i))));
        bytes
    }

    proptest! {
        #[test]
        fn parts_move_what_the_pattern_moves(
            pattern in patterns(), to in vec(1..400_usize, 1..9), from in vec(1..400_usize, 1..9), at in (0..50_usize, 0..50_usize),
        ) {
            let hulls = pattern.hulls();
            let cover = |lengths: Vec<usize>, bytes: usize| pieces(&[lengths, vec![bytes]].concat());
            let (to, from) = (cover(to, at.0 + hulls.0), cover(from, at.1 + hulls.1));
            let place = |(a, b)| (find(&to, at.0 + a), find(&from, at.1 + b));
            let mut wanted: Vec<_> = bytes(&pattern).into_iter().map(place).collect();
            let mut moved = Vec::new();
            let sides = (Pieced { pieces: &to, at: at.0 }, Pieced { pieces: &from, at: at.1 });
            each_part(&pattern, sides.0, sides.1, |a, b, part| {
                let place = |(i, j)| ((a.segment, a.offset + i), (b.segment, b.offset + j));
                moved.extend(bytes(&part).into_iter().map(place));
            });
            wanted.sort_unstable();
            moved.sort_unstable();
            prop_assert_eq!(moved, wanted);
        }

        #[test]
        fn parts_fit_and_move_what_the_pattern_moves(pattern in patterns(), most in 1..500_usize) {
            let (mut moved, mut parts) = (Vec::new(), 0);
            each_fitting(&pattern, most, |to, from, part| {
                assert!(part.bytes() <= most);
                moved.extend(bytes(&part).into_iter().map(|(i, j)| (to + i, from + j)));
                parts += 1;
            });
            let mut wanted = bytes(&pattern);
            wanted.sort_unstable();
            moved.sort_unstable();
            prop_assert_eq!(moved, wanted);
            if pattern.levels().len() <= 1 && pattern.block() <= most {
                let blocks_each = most / pattern.block();
                prop_assert_eq!(parts, pattern.count().div_ceil(blocks_each), "as few as there must be");
            }
        }

        #[test]
        fn what_is_nested_does_not_overlap(pattern in patterns()) {
            let written: BTreeSet<usize> = bytes(&pattern).into_iter().map(|(to, _)| to).collect();
            prop_assert!(written.len() == pattern.bytes() || !pattern.is_nested());
        }
    }

    #[test]
    fn what_programs_write_is_nested() {
        let rows = Level { count: 5, to: 1000, from: 1000 };
        for levels in [vec![], vec![rows], vec![rows, Level { count: 3, to: 24, from: 8 }]] {
            assert!(Pattern::of_levels(8, &levels).is_nested());
        }
    }

    #[test]
    fn a_column_is_one_part_for_each_piece() {
        let (pieces, whole) = (pieces(&[1000; 4]), [Piece::whole(0, 0)]);
        let (to, from) = (Pieced { pieces: &pieces, at: 96 }, Pieced { pieces: &whole, at: 0 });
        let mut parts = Vec::new();
        each_part(&Pattern::blocks(8, 39, 100, 8), to, from, |_, _, part| parts.push(part.count()));
        // Rows of 100 bytes: the block at 996 lies across a boundary, and so does every tenth behind it.
        assert_eq!(parts.iter().filter(|&&count| count > 1).count(), 4);
        assert!(parts.len() <= 12, "{parts:?}");
    }

    #[test]
    #[should_panic(expected = "byte 1000 lies in no piece")]
    fn nothing_is_moved_beyond_the_pieces() {
        let (pieces, whole) = (pieces(&[500, 500]), [Piece::whole(0, 0)]);
        let (to, from) = (Pieced { pieces: &pieces, at: 0 }, Pieced { pieces: &whole, at: 0 });
        each_part(&Pattern::contiguous(1001), to, from, |_, _, _| ());
    }
}
