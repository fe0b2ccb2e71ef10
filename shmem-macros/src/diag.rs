//! Every sentence that the macros can say.
//!
//! Rules that hold for all of them:
//!
//! * One mistake, one error. Stages push errors and go on; whatever happened, the item is still
//!   emitted, so that uses of it do not fail as well.
//! * A message stands at the token the user wrote, says what was asked and what is allowed.
//! * What rustc reports well is left to rustc: unknown names, wrong types.
//! * `Span::join` does nothing on stable. An error about several tokens takes the tokens, not a
//!   span, so that rustc underlines from the first to the last.
//! * User tokens go into the expansion once where possible, or rustc repeats what it has to say
//!   about them.

use quote::ToTokens;
use shmem_grammar::{MAX_PARTITION_ID, MAX_PARTITION_NAME, did_you_mean};

pub(crate) use crate::errors::{Errors, ends, respanned};

/// A path as it is written.
pub(crate) fn path(path: &syn::Path) -> String {
    path.to_token_stream().to_string().replace(' ', "")
}

/// "`a`", "`a` and `b`", "`a`, `b` and `c`".
pub(crate) fn list(names: &[&str], last: &str) -> String {
    match names {
        [] => String::new(),
        [one] => format!("`{one}`"),
        [first @ .., end] => {
            let first: Vec<_> = first.iter().map(|name| format!("`{name}`")).collect();
            format!("{} {last} `{end}`", first.join(", "))
        }
    }
}

/// "; did you mean `partition`?", if a name is near.
fn nearest(found: &str, allowed: &[&str]) -> String {
    let near = shmem_grammar::nearest(found, allowed.iter().copied()).map(|name| format!("`{name}`"));
    did_you_mean(near.as_deref())
}

// -- arguments --

/// What a macro takes: "`#[symmetric]` takes `partition` and `pgsize`".
fn takes(owner: &str, allowed: &[&str]) -> String {
    match allowed {
        [] => format!("{owner} takes no arguments"),
        _ => format!("{owner} takes {}", list(allowed, "and")),
    }
}

pub(crate) fn unknown_argument(owner: &str, found: &str, allowed: &[&str]) -> String {
    let near = nearest(found, allowed);
    let joint = if near.is_empty() { ";" } else { "" };
    format!("unknown argument `{found}`{near}{joint} {}", takes(owner, allowed))
}

pub(crate) fn repeated_argument(found: &str) -> String {
    format!("`{found}` is given twice")
}

pub(crate) fn not_an_argument(owner: &str, allowed: &[&str]) -> String {
    format!("expected an argument of the form `name = value`; {}", takes(owner, allowed))
}

pub(crate) fn missing_value(key: &str) -> String {
    format!("`{key}` needs a value: `{key} = ..`")
}

pub(crate) fn needless_value(key: &str) -> String {
    format!("`{key}` stands by itself, without a value")
}

pub(crate) const CRATE: &str = "`crate` takes the path of this library: `crate = my::shmem`";

pub(crate) const UNSAFE: &str = "only the path of this library can be `unsafe`: `unsafe(crate = my::shmem)`";

pub(crate) const TWO_LIBRARIES: &str = "this program has two libraries called `shmem`, of which one may be another one; give them to different crates, or say which one is meant by `unsafe(crate = ..)`";

pub(crate) const OTHER_LIBRARY: &str = "the dependency `shmem` of this program is another library; add this one, under any name, as in `pgas = { package = \"shmem-rt\", .. }`, or, if `shmem` re-exports it whole and unchanged, write `unsafe(crate = ::shmem)`";

pub(crate) fn unsafe_crate(path: &str) -> String {
    format!(
        "what stands at `{path}` decides whether this is sound, and nothing can check it; if it is this library, whole and unchanged, write `unsafe(crate = {path})`"
    )
}

// -- sizes --

pub(crate) const SIZE: &str =
    "expected a size: a number and one of `K`, `M`, `G` and `T` (powers of 1024), such as `\"64M\"`";

// -- partitions by name --

