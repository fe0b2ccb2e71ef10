//! Names of cases: what they say, and how they are written in JSON, in CSV and in documents.
//!
//! A measure's names are an enum, and each of its lines says all about one: the measure as it is written, and the pieces of
//! the case. What writes a name and what reads it are made of the same line, so that one undoes the other; and a case that
//! does not exist cannot be asked for, by a goal, a guard, or a section of the report.

use std::borrow::Cow;
use std::fmt;

/// The name of a case. Displayed, it is the case alone: `put/127/8`.
pub trait CaseName: fmt::Display + Sized {
    /// What measure it is of: `lookup-published`.
    fn measure(&self) -> &'static str;

    /// The name that is written so, if it is one of these.
    fn parse(measure: &str, case: &str) -> Option<Self>;
}

/// A part of a case: a number, or a word of a list. Parts are separated by strokes.
pub trait Part: Sized {
    /// Takes it from the beginning of what is left of a case; nothing is left behind the last part.
    fn take(rest: &mut Option<&str>) -> Option<Self>;

    /// As it is written.
    fn show(&self) -> Cow<'static, str>;
}

/// What is before the next stroke.
pub(crate) fn piece<'a>(rest: &mut Option<&'a str>) -> Option<&'a str> {
    let all = rest.take()?;
    let Some((first, behind)) = all.split_once('/') else { return Some(all) };
    *rest = Some(behind);
    Some(first)
}

/// The longest of some words that what is left begins with. Words may have strokes in them.
pub(crate) fn word<T: Copy>(
    rest: &mut Option<&str>,
    words: impl Iterator<Item = (T, &'static str)>,
) -> Option<T> {
    let all = (*rest)?;
    let behind = |word: &str| match all.strip_prefix(word)? {
        "" => Some(None),
        behind => behind.strip_prefix('/').map(Some),
    };
    let found = words.filter_map(|(value, word)| Some((value, word.len(), behind(word)?)));
    let (value, _, behind) = found.max_by_key(|(_, length, _)| *length)?;
    *rest = behind;
    Some(value)
}

impl Part for usize {
    fn take(rest: &mut Option<&str>) -> Option<Self> {
        let text = piece(rest)?;
        text.parse().ok().filter(|number: &Self| number.to_string() == text)
    }

    fn show(&self) -> Cow<'static, str> {
        self.to_string().into()
    }
}

/// A name that is not ours: of a provider, of a problem.
impl Part for String {
    fn take(rest: &mut Option<&str>) -> Option<Self> {
        piece(rest).map(Self::from)
    }

    fn show(&self) -> Cow<'static, str> {
        self.clone().into()
    }
}

/// Two numbers, `512x32`: of rows and of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape(pub [usize; 2]);

impl Part for Shape {
    fn take(rest: &mut Option<&str>) -> Option<Self> {
        let (rows, columns) = piece(rest)?.split_once('x')?;
        let number = |text| usize::take(&mut Some(text));
        Some(Self([number(rows)?, number(columns)?]))
    }

    fn show(&self) -> Cow<'static, str> {
        format!("{}x{}", self.0[0], self.0[1]).into()
    }
}

/// Defines the names of a measure's cases: `Batch(design: Design, bytes: usize) = "tracking": [design / bytes];`.
macro_rules! names {
    ($(
        $(#[doc = $doc:literal])*
        $variant:ident $(($($field:ident: $type:ty),*))? = $measure:literal: [$($piece:tt)/+];
    )*) => {
        /// The names of its cases.
        #[allow(unreachable_pub, reason = "tests have names of their own")]
        #[derive(Clone, Debug, PartialEq)]
        pub enum Name {
            $(
                #[doc = concat!("A case of `", $measure, "`.")]
                $(#[doc = $doc])*
                $variant $(($($type),*))?,
            )*
        }

        impl $crate::name::CaseName for Name {
            fn measure(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $measure,)*
                }
            }

            fn parse(measure: &str, case: &str) -> Option<Self> {
                $(
                    if measure == $measure {
                        let take = || {
                            let mut rest = Some(case);
                            $($crate::name::names!(@take rest $piece);)+
                            rest.is_none().then_some(Self::$variant $(($($field),*))?)
                        };
                        if let Some(name) = take() {
                            return Some(name);
                        }
                    }
                )*
                None
            }
        }

        impl std::fmt::Display for Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(Self::$variant $(($($field),*))? => {
                        let pieces = [$($crate::name::names!(@show $piece)),+];
                        f.write_str(&pieces.join("/"))
                    })*
                }
            }
        }
    };
    (@take $rest:ident $text:literal) => {
        if $crate::name::literal(&mut $rest)? != $text {
            return None;
        }
    };
    (@take $rest:ident $field:ident) => { let $field = $crate::name::Part::take(&mut $rest)?; };
    (@show $text:literal) => { std::borrow::Cow::Borrowed($text) };
    (@show $field:ident) => { $crate::name::Part::show($field) };
}
pub(crate) use names;

