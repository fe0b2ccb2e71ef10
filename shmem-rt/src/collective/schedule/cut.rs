//! How data are cut into chunks, and how many chunks may be under way to a member.

use shmem_core::system::{MOST_SLOTS, WINDOW_BYTES};

/// The least chunk of a window, of which as many as there can be slots fit it: what is shorter takes a provider about as long.
const LEAST_CHUNK: usize = WINDOW_BYTES / MOST_SLOTS;

/// The longest of a window that is passed on, or combined with those of several others, which lie there together: half as
/// many fit.
const MOST_CHUNK: usize = 2 * LEAST_CHUNK;

/// The longest of a window that is neither. Two fit, so one can be on its way while another is copied. More of them gain nothing
/// where cores carry what is on its way, and each is announced and acknowledged by itself.
const MOST_TAKEN: usize = WINDOW_BYTES / 2;

/// The longest chunk that needs no window, and is passed on.
const MOST_PASSED_ON: usize = 256 << 10;

/// How data are cut, and how many chunks may be on their way to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Bytes of a chunk at most, and of a slot.
    pub(crate) most: usize,
    /// How many there is room for.
    pub(crate) slots: usize,
}

impl Cut {
    /// Of so many bytes that come along one way, past windows or through them, from where some may pass them on.
    pub(crate) fn of(bytes: usize, past_windows: bool, pass_on: bool) -> Self {
        match (past_windows, pass_on) {
            (false, _) => Self::in_windows(bytes, pass_on),
            // A slot is a word, and nothing lies in it. What nobody waits for in parts comes as a whole.
            (true, false) => Self { most: bytes.max(1), slots: MOST_SLOTS },
            (true, true) => Self { most: shorter(bytes, 8, MOST_PASSED_ON), slots: MOST_SLOTS },
        }
    }

    /// Of so many that come along one way through a window, from where some may pass them on or combine those of several.
    pub(crate) fn in_windows(bytes: usize, pass_on: bool) -> Self {
        // Short enough that several are under way.
        let most = if pass_on { shorter(bytes, 4, MOST_CHUNK) } else { shorter(bytes, 2, MOST_TAKEN) };
        Self { most, slots: WINDOW_BYTES / most }
    }
}

fn shorter(bytes: usize, several: usize, most: usize) -> usize {
    (bytes / several).next_power_of_two().clamp(LEAST_CHUNK, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_short_enough_that_several_are_under_way() {
        let cut = |bytes, pass_on| {
            let Cut { most, slots } = Cut::in_windows(bytes, pass_on);
            (most, slots)
        };
        let (few, many) = ((MOST_CHUNK, MOST_SLOTS / 2), (LEAST_CHUNK, MOST_SLOTS));
        let passed_on = [0, 1, 256 << 10, (256 << 10) + 8, 1 << 30].map(|bytes| cut(bytes, true));
        assert_eq!(passed_on, [many, many, many, few, few]);
        let taken =
            [0, 128 << 10, (128 << 10) + 8, 512 << 10, 1 << 20, 1 << 30].map(|bytes| cut(bytes, false));
        assert_eq!(taken, [many, many, few, (256 << 10, 4), (MOST_TAKEN, 2), (MOST_TAKEN, 2)]);
        let whole = |bytes| Cut::of(bytes, true, false).most;
        assert_eq!([0, 100, 1 << 30].map(whole), [1, 100, 1 << 30], "nobody waits for a part");
        let passed_on = |bytes| Cut::of(bytes, true, true).most;
        assert_eq!([100, 1 << 30].map(passed_on), [LEAST_CHUNK, MOST_PASSED_ON]);
    }
}