pub(crate) const PARTITION: &str =
    "expected the name of a partition: `partition = \"fast\"` or `partition = fast`";

pub(crate) const PARTITION_EMPTY: &str =
    "the name of a partition is empty; leave `partition` out to take the default heap";

pub(crate) fn not_a_partition_name(found: &str) -> String {
    format!("`{found}` is not the name of a partition")
}

// -- #[symmetric] --

pub(crate) const MUTABLE: &str =
    "remove `mut`: a symmetric object is changed through `put`, `store` or `local`";

pub(crate) fn wrong_item(found: &str) -> String {
    format!("`#[symmetric]` goes on a `static` or a `let`, not on {found}")
}

pub(crate) const CONST: &str =
    "write `static`: a symmetric object has one place in memory, and a `const` has none";

pub(crate) fn attribute_of_static(attribute: &str) -> String {
    format!(
        "`#[{attribute}]` could change or repeat the handle of this object, and each handle has one object: write an attribute macro above `#[symmetric]`"
    )
}

pub(crate) fn already_wrapped(contents: &str) -> String {
    format!("write the type of the contents, `{contents}`: `#[symmetric]` wraps it in `Symmetric`")
}

pub(crate) fn unsized_contents(name: &str, item: &str) -> String {
    format!("`{name}` has no fixed size; give it one, as in `[{item}; N]`, or allocate a `SymBox<[{item}]>`")
}

pub(crate) fn not_an_atomic_value(found: &str) -> String {
    format!(
        "`{found}` cannot be changed atomically; `Atomic` takes u32, i32, u64, i64, usize, isize, f32 and f64"
    )
}

pub(crate) fn unsized_text(name: &str) -> String {
    format!("`{name}` has no fixed size; use an array of bytes, as in `[u8; N]`")
}

// -- #[symmetric] let --

pub(crate) fn let_outside(call: &str) -> String {
    format!(
        "`#[symmetric] let` works inside `#[shmem::main]`, `#[shmem::test]` and `#[shmem::collective]` functions; elsewhere write `{call}`"
    )
}

pub(crate) const LET_PATTERN: &str =
    "a `#[symmetric] let` makes one object: name it, as in `let scratch: SymBox<[f64]> = [0.0; N];`";

pub(crate) const LET_VALUE: &str =
    "a `#[symmetric] let` needs its initial contents, as in `let scratch: SymBox<[f64]> = [0.0; N];`";

pub(crate) const LET_ELSE: &str = "a `#[symmetric] let` has no `else`: a failed allocation returns its error";

pub(crate) const LET_WORLD: &str =
    "`#[symmetric] let` allocates from the world: give the function a parameter such as `world: &mut World`";

// -- partitions! --

pub(crate) const PARTITION_ENTRY: &str = "expected a partition, as in `pub fast { id = 2, size = \"256M\" }`";

pub(crate) fn partition_name_too_long() -> String {
    format!("the name of a partition has at most {MAX_PARTITION_NAME} bytes")
}

pub(crate) fn partition_declared_twice(name: &str) -> String {
    format!("partition `{name}` is declared twice")
}

pub(crate) fn id_declared_twice(id: u32, name: &str) -> String {
    format!("ID {id} belongs to partition `{name}` already")
}

pub(crate) fn not_an_id() -> String {
    format!("the ID of a partition is a number in 1..={MAX_PARTITION_ID}; leave `id` out to have one chosen")
}

pub(crate) fn unknown_value(trait_name: &str, found: &str, allowed: &[&str]) -> String {
    let near = nearest(found, allowed);
    let joint = if near.is_empty() { "; " } else { " " };
    format!("unknown {trait_name} `{found}`{near}{joint}a {trait_name} is {}", list(allowed, "or"))
}

/// As [`unknown_value`], of names that may be cut short.
pub(crate) fn unknown_trait(trait_name: &str, found: &str, allowed: &[&str]) -> String {
    unknown_value(trait_name, found, allowed) + ", or a beginning of one"
}

