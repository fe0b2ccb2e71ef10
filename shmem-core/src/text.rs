//! Pieces of texts: counts, the first difference, enums with keyword names, and short texts of fixed size for records that other
//! processes and tools read. The latter have no pointers, so a
//! descriptor can be read from a binary that is not running, and a record from a PE that died.

/// UTF-8 of at most `N` bytes, padded with zero bytes. A longer text keeps its end (paths) or its beginning (names), with `..` at
/// the cut. If `N` < 2, a longer text is empty.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Text<const N: usize>([u8; N]);

const MARK: usize = "..".len();

impl<const N: usize> Text<N> {
    /// The empty text.
    pub const EMPTY: Self = Self([0; N]);

    /// Returns the text `s`. If it is too long, its end is cut, and `..` stands in its place.
    pub const fn head(s: &str) -> Self {
        let s = s.as_bytes();
        let mut t = [0; N];
        let cut = s.len() > N;
        if cut && N < MARK {
            return Self(t);
        }
        let keep = if cut { boundary_before(s, N - MARK) } else { s.len() };
        copy(&mut t, 0, s, 0, keep);
        if cut {
            t[keep] = b'.';
            t[keep + 1] = b'.';
        }
        Self(t)
    }

    /// Returns the text `s`. If it is too long, its beginning is cut, and `..` stands in its place.
    pub const fn tail(s: &str) -> Self {
        let s = s.as_bytes();
        let mut t = [0; N];
        if s.len() <= N {
            copy(&mut t, 0, s, 0, s.len());
        } else if N >= MARK {
            t[0] = b'.';
            t[1] = b'.';
            let from = boundary_after(s, s.len() - (N - MARK));
            copy(&mut t, MARK, s, from, s.len() - from);
        }
        Self(t)
    }

    /// The text.
    pub const fn as_str(&self) -> &str {
        let mut n = 0;
        while n < N && self.0[n] != 0 {
            n += 1;
        }
        match core::str::from_utf8(self.0.split_at(n).0) {
            Ok(s) => s,
            Err(_) => "(unreadable)",
        }
    }

    /// Makes a text from its bytes in a record or in a section of a binary.
    pub const fn from_bytes(bytes: [u8; N]) -> Self {
        Self(bytes)
    }

    /// The bytes of the text, for [`from_bytes`](Self::from_bytes).
    pub const fn into_bytes(self) -> [u8; N] {
        self.0
    }

    /// Whether the text is empty.
    pub const fn is_empty(&self) -> bool {
        N == 0 || self.0[0] == 0
    }
}

impl<const N: usize> core::fmt::Display for Text<N> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.as_str())
    }
}

impl<const N: usize> core::fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

const fn copy<const N: usize>(to: &mut [u8; N], at: usize, from: &[u8], start: usize, n: usize) {
    let mut i = 0;
    while i < n {
        to[at + i] = from[start + i];
        i += 1;
    }
}

const fn is_boundary(s: &[u8], i: usize) -> bool {
    i == s.len() || s[i] & 0xC0 != 0x80
}

const fn boundary_before(s: &[u8], mut i: usize) -> usize {
    while !is_boundary(s, i) {
        i -= 1;
    }
    i
}

const fn boundary_after(s: &[u8], mut i: usize) -> usize {
    while !is_boundary(s, i) {
        i += 1;
    }
    i
}

/// A count with its noun, given in singular: `1 PE`, `3 processes`.
pub fn counted(count: usize, noun: &str) -> String {
    let ending = match count {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// Defines enums whose values have names: constants `ALL` and `NAMES` in the order of declaration, and a method `name`.
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    ($(
        $(#[$of:meta])*
        pub enum $enum:ident { $($(#[$doc:meta])* $value:ident = $name:literal,)* }
    )*) => {$(
        $(#[$of])*
        pub enum $enum {
            $($(#[$doc])* $value,)*
        }

        impl $enum {
            /// All values, in the order of declaration.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$value),*];

            /// The names of all values, in the order of declaration.
            pub const NAMES: [&'static str; Self::ALL.len()] = [$($name),*];

            /// The value's name.
            pub const fn name(self) -> &'static str {
                Self::NAMES[self as usize]
            }
        }
    )*};
}
#[doc(hidden)]
pub use named;

/// Returns, of each of two texts, the first line in which they differ.
pub fn first_difference<'t>(a: &'t str, b: &'t str) -> (&'t str, &'t str) {
    let (mut a, mut b) = (a.lines(), b.lines());
    loop {
        match (a.next(), b.next()) {
            (Some(x), Some(y)) if x == y => {}
            (x, y) => return (x.unwrap_or("nothing more"), y.unwrap_or("nothing more")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands in the room of `N` bytes.
    fn stand<const N: usize>(text: &str) -> (String, String) {
        (Text::<N>::head(text).to_string(), Text::<N>::tail(text).to_string())
    }

    #[test]
    fn where_there_is_little_room_nothing_more_than_the_cut_is_seen() {
        let both = |text: &str| (text.to_owned(), text.to_owned());
        assert_eq!(
            [stand::<0>(""), stand::<0>("ab"), stand::<1>("ab"), stand::<1>("ü")],
            [(); 4].map(|()| both(""))
        );
        assert_eq!([stand::<1>("a"), stand::<2>("ab")], [both("a"), both("ab")]);
        assert_eq!([stand::<2>("abc"), stand::<3>("üü")], [(); 2].map(|()| both("..")));
        assert_eq!(stand::<3>("abcd"), ("a..".to_owned(), "..d".to_owned()));
    }

    #[test]
    fn short_texts_stand_whole_long_ones_are_cut_at_a_character() {
        assert_eq!(Text::<8>::head("GRID").as_str(), "GRID");
        assert_eq!(Text::<8>::head("abcdefgh").as_str(), "abcdefgh");
        assert_eq!(Text::<8>::head("abcdefghi").as_str(), "abcdef..");
        assert_eq!(Text::<8>::tail("src/main.rs").as_str(), "..ain.rs");
        assert_eq!(Text::<8>::head("aaaaaüüü").as_str(), "aaaaa..");
        assert_eq!(Text::<8>::tail("üüüaaaaa").as_str(), "..aaaaa");
        assert!(Text::<8>::EMPTY.is_empty());
    }
}
