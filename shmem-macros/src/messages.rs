//! The error texts of all macros.
//!
//! Rules:
//!
//! * One mistake, one error. Stages push errors and go on; the item is emitted in any case, so that its uses do not fail as well.
//! * An error is shown at the user's token. Its text says what was asked and what is allowed.
//! * Names and types are left to rustc, which reports unknown names and wrong types.
//! * `Span::join` does nothing on stable. So an error about several tokens is made from the tokens, not from a span,
//!   and rustc underlines from the first token to the last.
//! * User tokens are emitted once where possible, or rustc repeats their errors.

use std::fmt::Display;

use quote::ToTokens;
use shmem_grammar::{MAX_PARTITION_ID, MAX_PARTITION_NAME, did_you_mean};

pub(crate) use crate::errors::{Errors, ends, respanned};

/// Returns tokens as a user would write them, for error texts. (Only common spacing is restored.)
pub(crate) fn readable(tokens: &impl ToTokens) -> String {
    const SPACES: &str = " . | ::|:: | <|< | >|[ | ]| ;| ,| .|.. |..= ";
    let text = tokens.to_token_stream().to_string().replace("! [", "![").replace("! (", "!(");
    SPACES.split('|').fold(text, |text, spaced| text.replace(spaced, spaced.trim()))
}

/// Joins names with the word `last`, such as "`a`", "`a` and `b`" or "`a`, `b` and `c`".
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

/// Returns "; did you mean `partition`?" if an allowed name is similar to `found`, or an empty text.
fn nearest(found: &str, allowed: &[&str]) -> String {
    let near = shmem_grammar::nearest(found, allowed.iter().copied()).map(|name| format!("`{name}`"));
    did_you_mean(near.as_deref())
}

/// Declares error texts. A text is a constant, or a function of the arguments in its braces.
macro_rules! sentences {
    ($($name:ident $(($($argument:ident),*))? = $text:tt;)*) => {$(
        sentences!(@ $name $(($($argument),*))? = $text);
    )*};
    (@ $name:ident = $text:tt) => { pub(crate) const $name: &str = $text; };
    (@ $name:ident($($argument:ident),*) = $text:tt) => {
        pub(crate) fn $name($($argument: impl Display),*) -> String {
            format!($text)
        }
    };
}

