//! What other PEs have put and this one has not taken yet.
//!
//! A PE takes each value once, so nothing of the start stays behind it, however many PEs there are.

use std::collections::HashMap;

use crate::launch::wire::Value;

/// Values by PE and key.
#[derive(Debug, Default)]
pub(super) struct Visible(HashMap<(usize, String), Vec<u8>>);

impl Visible {
    /// Values that a fence has brought.
    pub(super) fn extend(&mut self, values: Vec<Value>) {
        self.0.extend(values.into_iter().map(|Value { pe, key, value }| ((pe as usize, key), value)));
    }

    /// Takes a value. The table's own room goes with the last one.
    pub(super) fn take(&mut self, pe: usize, key: &str) -> Option<Vec<u8>> {
        let value = self.0.remove(&(pe, key.to_owned()));
        if self.0.is_empty() {
            self.0 = HashMap::new();
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_taken_once() {
        let mut visible = Visible::default();
        let value = |pe, key: &str, value: &[u8]| Value { pe, key: key.to_owned(), value: value.to_owned() };
        visible.extend(vec![value(0, "k", b"1"), value(1, "k", b"2"), value(1, "k", b"3")]);
        assert_eq!(visible.take(2, "k"), None);
        assert_eq!(visible.take(1, "k"), Some(b"3".to_vec()));
        assert_eq!(visible.take(1, "k"), None);
        assert_eq!(visible.take(0, "k"), Some(b"1".to_vec()));
        assert_eq!(visible.0.capacity(), 0);
    }
}
