//! Elements that have numbers, whoever has them.

use core::ops::RangeFull;

use super::distribution::Distribution;
use super::over::Over;
use crate::data::SymmetricData;
use crate::object::{On, PlaceIndex};

/// All elements of a place, or of an object over several PEs: what [`batch`](super::Indexed::batch) and
/// [`gathers`](super::Indexed::gathers) take, and what code that works with either is written over.
#[diagnostic::on_unimplemented(
    message = "the elements of `{Self}` have no numbers",
    label = "neither an array on a PE nor one over several",
    note = "elements are those of `OBJECT.on(pe)` on one PE, and of `OBJECT.over(team, Cyclic)` on those of a team"
)]
pub trait Numbered: sealed::Whole<Element = <Self as Numbered>::Item> {
    /// What they are.
    type Item: SymmetricData;
}

impl<E: SymmetricData, D: Distribution> Numbered for Over<'_, E, D> {
    type Item = E;
}

impl<P: Numbered> Numbered for &P {
    type Item = P::Item;
}

impl<E: SymmetricData> Numbered for On<'_, [E]> {
    type Item = E;
}

impl<E: SymmetricData, const N: usize> Numbered for On<'_, [E; N]>
where
    RangeFull: PlaceIndex<[E; N], Output = [E]>,
{
    type Item = E;
}

pub(super) mod sealed {
    use super::{Distribution, On, Over, PlaceIndex, RangeFull, SymmetricData};
    use crate::indexed::listed::sealed::Spread;

    /// What has elements.
    pub trait Whole {
        /// What they are.
        type Element: SymmetricData;

        /// Where they are.
        fn spread(&self) -> impl Spread<Item = Self::Element> + '_;
    }

    impl<E: SymmetricData, D: Distribution> Whole for Over<'_, E, D> {
        type Element = E;

        fn spread(&self) -> impl Spread<Item = E> + '_ {
            self
        }
    }

    impl<P: Whole> Whole for &P {
        type Element = P::Element;

        fn spread(&self) -> impl Spread<Item = P::Element> + '_ {
            (**self).spread()
        }
    }

    impl<E: SymmetricData> Whole for On<'_, [E]> {
        type Element = E;

        fn spread(&self) -> impl Spread<Item = E> + '_ {
            *self
        }
    }

    impl<E: SymmetricData, const N: usize> Whole for On<'_, [E; N]>
    where
        RangeFull: PlaceIndex<[E; N], Output = [E]>,
    {
        type Element = E;

        fn spread(&self) -> impl Spread<Item = E> + '_ {
            self.index(..)
        }
    }
}
