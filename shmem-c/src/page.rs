//! The page of routines, in Markdown: a line for each row of the table.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::header::{BEFORE, declared, families, is_extension};
use crate::table::Routine;

/// What is new in OpenSHMEM 1.6.
const NEW: &str = include_str!("../tests/interface/names-1.6.txt");

/// Lists of types, as the page calls them.
const LISTS: [(&str, &str); 17] = [
    ("standard_rma", "RMA"),
    ("sizes", "sizes"),
    ("sizes_of_sets", "sizes of sets"),
    ("standard_amo", "AMO"),
    ("extended_amo", "extended AMO"),
    ("bitwise_amo", "bitwise AMO"),
    ("old_amo", "AMO"),
    ("old_extended_amo", "extended AMO"),
    ("waited", "waiting"),
    ("old_waited", "old waiting"),
    ("bitwise_reduced", "bitwise reduction"),
    ("compared_reduced", "min, max"),
    ("arithmetic_reduced", "sum, prod"),
    ("bitwise_to_all", "bitwise to_all"),
    ("compared_to_all", "min, max to_all"),
    ("arithmetic_to_all", "sum, prod to_all"),
    // With `long double`, which the table has no rows of, they are those of RMA.
    ("numbers", "RMA"),
];

/// Lists and names that are deprecated, and since which version of OpenSHMEM (1.5, annex F).
const DEPRECATED: [(&str, &str); 23] = [
    ("start_pes", "1.2"),
    ("_my_pe", "1.2"),
    ("_num_pes", "1.2"),
    ("shmalloc", "1.2"),
    ("shmemalign", "1.2"),
    ("shrealloc", "1.2"),
    ("shfree", "1.2"),
    ("shmem_set_cache_inv", "1.3"),
    ("shmem_clear_cache_inv", "1.3"),
    ("shmem_set_cache_line_inv", "1.3"),
    ("shmem_clear_cache_line_inv", "1.3"),
    ("shmem_udcflush", "1.3"),
    ("shmem_udcflush_line", "1.3"),
    ("shmem_wait", "1.4"),
    ("shmem_wait_until", "1.4"),
    ("old_waited", "1.4"),
    ("old_amo", "1.4"),
    ("old_extended_amo", "1.4"),
    ("bitwise_to_all", "1.5"),
    ("compared_to_all", "1.5"),
    ("arithmetic_to_all", "1.5"),
    ("shmem_barrier", "1.5"),
    ("shmem_sync", "1.5"),
];

const HEAD: &str = "\
# Routines of the C library

Made from the table of routines (`shmem-c/src/table.rs`), from which the headers and the exported names come as well. How programs
are built and run, and what differs from other libraries, stands in `docs/c.md` of the sources.

* `TYPE` is the name of a type, and in arguments that type; `SIZE` is 8, 16, 32, 64 or 128 bits. Which types a line has, the
  [last table](#types) says.
* **generic**: the name that takes all types of the line, in C11 and in C++. `ctx`: there is a form with a context as first
  argument, `shmem_ctx_..`, and the generic name takes one.
* **version**: the version of OpenSHMEM that has it first, where that is 1.6, or since which it is deprecated.
* Every `shmem_` name is weak; the same with `pshmem_` is strong, for profilers.
";

/// A line of the page: a row of the table in all its types, with a context and without.
struct Line {
    /// One of them.
    routine: &'static Routine,
    /// Names of types, in the order of the table.
    types: Vec<&'static str>,
    names: Vec<&'static str>,
    has_context: bool,
}

impl Line {
    /// The lines of a family.
    fn of(routines: Vec<&'static Routine>) -> Vec<Self> {
        let mut lines: Vec<Self> = Vec::new();
        for routine in routines {
            let row = |routine: &Routine| {
                (routine.list, routine.parts[0], routine.parts[2], routine.name.starts_with("shmemx_"))
            };
            let at = lines.iter().position(|line| row(line.routine) == row(routine)).unwrap_or_else(|| {
                lines.push(Self { routine, types: Vec::new(), names: Vec::new(), has_context: false });
                lines.len() - 1
            });
            let (line, [_, of, _]) = (&mut lines[at], routine.parts);
            line.names.push(routine.name);
            line.has_context |= routine.has_context;
            if !line.types.contains(&of) {
                line.types.push(of);
            }
            // A type whose name is no word of the other arguments.
            if (routine.of)().ends_with("long long") && !routine.has_context {
                line.routine = routine;
            }
        }
        lines
    }

    /// The prototype, with what stands for the type.
    fn shape(&self) -> String {
        let Routine { name, list, parts: [pre, _, post], .. } = self.routine;
        if self.types.len() == 1 {
            return declared(self.routine, name);
        }
        let placeholder = if list.starts_with("sizes") { "SIZE" } else { "TYPE" };
        let head = name.strip_suffix(&self.routine.parts.concat()).unwrap_or_default();
        let text = declared(self.routine, &format!("{head}{pre}{placeholder}{post}"));
        if placeholder == "SIZE" { text } else { text.replace(&(self.routine.of)(), "TYPE") }
    }

    /// The list of its types.
    fn list(&self) -> &'static str {
        let list = self.routine.list;
        LISTS.iter().find(|(name, _)| *name == list && self.types.len() > 1).map_or("", |(_, called)| called)
    }

    /// The version that has it first, or since which it is deprecated.
    fn version(&self) -> String {
        let list = self.routine.list;
        let is_of_a_set = self.routine.arguments.iter().any(|(_, name)| *name == "log_stride");
        let known = DEPRECATED.iter().find(|(name, _)| *name == list || self.names == [*name]);
        match known.map(|(_, version)| *version).or(is_of_a_set.then_some("1.5")) {
            Some(version) => format!("deprecated {version}"),
            None if self.names.iter().all(|name| NEW.lines().any(|new| new == *name)) => "1.6".to_owned(),
            None => String::new(),
        }
    }

    fn written(&self) -> String {
        let generic = self.routine.generic.map(|(name, _)| format!("`{name}`"));
        let generic: Vec<_> = generic.into_iter().chain(self.has_context.then(|| "ctx".to_owned())).collect();
        let (shape, generic) = (self.shape(), generic.join(", "));
        let shape = shape.trim_end().trim_end_matches(';');
        format!("| `{shape}` | {generic} | {} | {} |\n", self.list(), self.version())
    }
}

