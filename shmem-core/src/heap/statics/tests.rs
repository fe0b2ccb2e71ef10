use proptest::prelude::*;
use shmem_grammar::{Kind, Traits};

use super::*;
use crate::partition::{Declaration, Origin};

fn spec(id: u32, name: &str, size: u64) -> PartitionSpec {
    PartitionSpec {
        id,
        name: Text::head(name),
        size,
        traits: Traits { size: Some(size), ..Traits::NONE },
        origin: Origin::BuiltIn,
        explicit: false,
        file: None,
    }
}

fn object(partition: &str, module: &str, name: &str, size: u64, align: u64) -> StaticEntry {
    StaticEntry {
        name: Text::head(name),
        module: Text::head(module),
        file: Text::tail("src/main.rs"),
        line: 7,
        size,
        align,
        pgsize: 0,
        reserved: 0,
        partition: Declaration::new(partition, 0, Traits::NONE, "src/parts.rs", 3),
    }
}

#[test]
fn objects_lie_behind_the_colour_by_alignment_module_and_name() {
    let objects = [
        object("fast", "b", "SMALL", 8, 64),
        object("default", "a", "X", 100, 64),
        object("fast", "b", "PAGE", 5000, 4096),
        object("fast", "a", "ZED", 65, 64),
        object("fast", "a", "ALPHA", 1, 64),
    ];
    let layout = layout(&objects, &[spec(1, "default", 1 << 20), spec(2, "fast", 1 << 20)]).unwrap();
    let [default, fast] = &layout.partitions[..] else { panic!("{layout:?}") };
    assert_eq!((default.index, default.colour, default.end), (1, 4160, 4160 + 128));
    assert_eq!((fast.index, fast.colour), (2, 8320));
    let placed: Vec<_> = fast.objects.iter().map(|p| (p.entry, p.object.name.as_str(), p.offset)).collect();
    let behind = 12288 + 5056;
    assert_eq!(
        placed,
        [(2, "PAGE", 12288), (4, "ALPHA", behind), (3, "ZED", behind + 64), (0, "SMALL", behind + 192)]
    );
    assert_eq!(fast.end, behind + 256);
}

#[test]
fn the_colour_yields_to_small_partitions_and_to_statics() {
    assert_eq!(colour(1, 1 << 20), 4160);
    assert_eq!(colour(127, 64 << 20), 127 * 4160);
    for index in 1..128 {
        assert!(colour(index, 65536) < 8192);
        assert_eq!(colour(index, 100), 0);
    }
    let tight = layout(&[object("default", "a", "ALL", 65536, 64)], &[spec(1, "default", 65536)]).unwrap();
    assert_eq!((tight.partitions[0].colour, tight.partitions[0].end), (0, 65536));
}