sentences! {
    // Errors about arguments of any macro.
    repeated_argument(found) = "`{found}` is given twice";
    missing_value(key) = "`{key}` needs a value: `{key} = ..`";
    needless_value(key) = "`{key}` stands by itself, without a value";
    CRATE = "`crate` takes the path of this library: `crate = my::shmem`";
    UNSAFE = "only the path of this library can be `unsafe`: `unsafe(crate = my::shmem)`";
    TWO_LIBRARIES = "this program has two libraries called `shmem`, of which one may be another one; give them to different crates, or say which one is meant by `unsafe(crate = ..)`";
    OTHER_LIBRARY = "the dependency `shmem` of this program is another library; add this one, under any name, as in `pgas = { package = \"shmem-rt\", .. }`, or, if `shmem` re-exports it whole and unchanged, write `unsafe(crate = ::shmem)`";
    unsafe_crate(path) = "what stands at `{path}` decides whether this is sound, and nothing can check it; if it is this library, whole and unchanged, write `unsafe(crate = {path})`";

    // Errors about sizes.
    SIZE = "expected a size: a number and one of `K`, `M`, `G` and `T` (powers of 1024), such as `\"64M\"`";

    // Errors about names of partitions.
    PARTITION = "expected the name of a partition: `partition = \"fast\"` or `partition = fast`";
    PARTITION_EMPTY = "the name of a partition is empty; leave `partition` out to take the default heap";
    not_a_partition_name(found) = "`{found}` is not the name of a partition";

    // Errors of `#[symmetric]` on a static.
    MUTABLE = "remove `mut`: a symmetric object is changed through `put`, `store` or `local`";
    wrong_item(found) = "`#[symmetric]` goes on a `static` or a `let`, not on {found}";
    CONST = "write `static`: a symmetric object has one place in memory, and a `const` has none";
    attribute_of_static(attribute) = "`#[{attribute}]` could change or repeat the handle of this object, and each handle has one object: write an attribute macro above `#[symmetric]`";
    already_wrapped(contents) = "write the type of the contents, `{contents}`: `#[symmetric]` wraps it in `Symmetric`";
    unsized_contents(name, item) = "`{name}` has no fixed size; give it one, as in `[{item}; N]`, or allocate a `SymBox<[{item}]>`";
    not_an_atomic_value(found) = "`{found}` cannot be changed atomically; `Atomic` takes u32, i32, u64, i64, usize, isize, f32 and f64";
    unsized_text(name) = "`{name}` has no fixed size; use an array of bytes, as in `[u8; N]`";

    // Errors of `#[symmetric]` on a `let`.
    let_outside(call) = "`#[symmetric] let` works inside `#[shmem::main]`, `#[shmem::test]` and `#[shmem::collective]` functions; elsewhere write `{call}`";
    LET_PATTERN = "a `#[symmetric] let` makes one object: name it, as in `let scratch: SymBox<[f64]> = [0.0; N];`";
    LET_VALUE = "a `#[symmetric] let` needs its initial contents, as in `let scratch: SymBox<[f64]> = [0.0; N];`";
    LET_ELSE = "a `#[symmetric] let` has no `else`: a failed allocation returns its error";
    LET_WORLD = "`#[symmetric] let` allocates from the world: give the function a parameter such as `world: &mut World`";

    // Errors of `partitions!`.
    PARTITION_ENTRY = "expected a partition, as in `pub fast { id = 2, size = \"256M\" }`";
    partition_name_too_long() = "the name of a partition has at most {MAX_PARTITION_NAME} bytes";
    partition_declared_twice(name) = "partition `{name}` is declared twice";
    id_declared_twice(id, name) = "ID {id} belongs to partition `{name}` already";
    not_an_id() = "the ID of a partition is a number in 1..={MAX_PARTITION_ID}; leave `id` out to have one chosen";

    // Errors of `#[derive(Symmetric)]`.
    derive_on(found) = "`#[derive(Symmetric)]` goes on a struct: {found} has invalid bit patterns or bytes without meaning; store a number, such as `u8`";
    DERIVE_REPR = "add `#[repr(C)]`: without it each build may lay the fields out differently, and PEs read each other's bytes";
    DERIVE_LIFETIME = "a symmetric object outlives every borrow and is read by other processes: it can hold no reference";
    address_field(name, found) = "`{name}` holds `{found}`, an address, which means nothing on another PE";
    generic_struct(name) = "whether `{name}` has padding depends on its parameters: write a struct without parameters for each type and length that symmetric memory holds, or arrays instead, as in `[[f64; 8]; 100]`";

    // Errors of `#[shmem::main]`, `#[shmem::test]` and `#[shmem::collective]`.
    not_a_function(owner) = "{owner} goes on a function";
    MAIN_NAME = "`#[shmem::main]` goes on `fn main`; for other functions that allocate there is `#[shmem::collective]`";
    qualified_function(owner, found) = "remove `{found}`: {owner} goes on a plain function";
    generic_function(owner) = "remove the parameters in `<..>`: {owner} calls the function itself";
    one_world(owner) = "{owner} calls the function with one argument: write one parameter, `world: &mut World`";
    WORLD_TYPE = "the parameter is `world: &mut World`";
    LEVEL_TWICE = "the thread level is given twice; write `&mut World` and leave it to `threads`, or leave `threads` out";
    phase_inside_a_phase(outer, inner) = "`{inner}` inside `{outer}`: in a phase the world can do nothing else; open all objects together, as in `world.local((&A, &B), |(a, b)| ..)`, or one phase behind the other";
    PES = "`pes` is the number of PEs the test runs on, 1 or more, or a list of different ones: `pes = [1, 2, 5]`";
    TIMEOUT = "`timeout` is how many seconds the test may run, as `30` or `0.5`; `SHMEM_TEST_TIMEOUT=0` runs tests without a limit";
    ENV = "`env` takes variables and their values: `env(\"SHMEM_INFO\" = \"1\")`";

    // Errors of `strided!`.
    STRIDED_PLACE = "expected a region of an object, as in `GRID@pe[1..9, 0]` or `row[..]`; an expression stands in parentheses";
    STRIDED_PE = "expected a PE after `@`: a name, as in `GRID@pe[..]`, or an expression in parentheses, as in `GRID@(world.pe(0)?)[..]`";
    STRIDED_REGION = "expected a region in brackets behind this; write `[..]` for the whole object";
    STRIDED_TOKEN = "the first argument is missing: the world, or a context bound to it, as in `strided!(world, GRID@pe[..] = row[..])`";
    STRIDED_PE_BEHIND = "the PE stands between the object and its region, as in `GRID@pe[1..9, 0]`";
    STRIDED_PE_PARENTHESES = "a PE that is more than a name stands in parentheses, as in `GRID@(world.pe(0)?)[..]`";
    STRIDED_PARENTHESES = "an object that is more than a name stands in parentheses, as in `(self.row())[..]`, and the PE behind `@`, as in `GRID@pe[..]`";
    STRIDED_EMPTY = "empty region; write `..` for the whole object";
    STRIDED_EQUALS = "expected `=`: a transfer is written `destination = source`";
    STRIDED_END = "expected the end of the transfer, `destination = source`";
    STRIDED_OPTIONS = "options end with `;`, as in `strided!(world, algorithm = 2; GRID@pe[..] = row[..])`";
    STRIDED_AXIS = "an axis is an index, or a range with a stride and a block: `3`, `1..9`, `..`, `0..64; 16`, `0..64; 16; 4`; what only the run knows is marked `dyn`: `dyn i`, `..; dyn n`";
    STRIDED_INDEX_STEP = "an index takes one element and has no stride; write a range, as in `0..64; 16`";
    STRIDED_NEGATIVE_STEP = "a stride is at least 1: regions keep the order of their elements; to turn it round, turn the array that is copied from or to, as with `row.reverse()`";
    STRIDED_NEGATIVE_INDEX = "elements are counted from 0; the last one of `n` is `n - 1`";
    STRIDED_BOTH_REMOTE = "both sides name a PE; a transfer has one local side";
    STRIDED_NO_REMOTE = "neither side names a PE; write `GRID@pe[..]` for the side that is on another PE, `GRID@me[..]` with `let me = world.me()` for this PE's own copy";
    STRIDED_NO_FIELD = "name the fields, as in `.{velocity, mass}`";
    not_a_constant(name, value) = "`{name}` is a variable, and the counts and strides of a transfer are constants; what only the run knows is marked `dyn`: `dyn {value}`";
    field_twice(name) = "field `{name}` is named twice: its bytes would overlap";
    too_many_fields(max) = "at most {max} fields can be named; give those that travel together a struct of their own";
}