/// The page.
#[must_use]
pub fn page() -> String {
    let mut text = HEAD.to_owned();
    let mut beside = Vec::new();
    let mut types: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut of_c: Vec<(&str, String)> = Vec::new();
    for (family, routines) in families() {
        for routine in &routines {
            let [_, of, _] = routine.parts;
            let known = of.is_empty() || of_c.iter().any(|(known, _)| *known == of);
            let in_c = (routine.of)();
            if in_c != "void" && !known {
                of_c.push((of, in_c));
            }
        }
        let (extensions, specified): (Vec<_>, Vec<_>) =
            Line::of(routines).into_iter().partition(|line| is_extension(line.routine.name));
        for line in specified.iter().filter(|line| !line.list().is_empty()) {
            if !types.iter().any(|(list, _)| *list == line.list()) {
                types.push((line.list(), line.types.clone()));
            }
        }
        table(&mut text, family, &specified);
        beside.extend(extensions);
    }
    table(&mut text, "Beside the specification: `shmemx.h`", &beside);
    let before: BTreeSet<_> = BEFORE.iter().map(|part| part.trim_start_matches('_')).collect();
    let before: Vec<_> = before.into_iter().map(|part| format!("`{part}`")).collect();
    _ = write!(
        text,
        "\nRoutines with {} in their names may be called `shmemx_..` as well: other libraries had them before OpenSHMEM 1.6. \
         Generic are also `shmem_sync`, of a team or of an active set, and `shmem_signal_set` and `shmem_signal_add`, with a \
         context or without.\n",
        before.join(", "),
    );
    text += "\n## Types\n\n| | names of types |\n|---|---|\n";
    for (list, types) in types {
        let types: Vec<_> = types.into_iter().map(|name| format!("`{name}`")).collect();
        _ = writeln!(text, "| {list} | {} |", types.join(" "));
    }
    text += "\nNames of types whose type has another name in C: ";
    let other: Vec<_> = of_c
        .into_iter()
        .filter(|(name, of)| name != of)
        .map(|(name, of)| format!("`{name}` is `{of}`"))
        .collect();
    text + &other.join(", ") + ".\n"
}

fn table(text: &mut String, title: &str, lines: &[Line]) {
    if lines.is_empty() {
        return;
    }
    _ = write!(text, "\n## {title}\n\n| routine | generic | types | version |\n|---|---|---|---|\n");
    lines.iter().for_each(|line| *text += &line.written());
}

#[test]
fn every_routine_stands_on_the_page() {
    let page = page();
    for routine in families().iter().flat_map(|(_, routines)| routines) {
        let [pre, of, post] = routine.parts;
        let plain = routine.name.replacen("shmem_ctx_", "shmem_", 1);
        let shape =
            |of: &str| format!("{}{pre}{of}{post}(", plain.strip_suffix(&routine.parts.concat()).unwrap());
        let found = page.contains(&format!("{}(", routine.name));
        assert!(found || [of, "TYPE", "SIZE"].iter().any(|of| page.contains(&shape(of))), "{}", routine.name);
    }
    assert!(page.lines().filter(|line| line.starts_with("| `")).count() < 200, "to be read");
}
