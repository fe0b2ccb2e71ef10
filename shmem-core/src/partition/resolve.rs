//! Joins declarations, objects and environment into one [`Table`], and checks the partitions' files.

use core::cmp::Reverse;
use std::collections::BTreeMap;

use shmem_grammar::{MIN_PAGE, Policy, TraitError, Traits, check_traits, show_size};

use super::MAX_PARTITIONS;
use super::declaration::Declaration;
use super::declared::{declared, same_name};
use super::environment::{Environment, Given, PARTITION_VARIABLE, Subject};
use super::error::PartitionError;
use super::spec::{Origin, PartitionSpec, StaticEntry};
use super::table::{Table, existing, meant};
use crate::text::Text;

impl Table {
    /// Joins the program's declarations, the page sizes that its objects wish for, and the environment, each in any order.
    ///
    /// - `default` (1), `fast` (2) and `normal` (3) always exist. A declaration of equal name replaces one of them.
    /// - Declarations without an ID get the lowest free ID from 4 up, in the order of names.
    /// - The environment replaces single traits of a partition, by ID or by name. An ID that only the
    ///   environment has makes a new partition, which needs a size.
    /// - A partition without a page size gets the largest one that its objects wish for.
    ///
    /// Fails if declarations contradict each other or the environment contradicts itself, if joined traits or files are invalid, if
    /// mandatory pages are smaller than an object's wish, or if there are more than [`MAX_PARTITIONS`](super::MAX_PARTITIONS).
    pub fn resolve(
        declarations: &[Declaration],
        objects: &[StaticEntry],
        environment: &Environment,
    ) -> Result<Self, PartitionError> {
        check_wishes(objects)?;
        let mut specs: Vec<_> = declared(declarations, objects)?
            .iter()
            .map(|declaration| spec_of(declaration, objects))
            .collect();
        let mut warnings = environment.warnings.clone();
        ask_environment(&mut specs, environment, &mut warnings)?;
        grant_wishes(&mut specs, objects, &mut warnings)?;
        check_files(&specs, environment)?;
        if specs.len() > MAX_PARTITIONS {
            return Err(PartitionError::too_many(specs.len()));
        }
        for spec in &mut specs {
            spec.size = spec.traits.size.unwrap_or_else(|| environment.default_size(spec.id));
        }
        specs.sort_by_key(|spec| spec.id);
        warnings.extend(needless(&specs));
        Ok(Self { specs, warnings })
    }
}

fn spec_of(declaration: &Declaration, objects: &[StaticEntry]) -> PartitionSpec {
    let traits = declaration.traits();
    let built_in = declaration.built_in != 0;
    let first = objects
        .iter()
        .filter(|object| same_name(&object.partition, declaration))
        .map(|object| (object.file, object.line))
        .min();
    PartitionSpec {
        id: declaration.id,
        name: declaration.name,
        size: 0,
        traits,
        origin: match first {
            _ if !built_in => Origin::Program { file: declaration.file, line: declaration.line },
            Some((file, line)) => Origin::Program { file, line },
            None => Origin::BuiltIn,
        },
        explicit: !built_in && traits.is_explicit(),
        file: None,
    }
}

/// Replaces traits of a partition by those of a variable. Error texts then name the variable as the partition's origin, unless the
/// variable gives only a size and the program declared other traits.
fn override_by(spec: &mut PartitionSpec, given: &Given) -> Result<(), PartitionError> {
    let by_program = spec.traits.is_explicit() && matches!(spec.origin, Origin::Program { .. });
    if given.traits.is_explicit() || !by_program {
        spec.origin = Origin::Environment(given.variable.clone());
    }
    spec.traits = spec.traits.overridden_by(given.traits);
    spec.explicit |= given.traits.is_explicit();
    spec.file = given.file.clone().or(spec.file.take());
    check_traits(&spec.traits).map_err(|fault| given.refused(fault))
}

