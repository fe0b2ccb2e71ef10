//! Fields of structs, by name.
//!
//! `strided!` knows the name of a field but not the struct. So `#[derive(Symmetric)]` gives a struct a table of its fields, and
//! constant functions look up names in this table.

use core::marker::PhantomData;

use super::dimensions::{Contents, Field, Shape, Shaped};
use super::region::Part;
use crate::const_format::refuse;

/// Selects the contents of a field of type `F`: `Fields::<F>::CONTENTS` is the inherent constant if `F` is [`Shaped`], and the
/// constant of [`Undivided`] otherwise, because an inherent constant takes precedence over a trait's.
#[derive(Debug)]
pub struct Fields<F>(PhantomData<F>);

impl<F: Shaped> Fields<F> {
    /// The dimensions and the fields of the type `F`.
    pub const CONTENTS: Contents = Contents { shape: F::SHAPE, fields: F::FIELDS };
}

/// The contents of a field whose type is not [`Shaped`]; see [`Fields`].
pub trait Undivided {
    /// The contents of a type that is one element without fields.
    const CONTENTS: Contents;
}

impl<F> Undivided for Fields<F> {
    const CONTENTS: Contents = Contents { shape: Shape::element(size_of::<F>()), fields: &[] };
}

pub(crate) const fn has(mut fields: &[Field], chosen: &[&[&str]]) -> bool {
    let mut i = 0;
    while i < chosen.len() {
        let (step, mut inside) = (chosen[i], fields);
        let mut j = 0;
        while j < step.len() {
            let Some(field) = look_up(fields, step[j]) else { return false };
            inside = field.contents.fields;
            j += 1;
        }
        fields = inside;
        i += 1;
    }
    true
}

/// Selects the fields at the path `chosen` in each element. Returns the shape with the dimensions of these fields, and the bytes of
/// each element that belong to them. Panics if there is no such field, or if fields are not adjacent.
#[track_caller]
pub(crate) const fn select(shape: &Shape, fields: &[Field], chosen: &[&[&str]]) -> (Shape, Part) {
    let mut shape = *shape;
    let mut part = Part::whole(shape.element_bytes());
    let mut fields = fields;
    let mut i = 0;
    while i < chosen.len() {
        let step = chosen[i];
        let first = find(fields, step[0]);
        part.bytes = run(fields, step, shape.element_bytes());
        part.offset += first.offset;
        if step.len() == 1 {
            shape = shape.containing(&first.contents.shape);
            part.bytes = shape.element_bytes();
            fields = first.contents.fields;
        } else {
            fields = &[];
        }
        i += 1;
    }
    (shape, part)
}

/// Returns the total bytes of adjacent fields of a struct of `bytes` bytes. Panics if the fields are not adjacent, or if a wrong
/// table lets them end behind the struct.
#[track_caller]
const fn run(fields: &[Field], names: &[&str], bytes: usize) -> usize {
    let first = find(fields, names[0]);
    let mut end = first.offset;
    let mut i = 0;
    while i < names.len() {
        let next = find(fields, names[i]);
        if next.offset != end {
            refuse!(
                "`" (names[i]) "` does not follow `" (names[i - 1]) "`, which ends at byte " [end]
                ": it starts at byte " [next.offset] "; name adjacent fields, in the order of the struct"
            );
        }
        end = end.saturating_add(next.bytes());
        if end > bytes {
            refuse!("field `" (names[i]) "` would end behind its struct, which has " [bytes] " bytes");
        }
        i += 1;
    }
    end - first.offset
}

#[track_caller]
const fn find<'a>(fields: &'a [Field], name: &str) -> &'a Field {
    if let Some(field) = look_up(fields, name) {
        return field;
    }
    refuse!("a region can name no field `" (name) "`: fields are those of a struct with `#[derive(Symmetric)]`")
}

const fn look_up<'a>(fields: &'a [Field], name: &str) -> Option<&'a Field> {
    let mut i = 0;
    while i < fields.len() {
        if is_equal(fields[i].name, name) {
            return Some(&fields[i]);
        }
        i += 1;
    }
    None
}

const fn is_equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}
