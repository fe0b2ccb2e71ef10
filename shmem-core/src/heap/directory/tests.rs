use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn object(name: &str, items: usize) -> Named {
    Named { offset: 64 * items, ..Named::new(name, "f64", items, 8, 8).unwrap() }
}

fn reread(directory: &Directory) -> Result<Directory, String> {
    let chunks: BTreeMap<_, _> = directory.write().into_iter().collect();
    Directory::read(directory.chunks()[0], |at| chunks.get(&at).copied())
}

/// Adds a name, and a chunk where it takes one.
fn add(directory: &mut Directory, object: Named) {
    if directory.is_full() {
        directory.grow(4096 * (directory.chunks().len() + 1));
    }
    directory.add(object);
}

proptest! {
    #[test]
    fn names_are_found_where_they_were_left(steps in prop::collection::vec((0..90_usize, 1..1000_usize), 0..200)) {
        let mut directory = Directory::new(4096);
        let mut model = BTreeMap::new();
        for (name, items) in steps {
            let name = format!("object {name}");
            if model.remove(&name).is_some() {
                prop_assert_eq!(directory.remove(&name).map(|gone| gone.name), Some(name));
            } else {
                add(&mut directory, object(&name, items));
                model.insert(name, items);
            }
        }
        directory = reread(&directory).unwrap();
        let found: BTreeMap<_, _> =
            directory.objects().iter().map(|object| (object.name.clone(), object.items)).collect();
        prop_assert_eq!(found, model);
    }

    /// Whoever knows the checksum can write any list.
    #[test]
    fn a_list_may_say_anything(
        chunks in prop::collection::vec(
            (prop_oneof![0..6_usize, any::<usize>()], prop_oneof![0..40_u64, any::<u64>()], any::<u64>(), 0..4_u8),
            1..6,
        ),
    ) {
        let written: BTreeMap<usize, [u8; CHUNK_BYTES]> = chunks
            .iter()
            .enumerate()
            .map(|(k, (next, count, seed, kind))| {
                let mut bytes = [0; CHUNK_BYTES];
                let mut state = *seed;
                for byte in &mut bytes {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let random = (state >> 56) as u8;
                    // Letters, small numbers, or anything.
                    *byte = match kind {
                        0 => b'a' + random % 26,
                        1 => random % 2,
                        2 => random % 128,
                        _ => random,
                    };
                }
                for (to, word) in bytes.chunks_exact_mut(8).zip([MAGIC, next.wrapping_mul(4096) as u64, *count]) {
                    to.copy_from_slice(&word.to_le_bytes());
                }
                let sum = sum(&bytes);
                bytes[HEAD..HEAD + 8].copy_from_slice(&sum.to_le_bytes());
                (4096 * (k + 1), bytes)
            })
            .collect();
        if let Ok(directory) = Directory::read(4096, |at| written.get(&at).copied()) {
            prop_assert!(directory.chunks().len() <= written.len());
            prop_assert_eq!(reread(&directory), Ok(directory));
        }
    }

    #[test]
    fn a_damaged_directory_is_noticed(at in 0..CHUNK_BYTES, bit in 0..8_u32) {
        let mut directory = Directory::new(4096);
        add(&mut directory, object("one", 1));
        let mut bytes = directory.write()[0].1;
        bytes[at] ^= 1 << bit;
        prop_assert!(Directory::read(4096, |_| Some(bytes)).is_err());
    }
}

#[test]
fn chunks_are_followed_and_no_further() {
    let mut directory = Directory::new(4096);
    for k in 0..3 * PER_CHUNK {
        add(&mut directory, object(&k.to_string(), k + 1));
    }
    assert_eq!(directory.chunks(), [4096, 8192, 12288]);
    assert_eq!(reread(&directory).as_ref(), Ok(&directory));
    let chunks: BTreeMap<_, _> = directory.write().into_iter().collect();
    let error = Directory::read(4096, |at| chunks.get(&at).copied().filter(|_| at < 12288)).unwrap_err();
    assert_eq!(error, "its list of names leads out of the heap at 0x3000");
    directory.chunks[2] = 4096;
    assert!(
        Directory::read(4096, |at| directory.write().into_iter().find(|c| c.0 == at).map(|c| c.1)).is_err()
    );
    directory = Directory::new(4096);
    for _ in 0..2 {
        add(&mut directory, object("twice", 1));
    }
    assert_eq!(reread(&directory).unwrap_err(), "its list has the name `twice` twice");
}

#[test]
fn names_that_are_none_are_refused() {
    let refused = |name: &str| Named::new(name, "u8", 1, 1, 1).unwrap_err().to_string();
    assert!(refused("").starts_with("`` cannot name an object: it is empty"));
    assert!(refused("a\nb").starts_with("`a\\nb` cannot name an object: it contains"));
    assert!(refused(&"x".repeat(65)).contains("too long"));
    let large = Named::new("a", "u8", 1, 1 << 32, 1).unwrap_err().to_string();
    assert_eq!(
        large,
        "`a` cannot name an object whose items have 4G each: they may have less than 4G; take more items that are smaller"
    );
    let longest = "ü".repeat(32);
    let mut directory = Directory::new(64);
    add(&mut directory, object(&longest, 3));
    assert_eq!(reread(&directory).unwrap().find(&longest).map(|found| found.items), Some(3));
}

#[test]
fn only_what_is_alike_is_opened() {
    let named = |kind: &str, items, bytes, align| Named::new("a", kind, items, bytes, align).unwrap();
    let there = named("f64", 10, 8, 8);
    assert!(there.is_like(&named("f64", 10, 8, 8)));
    for other in
        [named("u64", 10, 8, 8), named("f64", 11, 8, 8), named("f64", 10, 4, 8), named("f64", 10, 8, 16)]
    {
        assert!(!there.is_like(&other), "{other:?}");
    }
    // The path of a type is the compiler's business.
    assert!(named("a::Cell", 1, 8, 8).is_like(&named("b::Cell", 1, 8, 8)));
}
