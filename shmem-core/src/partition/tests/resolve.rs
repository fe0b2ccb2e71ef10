use std::collections::BTreeMap;

use proptest::prelude::*;
use shmem_grammar::{Kind, Policy, Traits};

use super::environment::environment;
use crate::partition::{
    BUILT_IN, DEFAULT_HEAP_BYTES, DEFAULT_PARTITION_BYTES, Declaration, Environment, MAX_PARTITIONS, Origin,
    PartitionError, StaticEntry, Table,
};
use crate::text::Text;

const HOT: Traits =
    Traits { kind: Some(Kind::FastMem), policy: Some(Policy::Mandatory), size: None, pgsize: None };

fn declared(name: &str, id: u32, traits: Traits, line: u32) -> Declaration {
    Declaration::new(name, id, traits, "src/a.rs", line)
}

fn plain(name: &str, id: u32) -> Declaration {
    declared(name, id, Traits::NONE, 1)
}

fn object(name: &str, partition: Declaration, pgsize: u64, line: u32) -> StaticEntry {
    let (name, module, file) = (Text::head(name), Text::EMPTY, Text::tail("src/o.rs"));
    StaticEntry { name, module, file, line, size: 8, align: 8, pgsize, partition }
}

fn pages(pgsize: u64, policy: Option<Policy>) -> Traits {
    Traits { pgsize: Some(pgsize), policy, ..Traits::NONE }
}

fn resolve(
    declared: &[Declaration],
    objects: &[StaticEntry],
    variables: &[(&str, &str)],
) -> Result<Table, PartitionError> {
    Table::resolve(declared, objects, &environment(variables)?)
}

fn message(declared: &[Declaration], objects: &[StaticEntry], variables: &[(&str, &str)]) -> String {
    resolve(declared, objects, variables).expect_err("an error").to_string()
}

fn names(table: &Table) -> Vec<(u32, &str)> {
    table.specs().iter().map(|spec| (spec.id, spec.name.as_str())).collect()
}

#[test]
fn with_nothing_given_the_built_in_partitions_exist() {
    let table = resolve(&[], &[], &[]).expect("built-in ones");
    assert_eq!(names(&table), [(1, "default"), (2, "fast"), (3, "normal")]);
    assert_eq!(table.specs()[0].size, DEFAULT_HEAP_BYTES);
    assert_eq!(table.specs()[1].size, DEFAULT_PARTITION_BYTES);
    assert_eq!(table.specs()[0].traits, Traits::NONE);
    for spec in table.specs() {
        assert!(!spec.explicit);
        assert_eq!(spec.origin, Origin::BuiltIn);
    }
    assert!(table.warnings().is_empty());
    // Built-in declarations among the program's own, as an object's descriptor carries them.
    assert_eq!(Ok(&table), resolve(BUILT_IN, &[], &[]).as_ref());
    assert_eq!(table.describe()[1], "partition 2 `fast`: 64M, KIND=FASTMEM:POLICY=PREFERRED");
}

#[test]
fn a_declaration_replaces_the_built_in_partition_of_its_name() {
    let table = resolve(&[declared("fast", 7, HOT, 3), plain("normal", 0)], &[], &[]).expect("a table");
    assert_eq!(names(&table), [(1, "default"), (3, "normal"), (7, "fast")]);
    assert_eq!(table.specs()[2].traits, HOT);
    assert!(table.specs()[2].explicit && !table.specs()[1].explicit);
    // A static of another crate in the built-in `fast` lies in the declared one.
    let wish = object("A", BUILT_IN[1], 0, 1);
    assert_eq!(names(&resolve(&[plain("fast", 0)], &[wish], &[]).expect("a table"))[1], (2, "fast"));
    assert_eq!(names(&resolve(&[plain("Fast", 0)], &[], &[]).expect("a table"))[1], (2, "Fast"));
    assert_eq!(
        message(&[plain("Fast", 2)], &[wish], &[]),
        "the name `fast` is taken twice: by `Fast` (ID 2, no traits) at src/a.rs:1, and by the built-in partition `fast`, in which `A` at src/o.rs:1 lies; rename the declared one: case does not count in environment variables"
    );
}

