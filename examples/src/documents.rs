//! The programs of the README and of the documents, as documentation tests. Each is compiled. A program with a `main` also
//! runs: with one PE, or with `SHMEM_NPES` PEs (`ci/book.sh`).

/// Attaches each document to a module, so that rustdoc tests the document's code blocks.
macro_rules! documents {
    ($($name:ident = $path:literal;)*) => {$(
        #[doc = include_str!($path)]
        mod $name {}
    )*};
}

documents! {
    readme = "../../README.md";
    from_openshmem = "../../docs/from-openshmem.md";
    introduction = "../../docs/guide/src/introduction.md";
    concepts = "../../docs/guide/src/concepts.md";
    first_program = "../../docs/guide/src/first-program.md";
    objects = "../../docs/guide/src/objects.md";
    operations = "../../docs/guide/src/operations.md";
    phases = "../../docs/guide/src/phases.md";
    partitions = "../../docs/guide/src/partitions.md";
    strided = "../../docs/guide/src/strided.md";
    lists = "../../docs/guide/src/lists.md";
    halos = "../../docs/guide/src/halos.md";
    arrays = "../../docs/guide/src/arrays.md";
    teams = "../../docs/guide/src/teams.md";
    contexts = "../../docs/guide/src/contexts.md";
    launching = "../../docs/guide/src/launching.md";
    observing = "../../docs/guide/src/observing.md";
    handing_over = "../../docs/guide/src/handing-over.md";
    libraries = "../../docs/guide/src/libraries.md";
    testing = "../../docs/guide/src/testing.md";
    glossary = "../../docs/guide/src/glossary.md";
}