pub(crate) fn kind_needs_policy(kind: &str, policies: &[&str]) -> String {
    format!("kind `{kind}` needs a policy: add `policy = ..` with {}", list(policies, "or"))
}

// -- #[derive(Symmetric)] --

pub(crate) fn derive_on(found: &str) -> String {
    format!(
        "`#[derive(Symmetric)]` goes on a struct: {found} has invalid bit patterns or bytes without meaning; store a number, such as `u8`"
    )
}

pub(crate) const DERIVE_REPR: &str = "add `#[repr(C)]`: without it each build may lay the fields out differently, and PEs read each other's bytes";

pub(crate) const DERIVE_LIFETIME: &str =
    "a symmetric object outlives every borrow and is read by other processes: it can hold no reference";

pub(crate) fn address_field(name: &str, found: &str) -> String {
    format!("`{name}` holds `{found}`, an address, which means nothing on another PE")
}

pub(crate) fn narrow_field(name: &str, found: &str) -> String {
    format!(
        "`{name}` holds `{found}`, which has invalid bit patterns; use `{}`",
        if found == "char" { "u32" } else { "u8" }
    )
}

pub(crate) fn generic_padding(name: &str) -> String {
    format!(
        "whether `{name}` has padding depends on its parameters; build all fields from one element type, as in `{{ head: T, rest: [T; N] }}`, or add `#[repr(transparent)]`"
    )
}

pub(crate) fn aligned_generic(name: &str) -> String {
    format!(
        "whether `#[repr(align(..))]` gives `{name}` padding depends on its parameters; leave it out, or align a struct without parameters around it"
    )
}

pub(crate) fn generic_words(name: &str) -> String {
    format!("`{name}` holds words and has parameters; `#[shmem(words)]` stands at structs without parameters")
}

pub(crate) fn attribute_of_generic(attribute: &str, name: &str) -> String {
    format!(
        "`#[{attribute}]` could still change `{name}`, and a generic struct is judged by what is written: write an attribute macro above `#[derive(Symmetric)]`; attributes of other derives stand at structs without parameters only"
    )
}

// -- #[shmem::main], #[shmem::test], #[shmem::collective] --

pub(crate) fn not_a_function(owner: &str) -> String {
    format!("{owner} goes on a function")
}

pub(crate) const MAIN_NAME: &str =
    "`#[shmem::main]` goes on `fn main`; for other functions that allocate there is `#[shmem::collective]`";

pub(crate) fn qualified_function(owner: &str, found: &str) -> String {
    format!("remove `{found}`: {owner} goes on a plain function")
}

pub(crate) fn generic_function(owner: &str) -> String {
    format!("remove the parameters in `<..>`: {owner} calls the function itself")
}

pub(crate) fn one_world(owner: &str) -> String {
    format!("{owner} calls the function with one argument: write one parameter, `world: &mut World`")
}

pub(crate) const WORLD_TYPE: &str = "the parameter is `world: &mut World`";

pub(crate) fn unknown_level(found: &str, allowed: &[&str]) -> String {
    unknown_value("thread level", found, allowed)
}

pub(crate) const LEVEL_TWICE: &str =
    "the thread level is given twice; write `&mut World` and leave it to `threads`, or leave `threads` out";

pub(crate) fn phase_inside_a_phase(outer: &str, inner: &str) -> String {
    format!(
        "`{inner}` inside `{outer}`: in a phase the world can do nothing else; open all objects together, as in `world.local((&A, &B), |(a, b)| ..)`, or one phase behind the other"
    )
}

pub(crate) fn world_inside_a_phase(outer: &str, used: &str) -> String {
    let remedy = if outer.starts_with("local_with") {
        "what goes on in it goes through the second argument of the closure"
    } else {
        "do it before the phase or behind it, with what the phase gives back, as in `let x = world.local(&A, |a| *a)`"
    };
    format!("`{used}` inside `{outer}`: in a phase the world can do nothing else; {remedy}")
}

pub(crate) const PES: &str =
    "`pes` is the number of PEs the test runs on, 1 or more, or a list of different ones: `pes = [1, 2, 5]`";

