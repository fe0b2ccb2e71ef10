//! The list of names of a heap that outlives its job.
//!
//! The list is stored in the first block of the heap, so a persist saves it together with the named objects. Each PE has an
//! authoritative copy in private memory, equal on all PEs. The list is read at the start, and written before each persist.

use serde::{Deserialize, Serialize};
use shmem_core::hash::fingerprint;
use shmem_core::text::Text;
use shmem_launch::codec::{self, Message};

use crate::error::{MAX_NAME, NameError};

const MAGIC: u64 = u64::from_ne_bytes(*b"shmnames");

/// Bytes of the head of a list of names: a magic number, the number of bytes that follow, and their checksum.
pub(crate) const HEAD: usize = size_of::<[u64; 3]>();

/// An object with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Named {
    /// The name of the object.
    pub name: String,
    /// The type of the object's items, as the compiler named it when the object was made.
    pub kind: String,
    /// Number of items of the object.
    pub items: usize,
    /// Bytes of an item.
    pub item_bytes: usize,
    /// Alignment of the object, in bytes.
    pub align: usize,
    /// Offset of the object from the start of the partition, in bytes.
    pub offset: usize,
}

impl Message for Named {}

impl Named {
    /// Describes an object of `items` items of `T`, whose offset is not known yet.
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

    fn fault(&self) -> Option<&'static str> {
        match &*self.name {
            "" => Some("it is empty"),
            name if name.len() > MAX_NAME => Some("it is too long"),
            name if name.chars().any(char::is_control) => Some("it contains a character that does not print"),
            _ => None,
        }
    }

    /// Returns whether a Rust type can have this size and alignment.
    fn is_of_a_type(&self) -> bool {
        self.align.is_power_of_two()
            && self.item_bytes.is_multiple_of(self.align)
            && self.items.checked_mul(self.item_bytes).is_some()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.items.saturating_mul(self.item_bytes)
    }

    /// Returns whether a program that asks for `other` gets this object. Sizes and alignment must be equal. Type names must be
    /// equal only if both name numbers or arrays of numbers, because compilers may name other types differently.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let plain = |kind: &str| !kind.contains("::") && !kind.contains("..");
        let size = |one: &Self| (one.items, one.item_bytes, one.align);
        size(self) == size(other) && (self.kind == other.kind || !plain(&self.kind) || !plain(&other.kind))
    }

    pub(crate) fn describe(&self) -> String {
        format!("{} x {} ({} bytes each, alignment {})", self.items, self.kind, self.item_bytes, self.align)
    }
}

/// Returns the bytes that are reserved for the list of names, if the heap of the partition has `size` bytes.
pub(crate) fn room(size: usize) -> usize {
    (size / 64).next_multiple_of(4096).clamp(4096, 1 << 20)
}

pub(crate) fn encode(objects: &[Named]) -> Vec<u8> {
    let list = codec::encode(&objects);
    let head = [MAGIC, list.len() as u64, fingerprint(list.iter().copied())];
    [bytemuck::cast_slice(&head), &list[..]].concat()
}

/// Decodes the list of names from the bytes reserved for it. Checks all fields but offsets, which are checked later, because the
/// checksum finds damage, not malice.
pub(crate) fn decode(room: &[u8]) -> Result<Vec<Named>, String> {
    let (head, behind) = room.split_at(HEAD);
    let [magic, bytes, sum]: [u64; 3] = bytemuck::pod_read_unaligned(head);
    let list = usize::try_from(bytes).ok().and_then(|bytes| behind.get(..bytes)).filter(|_| magic == MAGIC);
    let list = list.filter(|list| fingerprint(list.iter().copied()) == sum);
    let list = list.ok_or("its list of names is not what was written")?;
    let objects: Vec<Named> = codec::decode(list).map_err(|_| "its list of names is none")?;
    let mut names = std::collections::BTreeSet::new();
    for object in &objects {
        let is_text = object.fault().is_none() && !object.kind.chars().any(char::is_control);
        if !object.is_of_a_type() || !is_text {
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
        let objects = prop::collection::btree_map(0..9_u8, (0..9_usize, 0..9_usize, 0..4_u32), 0..6);
        let object = |(name, (items, times, bits)): (u8, (usize, usize, u32))| Named {
            item_bytes: times << bits,
            align: 1 << bits,
            ..Named::new::<f64>(&format!("object {name}"), items).unwrap()
        };
        objects.prop_map(move |objects| objects.into_iter().map(object).collect())
    }

    proptest! {
        #[test]
        fn a_list_is_read_as_it_was_written_and_damage_is_found(objects in objects(), at in any::<prop::sample::Index>(), bits in 1..=u8::MAX) {
            let mut written = encode(&objects);
            prop_assert_eq!(decode(&[&written[..], &[0; 9]].concat()).unwrap(), objects);
            let at = at.index(written.len());
            written[at] ^= bits;
            prop_assert!(decode(&written).is_err(), "damaged at {at}");
        }

        /// A program that knows the checksum can write any list.
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
        let (odd, large) =
            (Named { align: 3, ..there.clone() }, Named { items: usize::MAX, ..there.clone() });
        for wrong in [vec![odd], vec![large], vec![there.clone(); 2]] {
            assert!(decode(&encode(&wrong)).is_err(), "{wrong:?}");
        }
        // Compilers may differ on the path of a type.
        let cell = |kind: &str| Named { kind: kind.to_owned(), ..there.clone() };
        assert!(cell("a::Cell").is_like(&cell("b::Cell")) && !cell("u8").is_like(&cell("i8")));
    }
}
