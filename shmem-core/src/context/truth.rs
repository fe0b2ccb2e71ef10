//! Truth values in collectives that combine bits.

use bytemuck::{Pod, Zeroable};

use super::contribution::Contribution;
use crate::data::SymmetricData;
use crate::endpoint::Initiator;

/// What a `bool` is on its way between PEs: 1 or 0. Every other byte is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Truth(u8);

impl Truth {
    /// Both are true.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.is_true() as u8 & other.is_true() as u8)
    }

    /// One of them is true, or both are.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.is_true() as u8 | other.is_true() as u8)
    }

    /// One of them is true.
    #[must_use]
    pub const fn xor(self, other: Self) -> Self {
        Self(self.is_true() as u8 ^ other.is_true() as u8)
    }

    const fn is_true(self) -> bool {
        self.0 != 0
    }
}

// SAFETY: transparent over a byte, which may be zero.
unsafe impl Zeroable for Truth {}
// SAFETY: transparent over a byte: no padding, no pointer, and every pattern is a value.
unsafe impl Pod for Truth {}
// SAFETY: transparent over a byte: no padding, no pointer, and every pattern is a value, the same in all processes.
unsafe impl SymmetricData for Truth {}

#[diagnostic::do_not_recommend]
// SAFETY: it lies in memory of the program: no place is given.
unsafe impl Contribution<Self> for bool {
    type Item = Truth;

    fn read<O>(&self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&[Truth]) -> O) -> O {
        collective(&[Truth(u8::from(*self))])
    }

    fn changed(self) -> Self {
        self
    }

    fn change(mut self, token: &(impl Initiator + ?Sized), collective: impl FnOnce(&mut [Truth])) -> Self {
        (&mut self).change(token, collective);
        self
    }
}

#[diagnostic::do_not_recommend]
// SAFETY: it lies in memory of the program: no place is given.
unsafe impl Contribution<()> for &mut bool {
    type Item = Truth;

    fn read<O>(&self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&[Truth]) -> O) -> O {
        collective(&[Truth(u8::from(**self))])
    }

    fn changed(self) {}

    fn change(self, _: &(impl Initiator + ?Sized), collective: impl FnOnce(&mut [Truth])) {
        let mut truth = [Truth(u8::from(*self))];
        collective(&mut truth);
        *self = truth[0].is_true();
    }
}
