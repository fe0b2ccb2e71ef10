//! Random indices: the same on every run, so that runs can be compared.

/// `len` numbers below `below`, in random order and each about equally often.
///
/// # Panics
///
/// If `below` is not in 1..=256.
pub(super) fn random_indices(len: usize, below: usize) -> Vec<u8> {
    assert!((1..=256).contains(&below), "indices are bytes, and below something");
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        // xorshift64: Marsaglia, "Xorshift RNGs" (2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (((state >> 32) * below as u64) >> 32) as u8
    };
    (0..len).map(|_| next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_comes_about_equally_often() {
        for below in [1, 7, 8, 127, 256] {
            let mut counts = vec![0_usize; below];
            for i in random_indices(below * 1000, below) {
                counts[usize::from(i)] += 1;
            }
            assert!(counts.iter().all(|count| (800..1200).contains(count)), "{below}: {counts:?}");
        }
    }
}