/// Applies the environment: variables by name, then variables by ID, last the size of the default heap.
fn ask_environment(
    specs: &mut Vec<PartitionSpec>,
    environment: &Environment,
    warnings: &mut Vec<String>,
) -> Result<(), PartitionError> {
    for (subject, given) in &environment.given {
        let spec = match subject {
            Subject::Name(name) => {
                let Some(spec) = named(specs, name) else {
                    let (given, existing) = (given.shown(), existing(specs));
                    warnings.push(format!(
                        "{given} has no effect: the program declares no partition `{name}`; there are {existing}{}",
                        meant(name, specs)
                    ));
                    continue;
                };
                if let Some(by_id) = environment.id(spec.id)
                    && (by_id.traits, &by_id.file) != (given.traits, &given.file)
                {
                    return Err(by_id.differs_from(&given.shown(), &spec.title()));
                }
                spec
            }
            Subject::Id(id) => identified(specs, *id, given)?,
            Subject::Heap => identified(specs, 1, given)?,
        };
        override_by(spec, given)?;
    }
    Ok(())
}

fn named<'s>(specs: &'s mut [PartitionSpec], name: &str) -> Option<&'s mut PartitionSpec> {
    specs.iter_mut().find(|spec| spec.name.as_str().eq_ignore_ascii_case(name))
}

/// Returns the partition with an ID. Makes the partition if it is missing.
fn identified<'s>(
    specs: &'s mut Vec<PartitionSpec>,
    id: u32,
    given: &Given,
) -> Result<&'s mut PartitionSpec, PartitionError> {
    if let Some(at) = specs.iter().position(|spec| spec.id == id) {
        return Ok(&mut specs[at]);
    }
    if given.traits.size.is_none() {
        return Err(given.refused(TraitError::no_size()));
    }
    let name = format!("partition{id}");
    if let Some(other) = named(specs, &name) {
        let first = format!("partition {}, declared at {}", other.id, other.origin);
        let second = format!("the partition that {} makes", given.variable);
        let remedy = "rename the declared one, or use another ID in the environment";
        return Err(PartitionError::taken_twice(&format!("the name `{name}`"), &first, &second, remedy));
    }
    let (name, traits, origin) = (Text::head(&name), Traits::NONE, Origin::BuiltIn);
    let at = specs.len();
    specs.push(PartitionSpec { id, name, size: 0, traits, origin, explicit: false, file: None });
    Ok(&mut specs[at])
}

/// Gives each partition without a page size the largest page size that its objects ask for.
fn grant_wishes(
    specs: &mut [PartitionSpec],
    objects: &[StaticEntry],
    warnings: &mut Vec<String>,
) -> Result<(), PartitionError> {
    for spec in specs {
        let wish = objects
            .iter()
            .filter(|object| object.pgsize != 0)
            .filter(|object| object.partition.name.as_str().eq_ignore_ascii_case(spec.name.as_str()))
            .min_by_key(|wish| (Reverse(wish.pgsize), wish.file, wish.line, wish.name));
        let Some(wish) = wish else {
            continue;
        };
        let place = format!("{}:{}", wish.file, wish.line);
        match spec.traits.pgsize {
            None => {
                spec.traits.pgsize = Some(wish.pgsize);
                spec.explicit = true;
            }
            Some(given) if given >= wish.pgsize => {}
            Some(given) if spec.traits.policy == Some(Policy::Mandatory) => {
                return Err(PartitionError::new(format!(
                    "{} has PGSIZE={} under POLICY=MANDATORY (from {}), and `{}` at {place} needs pages of {}; raise PGSIZE, or leave it out: then the object's wish is taken",
                    spec.title(),
                    show_size(given),
                    spec.origin,
                    wish.name,
                    show_size(wish.pgsize)
                )));
            }
            Some(given) => warnings.push(format!(
                "{} has pages of {} (from {}), smaller than the {} that `{}` at {place} asks for",
                spec.title(),
                show_size(given),
                spec.origin,
                show_size(wish.pgsize),
                wish.name
            )),
        }
    }
    Ok(())
}

