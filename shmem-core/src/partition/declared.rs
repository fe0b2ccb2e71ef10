//! The partitions of a program, before the environment is looked at: declarations of all its
//! crates joined, and an ID for each.
//!
//! IDs are a function of the program alone. If the environment took part, a variable
//! `SHMEM_SYMMETRIC_PARTITION4` meant for the partition that has ID 4 could move it to another ID.

use shmem_grammar::{MAX_PARTITION_ID, check_traits};

use super::MAX_PARTITIONS;
use super::declaration::{BUILT_IN, Declaration};
use super::error::PartitionError;
use super::spec::StaticEntry;

/// The first ID that is given to declarations without one.
const FIRST_CHOSEN: u32 = 4;

/// The declarations of a program with the built-in ones, each with its ID.
pub(super) fn declared(
    declarations: &[Declaration],
    objects: &[StaticEntry],
) -> Result<Vec<Declaration>, PartitionError> {
    let mut all = joined(declarations, objects)?;
    check_default(&all)?;
    check_ids(&all)?;
    // Names that the program took from built-in partitions keep the ID, where it is free.
    for built_in in BUILT_IN {
        if !has_id(&all, built_in.id)
            && let Some(same) = all.iter_mut().find(|one| one.id == 0 && same_name(one, built_in))
        {
            same.id = built_in.id;
        }
    }
    for built_in in BUILT_IN {
        match all.iter().find(|one| same_name(one, built_in)) {
            Some(taker) => check_case(taker, built_in, objects)?,
            None => all.push(unless_taken(*built_in, &all, objects)?),
        }
    }
    let count = all.len();
    for i in 0..count {
        if all[i].id == 0 {
            all[i].id = (FIRST_CHOSEN..=MAX_PARTITION_ID)
                .find(|&id| !has_id(&all, id))
                .ok_or(PartitionError::TooMany { count })?;
        }
    }
    if count > MAX_PARTITIONS {
        return Err(PartitionError::TooMany { count });
    }
    Ok(all)
}

/// The program's own declarations in the order of their names, each once.
fn joined(declarations: &[Declaration], objects: &[StaticEntry]) -> Result<Vec<Declaration>, PartitionError> {
    let mut all: Vec<Declaration> = declarations
        .iter()
        .chain(objects.iter().map(|object| &object.partition))
        .filter(|one| one.built_in == 0)
        .copied()
        .collect();
    all.sort_by_cached_key(|one| (key(one), one.name, one.id, one.traits().to_string(), one.file, one.line));
    for one in &all {
        check_traits(&one.traits()).map_err(|fault| PartitionError::Declared {
            name: one.name.to_string(),
            place: place(one),
            fault: Box::new(fault),
        })?;
    }
    if let Some(pair) =
        all.windows(2).find(|pair| same_name(&pair[0], &pair[1]) && !same_content(&pair[0], &pair[1]))
    {
        return Err(PartitionError::Conflict {
            what: format!("the name `{}`", pair[0].name),
            first: content(&pair[0]),
            second: content(&pair[1]),
            remedy: "rename one, or make them equal: case does not count, and partitions of one name are one partition",
        });
    }
    all.dedup_by(|second, first| same_name(first, second));
    Ok(all)
}

fn check_default(all: &[Declaration]) -> Result<(), PartitionError> {
    for one in all {
        let remedy = match (same_name(one, &BUILT_IN[0]), one.id) {
            (true, 2..) => "leave the ID out, or choose another name",
            (false, 1) => "name it `default`, or choose another ID",
            _ => continue,
        };
        return Err(PartitionError::DefaultHeap { declaration: content(one), remedy });
    }
    Ok(())
}

fn check_ids(all: &[Declaration]) -> Result<(), PartitionError> {
    for (i, first) in all.iter().enumerate().filter(|(_, first)| first.id != 0) {
        if let Some(second) = all[i + 1..].iter().find(|second| second.id == first.id) {
            return Err(PartitionError::Conflict {
                what: format!("the ID {}", first.id),
                first: content(first),
                second: content(second),
                remedy: "give one of them another ID, or none: then it gets a free one",
            });
        }
    }
    Ok(())
}

/// A built-in partition whose ID the program gave to another moves out of the way, unless an object
/// relies on it.
fn unless_taken(
    mut built_in: Declaration,
    all: &[Declaration],
    objects: &[StaticEntry],
) -> Result<Declaration, PartitionError> {
    match (all.iter().find(|one| one.id == built_in.id), user(&built_in, objects)) {
        (None, _) => Ok(built_in),
        (Some(_), None) => {
            built_in.id = 0;
            Ok(built_in)
        }
        (Some(taker), Some(user)) => Err(PartitionError::Conflict {
            what: format!("the ID {}", built_in.id),
            first: content(taker),
            second: user,
            remedy: "give the declared one another ID, or none: then it gets a free one",
        }),
    }
}

/// `Fast` replaces the built-in `fast`, unless an object relies on the latter: objects are found by
/// the exact name.
fn check_case(
    taker: &Declaration,
    built_in: &Declaration,
    objects: &[StaticEntry],
) -> Result<(), PartitionError> {
    match user(built_in, objects) {
        Some(user) if taker.name != built_in.name => Err(PartitionError::Conflict {
            what: format!("the name `{}`", built_in.name),
            first: content(taker),
            second: user,
            remedy: "rename the declared one: case does not count in environment variables",
        }),
        _ => Ok(()),
    }
}

/// A built-in partition with the first object in it, for messages, if there is one.
fn user(built_in: &Declaration, objects: &[StaticEntry]) -> Option<String> {
    let first = objects
        .iter()
        .filter(|object| object.partition.name == built_in.name)
        .min_by_key(|object| (object.file, object.line, object.name))?;
    Some(format!(
        "the built-in partition `{}`, in which `{}` at {}:{} lies",
        built_in.name, first.name, first.file, first.line
    ))
}

fn has_id(all: &[Declaration], id: u32) -> bool {
    all.iter().any(|one| one.id == id)
}

/// What environment variables can tell apart.
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

/// A declaration for messages: name, ID, traits, file and line.
fn content(one: &Declaration) -> String {
    let id = if one.id == 0 { "no ID".to_owned() } else { format!("ID {}", one.id) };
    let traits = match one.traits().to_string() {
        traits if traits.is_empty() => "no traits".into(),
        traits => traits,
    };
    format!("`{}` ({id}, {traits}) at {}", one.name, place(one))
}