#[test]
fn a_declaration_moves_the_built_in_partition_of_its_id() {
    let table = resolve(&[plain("grid", 2), plain("b", 0), plain("A", 0)], &[], &[]).expect("a table");
    assert_eq!(names(&table), [(1, "default"), (2, "grid"), (3, "normal"), (4, "A"), (5, "b"), (6, "fast")]);
    let by_name = [("SHMEM_SYMMETRIC_PARTITION_FAST", "SIZE=1G")];
    let table = resolve(&[plain("grid", 2)], &[], &by_name).expect("a table");
    assert_eq!((table.specs()[3].id, table.specs()[3].size), (4, 1 << 30));

    assert_eq!(
        message(&[plain("grid", 2)], &[object("A", BUILT_IN[1], 0, 9), object("B", BUILT_IN[1], 0, 8)], &[]),
        "the ID 2 is taken twice: by `grid` (ID 2, no traits) at src/a.rs:1, and by the built-in partition `fast`, in which `B` at src/o.rs:8 lies; give the declared one another ID, or none: then it gets a free one"
    );
}

#[test]
fn ids_depend_on_the_program_alone() {
    // 2 and 3 stay those of `fast` and `normal`, also where these have moved.
    let table = resolve(&[plain("fast", 7), plain("grid", 0)], &[], &[]).expect("a table");
    assert_eq!(names(&table), [(1, "default"), (3, "normal"), (4, "grid"), (7, "fast")]);
    let variables = [("SHMEM_SYMMETRIC_PARTITION4", "SIZE=1G"), ("SHMEM_SYMMETRIC_PARTITION5", "SIZE=2G")];
    let table = resolve(&[plain("grid", 0)], &[], &variables).expect("a table");
    assert_eq!(names(&table)[3..], [(4, "grid"), (5, "partition5")]);
    assert_eq!(table.specs()[3].size, 1 << 30);
}

#[test]
fn what_is_declared_twice_must_be_equal() {
    let a = declared("grid", 5, HOT, 3);
    let mut same = a;
    same.line = 99;
    let table = resolve(&[same, a], &[object("G", same, 0, 1)], &[]).expect("equal declarations");
    assert_eq!(table.specs().len(), 4);
    assert_eq!(table.specs()[3].origin, Origin::Program { file: Text::tail("src/a.rs"), line: 3 });

    let remedy =
        "rename one, or make them equal: case does not count, and partitions of one name are one partition";
    for (other, shown) in [
        (declared("grid", 6, HOT, 4), "`grid` (ID 6, KIND=FASTMEM:POLICY=MANDATORY) at src/a.rs:4"),
        (declared("grid", 0, HOT, 4), "`grid` (no ID, KIND=FASTMEM:POLICY=MANDATORY) at src/a.rs:4"),
        (declared("grid", 5, Traits::NONE, 4), "`grid` (ID 5, no traits) at src/a.rs:4"),
        (declared("Grid", 5, HOT, 4), "`Grid` (ID 5, KIND=FASTMEM:POLICY=MANDATORY) at src/a.rs:4"),
    ] {
        let message = message(&[a, other], &[], &[]);
        assert!(message.starts_with("the name `"), "{message}");
        assert!(message.contains(shown), "{message}");
        assert!(message.contains("`grid` (ID 5, KIND=FASTMEM:POLICY=MANDATORY) at src/a.rs:3"), "{message}");
        assert!(message.ends_with(remedy), "{message}");
    }
    assert_eq!(
        message(&[a, declared("field", 5, Traits::NONE, 4)], &[], &[]),
        "the ID 5 is taken twice: by `field` (ID 5, no traits) at src/a.rs:4, and by `grid` (ID 5, KIND=FASTMEM:POLICY=MANDATORY) at src/a.rs:3; give one of them another ID, or none: then it gets a free one"
    );
    // A declaration that only an object's descriptor shows counts, too.
    assert!(resolve(&[a], &[object("F", plain("field", 5), 0, 1)], &[]).is_err());
}

