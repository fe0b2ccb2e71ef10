//! Assigns the pages of an array to its chunks, if the array is one range of memory.
//!
//! Memory is placed by pages, and chunks end at elements. A page with elements of two chunks belongs to the chunk that
//! has more of the page. The array is shifted inside its first page (the *slide*), so that few bytes are on a page of
//! another chunk. With two chunks, the boundary between them is then a page boundary. With more chunks, some boundaries
//! may be inside pages, for example if four chunks share five pages.
//!
//! Source: "NUMA-Aware Array Storage" (Chapel), "Single-ddata".

use core::ops::Range;

use shmem_core::array::Chunking;

/// Upper limit on the boundaries for which [`slide`] computes candidates, because it compares each with all others.
const TRIED: usize = 64;

/// Contiguous pages, and the chunk to which they belong. The range is in bytes from the first page of the array.
pub(super) type Bound = (Range<usize>, usize);

/// Returns, for each run (contiguous elements of a chunk) in order of addresses, the byte at which the run ends, and the chunk.
fn ends<const D: usize>(chunking: &Chunking<D>, element: usize) -> impl Iterator<Item = (usize, usize)> {
    let (row, inner) = (chunking.shape()[chunking.axis()], chunking.inner() * element);
    (0..chunking.outer()).flat_map(move |o| {
        (0..chunking.chunks()).map(move |chunk| ((o * row + chunking.span(chunk).end) * inner, chunk))
    })
}

/// Returns the bytes by which an array is shifted inside its first page, so that chunks end near page boundaries.
pub(super) fn slide<const D: usize>(chunking: &Chunking<D>, element: usize, page: usize) -> usize {
    let bytes = chunking.len() * element;
    let boundaries = || ends(chunking, element).map(|(end, _)| end % page).take(TRIED);
    // The end of the last chunk is not a boundary between chunks.
    let count = ends(chunking, element).take(TRIED).filter(|&(end, _)| end < bytes).count();
    let astray = |slide: usize| -> usize {
        let rest = |boundary| (boundary + slide) % page;
        boundaries().take(count).map(|boundary| rest(boundary).min(page - rest(boundary))).sum()
    };
    let candidates = boundaries().take(count).map(|boundary| (page - boundary) % page);
    candidates.chain([0]).min_by_key(|&slide| (astray(slide), slide)).unwrap_or(0)
}

/// Returns the pages of each run of elements, for an array that starts `slide` bytes behind the start of its first page.
pub(super) fn by_chunk<const D: usize>(
    chunking: &Chunking<D>,
    element: usize,
    slide: usize,
    page: usize,
) -> Vec<Bound> {
    let whole = (slide + chunking.len() * element).next_multiple_of(page);
    let last = chunking.len() * element;
    let mut from = 0;
    let mut bound: Vec<Bound> = Vec::new();
    for (end, chunk) in ends(chunking, element) {
        let to = if end == last { whole } else { (slide + end + page / 2) / page * page };
        push(&mut bound, from..to.max(from), chunk);
        from = to.max(from);
    }
    bound
}

/// Returns the pages of a cyclic storage: blocks of `block` bytes belong to the chunks in turn.
pub(super) fn cyclic(bytes: usize, block: usize, chunks: usize, page: usize) -> Vec<Bound> {
    let whole = bytes.next_multiple_of(page);
    let mut bound = Vec::new();
    for (number, from) in (0..whole).step_by(block).enumerate() {
        push(&mut bound, from..whole.min(from + block), number % chunks);
    }
    bound
}

/// Returns the default block size of cyclic storage: the bytes of a run of the first chunk, the longest, in whole pages.
pub(super) fn natural_block<const D: usize>(chunking: &Chunking<D>, element: usize, page: usize) -> usize {
    let run = chunking.span(0).len() * chunking.inner() * element;
    ((run + page / 2) / page * page).max(page)
}

/// Appends pages of a chunk. Extends the last range if it belongs to the same chunk.
fn push(bound: &mut Vec<Bound>, range: Range<usize>, chunk: usize) {
    if range.is_empty() {
        return;
    }
    match bound.last_mut() {
        Some((last, of)) if *of == chunk => last.end = range.end,
        _ => bound.push((range, chunk)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PAGE: usize = 4096;

    /// The share of bytes on pages of their own chunk, byte by byte.
    fn share<const D: usize>(chunking: &Chunking<D>, element: usize, slide: usize, bound: &[Bound]) -> f64 {
        let page_of = |byte: usize| bound.iter().find(|(range, _)| range.contains(&byte)).unwrap().1;
        let right = |chunk: usize| -> usize {
            let bytes = chunking.runs(chunk).flat_map(|run| run.start * element..run.end * element);
            bytes.filter(|byte| page_of(slide + byte) == chunk).count()
        };
        (0..chunking.chunks()).map(right).sum::<usize>() as f64 / (chunking.len() * element) as f64
    }

    #[test]
    fn five_pages_in_four_chunks_cannot_be_had() {
        let chunking = Chunking::at_most([5 << 10], 4).unwrap();
        let slide = slide(&chunking, 4, PAGE);
        let share = share(&chunking, 4, slide, &by_chunk(&chunking, 4, slide, PAGE));
        assert_eq!((slide, share), (2048, 0.9), "0.8 without the slide");
    }

    #[test]
    fn rows_of_blocks_are_those_of_the_source() {
        let chunking = Chunking::at_most([2, 1 << 16], 4).unwrap();
        let block = natural_block(&chunking, 1, PAGE);
        assert_eq!(block, 1 << 14);
        let cyclic = cyclic(2 << 16, block, 4, PAGE);
        assert_eq!(cyclic, by_chunk(&chunking, 1, 0, PAGE));
        assert_eq!(cyclic.iter().map(|(_, chunk)| *chunk).collect::<Vec<_>>(), [0, 1, 2, 3, 0, 1, 2, 3]);
        assert_eq!(natural_block(&Chunking::at_most([7], 2).unwrap(), 1, PAGE), PAGE);
    }

    proptest! {
        #[test]
        fn two_chunks_are_exact(n in 2_usize..40_000, element in prop::sample::select(vec![1, 3, 4, 8, 24])) {
            let chunking = Chunking::at_most([n], 2).unwrap();
            let slide = slide(&chunking, element, PAGE);
            prop_assert!(slide < PAGE && slide.is_multiple_of(element.min(1 << element.trailing_zeros())));
            let bound = by_chunk(&chunking, element, slide, PAGE);
            prop_assert_eq!(share(&chunking, element, slide, &bound), 1.0);
        }

        #[test]
        fn pages_are_bound_once_and_in_order(
            shape in [1_usize..5, 1..40, 1..600], chunks in 1_usize..9, element in 1_usize..20,
        ) {
            let chunking = Chunking::at_most(shape, chunks).unwrap();
            let slide = slide(&chunking, element, PAGE);
            let bytes = chunking.len() * element;
            let block = natural_block(&chunking, element, PAGE);
            let all = [by_chunk(&chunking, element, slide, PAGE), cyclic(bytes, block, chunks, PAGE)];
            for (bound, end) in all.iter().zip([slide + bytes, bytes]) {
                let mut from = 0;
                for (range, chunk) in bound {
                    prop_assert!(range.start == from && range.end > from && range.end.is_multiple_of(PAGE));
                    prop_assert!(*chunk < chunks);
                    from = range.end;
                }
                prop_assert_eq!(from, end.next_multiple_of(PAGE));
            }
        }
    }
}
