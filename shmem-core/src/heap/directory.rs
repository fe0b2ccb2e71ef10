//! The directory of names of a heap that survives its job.
//!
//! It lies on the heap itself, so a persist covers it together with what it names: a list of chunks, the
//! first of which is the first block of the heap. Here it is a value, which is read from chunks once and written
//! to them after each change. Words are those of the processor: a file says in its layout which end they begin with.

use std::collections::BTreeSet;

use shmem_grammar::show_size;

use crate::fingerprint::fingerprint;
use crate::text::Text;

/// Bytes of a chunk.
pub const CHUNK_BYTES: usize = 4096;

/// Bytes of a name, at most.
pub const MAX_NAME: usize = 64;

const ENTRY: usize = 128;
const PER_CHUNK: usize = CHUNK_BYTES / ENTRY - 1;
const MAGIC: u64 = u64::from_ne_bytes(*b"shmnames");

/// Bytes in front of the checksum of a chunk.
const HEAD: usize = 24;

/// An object with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Named {
    /// Its name.
    pub name: String,
    /// What its items are, as the program that made it calls them.
    pub kind: String,
    /// Number of items.
    pub items: usize,
    /// Bytes of an item.
    pub item_bytes: usize,
    /// Alignment in bytes.
    pub align: usize,
    /// Bytes from the start of the partition.
    pub offset: usize,
}

/// A name cannot be used, or what has it is something else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "fields are what messages name them")]
#[non_exhaustive]
pub enum NameError {
    /// Not a name.
    #[error(
        "`{name}` cannot name an object: {fault}; a name has 1 to {MAX_NAME} bytes, and none that do not print"
    )]
    Name { name: String, fault: &'static str },
    /// Items larger than the file says of any.
    #[error(
        "`{name}` cannot name an object whose items have {} each: they may have less than 4G; take more items that are smaller",
        show_size(*.item_bytes as u64)
    )]
    Large { name: String, item_bytes: usize },
    /// An object of another length or type has the name.
    #[error(
        "`{name}` is {} in the file of partition `{partition}`, and {} is asked for; ask for the same, or remove the name first",
        .found, .asked
    )]
    Other { name: String, partition: String, found: String, asked: String },
    /// No object has the name.
    #[error("partition `{partition}` has no object `{name}`{hint}")]
    Missing { name: String, partition: String, hint: String },
    /// The partition does not survive the job.
    #[error(
        "partition `{partition}` does not outlive the job, so its objects have no names; give it KIND=PMEM and PMEM=<path>"
    )]
    NotInFile { partition: String },
}

impl Named {
    /// An object that has no place yet.
    ///
    /// # Errors
    ///
    /// If the name cannot be one.
    pub fn new(
        name: &str,
        kind: &str,
        items: usize,
        item_bytes: usize,
        align: usize,
    ) -> Result<Self, NameError> {
        let fault = match name {
            "" => "it is empty",
            _ if name.len() > MAX_NAME => "it is too long",
            _ if name.chars().any(char::is_control) => "it contains a character that does not print",
            // As much as there is room for.
            _ if item_bytes > u32::MAX as usize => {
                return Err(NameError::Large { name: name.into(), item_bytes });
            }
            _ => {
                let kind = Text::<40>::head(kind).as_str().to_owned();
                return Ok(Self { name: name.into(), kind, items, item_bytes, align, offset: 0 });
            }
        };
        Err(NameError::Name { name: name.escape_debug().to_string(), fault })
    }

    /// Bytes.
    pub fn bytes(&self) -> usize {
        self.items.saturating_mul(self.item_bytes)
    }

    /// Whether a program that asks for `other` gets what this is. The names of types are compared where all
    /// compilers agree on them: those of numbers and of arrays of numbers.
    pub fn is_like(&self, other: &Self) -> bool {
        let plain = |kind: &str| !kind.contains("::") && !kind.contains("..");
        let size = |one: &Self| (one.items, one.item_bytes, one.align);
        size(self) == size(other) && (self.kind == other.kind || !plain(&self.kind) || !plain(&other.kind))
    }

    /// In words: `100 x f64 (8 bytes each)`.
    pub fn describe(&self) -> String {
        format!("{} x {} ({} bytes each, alignment {})", self.items, self.kind, self.item_bytes, self.align)
    }

    fn encode(&self) -> [u8; ENTRY] {
        let mut entry = [0; ENTRY];
        let (name, rest) = entry.split_at_mut(MAX_NAME);
        let (sizes, kind) = rest.split_at_mut(size_of::<[u64; 3]>());
        name[..self.name.len()].copy_from_slice(self.name.as_bytes());
        let item = (self.item_bytes as u64) << 32 | self.align as u64;
        sizes.copy_from_slice(bytemuck::bytes_of(&[self.offset as u64, self.items as u64, item]));
        kind[..self.kind.len()].copy_from_slice(self.kind.as_bytes());
        entry
    }