#[test]
fn partition_1_is_the_default_heap() {
    let sized = declared("default", 0, Traits { size: Some(1 << 30), ..Traits::NONE }, 1);
    let table = resolve(&[sized], &[], &[]).expect("a default heap");
    assert_eq!((table.specs()[0].id, table.specs()[0].size), (1, 1 << 30));
    assert_eq!(
        message(&[plain("grid", 1)], &[], &[]),
        "`grid` (ID 1, no traits) at src/a.rs:1: partition 1 is `default`, the default heap, and no other; name it `default`, or choose another ID"
    );
    assert_eq!(
        message(&[plain("default", 2)], &[], &[]),
        "`default` (ID 2, no traits) at src/a.rs:1: partition 1 is `default`, the default heap, and no other; leave the ID out, or choose another name"
    );
}

#[test]
fn declared_traits_are_checked() {
    let special = declared("grid", 5, Traits { kind: Some(Kind::Pmem), ..Traits::NONE }, 3);
    let text = message(&[special], &[], &[]);
    assert!(text.starts_with("partition `grid`, declared at src/a.rs:3: KIND=PMEM needs a POLICY"), "{text}");
    let text = message(&[], &[object("A", BUILT_IN[1], 5000, 7)], &[]);
    assert_eq!(
        text,
        "`A` at src/o.rs:7: `PGSIZE=5000`: a page size is a power of two of at least 4K; write 4K or 8K"
    );
}

#[test]
fn the_environment_replaces_single_traits() {
    let traits = Traits { size: Some(1 << 30), pgsize: Some(2 << 20), ..HOT };
    let grid = declared("grid", 5, traits, 3);
    for variable in ["SHMEM_SYMMETRIC_PARTITION5", "SMA_SYMMETRIC_PARTITION_GRID"] {
        let table = resolve(&[grid], &[], &[(variable, "size=2G:policy=preferred")]).expect("a table");
        let spec = &table.specs()[3];
        assert_eq!(
            spec.traits,
            Traits { size: Some(2 << 30), policy: Some(Policy::Preferred), ..traits },
            "{variable}"
        );
        assert_eq!(spec.size, 2 << 30);
        assert!(spec.explicit);
        assert_eq!(spec.origin, Origin::Environment(variable.into()));
    }
    // Who gave nothing but a size is not who asked for the kind.
    let table = resolve(&[grid], &[], &[("SHMEM_SYMMETRIC_PARTITION5", "size=2G")]).expect("a table");
    assert_eq!(table.specs()[3].origin, Origin::Program { file: grid.file, line: 3 });
    assert!(table.specs()[3].explicit);
    let table = resolve(&[], &[], &[("SHMEM_SYMMETRIC_PARTITION2", "size=2G")]).expect("a table");
    assert_eq!(table.specs()[1].origin, Origin::Environment("SHMEM_SYMMETRIC_PARTITION2".into()));
    assert!(!table.specs()[1].explicit, "a size alone asks for no memory");
}

#[test]
fn ids_of_the_environment_alone_become_partitions() {
    let table =
        resolve(&[], &[], &[("SHMEM_SYMMETRIC_PARTITION23", "size=2G:kind=FASTMEM:policy=MANDATORY")])
            .expect("a table");
    assert_eq!(names(&table)[3], (23, "partition23"));
    assert!(table.specs()[3].explicit);
    assert_eq!(
        message(&[plain("Partition23", 0)], &[], &[("SHMEM_SYMMETRIC_PARTITION23", "SIZE=1G")]),
        "the name `partition23` is taken twice: by partition 4, declared at src/a.rs:1, and by the partition that SHMEM_SYMMETRIC_PARTITION23 makes; rename the declared one, or use another ID in the environment"
    );
}

#[test]
fn a_name_that_is_not_declared_is_a_warning_with_the_nearest() {
    let table = resolve(&[], &[], &[("SHMEM_SYMMETRIC_PARTITION_FSAT", "SIZE=1G")]).expect("a table");
    assert_eq!(
        table.warnings(),
        [
            "SHMEM_SYMMETRIC_PARTITION_FSAT=SIZE=1G has no effect: the program declares no partition `fsat`; there are 1 `default`, 2 `fast`, 3 `normal`; did you mean `fast`?"
        ]
    );
}

