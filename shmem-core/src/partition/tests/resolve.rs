use std::collections::BTreeMap;

use proptest::prelude::*;
use shmem_grammar::{Kind, Policy, Traits};

use super::environment::environment;
use crate::fixture::assert_says;
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
    StaticEntry { name, module, file, line, size: 8, align: 8, pgsize, partition, reserved: 0 }
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
fn ids_depend_on_the_program_alone() {
    let fast = object("A", BUILT_IN[1], 0, 1);
    let named = [("SHMEM_SYMMETRIC_PARTITION4", "SIZE=1G"), ("SHMEM_SYMMETRIC_PARTITION5", "SIZE=2G")];
    for (declared, objects, variables, expected) in [
        (
            vec![declared("fast", 7, HOT, 3), plain("normal", 0)],
            &[][..],
            &[][..],
            vec![(3, "normal"), (7, "fast")],
        ),
        // A static of another crate in the built-in `fast` lies in the declared one.
        (vec![plain("Fast", 0)], &[fast], &[], vec![(2, "Fast"), (3, "normal")]),
        (vec![plain("fast", 7), plain("grid", 0)], &[], &[], vec![(3, "normal"), (4, "grid"), (7, "fast")]),
        (vec![plain("b", 0), plain("A", 0)], &[], &[], vec![(2, "fast"), (3, "normal"), (4, "A"), (5, "b")]),
        (
            vec![plain("grid", 0)],
            &[],
            &named,
            vec![(2, "fast"), (3, "normal"), (4, "grid"), (5, "partition5")],
        ),
    ] {
        let table = resolve(&declared, objects, variables).expect("a table");
        assert_eq!(names(&table)[1..], expected);
    }
    let sized = declared("default", 0, Traits { size: Some(1 << 30), ..Traits::NONE }, 1);
    let table = resolve(&[sized], &[], &[]).expect("a default heap");
    assert_eq!((table.specs()[0].id, table.specs()[0].size), (1, 1 << 30));
}

type Variable<'v> = (&'v str, &'v str);

