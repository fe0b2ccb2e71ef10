/// A name cannot be used, or what has it is something else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "fields are what messages name them")]
#[non_exhaustive]
pub enum NameError {
    /// Not a name.
    #[error("`{name}` cannot name an object: {fault}; a name has 1 to 64 bytes, and none that do not print")]
    Name { name: String, fault: &'static str },
    /// An object of another length or type has the name.
    #[error(
        "`{name}` is {found} in the file of partition `{partition}`, and {asked} is asked for; ask for the same, or remove the name first"
    )]
    Other { name: String, partition: String, found: String, asked: String },
    /// No object has the name.
    #[error("partition `{partition}` has no object `{name}`{hint}")]
    Missing { name: String, partition: String, hint: String },
    /// The list of names is full.
    #[error(
        "no room for another name in partition `{partition}`, whose list of names has {room} bytes; remove some, or make the partition larger"
    )]
    Full { partition: String, room: usize },
    /// The partition does not survive the job.
    #[error(
        "partition `{partition}` does not outlive the job, so its objects have no names; give it KIND=PMEM and PMEM=<path>"
    )]
    NotInFile { partition: String },
}