#[test]
fn a_variable_leaves_out_what_the_program_says() {
    let hot = Traits { size: Some(5 << 20), ..HOT };
    let program = [declared("hot", 7, hot, 1), declared("plain", 8, Traits::NONE, 1)];
    for (variable, value, expected) in [
        ("SHMEM_SYMMETRIC_PARTITION7", "PGSIZE=2M", Traits { pgsize: Some(2 << 20), ..hot }),
        ("SHMEM_SYMMETRIC_PARTITION_HOT", "KIND=L", Traits { kind: Some(Kind::LargeMem), ..hot }),
        ("SHMEM_SYMMETRIC_PARTITION7", "SIZE=6M", Traits { size: Some(6 << 20), ..hot }),
    ] {
        let table = resolve(&program, &[], &[(variable, value)]).expect(value);
        let spec = &table.specs()[3];
        assert_eq!((spec.traits, spec.size), (expected, expected.size.unwrap()), "{value}");
    }
    let refused = |variable, value| message(&program, &[], &[(variable, value)]);
    assert_eq!(
        refused("SHMEM_SYMMETRIC_PARTITION23", "KIND=N"),
        "SHMEM_SYMMETRIC_PARTITION23=KIND=N: SIZE is missing; it is the one trait that must be given, for example SIZE=2G"
    );
    let text = refused("SHMEM_SYMMETRIC_PARTITION8", "KIND=F");
    assert!(text.starts_with("SHMEM_SYMMETRIC_PARTITION8=KIND=F: KIND=FASTMEM needs a POLICY"), "{text}");
}

#[test]
fn there_are_at_most_127_partitions() {
    let variable = |id| (format!("SHMEM_SYMMETRIC_PARTITION{id}"), "SIZE=1M".to_string());
    let all = Environment::collect((1..=127).map(variable)).expect("an environment");
    assert_eq!(Table::resolve(&[], &[], &all).expect("a table").specs().len(), MAX_PARTITIONS);
    let more = Environment::collect((1..=128).map(variable)).expect("an environment");
    let text = Table::resolve(&[], &[], &more).expect_err("too many").to_string();
    assert!(text.starts_with("128 partitions are asked for, and a job has at most 127"), "{text}");
    for count in [124, 125, 300] {
        let program: Vec<_> = (0..count).map(|i| plain(&format!("p{i}"), 0)).collect();
        assert_eq!(resolve(&program, &[], &[]).is_ok(), count + 3 <= MAX_PARTITIONS, "{count}");
    }
}

#[test]
fn wishes_of_objects_raise_the_page_size_that_nobody_gave() {
    let m = 1 << 20;
    let wishes = [
        object("A", BUILT_IN[1], 2 * m, 1),
        object("B", BUILT_IN[1], 64 * m, 2),
        object("C", BUILT_IN[0], 0, 3),
    ];
    let table = resolve(&[], &wishes, &[]).expect("a table");
    let fast = &table.specs()[1];
    assert_eq!((fast.traits.pgsize, fast.explicit), (Some(64 * m), true));
    assert_eq!(fast.traits.policy, Some(Policy::Preferred));
    assert_eq!(fast.origin, Origin::Program { file: Text::tail("src/o.rs"), line: 1 });
    let default = &table.specs()[0];
    assert_eq!((default.traits, default.explicit), (Traits::NONE, false));

    let enough =
        resolve(&[], &wishes, &[("SHMEM_SYMMETRIC_PARTITION2", "SIZE=1G:PGSIZE=1G")]).expect("enough");
    assert_eq!(enough.specs()[1].traits.pgsize, Some(1 << 30));
    assert!(enough.warnings().is_empty());
}