/// What stands where a name has always the same.
pub(crate) fn literal<'a>(rest: &mut Option<&'a str>) -> Option<&'a str> {
    piece(rest)
}

/// Defines a list of words: `Direction { Put = "put", Get = "get" }`.
macro_rules! words {
    ($(#[doc = $doc:literal])* $name:ident { $($(#[doc = $of:literal])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[doc = $doc])*
        #[allow(unreachable_pub, reason = "tests have words of their own")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $(#[doc = concat!("`", $word, "`")] $(#[doc = $of])* $variant),* }

        #[allow(unreachable_pub, reason = "tests have words of their own")]
        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// As it is written.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }

        $crate::name::listed!($name, $name::ALL);
    };
}
pub(crate) use words;

/// Makes parts of values that are listed and have a `name`.
macro_rules! listed {
    ($type:ty, $all:expr) => {
        impl $crate::name::Part for $type {
            fn take(rest: &mut Option<&str>) -> Option<Self> {
                $crate::name::word(rest, $all.iter().map(|value| (*value, value.name())))
            }

            fn show(&self) -> std::borrow::Cow<'static, str> {
                self.name().into()
            }
        }
    };
}
pub(crate) use listed;

/// That names are read as they are written.
#[cfg(test)]
pub(crate) fn undone<N: CaseName + PartialEq + fmt::Debug>(
    names: impl IntoIterator<Item = (N, &'static str)>,
) {
    for (name, written) in names {
        assert_eq!(name.to_string(), written);
        assert_eq!(N::parse(name.measure(), written).as_ref(), Some(&name), "{written}");
        for other in [format!("{written}/"), format!("{written}/more"), format!("x{written}"), String::new()]
        {
            assert_eq!(N::parse(name.measure(), &other).filter(|found| *found == name), None, "{other}");
        }
        assert_eq!(N::parse("no-measure", written), None);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    words! {
        /// Words of which one begins another.
        Way { Plain = "index", Deep = "index/2", Other = "iter" }
    }

    names! {
        Fixed = "fixed": ["8"];
        Numbers(a: usize, b: usize) = "numbers": [a / "of" / b];
        Words(way: Way, bytes: usize) = "words": [way / bytes];
        Alone(way: Way) = "words": [way];
        Whose(shape: Shape, whose: String) = "whose": [shape / whose];
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(a: usize, b: usize, whose in "[a-z0-9;^_]*") {
            let names = [
                Name::Numbers(a, b), Name::Whose(Shape([a, b]), whose), Name::Fixed, Name::Words(Way::Deep, a),
                Name::Words(Way::Plain, a), Name::Alone(Way::Deep), Name::Alone(Way::Other),
            ];
            for name in names {
                let read = Name::parse(name.measure(), &name.to_string());
                // What two lines write alike is the first of them.
                let same = read.as_ref().is_some_and(|read| read.to_string() == name.to_string());
                prop_assert!(same, "{:?}", name);
            }
        }

        #[test]
        fn what_is_read_is_written_again(measure in "fixed|numbers|words|whose", case in "[a-z0-9/;]{0,12}") {
            if let Some(name) = Name::parse(&measure, &case) {
                prop_assert_eq!((name.measure(), name.to_string()), (&*measure, case));
            }
        }
    }

    #[test]
    fn pieces_are_all_there_and_nothing_else() {
        undone([
            (Name::Fixed, "8"),
            (Name::Numbers(1, 20), "1/of/20"),
            (Name::Words(Way::Deep, 8), "index/2/8"),
            (Name::Whose(Shape([1, 2]), "a;b".into()), "1x2/a;b"),
        ]);
        for (measure, case) in
            [("numbers", "01/of/2"), ("numbers", "1/off/2"), ("words", "index/"), ("fixed", "80")]
        {
            assert_eq!(Name::parse(measure, case), None, "{measure} {case}");
        }
    }
}
