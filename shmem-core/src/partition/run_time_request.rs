//! Requests for partitions that are made while the job runs.

use core::fmt;
use core::str::FromStr;

use shmem_grammar::{
    Kind, MAX_PARTITION_ID, MAX_PARTITION_NAME, Policy, TraitError, Traits, check_traits, parse_traits,
};

use super::MAX_PARTITIONS;
use super::error::PartitionError;
use super::spec::{Origin, PartitionSpec};
use super::table::Table;
use crate::text::Text;

/// The lowest ID for partitions without a requested ID, because lower IDs are built in.
const FIRST_FREE: u32 = 4;

/// A request for a partition at run time: traits and, optionally, ID and name.
///
/// ```
/// # use shmem_core as shmem;
/// use shmem::partition::{Kind, NewPartition, Policy};
///
/// let written = NewPartition::new(64 << 20).kind(Kind::FastMem).policy(Policy::Mandatory);
/// assert_eq!("SIZE=64M:KIND=F:POLICY=M".parse(), Ok(written));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct NewPartition {
    traits: Traits,
    id: Option<u32>,
    name: Option<String>,
}

impl fmt::Display for NewPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.traits)?;
        if let Some(id) = self.id {
            write!(f, ", ID {id}")?;
        }
        match &self.name {
            Some(name) => write!(f, ", named `{name}`"),
            None => Ok(()),
        }
    }
}

impl NewPartition {
    /// Requests a partition of `size` bytes on each PE, with the lowest free ID from 4 up, named `partition<ID>`.
    pub const fn new(size: u64) -> Self {
        Self { traits: Traits { size: Some(size), ..Traits::NONE }, id: None, name: None }
    }

    /// Sets the ID of the partition, 1..=255.
    pub const fn id(mut self, id: u32) -> Self {
        self.id = Some(id);
        self
    }

    /// Sets the name of the partition, of at most 32 bytes.
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the smallest page size, in bytes.
    pub const fn pgsize(mut self, pgsize: u64) -> Self {
        self.traits.pgsize = Some(pgsize);
        self
    }

    /// Sets the kind of memory. Kinds that a machine may lack need a [`policy`](Self::policy).
    pub const fn kind(mut self, kind: Kind) -> Self {
        self.traits.kind = Some(kind);
        self
    }

    /// Sets how strictly kind and page size are meant.
    pub const fn policy(mut self, policy: Policy) -> Self {
        self.traits.policy = Some(policy);
        self
    }

    /// The requested traits.
    pub const fn traits(&self) -> &Traits {
        &self.traits
    }

    /// Checks the request against `table`, and returns the partition's specification.
    /// Fails if the traits are inconsistent, the ID or name is taken or malformed, or the table is full.
    pub fn resolve(self, table: &Table, origin: Origin) -> Result<PartitionSpec, PartitionError> {
        let Self { traits, id, name } = self;
        let wrong = |fault: TraitError| PartitionError::of_request(format_args!(": {fault}"));
        let size = match traits.size {
            None => return Err(wrong(TraitError::no_size())),
            Some(0) => return Err(wrong(TraitError::zero("SIZE=0"))),
            Some(size) => size,
        };
        check_traits(&traits).map_err(wrong)?;
        if traits.kind == Some(Kind::Pmem) {
            return Err(wrong(TraitError::late_file("KIND=PMEM")));
        }
        let specs = table.specs();
        if specs.len() >= MAX_PARTITIONS {
            return Err(PartitionError::too_many(specs.len() + 1));
        }
        let free = |id: &u32| specs.iter().all(|spec| spec.id != *id);
        let id = match id {
            // Some ID is free, because there are fewer partitions than IDs.
            None => (FIRST_FREE..=MAX_PARTITION_ID).find(free).unwrap_or(MAX_PARTITION_ID),
            Some(id) if (1..=MAX_PARTITION_ID).contains(&id) => id,
            Some(id) => {
                return Err(PartitionError::of_request(format_args!(
                    " wants the ID {id}; an ID lies in 1..={MAX_PARTITION_ID}; give one of these, or none: then a free one is taken"
                )));
            }
        };
        let name = name.unwrap_or_else(|| format!("partition{id}"));
        if name.is_empty() || name.len() > MAX_PARTITION_NAME || name.contains(|c: char| c.is_control()) {
            return Err(PartitionError::of_request(format_args!(
                " is named `{}`; a name has at least one and at most 32 bytes, and only characters that print; shorten it, or give none",
                name.escape_debug()
            )));
        }
        let taken = |what: String, first: &PartitionSpec| {
            let remedy = "give it another, or leave it out: then a free one is taken";
            let first = format!("{} (from {})", first.title(), first.origin);
            PartitionError::taken_twice(&what, &first, "the new one", remedy)
        };
        if let Some(first) = specs.iter().find(|spec| spec.id == id) {
            return Err(taken(format!("the ID {id}"), first));
        }
        if let Some(first) = specs.iter().find(|spec| spec.name.as_str().eq_ignore_ascii_case(&name)) {
            return Err(taken(format!("the name `{name}`"), first));
        }
        let explicit = traits.is_explicit();
        Ok(PartitionSpec { id, name: Text::head(&name), size, traits, origin, explicit, file: None })
    }
}