/// Returns a text such as "`#[symmetric]` takes `partition` and `pgsize`".
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

pub(crate) fn not_an_argument(owner: &str, allowed: &[&str]) -> String {
    format!("expected an argument of the form `name = value`; {}", takes(owner, allowed))
}

pub(crate) fn unknown_value(trait_name: &str, found: &str, allowed: &[&str]) -> String {
    let near = nearest(found, allowed);
    let joint = if near.is_empty() { "; " } else { " " };
    format!("unknown {trait_name} `{found}`{near}{joint}a {trait_name} is {}", list(allowed, "or"))
}

/// Returns the error text of an unknown kind or policy. It adds that these names may be abbreviated.
pub(crate) fn unknown_trait(trait_name: &str, found: &str, allowed: &[&str]) -> String {
    unknown_value(trait_name, found, allowed) + ", or a beginning of one"
}

pub(crate) fn kind_needs_policy(kind: &str, policies: &[&str]) -> String {
    format!("kind `{kind}` needs a policy: add `policy = ..` with {}", list(policies, "or"))
}

pub(crate) fn narrow_field(name: impl Display, found: &str) -> String {
    format!(
        "`{name}` holds `{found}`, which has invalid bit patterns; use `{}`",
        if found == "char" { "u32" } else { "u8" }
    )
}

pub(crate) fn world_inside_a_phase(outer: &str, used: impl Display) -> String {
    let remedy = if outer.starts_with("local_with") {
        "what goes on in it goes through the second argument of the closure"
    } else {
        "do it before the phase or behind it, with what the phase gives back, as in `let x = world.local(&A, |a| *a)`"
    };
    format!("`{used}` inside `{outer}`: in a phase the world can do nothing else; {remedy}")
}

pub(crate) fn unknown_algorithm(found: &str, allowed: &[&str]) -> String {
    format!("unknown algorithm `{found}`; an algorithm is {}", list(allowed, "or"))
}
