//! The partitions that a program declares: the joined declarations of all its crates, with an ID for each.
//!
//! IDs depend on the program alone. Otherwise `SHMEM_SYMMETRIC_PARTITION4` could give another ID to the program's partition 4.

use shmem_grammar::{MAX_PARTITION_ID, check_traits};

use super::MAX_PARTITIONS;
use super::declaration::{BUILT_IN, Declaration};
use super::error::PartitionError;
use super::spec::StaticEntry;

/// The first ID for declarations without an ID, because lower IDs are built in.
const FIRST_CHOSEN: u32 = 4;

/// Returns a program's declarations and the built-in ones, all with IDs. A declaration replaces a built-in one of equal name.
pub(super) fn declared(
    declarations: &[Declaration],
    objects: &[StaticEntry],
) -> Result<Vec<Declaration>, PartitionError> {
    let mut all = joined(declarations, objects)?;
    for built_in in BUILT_IN {
        match all.iter_mut().find(|one| same_name(one, built_in)) {
            Some(same) if same.id == 0 => same.id = built_in.id,
            Some(_) => {}
            None => all.push(*built_in),
        }
    }
    check_ids(&all)?;
    let count = all.len();
    for i in 0..count {
        if all[i].id == 0 {
            let is_free = |id: &u32| all.iter().all(|one| one.id != *id);
            let free = (FIRST_CHOSEN..=MAX_PARTITION_ID).find(is_free);
            all[i].id = free.ok_or(PartitionError::too_many(count))?;
        }
    }
    if count > MAX_PARTITIONS {
        return Err(PartitionError::too_many(count));
    }
    Ok(all)
}

/// Returns the program's own declarations in the order of their names, each once.
fn joined(declarations: &[Declaration], objects: &[StaticEntry]) -> Result<Vec<Declaration>, PartitionError> {
    let mut all: Vec<Declaration> = declarations
        .iter()
        .chain(objects.iter().map(|object| &object.partition))
        .filter(|one| one.built_in == 0)
        .copied()
        .collect();
    all.sort_by_cached_key(|one| (key(one), one.name, one.id, one.traits().to_string(), one.file, one.line));
    for one in &all {
        let refused = |fault| {
            PartitionError::new(format!("partition `{}`, declared at {}: {fault}", one.name, place(one)))
        };
        check_traits(&one.traits()).map_err(refused)?;
    }
    let differ = |pair: &&[Declaration]| same_name(&pair[0], &pair[1]) && !same_content(&pair[0], &pair[1]);
    if let Some([first, second]) = all.windows(2).find(differ) {
        let remedy = "rename one, or make them equal: case does not count, and partitions of one name are one partition";
        let what = format!("the name `{}`", first.name);
        return Err(PartitionError::taken_twice(&what, &content(first), &content(second), remedy));
    }
    all.dedup_by(|second, first| same_name(first, second));
    Ok(all)
}

fn check_ids(all: &[Declaration]) -> Result<(), PartitionError> {
    if let Some(one) = all.iter().find(|one| same_name(one, &BUILT_IN[0]) && one.id != BUILT_IN[0].id) {
        return Err(PartitionError::new(format!(
            "{}: partition 1 is `default`, the default heap, and no other; leave the ID out, or choose another name",
            content(one)
        )));
    }
    for (i, first) in all.iter().enumerate().filter(|(_, first)| first.id != 0) {
        if let Some(second) = all[i + 1..].iter().find(|second| second.id == first.id) {
            let remedy = "give one of them another ID, or none: then it gets a free one";
            let what = format!("the ID {}", first.id);
            return Err(PartitionError::taken_twice(&what, &content(first), &content(second), remedy));
        }
    }
    Ok(())
}

/// The name in lower case, because names of partitions are compared without regard to case.
fn key(one: &Declaration) -> String {
    one.name.as_str().to_ascii_lowercase()
}

pub(super) fn same_name(one: &Declaration, other: &Declaration) -> bool {
    one.name.as_str().eq_ignore_ascii_case(other.name.as_str())
}

fn same_content(one: &Declaration, other: &Declaration) -> bool {
    one.name == other.name && one.id == other.id && one.traits() == other.traits()
}

fn place(one: &Declaration) -> String {
    format!("{}:{}", one.file, one.line)
}

/// Describes a declaration in error texts, by name, ID, traits, file and line.
fn content(one: &Declaration) -> String {
    if one.built_in != 0 {
        return format!("the built-in partition `{}`", one.name);
    }
    let id = if one.id == 0 { "no ID".to_owned() } else { format!("ID {}", one.id) };
    let traits = match one.traits().to_string() {
        traits if traits.is_empty() => "no traits".into(),
        traits => traits,
    };
    format!("`{}` ({id}, {traits}) at {}", one.name, place(one))
}