#[test]
fn a_given_page_size_that_is_too_small_is_a_warning_or_an_error() {
    let m = 1 << 20;
    let wishes = [object("A", plain("grid", 5), 2 * m, 1), object("B", plain("grid", 5), 64 * m, 2)];
    let preferred =
        resolve(&[], &wishes, &[("SHMEM_SYMMETRIC_PARTITION5", "SIZE=1G:PGSIZE=4K")]).expect("a table");
    assert_eq!(preferred.specs()[3].traits.pgsize, Some(4096));
    assert_eq!(
        preferred.warnings(),
        [
            "partition 5 `grid` has pages of 4K (from SHMEM_SYMMETRIC_PARTITION5), smaller than the 64M that `B` at src/o.rs:2 asks for"
        ]
    );
    assert_eq!(
        message(&[], &wishes, &[("SHMEM_SYMMETRIC_PARTITION5", "SIZE=1G:PGSIZE=4K:POLICY=M")]),
        "partition 5 `grid` has PGSIZE=4K under POLICY=MANDATORY (from SHMEM_SYMMETRIC_PARTITION5), and `B` at src/o.rs:2 needs pages of 64M; raise PGSIZE, or leave it out: then the object's wish is taken"
    );
    let small = declared("grid", 5, pages(4096, Some(Policy::Mandatory)), 1);
    assert!(message(&[], &[object("A", small, 2 * m, 1)], &[]).contains("(from src/a.rs:1)"));
}

#[test]
fn partitions_that_ask_for_the_same_memory_are_a_warning() {
    let both = [
        ("SHMEM_SYMMETRIC_PARTITION4", "SIZE=1G:KIND=N:POLICY=M"),
        ("SHMEM_SYMMETRIC_PARTITION5", "SIZE=2G:POLICY=M:KIND=NORMALMEM"),
        ("SHMEM_SYMMETRIC_PARTITION6", "SIZE=2G:POLICY=P:KIND=NORMALMEM"),
        ("SHMEM_SYMMETRIC_PARTITION7", "SIZE=2G"),
        ("SHMEM_SYMMETRIC_PARTITION8", "SIZE=2G"),
    ];
    assert_eq!(
        resolve(&[], &[], &both).expect("a table").warnings(),
        [
            "partitions 4 `partition4`, 5 `partition5` all ask for KIND=NORMALMEM:POLICY=MANDATORY; one partition for each kind of memory is enough, since a heap holds any number of objects"
        ]
    );
}

#[test]
fn what_does_not_exist_is_said_with_what_does() {
    let table = resolve(&[plain("grid", 15)], &[], &[]).expect("a table");
    assert_eq!(table.position_of(15), Ok(3));
    assert_eq!(table.position_of_name("Grid"), Ok(3));
    let text = |result: Result<usize, PartitionError>| result.expect_err("no such partition").to_string();
    assert_eq!(
        text(table.position_of(23)),
        "there is no partition 23; there are 1 `default`, 2 `fast`, 3 `normal`, 15 `grid`; set SHMEM_SYMMETRIC_PARTITION23=SIZE=<size> to make it"
    );
    assert_eq!(
        text(table.position_of(0)),
        "there is no partition 0; there are 1 `default`, 2 `fast`, 3 `normal`, 15 `grid`; an ID lies in 1..=255"
    );
    assert_eq!(
        text(table.position_of_name("girds")),
        "there is no partition `girds`; there are 1 `default`, 2 `fast`, 3 `normal`, 15 `grid`; did you mean `grid`?"
    );
    let forged = text(table.position_of_name("\x1b[2Jgrid\r\n"));
    assert!(
        forged.starts_with(r"there is no partition `\u{1b}[2Jgrid\r\n`; there are 1 `default`"),
        "{forged}"
    );
}

#[test]
fn the_description_covers_all_that_must_agree() {
    let describe = |variables: &[(&str, &str)]| {
        resolve(&[plain("grid", 5)], &[], variables).expect("a table").describe()
    };
    let mut seen = BTreeMap::new();
    for value in [
        "SIZE=1G",
        "SIZE=1073741825",
        "SIZE=2G",
        "SIZE=1G:KIND=N",
        "SIZE=1G:KIND=S",
        "SIZE=1G:POLICY=M",
        "SIZE=1G:POLICY=P",
        "SIZE=1G:PGSIZE=4K",
        "SIZE=1G:PGSIZE=2M",
    ] {
        for id in [5, 6] {
            let variable = format!("SHMEM_SYMMETRIC_PARTITION{id}");
            let other = seen.insert(describe(&[(&variable, value)]), (id, value));
            assert_eq!(other, None, "{id}, {value}");
        }
    }
    // Who asked is no part of it.
    assert_eq!(
        describe(&[("SHMEM_SYMMETRIC_PARTITION5", "SIZE=1G:KIND=N")]),
        describe(&[("SMA_SYMMETRIC_PARTITION_GRID", "kind=normal:size=1024M")])
    );
}