#[test]
fn what_contradicts_itself_is_refused() {
    let grid = declared("grid", 5, HOT, 3);
    let pmem = Traits { kind: Some(Kind::Pmem), policy: Some(Policy::Mandatory), ..Traits::NONE };
    let kept = declared("kept", 7, pmem, 3);
    let small = declared("grid", 5, pages(4096, Some(Policy::Mandatory)), 1);
    let m = 1 << 20;
    let wishes = [object("A", plain("grid", 5), 2 * m, 1), object("B", plain("grid", 5), 64 * m, 2)];
    let program: [(&[Declaration], &[StaticEntry], &str); 12] = [
        (
            &[grid, declared("grid", 6, HOT, 4)],
            &[],
            "the name `grid` is taken twice: by `grid` (ID 5, KIND=FASTMEM:POLICY=MANDATORY) at src/a.rs:3, and by `grid` (ID 6, KIND=FASTMEM:POLICY=MANDATORY) at src/a.rs:4; rename one, or make them equal",
        ),
        (
            &[grid, declared("grid", 0, HOT, 4)],
            &[],
            "`grid` (no ID, KIND=FASTMEM:POLICY=MANDATORY) at src/a.rs:4",
        ),
        (&[grid, plain("grid", 5)], &[], "`grid` (ID 5, no traits) at src/a.rs:1"),
        (&[grid, declared("Grid", 5, HOT, 4)], &[], "case does not count"),
        (
            &[grid, declared("field", 5, Traits::NONE, 4)],
            &[],
            "the ID 5 is taken twice: by `field` (ID 5, no traits) at src/a.rs:4, and by `grid` (ID 5, KIND=FASTMEM:POLICY=MANDATORY) at src/a.rs:3; give one of them another ID, or none",
        ),
        // A declaration that only an object's descriptor shows counts, too.
        (&[grid], &[object("F", plain("field", 5), 0, 1)], "the ID 5 is taken twice"),
        (
            &[plain("grid", 2)],
            &[],
            "by `grid` (ID 2, no traits) at src/a.rs:1, and by the built-in partition `fast`",
        ),
        (&[plain("grid", 1)], &[], "the ID 1 is taken twice"),
        (
            &[plain("default", 2)],
            &[],
            "partition 1 is `default`, the default heap, and no other; leave the ID out",
        ),
        (
            &[declared("grid", 5, Traits { kind: Some(Kind::Pmem), ..Traits::NONE }, 3)],
            &[],
            "partition `grid`, declared at src/a.rs:3: KIND=PMEM needs a POLICY",
        ),
        (
            &[],
            &[object("A", BUILT_IN[1], 5000, 7)],
            "`A` at src/o.rs:7: `PGSIZE=5000`: a page size is a power of two of at least 4K; write 4K or 8K",
        ),
        (&[], &[object("A", small, 2 * m, 1)], "(from src/a.rs:1), and `A` at src/o.rs:1 needs pages of 2M"),
    ];
    for (declared, objects, why) in program {
        assert_says(message(declared, objects, &[]), &[why]);
    }
    let (four, file) = ("SHMEM_SYMMETRIC_PARTITION4", "SIZE=1M:KIND=PMEM:POLICY=M:PMEM=/a");
    let normal = ("SHMEM_SYMMETRIC_PARTITION_NORMAL", "SIZE=1M:KIND=PMEM:POLICY=M:PMEM=/b");
    let with: [(&[Declaration], &[Variable<'_>], &str); 13] = [
        (
            &[plain("Partition23", 0)],
            &[("SHMEM_SYMMETRIC_PARTITION23", "SIZE=1G")],
            "the name `partition23` is taken twice: by partition 4, declared at src/a.rs:1, and by the partition that SHMEM_SYMMETRIC_PARTITION23 makes; rename the declared one",
        ),
        (
            &[],
            &[("SHMEM_SYMMETRIC_PARTITION23", "KIND=N")],
            "SHMEM_SYMMETRIC_PARTITION23=KIND=N: SIZE is missing",
        ),
        (&[plain("grid", 5)], &[("SHMEM_SYMMETRIC_PARTITION5", "KIND=F")], "KIND=FASTMEM needs a POLICY"),
        (
            &[kept],
            &[],
            "partition 7 `kept` has KIND=PMEM (from src/a.rs:3) and no file to lie in; add PMEM=<path> to SHMEM_SYMMETRIC_PARTITION7, for example SHMEM_SYMMETRIC_PARTITION7=SIZE=64M:KIND=PMEM:POLICY=MANDATORY:PMEM=/mnt/pmem0/heap",
        ),
        (
            &[kept],
            &[("SHMEM_SYMMETRIC_PARTITION_KEPT", "SIZE=8M")],
            "add PMEM=<path> to SHMEM_SYMMETRIC_PARTITION_KEPT, for example",
        ),
        (
            &[],
            &[(four, "SIZE=1M:PMEM=/a")],
            "partition 4 `partition4` has PMEM=/a (from SHMEM_SYMMETRIC_PARTITION4) and no KIND; only a partition with KIND=PMEM",
        ),
        (&[], &[(four, "SIZE=1M:KIND=F:POLICY=P:PMEM=/a")], "and KIND=FASTMEM; only a partition"),
        (
            &[],
            &[(four, "SIZE=1M:KIND=PMEM:POLICY=P:PMEM=/a")],
            "partition 4 `partition4` has KIND=PMEM and POLICY=PREFERRED (from SHMEM_SYMMETRIC_PARTITION4), and nothing can",
        ),
        (&[], &[(four, "SIZE=1M:KIND=PMEM:POLICY=M:PMEM=/a:PGSIZE=2M")], "KIND=PMEM and PGSIZE=2M (from"),
        (
            &[],
            &[(four, file), ("SHMEM_SYMMETRIC_PARTITION5", file)],
            "partition 4 `partition4` and partition 5 `partition5` both have PMEM=/a; each partition needs a file of its own",
        ),
        (&[], &[("SHMEM_SYMMETRIC_PARTITION3", file), normal], "differ; unset one of them"),
        (
            &[],
            &[("SHMEM_SYMMETRIC_PARTITION2", "SIZE=1G"), ("SHMEM_SYMMETRIC_PARTITION_Fast", "SIZE=2G")],
            "SHMEM_SYMMETRIC_PARTITION2=SIZE=1G and SHMEM_SYMMETRIC_PARTITION_Fast=SIZE=2G are both set, describe partition 2 `fast` and differ; unset one of them",
        ),
        (
            &[],
            &[("SHMEM_SYMMETRIC_PARTITION_FAST", "SIZE=1G"), ("SHMEM_SYMMETRIC_PARTITION_fast", "SIZE=2G")],
            "are both set, describe partition `fast` and differ",
        ),
    ];
    for (declared, variables, why) in with {
        assert_says(message(declared, &[], variables), &[why]);
    }
    let mandatory = [("SHMEM_SYMMETRIC_PARTITION5", "SIZE=1G:PGSIZE=4K:POLICY=M")];
    assert_eq!(
        message(&[], &wishes, &mandatory),
        "partition 5 `grid` has PGSIZE=4K under POLICY=MANDATORY (from SHMEM_SYMMETRIC_PARTITION5), and `B` at src/o.rs:2 needs pages of 64M; raise PGSIZE, or leave it out: then the object's wish is taken"
    );
}

#[test]
fn what_is_allowed_and_probably_not_meant_is_a_warning() {
    let wish = object("B", plain("grid", 5), 64 << 20, 2);
    for (objects, variables, warnings) in [
        (
            &[][..],
            &[("SHMEM_SYMMETRIC_PARTITION_FSAT", "SIZE=1G")][..],
            vec![
                "SHMEM_SYMMETRIC_PARTITION_FSAT=SIZE=1G has no effect: the program declares no partition `fsat`; there are 1 `default`, 2 `fast`, 3 `normal`; did you mean `fast`?",
            ],
        ),
        (
            &[wish],
            &[("SHMEM_SYMMETRIC_PARTITION5", "SIZE=1G:PGSIZE=4K")],
            vec![
                "partition 5 `grid` has pages of 4K (from SHMEM_SYMMETRIC_PARTITION5), smaller than the 64M that `B` at src/o.rs:2 asks for",
            ],
        ),
        (&[wish], &[("SHMEM_SYMMETRIC_PARTITION5", "SIZE=1G:PGSIZE=1G")], vec![]),
        (
            &[],
            &[
                ("SHMEM_SYMMETRIC_PARTITION4", "SIZE=1G:KIND=N:POLICY=M"),
                ("SHMEM_SYMMETRIC_PARTITION5", "SIZE=2G:POLICY=M:KIND=NORMALMEM"),
                ("SHMEM_SYMMETRIC_PARTITION6", "SIZE=2G:POLICY=P:KIND=NORMALMEM"),
                ("SHMEM_SYMMETRIC_PARTITION7", "SIZE=2G"),
                ("SHMEM_SYMMETRIC_PARTITION8", "SIZE=2G"),
            ],
            vec![
                "partitions 4 `partition4`, 5 `partition5` all ask for KIND=NORMALMEM:POLICY=MANDATORY; one partition for each kind of memory is enough, since a heap holds any number of objects",
            ],
        ),
        (
            &[],
            &[
                ("SHMEM_SYMMETRIC_PARTITION4", "SIZE=1M:KIND=PMEM:POLICY=M:PMEM=/a"),
                ("SHMEM_SYMMETRIC_PARTITION5", "SIZE=1M:KIND=PMEM:POLICY=M:PMEM=/b"),
            ],
            vec![],
        ),
    ] {
        assert_eq!(resolve(&[], objects, variables).expect("a table").warnings(), warnings);
    }
}

#[test]
fn the_environment_replaces_single_traits() {
    let sized = Traits { size: Some(5 << 20), ..HOT };
    let pmem = Traits { kind: Some(Kind::Pmem), policy: Some(Policy::Mandatory), ..Traits::NONE };
    let by_id = ("SHMEM_SYMMETRIC_PARTITION7", Some("SHMEM_SYMMETRIC_PARTITION7"));
    let by_name = ("SMA_SYMMETRIC_PARTITION_HOT", Some("SMA_SYMMETRIC_PARTITION_HOT"));
    for (program, (variable, origin), value, expected, file) in [
        (sized, by_id, "PGSIZE=2M", Traits { pgsize: Some(2 << 20), ..sized }, None),
        (sized, by_name, "KIND=L", Traits { kind: Some(Kind::LargeMem), ..sized }, None),
        (
            sized,
            by_name,
            "size=2G:policy=preferred",
            Traits { size: Some(2 << 30), policy: Some(Policy::Preferred), ..HOT },
            None,
        ),
        // Who gave nothing but a size is not who asked for the kind.
        (sized, (by_id.0, None), "SIZE=6M", Traits { size: Some(6 << 20), ..HOT }, None),
        (pmem, by_name, "SIZE=8M:pmem=/Mnt/heap", Traits { size: Some(8 << 20), ..pmem }, Some("/Mnt/heap")),
        (pmem, by_id, "pmem=/heap", pmem, Some("/heap")),
    ] {
        let table = resolve(&[declared("hot", 7, program, 3)], &[], &[(variable, value)]).expect(value);
        let spec = &table.specs()[3];
        assert_eq!((spec.traits, spec.file.as_deref(), spec.explicit), (expected, file, true), "{value}");
        assert_eq!(spec.size, expected.size.unwrap_or(DEFAULT_PARTITION_BYTES), "{value}");
        let of_program = Origin::Program { file: Text::tail("src/a.rs"), line: 3 };
        let given = origin.filter(|_| file.is_none());
        let expected = given.map_or(of_program, |variable| Origin::Environment(variable.into()));
        assert_eq!(spec.origin, expected, "{value}");
    }
    let table = resolve(&[], &[], &[("SHMEM_SYMMETRIC_PARTITION2", "size=2G")]).expect("a table");
    assert_eq!(table.specs()[1].origin, Origin::Environment("SHMEM_SYMMETRIC_PARTITION2".into()));
    assert!(!table.specs()[1].explicit, "a size alone asks for no memory");
    let kept = declared("kept", 7, pmem, 3);
    let table = resolve(&[kept], &[], &[("SHMEM_SYMMETRIC_PARTITION7", "kind=N")]).expect("a table");
    assert!(!table.specs()[3].is_in_file(), "a job of which nothing is kept");
}

#[test]
fn there_are_at_most_127_partitions() {
    let variable = |id| (format!("SHMEM_SYMMETRIC_PARTITION{id}"), "SIZE=1M".to_string());
    let all = Environment::collect((1..=127).map(variable)).expect("an environment");
    assert_eq!(Table::resolve(&[], &[], &all).expect("a table").specs().len(), MAX_PARTITIONS);
    let more = Environment::collect((1..=128).map(variable)).expect("an environment");
    assert_says(Table::resolve(&[], &[], &more).expect_err("too many"), &["128 partitions are asked for"]);
    for count in [124, 125, 300] {
        let program: Vec<_> = (0..count).map(|i| plain(&format!("p{i}"), 0)).collect();
        assert_eq!(resolve(&program, &[], &[]).is_ok(), count + 3 <= MAX_PARTITIONS, "{count}");
    }
}

#[test]
fn wishes_of_objects_raise_the_page_size_that_nobody_gave() {
    let m = 1 << 20;
    let wishes = [object("A", BUILT_IN[1], 2 * m, 1), object("B", BUILT_IN[1], 64 * m, 2)];
    let table = resolve(&[], &wishes, &[]).expect("a table");
    let fast = &table.specs()[1];
    assert_eq!((fast.traits.pgsize, fast.traits.policy), (Some(64 * m), Some(Policy::Preferred)));
    let of_object = Origin::Program { file: Text::tail("src/o.rs"), line: 1 };
    assert_eq!((fast.explicit, &fast.origin), (true, &of_object));
}

#[test]
fn what_does_not_exist_is_said_with_what_does() {
    let table = resolve(&[plain("grid", 15)], &[], &[]).expect("a table");
    assert_eq!((table.position_of(15), table.position_of_name("Grid")), (Ok(3), Ok(3)));
    for (result, said) in [
        (
            table.position_of(23),
            "there is no partition 23; there are 1 `default`, 2 `fast`, 3 `normal`, 15 `grid`; set SHMEM_SYMMETRIC_PARTITION23=SIZE=<size> to make it",
        ),
        (table.position_of(0), "15 `grid`; an ID lies in 1..=255"),
        (
            table.position_of_name("girds"),
            "there is no partition `girds`; there are 1 `default`, 2 `fast`, 3 `normal`, 15 `grid`; did you mean `grid`?",
        ),
        (
            table.position_of_name("\x1b[2Jgrid\r\n"),
            r"there is no partition `\u{1b}[2Jgrid\r\n`; there are 1 `default`",
        ),
    ] {
        assert_says(result.expect_err("no such partition"), &[said]);
    }
}

#[test]
fn the_description_covers_all_that_must_agree() {
    let describe = |variables: &[(&str, &str)]| {
        resolve(&[plain("grid", 5)], &[], variables).expect("a table").describe()
    };
    let mut seen = BTreeMap::new();
    for traits in [
        "=1G",
        "=1073741825",
        "=2G",
        "=1G:KIND=N",
        "=1G:KIND=S",
        "=1G:POLICY=M",
        "=1G:POLICY=P",
        "=1G:PGSIZE=4K",
        "=1G:PGSIZE=2M",
    ] {
        for id in [5, 6] {
            let (variable, value) = (format!("SHMEM_SYMMETRIC_PARTITION{id}"), format!("SIZE{traits}"));
            let other = seen.insert(describe(&[(&variable, &value)]), (id, traits));
            assert_eq!(other, None, "{id}, {traits}");
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
                let spec = specs.iter().find(|spec| spec.name.as_str().eq_ignore_ascii_case(object.partition.name.as_str()));
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
