//! Every length and every distance of two sides that overlap or do not, against copies of private memory.

use super::{copy, load, store, write, zero};

/// Longer than what is copied by instructions of its own.
const MOST: usize = 300;

fn numbered(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 7 + 3) as u8).collect()
}

/// Copies bytes inside so much memory: they arrive, and no other is touched.
#[track_caller]
fn arrive(room: usize, to: usize, from: usize, length: usize) {
    let mut found = numbered(room);
    let mut expected = found.clone();
    expected.copy_within(from..from + length, to);
    let start = found.as_mut_ptr();
    // SAFETY: both sides lie in the vector.
    unsafe { copy(start.wrapping_add(to), start.wrapping_add(from), length) };
    assert!(found == expected, "{length} bytes to {to} from {from}");
}

#[test]
fn bytes_arrive_and_no_other_is_touched() {
    for length in (0..=150).chain([191, 256, MOST]) {
        for (to, from) in [(0, 0), (1, 0), (0, 3), (5, 2)] {
            arrive(2 * MOST + 16, MOST + 8 + to, from, length);
        }
    }
}

#[test]
fn sides_may_overlap() {
    for length in [1, 2, 3, 7, 8, 9, 16, 17, 31, 32, 33, 63, 64, 65, 100, 200] {
        for (to, from) in [(0, 0), (0, 1), (1, 0), (8, 0), (0, 8), (24, 0), (0, 24), (16, 40)] {
            arrive(MOST, to, from, length);
        }
    }
}

/// Sides of which one looks like the other by the low bits of its addresses, apart and over each other.
#[test]
fn long_sides_may_begin_anywhere_in_a_page() {
    for length in [2047, 2048, 2049, 4096, 4200, 8191] {
        for ahead in [0, 1, 31, 63, 64, 4095, 4096, 4097, 8191, 8192, 8193, 8192 + 63, 8192 + 64] {
            arrive(5 * 4096, ahead, 0, length);
            arrive(5 * 4096, 0, ahead, length);
        }
    }
}

#[test]
fn zeroes_arrive_and_no_other_byte_is_touched() {
    for (start, length) in [(0, 0), (1, 1), (3, 4), (0, 8), (5, 30), (8, 64), (7, 200)] {
        let mut found = numbered(MOST);
        let mut expected = found.clone();
        expected[start..start + length].fill(0);
        // SAFETY: inside the vector.
        unsafe { zero(found.as_mut_ptr().wrapping_add(start), length) };
        assert_eq!(found, expected, "{length} zeroes at {start}");
    }
}

#[test]
fn values_of_every_size_come_back() {
    macro_rules! comes_back {
        ($($value:expr),* $(,)?) => {$({
            let mut place = [$value; 3];
            let other = {
                let mut other = $value;
                bytemuck::bytes_of_mut(&mut other).iter_mut().for_each(|byte| *byte ^= 0x5A);
                other
            };
            let start = place.as_mut_ptr();
            // SAFETY: the middle one of three.
            unsafe { store(start.wrapping_add(1), other) };
            // SAFETY: the middle one of three.
            assert_eq!(unsafe { load(start.wrapping_add(1)) }, other);
            assert_eq!(place, [$value, other, $value]);
            // SAFETY: the first of three.
            unsafe { write(place.as_mut_ptr(), other) };
            assert_eq!(place, [other, other, $value]);
        })*};
    }
    // Numbers, values as long as a number, and values of every way of copying.
    comes_back!(1_u8, -3_i16, 1.5_f32, -7_i64, 9_usize, 1_u128 << 100);
    comes_back!(
        [1_u8; 2],
        [3_u16; 2],
        [4_u32; 2],
        [5_u64; 2],
        [2_u8; 3],
        [6_u8; 7],
        [7_u64; 4],
        [9_u64; 100]
    );
}
