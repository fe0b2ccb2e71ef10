//! Hashes for comparisons between PEs, equal in every process and build: FNV-1a of bytes, and a faster hash of words.
//!
//! Source: Fowler, Noll, Vo, "The FNV Non-Cryptographic Hash Algorithm" (IETF draft).

/// The FNV-1a hash of some bytes.
#[inline]
pub fn fingerprint(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A hash of words, faster than FNV-1a. The upper half of the hash depends on all words.
#[inline]
pub fn fingerprint_of_words(words: impl IntoIterator<Item = u64>) -> u64 {
    let hash = words.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, word| {
        let mixed = (hash ^ word).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed ^ mixed >> 32
    });
    hash.wrapping_mul(0x94D0_49BB_1331_11EB)
}

#[cfg(test)]
mod tests {
    use super::fingerprint;

    #[test]
    fn hashes_are_the_published_ones() {
        assert_eq!(fingerprint([]), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fingerprint(*b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fingerprint(*b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(fingerprint(*b"foobar\n"), 0x3453_16a7_168b_8506);
    }
}
