//! The layout of symmetric statics: offsets of objects in their partition.
//!
//! The layout depends only on the descriptors in the binary and the partitions of the job, so every PE and `shmem-info layout`
//! compute the same layout. Objects are sorted by alignment (largest first), module, name and size, as the linker's order varies.
//!
//! The objects of the k-th partition are laid out from the offset [`colour`]`(k)` on, the partition's *colour*. (If the partition
//! is in a file, k is its ID.) If all partitions started at offset 0, their first objects would map to the same sets of caches and
//! TLB: with a hundred partitions an access took 15 ns instead of 1 ns. A colour is less than an eighth of the partition's size. It
//! is 0 if the statics would not fit behind it.

use shmem_grammar::show_size;

use crate::partition::{PartitionSpec, StaticEntry};
use crate::text::Text;

use super::error::setting;
use super::{MAX_ALIGN, MIN_ALIGN};

/// A static and its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Index of the static in the `entries` that were laid out.
    pub entry: usize,
    /// Bytes from the start of the partition to the static.
    pub offset: u64,
    /// The descriptor of the static.
    pub object: StaticEntry,
}

/// One partition and the statics in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionLayout {
    /// Index of the partition's segment: 1 for the partition with the lowest ID, and so on.
    pub index: u32,
    /// The partition's ID.
    pub id: u32,
    /// The partition's name.
    pub name: Text<32>,
    /// Bytes of the partition.
    pub size: u64,
    /// Offset in the partition from which on the objects are laid out. The first one starts there, or at its next aligned offset.
    pub colour: u64,
    /// Bytes from the start of the partition to the heap, which begins behind the last object.
    pub end: u64,
    /// The statics, in order of their offsets.
    pub objects: Vec<Placed>,
}

/// The layout of a program's statics in the partitions of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The partitions, in order of their IDs.
    pub partitions: Vec<PartitionLayout>,
}

/// The error of statics that cannot be laid out: a partition is too small, or missing, or an alignment is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LayoutError(String);

/// Upper limit on the objects that a [`LayoutError`] lists by name.
const NAMED: usize = 4;

/// Distance of successive colours: a page plus a cache line, so that sets of the TLB and sets of the caches differ.
const COLOUR: u64 = 4096 + MIN_ALIGN as u64;

/// Returns the offset, in bytes, from which on the objects of the `index`-th partition (from 1), of `size` bytes, are laid out.
pub const fn colour(index: u32, size: u64) -> u64 {
    let eighth = size / 8 / MIN_ALIGN as u64 * MIN_ALIGN as u64;
    if eighth == 0 { 0 } else { index as u64 * COLOUR % eighth }
}

/// Lays statics out in the partitions of a job. Fails if statics do not fit in their partition, name a missing partition, or
/// have an invalid alignment. Panics if the partitions are not in order of their IDs.
pub fn layout(entries: &[StaticEntry], partitions: &[PartitionSpec]) -> Result<Layout, LayoutError> {
    let layout = arrange(entries, partitions)?;
    layout.check()?;
    Ok(layout)
}

/// Lays statics out, even those that exceed their partition, for tools that print the excess. Fails if a static names a missing
/// partition, or has an invalid alignment. Panics if the partitions are not in order of their IDs.
pub fn arrange(entries: &[StaticEntry], partitions: &[PartitionSpec]) -> Result<Layout, LayoutError> {
    assert!(partitions.is_sorted_by_key(|p| p.id), "partitions are laid out in order of their IDs");
    let mut objects: Vec<Vec<Placed>> = vec![Vec::new(); partitions.len()];
    for (entry, object) in entries.iter().enumerate() {
        if !object.align.is_power_of_two() || object.align > MAX_ALIGN as u64 {
            let why = format!("has alignment {}, which is no power of two up to {MAX_ALIGN}", object.align);
            return Err(refused(object, &why));
        }
        let name = object.partition.name.as_str();
        let Some(at) = partitions.iter().position(|p| p.name.as_str().eq_ignore_ascii_case(name)) else {
            return Err(refused(object, &format!("wants partition `{name}`, which this job does not have")));
        };
        objects[at].push(Placed { entry, offset: 0, object: *object });
    }
    let mut layout = Vec::with_capacity(partitions.len());
    for (index, (spec, mut objects)) in (1..).zip(partitions.iter().zip(objects)) {
        objects.sort_by_key(|Placed { object: o, .. }| {
            (core::cmp::Reverse(o.align), o.module, o.name, o.size, o.file, o.line)
        });
        // Objects in a file must not move if the job's other partitions change, so their colour depends on the ID.
        let mut colour = colour(if spec.is_in_file() { spec.id } else { index }, spec.size);
        let mut end = place(&mut objects, colour);
        if end > spec.size {
            colour = 0;
            end = place(&mut objects, colour);
        }
        let (id, name, size) = (spec.id, spec.name, spec.size);
        layout.push(PartitionLayout { index, id, name, size, colour, end, objects });
    }
    Ok(Layout { partitions: layout })
}