/// Reads the environment's syntax: `SIZE=64M:KIND=F:POLICY=M`.
impl FromStr for NewPartition {
    type Err = TraitError;

    fn from_str(text: &str) -> Result<Self, TraitError> {
        Ok(Self { traits: parse_traits(text)?, id: None, name: None })
    }
}

impl TryFrom<&str> for NewPartition {
    type Error = TraitError;

    fn try_from(text: &str) -> Result<Self, TraitError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::partition::Environment;

    fn table() -> Table {
        let variable = ("SHMEM_SYMMETRIC_PARTITION23".into(), "SIZE=1M".into());
        Table::resolve(&[], &[], &Environment::collect([variable]).unwrap()).unwrap()
    }

    fn resolve(new: NewPartition) -> Result<PartitionSpec, String> {
        let origin = Origin::Program { file: Text::tail("src/a.rs"), line: 7 };
        new.resolve(&table(), origin).map_err(|error| error.to_string())
    }

    #[test]
    fn what_cannot_be_says_why() {
        let new = NewPartition::new(5);
        let long = "n".repeat(33);
        let cases = [
            (NewPartition::new(0), "the new partition: `SIZE=0`: a partition of no bytes"),
            (new.clone().kind(Kind::FastMem), "the new partition: KIND=FASTMEM needs a POLICY"),
            (new.clone().pgsize(5000), "a page size is a power of two"),
            (new.clone().id(0), "wants the ID 0; an ID lies in 1..=255"),
            (new.clone().id(256), "wants the ID 256"),
            (
                new.clone().id(23),
                "the ID 23 is taken twice: by partition 23 `partition23` (from SHMEM_SYMMETRIC_PARTITION23), and by the new one; give it another, or leave it out",
            ),
            (new.clone().name("FAST"), "the name `FAST` is taken twice: by partition 2 `fast`"),
            (new.clone().name("partition23"), "the name `partition23` is taken"),
            (new.clone().name(""), "is named ``"),
            (new.clone().name(&long), "at most 32 bytes"),
            (
                new.kind(Kind::Pmem).policy(Policy::Preferred),
                "`KIND=PMEM`: a partition in a file exists from the start of the job",
            ),
        ];
        for (new, part) in cases {
            let error = resolve(new).unwrap_err();
            assert!(error.contains(part), "`{part}` in: {error}");
        }
        let error = "SIZE=1M:KIND=PMEM:POLICY=M:PMEM=/a".parse::<NewPartition>().unwrap_err().to_string();
        assert!(error.starts_with("`PMEM=/a`: a partition in a file exists from the start"), "{error}");
    }
}
