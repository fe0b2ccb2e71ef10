//! The list of names of a heap that outlives its job.
//!
//! It lies in the first block of the heap, so a persist covers it together with what it names. What counts is the list
//! that each PE has in memory of its own, the same on all: it is read once, and written after each change and before each
//! persist, since a raw transfer may have hit it.

use serde::{Deserialize, Serialize};
use shmem_core::fingerprint::fingerprint;
use shmem_core::text::Text;
use shmem_launch::codec::{self, Message};

use crate::error::NameError;

/// Bytes of a name, at most.
const MAX_NAME: usize = 64;

const MAGIC: u64 = u64::from_ne_bytes(*b"shmnames");

/// Bytes in front of the objects: mark, how many bytes follow, their checksum.
const HEAD: usize = size_of::<[u64; 3]>();

/// An object with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

impl Message for Named {}

impl Named {
    /// An object of so many `T`, whose place is not known yet.
    ///
    /// # Errors
    ///
    /// If the name cannot be one.
    pub(crate) fn new<T>(name: &str, items: usize) -> Result<Self, NameError> {
        let named = Self {
            name: name.to_owned(),
            kind: Text::<40>::head(core::any::type_name::<T>()).to_string(),
            items,
            item_bytes: size_of::<T>(),
            align: align_of::<T>(),
            offset: 0,
        };
        match named.fault() {
            None => Ok(named),
            Some(fault) => Err(NameError::Name { name: name.escape_debug().to_string(), fault }),
        }
    }

    /// Why this is no name.
    fn fault(&self) -> Option<&'static str> {
        match &*self.name {
            "" => Some("it is empty"),
            name if name.len() > MAX_NAME => Some("it is too long"),
            name if name.chars().any(char::is_control) => Some("it contains a character that does not print"),
            _ => None,
        }
    }

    /// Bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.items.saturating_mul(self.item_bytes)
    }

    /// Whether a program that asks for `other` gets what this is. The names of types are compared where all
    /// compilers agree on them: those of numbers and of arrays of numbers.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let plain = |kind: &str| !kind.contains("::") && !kind.contains("..");
        let size = |one: &Self| (one.items, one.item_bytes, one.align);
        size(self) == size(other) && (self.kind == other.kind || !plain(&self.kind) || !plain(&other.kind))
    }

    /// In words: `100 x f64 (8 bytes each, alignment 8)`.
    pub(crate) fn describe(&self) -> String {
        format!("{} x {} ({} bytes each, alignment {})", self.items, self.kind, self.item_bytes, self.align)
    }
}

/// Bytes that are kept for the list of a partition whose heap has `size` bytes.
pub(crate) fn room(size: usize) -> usize {
    (size / 64).next_multiple_of(4096).clamp(4096, 1 << 20)
}

/// The list as it is written.
pub(crate) fn encode(objects: &[Named]) -> Vec<u8> {
    let list = codec::encode(&objects);
    let head = [MAGIC, list.len() as u64, fingerprint(list.iter().copied())];
    [bytemuck::cast_slice(&head), &list[..]].concat()
}

/// The list from the room that is kept for it. Whoever knows the checksum can write anything; where an object lies is for
/// the ledger to judge.
///
/// # Errors
///
/// If it is damaged: in words.
pub(crate) fn decode(room: &[u8]) -> Result<Vec<Named>, String> {
    let (head, behind) = room.split_at(HEAD);
    let [magic, bytes, sum]: [u64; 3] = bytemuck::pod_read_unaligned(head);
    let list = usize::try_from(bytes).ok().and_then(|bytes| behind.get(..bytes)).filter(|_| magic == MAGIC);
    let list = list.filter(|list| fingerprint(list.iter().copied()) == sum);
    let list = list.ok_or("its list of names is not what was written")?;
    let objects: Vec<Named> = codec::decode(list).map_err(|_| "its list of names is none")?;
    let mut names = std::collections::BTreeSet::new();
    for object in &objects {
        let is_type = object.align.is_power_of_two()
            && object.item_bytes.is_multiple_of(object.align)
            && object.items.checked_mul(object.item_bytes).is_some();
        let is_text = object.fault().is_none() && !object.kind.chars().any(char::is_control);
        if !is_type || !is_text {
            return Err("its list of names has what is no name of an object".to_owned());
        }
        if !names.insert(&object.name) {
            return Err(format!("its list has the name `{}` twice", object.name));
        }
    }
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn objects() -> impl Strategy<Value = Vec<Named>> {
        let object = (0..9_u8, 0..9_usize, prop_oneof![0..9_usize, any::<usize>()], 0..9_usize);
        let object = object.prop_map(|(name, items, item_bytes, align)| Named {
            item_bytes,
            align,
            ..Named::new::<f64>(&format!("object {name}"), items).unwrap()
        });
        prop::collection::vec(object, 0..6)
    }

    proptest! {
        #[test]
        fn a_list_is_read_as_it_was_written_or_not_at_all(objects in objects(), at in any::<prop::sample::Index>(), bits in 1..=u8::MAX) {
            let mut written = encode(&objects);
            match decode(&[&written[..], &[0; 9]].concat()) {
                Ok(read) => prop_assert_eq!(read, objects),
                Err(why) => {
                    let is_one = |o: &Named| {
                        o.align.is_power_of_two() && o.item_bytes.is_multiple_of(o.align) && o.items.checked_mul(o.item_bytes).is_some()
                    };
                    let names: std::collections::BTreeSet<_> = objects.iter().map(|object| &object.name).collect();
                    prop_assert!(names.len() < objects.len() || !objects.iter().all(is_one), "{why}");
                }
            }
            let at = at.index(written.len());
            written[at] ^= bits;
            prop_assert!(decode(&written).is_err(), "damaged at {at}");
        }

        /// Whoever knows the checksum can write any list.
        #[test]
        fn a_list_may_say_anything(list in prop::collection::vec(prop_oneof![0..3_u8, b'a'..b'd', any::<u8>()], 0..200)) {
            let head = [MAGIC, list.len() as u64, fingerprint(list.iter().copied())];
            let written = [bytemuck::cast_slice(&head), &list[..]].concat();
            if let Ok(objects) = decode(&written) {
                prop_assert_eq!(encode(&objects), written);
            }
        }
    }

    #[test]
    fn names_that_are_none_are_refused_and_only_what_is_alike_is_opened() {
        let refused = |name: &str| Named::new::<u8>(name, 1).unwrap_err().to_string();
        assert!(refused("").starts_with("`` cannot name an object: it is empty"));
        assert!(refused("a\nb").starts_with("`a\\nb` cannot name an object: it contains"));
        assert!(refused(&"x".repeat(65)).contains("too long"));
        let there = Named::new::<f64>("a", 10).unwrap();
        assert!(there.is_like(&Named::new::<f64>("a", 10).unwrap()));
        for other in [Named::new::<u64>("a", 10), Named::new::<f64>("a", 11), Named::new::<f32>("a", 10)] {
            assert!(!there.is_like(&other.unwrap()));
        }
        // The path of a type is the compiler's business.
        let cell = |kind: &str| Named { kind: kind.to_owned(), ..there.clone() };
        assert!(cell("a::Cell").is_like(&cell("b::Cell")) && !cell("u8").is_like(&cell("i8")));
    }
}
