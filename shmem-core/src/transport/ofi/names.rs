//! Keys that memory is registered under.
//!
//! A key is all that stands between a stranger who reaches a PE's port and its memory. So keys follow from the job's
//! [secret](super::Secret), and have as many bytes as the provider takes. The key of a segment is the same on
//! all PEs: two segments of one job that would have the same key are told apart in the order of their numbers, everywhere
//! alike. Other memory has keys of its own PE.

use std::sync::atomic::{AtomicU32, Ordering};

use super::secret::Secret;
use crate::segment::MAX_SEGMENTS;

/// Bytes of a key, at most.
const WHOLE: usize = size_of::<u64>();

/// The keys of one PE.
#[derive(Debug)]
pub(super) struct Names {
    secret: Secret,
    /// Bits that a key may have.
    bits: u64,
    segments: Box<[u64]>,
    /// How many keys of what is no segment were given.
    others: AtomicU32,
}

impl Names {
    /// Bytes of the keys of segments.
    pub(super) const BYTES: usize = MAX_SEGMENTS * size_of::<u64>();

    /// Keys of so many bytes.
    pub(super) fn new(secret: Secret, bytes: usize) -> Self {
        let bits = if (1..WHOLE).contains(&bytes) { (1 << (8 * bytes)) - 1 } else { u64::MAX };
        let mut segments: Vec<u64> = Vec::with_capacity(MAX_SEGMENTS);
        for segment in 0..MAX_SEGMENTS as u32 {
            let tries = (0..).map(|attempt| secret.number("the key of a segment", segment, attempt) & bits);
            let free = |key: &u64| is_key(*key, bits) && !segments.contains(key);
            let key = tries.into_iter().find(free);
            segments.push(key.unwrap_or_else(|| unreachable!("there are more keys than segments")));
        }
        Self { secret, bits, segments: segments.into(), others: AtomicU32::new(0) }
    }

    /// The key of a segment, on every PE.
    pub(super) fn of_segment(&self, segment: u32) -> u64 {
        self.segments[segment as usize]
    }

    /// A key of no segment, another one each time. Where keys are short it may be that of something registered: the
    /// provider says so then.
    pub(super) fn of_another(&self) -> u64 {
        loop {
            let number = self.others.fetch_add(1, Ordering::Relaxed);
            let key = self.secret.number("the key of other memory", number, 0) & self.bits;
            if is_key(key, self.bits) && !self.segments.contains(&key) {
                return key;
            }
        }
    }

    /// A number that only those know who were told it, for a loan.
    pub(super) fn mark(&self, loan: usize) -> u32 {
        self.secret.number("the mark of a loan", loan as u32, 0) as u32
    }
}

/// Whether a key is none of those that stand for something else with some providers.
fn is_key(key: u64, bits: u64) -> bool {
    key != 0 && key != bits
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn names(bytes: usize) -> Names {
        Names::new(Secret::of_bytes([3; Secret::BYTES]), bytes)
    }

    /// All keys of a PE: of the segments, and so many others.
    fn all(names: &Names, others: usize) -> Vec<u64> {
        let segments = (0..MAX_SEGMENTS as u32).map(|segment| names.of_segment(segment));
        segments.chain((0..others).map(|_| names.of_another())).collect()
    }

    #[test]
    fn no_key_is_that_of_a_segment_however_short_they_are() {
        for bytes in [0, 2, 4, 8, 16] {
            let keys = all(&names(bytes), 70_000);
            let (segments, others) = keys.split_at(MAX_SEGMENTS);
            let segments: BTreeSet<_> = segments.iter().collect();
            assert_eq!(segments.len(), MAX_SEGMENTS, "{bytes} bytes");
            assert!(others.iter().all(|key| !segments.contains(key)), "{bytes} bytes");
        }
    }

    #[test]
    fn keys_of_segments_are_the_same_on_all_pes_whatever_else_is_registered() {
        let (first, second) = (names(2), names(2));
        (0..500).for_each(|_| _ = second.of_another());
        assert_eq!(all(&first, 0), all(&second, 0));
    }

    #[test]
    fn all_bytes_of_a_key_are_used_and_no_more() {
        for (bytes, bits) in [(2, 16), (4, 32), (8, 64)] {
            let any = all(&names(bytes), 100).into_iter().fold(0, |any, key| any | key);
            assert_eq!(64 - any.leading_zeros(), bits);
            assert_eq!(any.count_ones(), bits);
        }
    }

    #[test]
    fn keys_of_another_job_are_others() {
        let other = Names::new(Secret::of_bytes([4; Secret::BYTES]), 8);
        let other: BTreeSet<_> = all(&other, 300).into_iter().collect();
        assert!(all(&names(8), 300).iter().all(|key| !other.contains(key)));
    }
}
