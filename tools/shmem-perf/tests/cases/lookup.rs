//! What the number of partitions costs.

use super::{NETWORK, cases, cases_of, has, has_fabric, run};

#[test]
fn lookups_have_a_case_for_each_kind_number_and_size() {
    let lookup = cases("lookup");
    for partitions in [7, 8, 127] {
        for (kind, bytes) in ["typed", "raw", "get"].map(|kind| (kind, [1, 8, 64, 512, 4096])) {
            bytes.iter().for_each(|bytes| has(&lookup, &[&format!("lookup {kind}/{partitions}/{bytes}")]));
        }
        let words = [4, 8].map(|bytes| format!("lookup fetch-add/{partitions}/{bytes}"));
        has(&lookup, &words.each_ref().map(String::as_str));
    }
    has(
        &lookup,
        &["lookup-published put/1/8", "lookup-published get/7/8", "lookup-published fetch-add/127/8"],
    );
}

#[test]
fn lookups_have_both_forms_for_each_size_that_is_asked_for() {
    let lookup = cases_of(&["lookup", "--sizes", "2,1048576"]);
    for (partitions, bytes) in
        [1, 7, 8, 127].into_iter().flat_map(|n| ["2", "1048576"].map(|bytes| (n, bytes)))
    {
        for operation in ["put", "get"] {
            has(&lookup, &[&format!("lookup-published {operation}/{partitions}/{bytes}")]);
        }
        for operation in ["raw", "get"] {
            let is_fair = lookup.contains_key(&format!("lookup {operation}/{partitions}/{bytes}"));
            assert_eq!(is_fair, partitions > 1, "one partition is not compared with itself in the fair form");
        }
    }
    has(&lookup, &["lookup-published fetch-add/127/4", "lookup fetch-add/8/8"]);
    let (small, large) = (&lookup["lookup-published put/8/2"], &lookup["lookup-published put/8/1048576"]);
    // Thousands of times, where nothing disturbs.
    assert!(large.limit > small.limit, "bytes are moved: {small:?}, {large:?}");
}

#[test]
fn lookups_have_both_forms_over_a_network() {
    let _alone = NETWORK.lock();
    if !has_fabric() {
        return;
    }
    let lookup = cases_of(&["lookup", "--sizes", "8", "--provider", "tcp;ofi_rxm"]);
    has(&lookup, &["lookup-published put/1/8", "lookup-published fetch-add/127/4", "lookup get/7/8"]);
    assert!(lookup.values().all(|case| case.transport == "ofi"), "{lookup:?}");
}

#[test]
fn sizes_beyond_the_buffers_are_refused() {
    let (success, _, err) = run(&["lookup", "--sizes", "8,1048577"]);
    assert!(!success && err.contains("1048577") && err.contains("1..=1048576"), "{err}");
    let (success, _, err) = run(&["lookup", "--provider", "tcp;ofi_rxm"]);
    assert!(!success && err.contains("--sizes"), "{err}");
}
