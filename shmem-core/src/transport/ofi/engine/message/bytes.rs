//! Numbers and patterns in the bytes of a message.

use super::super::fault::Flaw;
use super::{SIGNAL, Spot};
use crate::strided::{Level, MAX_LEVELS, Pattern};
use crate::transport::SignalOp;

/// Bytes that are read from the front. Only what was [required](Self::require) may be.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn require(&self, bytes: usize) -> Result<(), Flaw> {
        if self.0.len() < bytes { Err(Flaw::Length) } else { Ok(()) }
    }

    pub(super) fn take(&mut self, bytes: usize) -> &'a [u8] {
        let (taken, left) = self.0.split_at(bytes);
        self.0 = left;
        taken
    }

    pub(super) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(N));
        bytes
    }

    pub(super) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.bytes())
    }

    pub(super) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.bytes())
    }

    pub(super) fn size(&mut self) -> Result<usize, Flaw> {
        usize::try_from(self.u64()).map_err(|_| Flaw::Blocks)
    }

    /// The block and its loops, outermost first, each made by `level` of its count, its distance at the target
    /// and its distance in the packed data.
    pub(super) fn pattern(
        &mut self,
        depth: u8,
        most: usize,
        level: impl Fn(usize, usize, usize) -> Level,
    ) -> Result<Pattern, Flaw> {
        let (block, depth) = (self.size()?, usize::from(depth));
        if depth > MAX_LEVELS {
            return Err(Flaw::Operation);
        }
        self.require(16 * depth)?;
        let mut loops = [(1, 0); MAX_LEVELS];
        for each in &mut loops[..depth] {
            *each = (self.size()?, self.size()?);
        }
        let (mut packed, mut hull) = (block, block);
        let mut levels = [Level::ONCE; MAX_LEVELS];
        for (level_of, &(count, distance)) in levels[..depth].iter_mut().zip(&loops[..depth]).rev() {
            *level_of = level(count, distance, packed);
            packed =
                packed.checked_mul(count).filter(|&bytes| 0 < bytes && bytes <= most).ok_or(Flaw::Blocks)?;
            hull = count.checked_mul(distance).and_then(|all| hull.checked_add(all)).ok_or(Flaw::Blocks)?;
        }
        if packed > most || hull > isize::MAX as usize {
            return Err(Flaw::Blocks);
        }
        Ok(Pattern::of_levels(block, &levels[..depth]))
    }

    pub(super) fn signal(&mut self, code: u8) -> Result<Option<(Spot, SignalOp)>, Flaw> {
        let op: fn(u64) -> SignalOp = match code {
            0 => return Ok(None),
            1 => SignalOp::Set,
            2 => SignalOp::Add,
            _ => return Err(Flaw::Operation),
        };
        self.require(SIGNAL)?;
        let segment = self.u32();
        self.u32();
        Ok(Some((Spot { segment, offset: self.size()? }, op(self.u64()))))
    }
}

/// A buffer that is written from the front.
pub(super) struct Writer<'a>(pub(super) &'a mut [u8]);

impl Writer<'_> {
    fn bytes(&mut self, bytes: &[u8]) {
        let (written, left) = core::mem::take(&mut self.0).split_at_mut(bytes.len());
        written.copy_from_slice(bytes);
        self.0 = left;
    }

    pub(super) fn u32(&mut self, number: u32) {
        self.bytes(&number.to_le_bytes());
    }

    pub(super) fn u64(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    pub(super) fn head(&mut self, kind: [u8; 4], from: u32, number: u32, segment: u32) {
        self.bytes(&kind);
        self.u32(from);
        self.u32(number);
        self.u32(segment);
    }

    pub(super) fn pattern(&mut self, pattern: &Pattern, distance: impl Fn(&Level) -> usize) {
        self.u64(pattern.block() as u64);
        for level in pattern.levels() {
            self.u64(level.count as u64);
            self.u64(distance(level) as u64);
        }
    }
}