fn check_wishes(objects: &[StaticEntry]) -> Result<(), PartitionError> {
    let mut wishes: Vec<_> = objects.iter().filter(|object| object.pgsize != 0).collect();
    wishes.sort_by_key(|wish| (wish.file, wish.line, wish.name, wish.pgsize));
    wishes.into_iter().try_for_each(|wish| {
        let traits = Traits { pgsize: Some(wish.pgsize), ..Traits::NONE };
        check_traits(&traits).map_err(|fault| {
            PartitionError::new(format!("`{}` at {}:{}: {fault}", wish.name, wish.file, wish.line))
        })
    })
}

/// Warns of partitions whose requests differ at most in size: one would do, because a heap can have any number of objects.
fn needless(specs: &[PartitionSpec]) -> Vec<String> {
    let mut alike: BTreeMap<String, Vec<&PartitionSpec>> = BTreeMap::new();
    for spec in specs.iter().filter(|spec| spec.explicit && !spec.is_in_file()) {
        alike.entry(Traits { size: None, ..spec.traits }.to_string()).or_default().push(spec);
    }
    alike
        .into_iter()
        .filter(|(_, specs)| specs.len() > 1)
        .map(|(traits, specs)| {
            let each: Vec<_> = specs.iter().map(|spec| format!("{} `{}`", spec.id, spec.name)).collect();
            format!(
                "partitions {} all ask for {traits}; one partition for each kind of memory is enough, since a heap holds any number of objects",
                each.join(", ")
            )
        })
        .collect()
}

/// Checks that the partitions with `KIND=PMEM`, and no others, have a file, each its own.
fn check_files(specs: &[PartitionSpec], environment: &Environment) -> Result<(), PartitionError> {
    for spec in specs {
        check_file(spec, environment)?;
    }
    for (i, first) in specs.iter().enumerate() {
        let same = |second: &&PartitionSpec| second.file == first.file;
        if let Some(path) = &first.file
            && let Some(second) = specs[i + 1..].iter().find(same)
        {
            return Err(PartitionError::new(format!(
                "{} and {} both have PMEM={path}; each partition needs a file of its own",
                first.title(),
                second.title()
            )));
        }
    }
    Ok(())
}

fn check_file(spec: &PartitionSpec, environment: &Environment) -> Result<(), PartitionError> {
    let PartitionSpec { id, origin, traits, .. } = spec;
    let given = environment.id(*id).or_else(|| environment.name(spec.name.as_str()));
    let variable = given.map_or_else(|| format!("{PARTITION_VARIABLE}{id}"), |given| given.variable.clone());
    let why = match (spec.is_in_file(), &spec.file, traits.policy) {
        (false, None, _) => return Ok(()),
        (false, Some(path), _) => {
            let kind = traits.kind.map_or("no KIND".into(), |kind| format!("KIND={kind}"));
            format!(
                "PMEM={path} (from {variable}) and {kind}; only a partition with KIND=PMEM lies in a file: write KIND=PMEM, or leave PMEM= out"
            )
        }
        (true, _, Some(policy)) if policy != Policy::Mandatory => format!(
            "KIND=PMEM and POLICY={policy} (from {origin}), and nothing can take the place of a file; write POLICY=MANDATORY, and for a job of which nothing is to be kept, a file on tmpfs (PMEM=/dev/shm/heap)"
        ),
        (true, None, _) => {
            let size = show_size(traits.size.unwrap_or_else(|| environment.default_size(*id)));
            format!(
                "KIND=PMEM (from {origin}) and no file to lie in; add PMEM=<path> to {variable}, for example {variable}=SIZE={size}:KIND=PMEM:POLICY=MANDATORY:PMEM=/mnt/pmem0/heap"
            )
        }
        (true, Some(_), _) => match traits.pgsize.filter(|pgsize| *pgsize > MIN_PAGE) {
            None => return Ok(()),
            Some(pgsize) => format!(
                "KIND=PMEM and PGSIZE={} (from {origin}), and the file system gives the pages of a file; leave PGSIZE out",
                show_size(pgsize)
            ),
        },
    };
    Err(PartitionError::new(format!("{} has {why}", spec.title())))
}