fn any_declaration() -> impl Strategy<Value = Declaration> {
    let traits = proptest::sample::select(vec![
        Traits::NONE,
        HOT,
        Traits { size: Some(1 << 30), ..Traits::NONE },
        pages(2 << 20, None),
        pages(4096, Some(Policy::Mandatory)),
    ]);
    let names = vec!["default", "fast", "normal", "grid", "Grid", "Fast", "a", "b", "partition7"];
    (proptest::sample::select(names), prop_oneof![4 => Just(0), 1 => 1..=8u32], traits, 1..4u32)
        .prop_map(|(name, id, traits, line)| declared(name, id, traits, line))
}

fn any_object() -> impl Strategy<Value = StaticEntry> {
    let pgsize = proptest::sample::select(vec![0, 0, 4096, 2 << 20]);
    let partition = prop_oneof![any_declaration(), proptest::sample::select(BUILT_IN)];
    ("[A-C]", partition, pgsize, 1..4u32)
        .prop_map(|(name, partition, pgsize, line)| object(&name, partition, pgsize, line))
}

fn any_variable() -> impl Strategy<Value = (String, String)> {
    let which = "(SHMEM|SMA)_SYMMETRIC_(SIZE|PARTITION([1-8]|_(fast|GRID|grid|a|x)))";
    let traits = proptest::sample::select(vec!["SIZE=1G", "SIZE=1G:KIND=N", "SIZE=2G:PGSIZE=4K:POLICY=M"]);
    let sensible = (which, traits).prop_map(|(which, traits)| {
        let traits = if which.ends_with("SIZE") { "1G" } else { traits };
        (which, traits.to_string())
    });
    let which = "(SHMEM|SMA)_SYMMETRIC_(PARTITION(_?[a-zA-Z]{0,2}|[0-9]{0,3}|.{0,3})|SIZE)";
    prop_oneof![4 => sensible, 1 => (which, "((SIZE|size|KIND)=[0-9A-Z.]{0,4}:?){0,2}|.*")]
}

fn shuffled<T: Clone + std::fmt::Debug>(
    one: impl Strategy<Value = T>,
    count: usize,
) -> impl Strategy<Value = (Vec<T>, Vec<T>)> {
    proptest::collection::vec(one, 0..count)
        .prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle()))
}

proptest! {
    #[test]
    fn the_order_of_what_is_given_does_not_matter(
        (declared, declared_again) in shuffled(any_declaration(), 5),
        (objects, objects_again) in shuffled(any_object(), 4),
        (variables, variables_again) in shuffled(any_variable(), 4),
    ) {
        let resolve = |declared: &[_], objects: &[_], variables| {
            Environment::collect(variables).and_then(|e| Table::resolve(declared, objects, &e))
        };
        let one = resolve(&declared, &objects, variables);
        let other = resolve(&declared_again, &objects_again, variables_again);
        prop_assert_eq!(&one, &other);
        if let Err(error) = &one {
            prop_assert!(!error.to_string().chars().any(char::is_control), "{}", error);
        }
        if let Ok(table) = one {
            let specs = table.specs();
            prop_assert!(specs.windows(2).all(|pair| pair[0].id < pair[1].id));
            prop_assert!(specs[0].id == 1 && specs[0].name.as_str().eq_ignore_ascii_case("default"));
            for object in &objects {
                let spec = specs.iter().find(|spec| spec.name == object.partition.name);
                prop_assert!(spec.is_some(), "every object's partition exists");
                let given = spec.and_then(|spec| spec.traits.pgsize);
                prop_assert!(given >= Some(object.pgsize) || object.pgsize == 0 || !table.warnings().is_empty());
            }
            for one in &declared {
                let at = table.position_of_name(one.name.as_str());
                prop_assert!(one.id == 0 || at == table.position_of(one.id));
            }
        }
    }
}

