//! Calls of collectives as data: the collective, the form of its arguments, and the data of each member. All PEs [draw](Call::draw)
//! the same call from equal dice, [make](Maker::make) it, and compare the result with a loop over the members.

mod item;
pub(crate) mod make;

use crate::dice::Dice;
use item::{ANY, INTEGERS, ITEM_TYPES, NUMBERS};
pub(crate) use item::{ItemType, Room};
pub(crate) use make::Maker;

/// Upper limit on the bytes that a PE contributes.
pub(crate) const MOST: usize = 200 << 10;

macro_rules! collectives {
    ($($(#[$doc:meta])* $group:ident of $kinds:ident: $($name:ident)*;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum What {
            $($($name,)*)*
        }

        $(
            $(#[$doc])*
            pub(crate) const $group: &[What] = &[$(What::$name,)*];
        )*

        pub(crate) const ALL: &[What] = &[$($(What::$name,)*)*];

        impl What {
            /// Returns the item types that the collective accepts.
            fn kinds(self) -> &'static [ItemType] {
                let of_groups = [$(($group, &ITEM_TYPES[..$kinds])),*];
                of_groups.iter().find(|(group, _)| group.contains(&self)).map_or(&[], |(_, kinds)| kinds)
            }
        }
    };
}
collectives! {
    EVENTS of ANY: Barrier Sync;
    /// Collectives that move data, with a choice of algorithms.
    MOVES of ANY: Broadcast Fcollect Alltoall;
    LISTS of ANY: Collect CollectInto Alltoalls Alltoallv CollectTo;
    /// Reductions whose result depends on the order. They can be started, [`PARTIALS`] cannot.
    TOTALS of NUMBERS: Sum Prod;
    PARTIALS of NUMBERS: SumInscan SumExscan;
    /// Reductions by an operation of the program, which cannot be started.
    OPERATIONS of ANY: Reduce ReduceScatter;
    /// Reductions whose result does not depend on the order. They can be started.
    EXACT of NUMBERS: Min Max;
    BITS of INTEGERS: And Or Xor;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A slice: `&mut values[..]`, or `&values[..]` if it is only read.
    Slice,
    Value,
    /// A part of an object of the heap, or of an object of the team of all PEs.
    Object,
    /// An object that the team allocates for the call.
    OfTeam,
}

const FORMS: [Form; 4] = [Form::Slice, Form::Value, Form::Object, Form::OfTeam];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) what: What,
    pub(crate) kind: ItemType,
    pub(crate) form: Form,
    /// Number of items of each member; the largest number, if lengths may differ.
    pub(crate) len: usize,
    /// Determines the root and all random data.
    pub(crate) seed: u64,
}

impl Call {
    /// Draws a call of one of these collectives, with up to `most` bytes of each member.
    pub(crate) fn draw(dice: &mut Dice, of: &[What], most: usize) -> Self {
        let what = of[dice.below(of.len())];
        let kinds = what.kinds();
        let kind = kinds[dice.below(kinds.len())];
        let form = FORMS[dice.below(FORMS.len())];
        let powers = (most / 64).ilog2() as usize + 1;
        let bytes = match dice.below(8) {
            0 => 0,
            1 => kind.bytes(),
            2..=3 => dice.below(128),
            // Lengths around those at which algorithms change.
            4..=5 => ((64 << dice.below(powers)) + dice.below(3) * kind.bytes()).saturating_sub(kind.bytes()),
            6 => dice.below(16 << 10),
            _ => dice.below(most + 1),
        };
        let seed = dice.below(1 << 30);
        Self { what, kind, form, len: bytes.min(most) / kind.bytes(), seed }
    }

    fn root(&self, members: usize) -> usize {
        (self.seed >> 7) as usize % members
    }

    /// Returns the form of the destination, if source and destination differ. It is often another form.
    fn form_of_list(&self) -> Form {
        match (self.seed >> 20) as usize % 8 {
            0..4 => self.form,
            other => FORMS[other - 4],
        }
    }

    fn len_of(&self, pe: usize) -> usize {
        match mixed(self.seed, pe, 1) % 4 {
            0 => 0,
            1 => self.len,
            part => (part >> 2) as usize % (self.len + 1),
        }
    }
}

/// Returns the number of items that a PE sends to another PE, at most `most`.
fn len_between(seed: u64, from: usize, to: usize, most: usize) -> usize {
    match mixed(seed, from, 1 + to) % 8 {
        0..=3 => 0,
        4 => most,
        part => (part >> 3) as usize % (most + 1),
    }
}

/// Returns a pseudo-random word for an item of a PE.
fn mixed(seed: u64, pe: usize, item: usize) -> u64 {
    let word = seed ^ (pe as u64) << 40 ^ (item as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let word = (word ^ word >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word ^ word >> 32
}