    /// Whoever knows the checksum can write anything; where an object lies is for the ledger to judge.
    fn decode(entry: &[u8]) -> Option<Self> {
        let text = |bytes: &[u8]| {
            let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
            Some(core::str::from_utf8(bytes).ok()?.to_owned())
        };
        let (name, rest) = entry.split_at(MAX_NAME);
        let (sizes, kind) = rest.split_at(size_of::<[u64; 3]>());
        let [offset, items, item] = bytemuck::pod_read_unaligned::<[u64; 3]>(sizes).map(|word| word as usize);
        let (item_bytes, align, kind) = (item >> 32, item & 0xffff_ffff, text(kind)?);
        items.checked_mul(item_bytes)?;
        let is_type = align.is_power_of_two() && item_bytes.is_multiple_of(align);
        let is_text = !kind.chars().any(char::is_control);
        let named = Self::new(&text(name)?, &kind, items, item_bytes, align).ok();
        Some(Self { offset, ..named.filter(|_| is_type && is_text)? })
    }
}

/// The names of a heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    objects: Vec<Named>,
    /// Where the chunks are: bytes from the start of the partition.
    chunks: Vec<usize>,
}

impl Directory {
    /// Without names, with its first chunk.
    pub fn new(chunk: usize) -> Self {
        Self { objects: Vec::new(), chunks: vec![chunk] }
    }

    /// From chunks, the first of which is at `chunk`; `read` gives the bytes of one.
    ///
    /// # Errors
    ///
    /// If it is damaged: what is wrong, in words.
    pub fn read(
        chunk: usize,
        mut read: impl FnMut(usize) -> Option<[u8; CHUNK_BYTES]>,
    ) -> Result<Self, String> {
        let mut directory = Self { objects: Vec::new(), chunks: Vec::new() };
        let mut seen = BTreeSet::new();
        let mut next = chunk;
        while directory.chunks.is_empty() || next != 0 {
            let wrong = |what| Err(format!("its list of names {what} at {next:#x}"));
            let Some(bytes) = read(next) else { return wrong("leads out of the heap") };
            if !seen.insert(next) {
                return wrong("leads to itself");
            }
            let [magic, behind, count, written] = head(&bytes);
            if magic != MAGIC || written != sum(&bytes) {
                return wrong("is not what was written");
            }
            if count > PER_CHUNK as u64 {
                return wrong("has more names than there is room for");
            }
            let entries = bytes[ENTRY..].chunks_exact(ENTRY).take(count as usize);
            for object in entries.map(Named::decode) {
                let Some(object) = object else { return wrong("has what is no name of an object") };
                directory.objects.push(object);
            }
            directory.chunks.push(next);
            next = behind as usize;
        }
        let mut names = BTreeSet::new();
        match directory.objects.iter().find(|object| !names.insert(object.name.as_str())) {
            Some(object) => Err(format!("its list has the name `{}` twice", object.name)),
            None => Ok(directory),
        }
    }

    /// Its chunks: where they belong, and their bytes.
    pub fn write(&self) -> Vec<(usize, [u8; CHUNK_BYTES])> {
        let mut objects = self.objects.chunks(PER_CHUNK);
        let chunk = |(k, &at): (usize, &usize)| {
            let objects = objects.next().unwrap_or_default();
            let next = self.chunks.get(k + 1).copied().unwrap_or(0);
            let mut bytes = [0; CHUNK_BYTES];
            bytes[..HEAD].copy_from_slice(bytemuck::bytes_of(&[MAGIC, next as u64, objects.len() as u64]));
            for (to, object) in bytes[ENTRY..].chunks_exact_mut(ENTRY).zip(objects) {
                to.copy_from_slice(&object.encode());
            }
            let sum = sum(&bytes);
            bytes[HEAD..HEAD + 8].copy_from_slice(bytemuck::bytes_of(&sum));
            (at, bytes)
        };
        self.chunks.iter().enumerate().map(chunk).collect()
    }

    /// The objects, in the order in which they were made.
    pub fn objects(&self) -> &[Named] {
        &self.objects
    }

    /// Where its chunks are: bytes from the start of the partition.
    pub fn chunks(&self) -> &[usize] {
        &self.chunks
    }

    /// The object with a name.
    pub fn find(&self, name: &str) -> Option<&Named> {
        self.objects.iter().find(|object| object.name == name)
    }

    /// Whether another chunk is needed before a name can be added.
    pub fn is_full(&self) -> bool {
        self.objects.len() >= self.chunks.len() * PER_CHUNK
    }

    /// Adds an empty chunk.
    pub fn grow(&mut self, chunk: usize) {
        self.chunks.push(chunk);
    }

    /// Adds an object; its name is not there yet.
    ///
    /// # Panics
    ///
    /// If it [is full](Self::is_full).
    pub fn add(&mut self, object: Named) {
        assert!(!self.is_full(), "a directory has room before a name is added");
        self.objects.push(object);
    }

    /// Takes out the object with a name.
    pub fn remove(&mut self, name: &str) -> Option<Named> {
        let at = self.objects.iter().position(|object| object.name == name)?;
        Some(self.objects.remove(at))
    }
}

/// What a chunk begins with: mark, the chunk behind it, how many names it has, and the checksum.
fn head(bytes: &[u8]) -> [u64; 4] {
    bytemuck::pod_read_unaligned(&bytes[..HEAD + 8])
}

/// The checksum of a chunk.
fn sum(bytes: &[u8]) -> u64 {
    fingerprint(bytes[..HEAD].iter().chain(&bytes[HEAD + 8..]).copied())
}

#[cfg(test)]
mod tests;