#[test]
fn a_file_comes_from_the_environment_by_id_or_by_name() {
    let pmem = Traits { kind: Some(Kind::Pmem), policy: Some(Policy::Mandatory), ..Traits::NONE };
    let kept = declared("kept", 7, pmem, 3);
    for variable in ["SHMEM_SYMMETRIC_PARTITION7", "SHMEM_SYMMETRIC_PARTITION_KEPT"] {
        let table = resolve(&[kept], &[], &[(variable, "SIZE=8M:pmem=/Mnt/heap")]).expect("a table");
        let spec = table.specs().last().expect("it");
        assert_eq!(
            (spec.id, spec.file.as_deref(), spec.traits.kind),
            (7, Some("/Mnt/heap"), Some(Kind::Pmem))
        );
    }
    assert_eq!(
        message(&[kept], &[], &[]),
        "partition 7 `kept` has KIND=PMEM under POLICY=MANDATORY (from src/a.rs:3) and no file to lie in; add PMEM=<path> to SHMEM_SYMMETRIC_PARTITION7, for example SHMEM_SYMMETRIC_PARTITION7=SIZE=64M:KIND=PMEM:POLICY=MANDATORY:PMEM=/mnt/pmem0/heap"
    );
    // What the program says need not be said again.
    let table = resolve(&[kept], &[], &[("SHMEM_SYMMETRIC_PARTITION7", "pmem=/heap")]).expect("a table");
    let spec = table.specs().last().expect("it");
    assert_eq!(
        (spec.file.as_deref(), spec.traits, spec.size),
        (Some("/heap"), pmem, DEFAULT_PARTITION_BYTES)
    );
    // A program may leave it open.
    let preferred = declared("kept", 7, Traits { policy: Some(Policy::Preferred), ..pmem }, 3);
    assert_eq!(resolve(&[preferred], &[], &[]).expect("a table").specs()[3].file, None);
    // Who speaks of files says which.
    let text =
        message(&[preferred], &[], &[("SHMEM_SYMMETRIC_PARTITION_KEPT", "SIZE=8M:KIND=PMEM:POLICY=P")]);
    assert!(text.contains("add PMEM=<path> to SHMEM_SYMMETRIC_PARTITION_KEPT, for example"), "{text}");
}

#[test]
fn a_file_belongs_to_one_partition_of_its_kind() {
    let four = |value: &str| message(&[], &[], &[("SHMEM_SYMMETRIC_PARTITION4", value)]);
    assert_eq!(
        four("SIZE=1M:PMEM=/a"),
        "partition 4 `partition4` has PMEM=/a (from SHMEM_SYMMETRIC_PARTITION4) and no KIND; only a partition with KIND=PMEM lies in a file: write KIND=PMEM, or leave PMEM= out"
    );
    assert!(four("SIZE=1M:KIND=F:POLICY=P:PMEM=/a").contains("and KIND=FASTMEM; only a partition"));
    for policy in ["INTERLEAVED", "SYSDEFAULT"] {
        let text = four(&format!("SIZE=1M:KIND=PMEM:POLICY={policy}:PMEM=/a"));
        assert!(text.contains("and a file lies on no memory node; write POLICY=MANDATORY"), "{text}");
    }
    let file = "SIZE=1M:KIND=PMEM:POLICY=M:PMEM=/a";
    let two = |second| [("SHMEM_SYMMETRIC_PARTITION4", file), ("SHMEM_SYMMETRIC_PARTITION5", second)];
    assert_eq!(
        message(&[], &[], &two(file)),
        "partition 4 `partition4` and partition 5 `partition5` both have PMEM=/a; each partition needs a file of its own"
    );
    let apart = resolve(&[], &[], &two("SIZE=1M:KIND=PMEM:POLICY=M:PMEM=/b")).expect("a table");
    assert!(apart.warnings().is_empty(), "two files are not the same memory: {:?}", apart.warnings());
    let twice = [
        ("SHMEM_SYMMETRIC_PARTITION3", file),
        ("SHMEM_SYMMETRIC_PARTITION_NORMAL", &file.replace("/a", "/b")),
    ];
    assert!(message(&[], &[], &twice).contains("differ; unset one of them"));
}
