use crate::partition::{Environment, PartitionError, Table};

pub(super) fn environment(variables: &[(&str, &str)]) -> Result<Environment, PartitionError> {
    Environment::collect(variables.iter().map(|(name, value)| (name.to_string(), value.to_string())))
}

fn error(variables: &[(&str, &str)]) -> String {
    environment(variables).and_then(|e| Table::resolve(&[], &[], &e)).expect_err("an error").to_string()
}

#[test]
fn an_error_shows_the_variable_and_its_whole_value() {
    assert_eq!(
        error(&[("SHMEM_SYMMETRIC_PARTITION2", "KIND=N:SIZE=20MB")]),
        "SHMEM_SYMMETRIC_PARTITION2=KIND=N:SIZE=20MB: `SIZE=20MB`: `20MB`: `B` stands behind the suffix; write 20M"
    );
    assert_eq!(
        error(&[("SMA_SYMMETRIC_PARTITION_FAST", "")]),
        "SMA_SYMMETRIC_PARTITION_FAST=: no traits are given; write SIZE=<size>[:PGSIZE=<size>][:KIND=<kind>][:POLICY=<policy>][:PMEM=<path>]"
    );
    assert_eq!(
        error(&[("SHMEM_SYMMETRIC_SIZE", "1 GB")]),
        "SHMEM_SYMMETRIC_SIZE=1 GB: `1 GB` contains a space; write a size without spaces, for example 64M"
    );
    assert_eq!(
        error(&[("SHMEM_SYMMETRIC_PARTITION2", "SIZE=2G\n\u{1b}[31m")]),
        "SHMEM_SYMMETRIC_PARTITION2=SIZE=2G\\n\\u{1b}[31m: `SIZE=2G\\n\\u{1b}[31m`: `2G\\n\\u{1b}[31m`: `\\n\\u{1b}[31m` stands behind the suffix; write 2G"
    );
}

#[test]
fn the_heap_has_the_size_that_the_value_begins_with() {
    let heap = |value: &str| {
        let environment = environment(&[("SMA_SYMMETRIC_SIZE", value)]).expect(value);
        let table = Table::resolve(&[], &[], &environment).expect("a table");
        (table.specs()[0].size, table.warnings().to_vec())
    };
    assert_eq!(heap("  64M "), (64 << 20, vec![]));
    assert_eq!(heap("0"), (1, vec![]), "the least that there can be");
    let (size, warnings) = heap("20kk");
    assert_eq!(size, 20 << 10);
    assert_eq!(warnings, ["SMA_SYMMETRIC_SIZE=20kk: 20k is taken, and `k` behind it is ignored; write 20k"]);
}

#[test]
fn a_default_of_the_heap_gives_way_to_what_is_set() {
    let sizes = |variables: &[(&str, &str)]| {
        let environment = environment(variables).expect("well-formed").with_default_heap(Some(5 << 20));
        Table::resolve(&[], &[], &environment).expect("a table").specs()[0].size
    };
    assert_eq!(sizes(&[]), 5 << 20);
    assert_eq!(sizes(&[("SHMEM_SYMMETRIC_PARTITION2", "size=3M")]), 5 << 20);
    assert_eq!(sizes(&[("SHMEM_SYMMETRIC_PARTITION1", "size=3M")]), 3 << 20);
    assert_eq!(sizes(&[("SHMEM_SYMMETRIC_SIZE", "2M")]), 2 << 20);
}

#[test]
fn bad_ids_are_errors() {
    let remedy = "write SHMEM_SYMMETRIC_PARTITION<ID> with an ID in 1..=255, or SHMEM_SYMMETRIC_PARTITION_<NAME> with a name that the program declares";
    for id in ["", "0", "000", "256", "99999999999999999999", "007", "FAST", "-1", "+1", "1 ", "٣", "_"] {
        let variable = format!("SHMEM_SYMMETRIC_PARTITION{id}");
        let fault = if id == "_" { "the name is missing" } else { &format!("`{id}` is not an ID") };
        assert_eq!(error(&[(&variable, "SIZE=1G")]), format!("{variable}=SIZE=1G: {fault}; {remedy}"));
    }
    let alias = error(&[("SMA_SYMMETRIC_PARTITION0", "SIZE=1G")]);
    assert!(alias.contains("write SMA_SYMMETRIC_PARTITION<ID>"), "{alias}");
}

#[test]
fn the_size_of_the_default_heap_and_partition_1_exclude_each_other() {
    let size = "SMA_SYMMETRIC_SIZE";
    for one in ["SHMEM_SYMMETRIC_PARTITION1", "SMA_SYMMETRIC_PARTITION1", "SHMEM_SYMMETRIC_PARTITION_DEFAULT"]
    {
        assert_eq!(
            error(&[(size, "1G"), (one, "SIZE=1G")]),
            format!(
                "{size} and {one} are both set, and both size the default heap, partition 1; unset one of them (with other partitions, {size} may stay)"
            )
        );
    }
    let with_other = environment(&[(size, "1G"), ("SHMEM_SYMMETRIC_PARTITION2", "SIZE=2G")]);
    let table = with_other.and_then(|e| Table::resolve(&[], &[], &e)).expect("sizes partition 1");
    assert_eq!((table.specs()[0].size, table.specs()[1].size), (1 << 30, 2 << 30));
}

#[test]
fn the_newer_prefix_counts_and_a_difference_is_said() {
    let both = [("SMA_SYMMETRIC_PARTITION2", "SIZE=1G"), ("SHMEM_SYMMETRIC_PARTITION2", "SIZE=2G")];
    let both = environment(&both).expect("one counts");
    let table = Table::resolve(&[], &[], &both).expect("a table");
    assert_eq!(table.specs()[1].size, 2 << 30);
    let warning = "SHMEM_SYMMETRIC_PARTITION2=SIZE=2G and SMA_SYMMETRIC_PARTITION2=SIZE=1G are both set and differ: SHMEM_SYMMETRIC_PARTITION2 counts; unset SMA_SYMMETRIC_PARTITION2";
    assert_eq!(table.warnings(), [warning]);

    let equal = environment(&[("SMA_SYMMETRIC_SIZE", "1G"), ("SHMEM_SYMMETRIC_SIZE", "1G")]).expect("equal");
    assert!(Table::resolve(&[], &[], &equal).expect("a table").warnings().is_empty());
    let alone = environment(&[("SMA_SYMMETRIC_SIZE", "1G")]).expect("an alias");
    assert_eq!(Table::resolve(&[], &[], &alone).expect("a table").specs()[0].size, 1 << 30);
    // What does not count is not read, either.
    assert!(environment(&[("SMA_SYMMETRIC_SIZE", "junk"), ("SHMEM_SYMMETRIC_SIZE", "1G")]).is_ok());
}

#[test]
fn other_variables_are_passed_over() {
    let others = [
        ("PATH", "/bin"),
        ("SHMEM_INFO", "1"),
        ("SYMMETRIC_SIZE", "junk"),
        ("SHMEM_SYMMETRIC_SIZES", "junk"),
        ("XSHMEM_SYMMETRIC_PARTITION0", "junk"),
    ];
    assert_eq!(environment(&others), Ok(Environment::default()));
}