pub(crate) const TIMEOUT: &str = "`timeout` is how long the test may run: seconds, as `30` or `0.5`, or a text with a unit, as `\"30s\"`, `\"500ms\"` or `\"2min\"`; `SHMEM_TEST_TIMEOUT=0` runs tests without a limit";

pub(crate) const ENV: &str = "`env` takes variables and their values: `env(\"SHMEM_INFO\" = \"1\")`";

// -- strided! --

pub(crate) const STRIDED_PLACE: &str = "expected a region of an object, as in `GRID@pe[1..9, 0]` or `row[..]`; an expression stands in parentheses";

pub(crate) const STRIDED_PE: &str = "expected a PE after `@`: a name, as in `GRID@pe[..]`, or an expression in parentheses, as in `GRID@(world.pe(0)?)[..]`";

pub(crate) const STRIDED_REGION: &str =
    "expected a region in brackets behind this; write `[..]` for the whole object";

pub(crate) const STRIDED_TOKEN: &str = "the first argument is missing: the world, or a context bound to it, as in `strided!(world, GRID@pe[..] = row[..])`";

pub(crate) const STRIDED_PE_BEHIND: &str =
    "the PE stands between the object and its region, as in `GRID@pe[1..9, 0]`";

pub(crate) const STRIDED_PE_PARENTHESES: &str =
    "a PE that is more than a name stands in parentheses, as in `GRID@(world.pe(0)?)[..]`";

pub(crate) const STRIDED_PARENTHESES: &str = "an object that is more than a name stands in parentheses, as in `(self.row())[..]`, and the PE behind `@`, as in `GRID@pe[..]`";

pub(crate) const STRIDED_EMPTY: &str = "empty region; write `..` for the whole object";

pub(crate) const STRIDED_EQUALS: &str = "expected `=`: a transfer is written `destination = source`";

pub(crate) const STRIDED_END: &str = "expected the end of the transfer, `destination = source`";

pub(crate) const STRIDED_OPTIONS: &str =
    "options end with `;`, as in `strided!(world, algorithm = 2; GRID@pe[..] = row[..])`";

pub(crate) const STRIDED_AXIS: &str = "an axis is an index, or a range with a stride and a block: `3`, `1..9`, `..`, `0..64; 16`, `0..64; 16; 4`; what only the run knows is marked `dyn`: `dyn i`, `..; dyn n`";

pub(crate) const STRIDED_INDEX_STEP: &str =
    "an index takes one element and has no stride; write a range, as in `0..64; 16`";

pub(crate) const STRIDED_NEGATIVE_STEP: &str = "a stride is at least 1: regions keep the order of their elements; to turn it round, turn the array that is copied from or to, as with `row.reverse()`";

pub(crate) const STRIDED_NEGATIVE_INDEX: &str = "elements are counted from 0; the last one of `n` is `n - 1`";

pub(crate) const STRIDED_BOTH_REMOTE: &str = "both sides name a PE; a transfer has one local side";

pub(crate) const STRIDED_NO_REMOTE: &str = "neither side names a PE; write `GRID@pe[..]` for the side that is on another PE, `GRID@me[..]` with `let me = world.me()` for this PE's own copy, or leave out the first argument where neither is symmetric";

pub(crate) const STRIDED_NO_FIELD: &str = "name the fields, as in `.{velocity, mass}`";

pub(crate) fn not_a_constant(name: &str, value: &str) -> String {
    format!(
        "`{name}` is a variable, and the counts and strides of a transfer are constants; what only the run knows is marked `dyn`: `dyn {value}`"
    )
}

pub(crate) fn field_twice(name: &str) -> String {
    format!("field `{name}` is named twice: its bytes would overlap")
}

pub(crate) fn too_many_fields(max: usize) -> String {
    format!("at most {max} fields can be named; give those that travel together a struct of their own")
}

pub(crate) fn unknown_algorithm(found: &str, allowed: &[&str]) -> String {
    format!("unknown algorithm `{found}`; an algorithm is {}", list(allowed, "or"))
}