/// Assigns offsets to the objects from `start` on, and returns the end of the last object; `u64::MAX` on overflow.
fn place(objects: &mut [Placed], start: u64) -> u64 {
    let up = |offset: u64, align: u64| offset.checked_next_multiple_of(align).unwrap_or(u64::MAX);
    let mut end = start;
    for placed in objects {
        placed.offset = up(end, placed.object.align.max(MIN_ALIGN as u64));
        end = placed.offset.saturating_add(placed.object.size);
    }
    up(end, MIN_ALIGN as u64)
}

impl PartitionLayout {
    /// Describes, one per line, the properties that must be equal in all jobs that use the partition's file.
    pub fn describe_kept(&self) -> String {
        let order = if cfg!(target_endian = "little") { "little" } else { "big" };
        let mut text =
            format!("partition {} `{}`, {}-endian, heap from {:#x}\n", self.id, self.name, order, self.end);
        for Placed { offset, object: o, .. } in &self.objects {
            text += &format!("`{}::{}` of {} bytes at {offset:#x}\n", o.module, o.name, o.size);
        }
        text
    }

    /// Checks that the statics fit in the partition. Fails if they need more bytes than the partition has.
    pub fn check(&self) -> Result<(), LayoutError> {
        if self.end <= self.size {
            return Ok(());
        }
        let declarations = self.objects.iter().map(|placed| placed.object.partition);
        let declared = declarations.filter(|d| d.built_in == 0).map(|d| (d.file, d.line)).min();
        let mut largest: Vec<&StaticEntry> = self.objects.iter().map(|placed| &placed.object).collect();
        largest.sort_by_key(|object| core::cmp::Reverse(object.size));
        let show = |o: &&StaticEntry| {
            format!("`{}::{}` {} ({}:{})", o.module, o.name, show_size(o.size), o.file, o.line)
        };
        let largest: Vec<_> = largest.iter().take(NAMED).map(show).collect();
        let declared = declared
            .map_or_else(String::new, |(file, line)| format!(", or raise its `size` at {file}:{line}"));
        Err(LayoutError(format!(
            "the {} symmetric static(s) in partition `{}` need {}, but it has {}; the largest: {}; set {}{declared}",
            self.objects.len(),
            self.name,
            show_size(self.end),
            show_size(self.size),
            largest.join(", "),
            setting(self.id, self.end)
        )))
    }
}

impl Layout {
    /// Checks that the statics fit in every partition. Fails for the first partition that is too small.
    pub fn check(&self) -> Result<(), LayoutError> {
        self.partitions.iter().try_for_each(PartitionLayout::check)
    }

    /// Returns one line per partition and object, with all properties that must be equal on all PEs.
    pub fn describe(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for p in &self.partitions {
            lines.push(format!("partition {} `{}` of {}", p.id, p.name, show_size(p.size)));
            for Placed { offset, object: o, .. } in &p.objects {
                lines.push(format!(
                    "`{}::{}` ({}:{}) of {}, alignment {}, pages of {}, at {offset:#x} in `{}`",
                    o.module,
                    o.name,
                    o.file,
                    o.line,
                    show_size(o.size),
                    o.align,
                    show_size(o.pgsize),
                    p.name
                ));
            }
        }
        lines
    }
}

fn refused(object: &StaticEntry, why: &str) -> LayoutError {
    let StaticEntry { module, name, file, line, .. } = object;
    LayoutError(format!("symmetric static `{module}::{name}` ({file}:{line}) {why}"))
}

#[cfg(test)]
mod tests;
