//! Random and mutated environments are parsed, or refused with one line that names the variable. Those of
//! `tests/environment/corpus.txt` are jobs in the tests of shmem-rt as well.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use shmem_core::memory::{Machine, SlotLayout};
use shmem_core::partition::{Environment, Table};
use shmem_core::topology::Topology;

use super::tests::READ;
use super::*;

fn corpus() -> Vec<Vec<(String, String)>> {
    let text = include_str!("../../tests/environment/corpus.txt");
    let lines = |part: &str| -> Vec<(String, String)> {
        let set = part.lines().filter(|line| !line.starts_with('#'));
        set.map(|line| line.split_once('=').map(|(name, value)| (name.into(), value.into())).unwrap())
            .collect()
    };
    text.split("\n\n").map(lines).filter(|one| !one.is_empty()).collect()
}

fn values() -> Vec<String> {
    let kept = corpus().into_iter().flatten().map(|(_, value)| value);
    let known = READ.iter().map(|(_, value, _)| *value).chain(VARIABLES.iter().map(|one| one.default));
    known.map(str::to_owned).chain(kept).collect()
}

/// Names of variables, families with some IDs and names.
fn names() -> Vec<String> {
    let which = ["", "1", "2", "255", "256", "-1", "02", "fast", "Normal", "_", "x y", "x\ry", "\u{130}"];
    let all = VARIABLES.iter().flat_map(|variable| [Some(variable.name), variable.alias]).flatten();
    let each = |name: &str| match name.split_once('<') {
        None => vec![name.to_owned()],
        Some((head, _)) => which.iter().map(|which| format!("{head}{which}")).collect(),
    };
    all.flat_map(each).collect()
}

/// One of these texts, with a piece replaced.
fn changed(texts: Vec<String>) -> impl Strategy<Value = String> {
    let piece = prop_oneof!["[0-9.:=,+eEKMGTkB_/ %'`{}-]{0,8}", "\\PC{0,20}", select(values())];
    (select(texts), any::<Index>(), 0..4_usize, piece).prop_map(|(text, at, length, piece)| {
        let mut text: Vec<char> = text.chars().collect();
        let at = at.index(text.len() + 1);
        text.splice(at..text.len().min(at + length), piece.chars());
        text.into_iter().collect()
    })
}

fn environment() -> impl Strategy<Value = Vec<(String, String)>> {
    let name = prop_oneof![8 => select(names()), 1 => changed(names())];
    let name = name.prop_map(|name| name.replace('=', ""));
    proptest::collection::vec((name, changed(values())), 1..5)
}

static TOPOLOGY: LazyLock<Topology> = LazyLock::new(|| Machine::default().topology());

#[track_caller]
fn assert_is_line(text: &str) {
    assert!(!text.is_empty() && !text.contains(char::is_control), "{text:?}");
}

/// Parses it as a job does at its start.
#[track_caller]
fn read(environment: &[(String, String)]) {
    let all = || environment.iter().cloned();
    // The last value of a name counts.
    let names: BTreeSet<_> = all().map(|(name, _)| name).collect();
    if names.len() == environment.len() {
        let other = || all().rev();
        assert_eq!((rows(all()), unknown(all())), (rows(other()), unknown(other())));
        assert_eq!(Settings::from_env(all()), Settings::from_env(other()));
    }
    rows(all()).iter().for_each(|row| assert_is_line(&row.name));
    unknown(all()).iter().for_each(|warning| assert_is_line(warning));
    let settings = match Settings::from_env(all()) {
        Ok(settings) => settings,
        Err(error) => {
            let text = error.to_string();
            assert_is_line(&text);
            let named = environment.iter().any(|(name, _)| text.starts_with(&format!("{name}=")));
            assert!(named, "no variable is named: {text}");
            return;
        }
    };
    settings.warnings.iter().for_each(|warning| assert_is_line(warning));
    let table = Environment::collect(all()).and_then(|given| Table::resolve(&[], &[], &given));
    let table = match table {
        Ok(table) => table,
        Err(error) => return assert_is_line(&error.to_string()),
    };
    table.warnings().iter().for_each(|warning| assert_is_line(warning));
    let (team, later) = (settings.team_size as usize, settings.later_size as usize);
    match SlotLayout::new(table.specs(), team, later, &TOPOLOGY) {
        Ok(layout) => assert!(layout.stride() >= layout.slot_bytes()),
        Err(error) => assert_is_line(&error.to_string()),
    }
}

proptest! {
    #[test]
    fn what_is_random_is_read_or_refused(environment in environment()) {
        read(&environment);
    }
}
