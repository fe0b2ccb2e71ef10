//! Compile-time formatting of error texts.
//!
//! A panic in a constant can show a `&str`, but cannot format values. [`Message`] formats names and numbers in `const fn`s, so that
//! a compile error names the program's own types and values: "`Particle` has 4 byte(s) of padding".

/// A text under construction. Text beyond `MAX` bytes is cut.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    bytes: [u8; Self::MAX],
    len: usize,
}

impl Message {
    /// Longest text, in bytes.
    pub const MAX: usize = 512;

    /// Returns the empty text.
    pub const fn new() -> Self {
        Self { bytes: [0; Self::MAX], len: 0 }
    }

    /// Appends a text.
    #[must_use]
    pub const fn text(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let room = Self::MAX - self.len;
        let mut take = if text.len() < room { text.len() } else { room };
        // Cuts between characters only.
        while take < text.len() && text[take] & 0xC0 == 0x80 {
            take -= 1;
        }
        let mut i = 0;
        while i < take {
            self.bytes[self.len + i] = text[i];
            i += 1;
        }
        self.len += take;
        self
    }

    /// Appends a number, in decimal.
    #[must_use]
    pub const fn number(self, number: u64) -> Self {
        let mut digits = [0; 20];
        let mut first = digits.len();
        let mut rest = number;
        loop {
            first -= 1;
            digits[first] = b"0123456789"[(rest % 10) as usize];
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        match core::str::from_utf8(digits.split_at(first).1) {
            Ok(digits) => self.text(digits),
            Err(_) => self,
        }
    }

    /// The text.
    pub const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "(unreadable)",
        }
    }
}

/// Panics with a text that is made of literals, `(text)` expressions, and `[number]` expressions.
macro_rules! refuse {
    (@ $message:expr;) => {{
        let message = $message;
        panic!("{}", message.as_str())
    }};
    (@ $message:expr; $text:literal $($rest:tt)*) => { refuse!(@ $message.text($text); $($rest)*) };
    (@ $message:expr; ($text:expr) $($rest:tt)*) => { refuse!(@ $message.text($text); $($rest)*) };
    (@ $message:expr; [$number:expr] $($rest:tt)*) => { refuse!(@ $message.number($number as u64); $($rest)*) };
    ($($part:tt)*) => { refuse!(@ $crate::const_format::Message::new(); $($part)*) };
}
pub(crate) use refuse;

impl Default for Message {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::Message;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_what_format_gives(name in "\\PC{0,20}", number: u64) {
            let message = Message::new().text("`").text(&name).text("` has ").number(number);
            prop_assert_eq!(message.as_str(), format!("`{name}` has {number}"));
        }

        #[test]
        fn what_is_too_long_is_cut_between_characters(text in "\\PC{0,600}") {
            let message = Message::new().text(&text);
            let shown = message.as_str();
            prop_assert!(text.starts_with(shown));
            prop_assert!(shown.len() == text.len() || shown.len() > Message::MAX - 4);
        }
    }
}