#[test]
fn statics_that_do_not_fit_are_named() {
    let mut objects: Vec<_> =
        (1..=6).map(|i| object("default", "heat", &format!("GRID{i}"), i * 1000, 64)).collect();
    let error = layout(&objects, &[spec(1, "default", 16384)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the 6 symmetric static(s) in partition `default` need 21184 bytes, but it has 16K; the largest: `heat::GRID6` 6000 bytes (src/main.rs:7), `heat::GRID5` 5000 bytes (src/main.rs:7), `heat::GRID4` 4000 bytes (src/main.rs:7), `heat::GRID3` 3000 bytes (src/main.rs:7); set SHMEM_SYMMETRIC_SIZE=21K (or SHMEM_SYMMETRIC_PARTITION1=SIZE=21K), or raise its `size` at src/parts.rs:3"
    );
    assert!(layout(&objects, &[spec(1, "default", 21184)]).is_ok(), "so much is enough");
    let arranged = arrange(&objects, &[spec(1, "default", 16384)]).unwrap();
    assert_eq!(arranged.partitions[0].end, 21184);
    objects.push(object("default", "heat", "HUGE", u64::MAX, 64));
    let error = layout(&objects, &[spec(1, "default", 16384)]).unwrap_err().to_string();
    assert!(error.starts_with("the 7 symmetric static(s)"), "{error}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let default = [spec(1, "Default", 1 << 20)];
    assert!(layout(&[object("default", "heat", "GRID", 8, 64)], &default).is_ok(), "case does not count");
    let error = layout(&[object("bulk", "heat", "GRID", 8, 64)], &default).unwrap_err().to_string();
    assert_eq!(
        error,
        "symmetric static `heat::GRID` (src/main.rs:7) wants partition `bulk`, which this job does not have"
    );
    for align in [48, 2 * MAX_ALIGN as u64] {
        assert!(layout(&[object("default", "heat", "GRID", 8, align)], &default).is_err());
    }
}

#[test]
fn the_description_names_every_difference() {
    let partitions = [spec(1, "default", 1 << 20), spec(2, "fast", 1 << 20)];
    let one = object("default", "heat", "GRID", 800, 64);
    let base = layout(&[one], &partitions).unwrap();
    let others = [
        (StaticEntry { size: 801, ..one }, partitions.clone()),
        (StaticEntry { align: 128, ..one }, partitions.clone()),
        (StaticEntry { pgsize: 4096, ..one }, partitions.clone()),
        (StaticEntry { name: Text::head("GRIF"), ..one }, partitions.clone()),
        (StaticEntry { module: Text::head("hear"), ..one }, partitions.clone()),
        (object("fast", "heat", "GRID", 800, 64), partitions.clone()),
        (one, [spec(1, "default", 2 << 20), spec(2, "fast", 1 << 20)]),
        (one, [spec(1, "default", 1 << 20), spec(3, "fast", 1 << 20)]),
    ];
    for (object, partitions) in others {
        let other = layout(&[object], &partitions).unwrap();
        assert_ne!(other.describe(), base.describe(), "{object:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_two_objects_overlap_and_the_order_of_the_section_does_not_matter(
        objects in prop::collection::vec((0..3_usize, 0..5_usize, 0..3_usize, 0..3_u64, 6..9_u32), 0..60),
        seed in any::<prop::sample::Index>(),
    ) {
        let names = ["default", "fast", "bulk"];
        let entries: Vec<_> = objects
            .iter()
            .enumerate()
            .map(|(i, &(partition, module, name, size, align))| StaticEntry {
                line: i as u32,
                ..object(names[partition], &format!("m{module}"), &format!("N{name}"), 1000 * size, 1 << align)
            })
            .collect();
        let partitions =
            [spec(1, "default", 4 << 20), spec(9, "fast", 4 << 20), spec(77, "bulk", 4 << 20)];
        let here = layout(&entries, &partitions).unwrap();
        for p in &here.partitions {
            let mut end = p.colour;
            for placed in &p.objects {
                prop_assert_eq!(placed.object, entries[placed.entry]);
                prop_assert_eq!(placed.object.partition.name, p.name);
                prop_assert!(placed.offset >= end && placed.offset % placed.object.align == 0);
                end = placed.offset + placed.object.size;
            }
            prop_assert!(p.end >= end && p.end % MIN_ALIGN as u64 == 0 && p.end <= p.size);
        }
        let placed: usize = here.partitions.iter().map(|p| p.objects.len()).sum();
        prop_assert_eq!(placed, entries.len());
        let mut turned = entries.clone();
        if !turned.is_empty() {
            let by = seed.index(turned.len());
            turned.rotate_left(by);
        }
        turned.reverse();
        let there = layout(&turned, &partitions).unwrap();
        prop_assert_eq!(there.describe(), here.describe());
    }
}

#[test]
fn what_a_file_holds_does_not_move_when_other_partitions_come() {
    let in_file = |id| {
        let mut spec = spec(id, "kept", 1 << 20);
        spec.traits.kind = Some(Kind::Pmem);
        spec
    };
    let object = object("kept", "a", "X", 100, 64);
    let alone = layout(&[object], &[spec(1, "default", 4096), in_file(9)]).unwrap();
    let mut moved = object;
    (moved.file, moved.line) = (Text::tail("src/other.rs"), 99);
    let among = [spec(1, "default", 4096), spec(2, "fast", 4096), spec(5, "more", 4096), in_file(9)];
    let among = layout(&[moved], &among).unwrap();
    let described = alone.partitions[1].describe_kept();
    assert_eq!(among.partitions[3].describe_kept(), described);
    let start = colour(9, 1 << 20);
    assert!(described.contains(&format!("heap from {:#x}", start + 128)), "{described}");
    assert!(described.contains(&format!("`a::X` of 100 bytes at {start:#x}")), "{described}");
    let other = layout(&[object], &[spec(1, "default", 4096), in_file(10)]).unwrap();
    assert_ne!(other.partitions[1].describe_kept(), described);
}
