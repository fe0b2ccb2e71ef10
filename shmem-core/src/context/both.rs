//! Tuples in collectives: several values of different types that go together.

use bytemuck::{Pod, Zeroable};

use super::contribution::Contribution;
use crate::data::{PlainData, SymmetricData};
use crate::endpoint::Initiator;

/// What a tuple is on its way between PEs: two values, one behind the other. Of three and four the second one is such a pair.
#[derive(Clone, Copy)]
#[repr(C, packed)]
pub struct Both<A, B>(A, B);

impl<A: Copy, B: Copy> Both<A, B> {
    /// Two values together.
    pub const fn new(one: A, other: B) -> Self {
        Self(one, other)
    }

    /// Each combined with its like.
    pub fn join(self, with: Self, one: impl Fn(A, A) -> A, other: impl Fn(B, B) -> B) -> Self {
        Self(one(self.0, with.0), other(self.1, with.1))
    }

    /// Something made of each.
    pub fn each(self, one: impl Fn(A) -> A, other: impl Fn(B) -> B) -> Self {
        Self(one(self.0), other(self.1))
    }
}

// SAFETY: both may be zero, and there is nothing besides them.
unsafe impl<A: Zeroable, B: Zeroable> Zeroable for Both<A, B> {}
// SAFETY: packed: no padding, and every pattern is a value of both.
unsafe impl<A: Pod, B: Pod> Pod for Both<A, B> {}
// SAFETY: packed: no padding, no pointer, and every pattern is a value of both, the same in all processes.
unsafe impl<A: SymmetricData, B: SymmetricData> SymmetricData for Both<A, B> {}

macro_rules! tuples {
    ($($($name:ident: $T:ident),+ => $both:ty = $nested:pat, $made:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: it lies in memory of the program: no place is given.
        unsafe impl<$($T: PlainData),+> Contribution<Self> for ($($T,)+) {
            type Item = $both;

            fn read<O>(&self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&[$both]) -> O) -> O {
                let ($($name,)+) = *self;
                collective(&[$made])
            }

            fn changed(self) -> Self {
                self
            }

            fn change(mut self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&mut [$both])) -> Self {
                (&mut self).change(token, collective);
                self
            }
        }

        #[diagnostic::do_not_recommend]
        // SAFETY: it lies in memory of the program: no place is given.
        unsafe impl<$($T: PlainData),+> Contribution<()> for &mut ($($T,)+) {
            type Item = $both;

            fn read<O>(&self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&[$both]) -> O) -> O {
                (**self).read(token, collective)
            }

            fn changed(self) {}

            fn change(self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&mut [$both])) {
                let ($($name,)+) = *self;
                let mut both = [$made];
                collective(&mut both);
                let [$nested] = both;
                *self = ($($name,)+);
            }
        }
    )*};
}
tuples! {
    a: A, b: B => Both<A, B> = Both(a, b), Both(a, b);
    a: A, b: B, c: C => Both<A, Both<B, C>> = Both(a, Both(b, c)), Both(a, Both(b, c));
    a: A, b: B, c: C, d: D => Both<A, Both<B, Both<C, D>>> = Both(a, Both(b, Both(c, d))), Both(a, Both(b, Both(c, d)));
}
