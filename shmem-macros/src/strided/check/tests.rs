//! The checker without a compiler: what is accepted, and each refusal's sentence.

use quote::quote;

use super::*;
use crate::strided::parse as written;

fn checked(body: TokenStream) -> Result<Transfer, Vec<String>> {
    let mut errors = Errors::default();
    let transfer = written::transfer(body, &mut errors).and_then(|written| transfer(written, &mut errors));
    match transfer {
        Some(transfer) if errors.is_empty() => Ok(transfer),
        _ => Err(messages(errors)),
    }
}

/// What the errors say.
fn messages(errors: Errors) -> Vec<String> {
    let tokens = errors.into_tokens().to_string();
    let mut parts = tokens.split("compile_error ! {").skip(1);
    parts
        .by_ref()
        .map(|part| part.trim().trim_end_matches('}').trim().trim_matches('"').replace("\\\"", "\""))
        .collect()
}

fn accepted(body: TokenStream) -> Transfer {
    let text = body.to_string();
    checked(body).unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

#[test]
fn the_remote_side_gives_the_direction() {
    assert!(matches!(accepted(quote!(world, A@pe[..] = b[..])).way, Way::Put { .. }));
    assert!(matches!(accepted(quote!(world, b[..] = A@pe[..])).way, Way::Get { .. }));
    assert!(matches!(accepted(quote!(a[..] = b[..])).way, Way::Copy));
    assert!(matches!(accepted(quote!(algorithm = 2; a[..] = b[..])).way, Way::Copy));
}

#[test]
fn places_are_paths_with_members_or_expressions() {
    let names = [
        (quote!(world, A@pe[..] = b[..]), "A", true),
        (quote!(world, crate::statics::GRID_2@pe[..] = b[..]), "crate::statics::GRID_2", true),
        (quote!(world, self.halo@self.west[..] = b[..]), "self.halo", false),
        (quote!(world, self.pair.0.1@self.pes.1.0[..] = b[..]), "self.pair.0.1", false),
        (quote!(world, GRID.field@(world.pe(0)?)[..] = b[..]), "GRID.field", false),
        (quote!(world, Self::GRID@pe[..] = b[..]), "Self::GRID", false),
        (quote!(world, (boxes[3])@pe[..] = b[..]), "boxes [3]", false),
        (quote!(world, r#in@pe[..] = b[..]), "r#in", false),
        (quote!(world, Grid@pe[..] = b[..]), "Grid", false),
    ];
    for (body, name, is_static) in names {
        let side = accepted(body).to;
        assert_eq!((side.name.as_str(), side.is_static), (name, is_static));
    }
}

#[test]
fn dyn_stands_before_what_only_the_run_knows() {
    let later = |body| {
        let transfer = accepted(body);
        (transfer.to.is_dynamic(), transfer.from.is_dynamic())
    };
    assert_eq!(later(quote!(world, A@pe[dyn i, ..] = b[3, ..])), (false, false));
    assert_eq!(later(quote!(world, A@pe[dyn i..9] = b[..])), (true, false));
    assert_eq!(later(quote!(world, A@pe[..; 2] = b[..; dyn n])), (false, true));
    assert_eq!(later(quote!(world, A@pe[dyn rows; 2] = b[dyn rows])), (true, false));
    assert_eq!(later(quote!(world, A@pe[..; 8; dyn n] = b[dyn ..])), (true, true));
}

#[test]
fn axes_are_those_of_rust_with_a_stride_and_a_block() {
    let side =
        accepted(quote!(world, A@pe[1, .., 2.., ..3, ..=4, 5..6, 7..=8; N, ..; 4; 2, dyn rows; 2] = b[..]))
            .to;
    let bounds: Vec<&str> = side
        .axes
        .iter()
        .map(|axis| match axis {
            Axis::Index(_) => "index",
            Axis::Range(range) => match &range.bounds {
                Bounds::All => "all",
                Bounds::From(_) => "from",
                Bounds::Before(None, _) => "before",
                Bounds::Before(..) => "range",
                Bounds::Through(None, _) => "to",
                Bounds::Through(..) => "through",
                Bounds::Given(_) => "given",
            },
        })
        .collect();
    assert_eq!(bounds, ["index", "all", "from", "before", "to", "range", "through", "all", "given"]);
    let fields = accepted(quote!(world, A@pe[..].a.0.{x, y} = b[..])).to.fields;
    assert_eq!(fields.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 2]);
}

#[test]
fn options_end_with_a_semicolon() {
    assert!(accepted(quote!(world, A@pe[..; 2] = b[..])).algorithm.is_none());
    for (name, variant) in ALGORITHMS {
        let name: TokenStream = name.parse().unwrap();
        let algorithm = accepted(quote!(world, algorithm = #name; A@pe[..] = b[..],)).algorithm;
        assert_eq!(algorithm.unwrap(), variant);
    }
    let root = accepted(quote!(world, crate = my::shmem, algorithm = auto; A@pe[..] = b[..])).root;
    assert_eq!(root.to_string(), "my :: shmem");
}

#[test]
fn variables_are_refused_where_constants_stand() {
    for (body, name) in [
        (quote!(world, A@pe[..; n] = b[..]), "n"),
        (quote!(world, A@pe[1..N - n] = b[..]), "n"),
        (quote!(world, A@pe[half(n)] = b[..]), "n"),
        (quote!(world, A@pe[..; 4; self.n] = b[..]), "self"),
    ] {
        let text = body.to_string();
        let errors = checked(body).err().unwrap_or_default();
        assert!(errors.len() == 1 && errors[0].contains(&format!("`{name}`")), "{text}: {errors:?}");
    }
    for body in [
        quote!(world, A@pe[..; dyn n] = b[..]),
        quote!(world, A@pe[half(N)..self::n] = b[..]),
        quote!(world, A@pe[..{ let n = 3; n }] = b[..]),
        quote!(world, A@pe[dyn ..Self::N] = b[..]),
        quote!(world, A@pe[..Self::N] = b[..]),
    ] {
        accepted(body);
    }
}

#[test]
fn what_may_be_a_parameter_is_not_in_an_item() {
    for (extent, is_nameable) in [
        (quote!(..), true),
        (quote!(3), true),
        (quote!(1..1 + 2 * 3; 2; 1), true),
        (quote!(..self::N), true),
        (quote!(crate::sizes::N..=::sizes::M), true),
        (quote!(..usize::MAX), true),
        (quote!(..half(self::N)), true),
        (quote!(dyn N), true),
        (quote!(N), false),
        (quote!(0.._N), false),
        (quote!(N..), false),
        (quote!(..; N), false),
        (quote!(..8; 4; N), false),
        (quote!(..Self::N), false),
        (quote!(..T::LEN), false),
        (quote!(..<T as Tile>::LEN), false),
        (quote!(..size_of::<T>()), false),
        (quote!(..half::<N>()), false),
        (quote!(..half(N)), false),
        (
            quote!(
                ..{
                    let n: N = 3;
                    n
                }
            ),
            false,
        ),
        (quote!(..max!(3, N)), false),
    ] {
        let transfer = accepted(quote!(world, A@pe[..] = b[0, #extent]));
        assert_eq!(transfer.from.is_nameable(), is_nameable, "{extent}");
    }
}

#[test]
fn mistakes_are_named_once() {
    let table = [
        (quote!(world, A@pe[..] = B@pe[..]), "both sides name a PE"),
        (quote!(world, a[..] = b[..]), "neither side names a PE"),
        (quote!(A@pe[..] = b[..]), "the first argument is missing"),
        (quote!(b[..] = A@pe[..]), "the first argument is missing"),
        (quote!(algorithm = 2; b[..] = A@pe[..]), "the first argument is missing"),
        (quote!(world, A[..]@pe = b[..]), "the PE stands between the object and its region"),
        (quote!(world, A@world.me()[..] = b[..]), "a PE that is more than a name stands in parentheses"),
        (quote!(world, A@pes[0][..] = b[..]), "a PE that is more than a name stands in parentheses"),
        (quote!(world, A.on(pe)[..] = b[..]), "an object that is more than a name stands in parentheses"),
        (quote!(world, A@pe[..] b[..]), "expected `=`"),
        (quote!(world, A@pe[..] = b[..] c), "expected the end of the transfer"),
        (quote!(world, A@pe[] = b[..]), "empty region"),
        (quote!(world, A@pe = b[..]), "expected a region in brackets"),
        (quote!(world, A@pe[..] = b), "expected a region in brackets"),
        (quote!(world, A@[..] = b[..]), "expected a PE after `@`"),
        (quote!(world, A@3[..] = b[..]), "expected a PE after `@`"),
        (quote!(world, [..] = b[..]), "expected a region of an object"),
        (quote!(world, A@pe[1; 2] = b[..]), "an index takes one element"),
        (quote!(world, A@pe[..; 1; 2; 3] = b[..]), "an axis is an index"),
        (quote!(world, A@pe[dyn] = b[..]), "an axis is an index"),
        (quote!(world, A@pe[..].{x, x} = b[..]), "field `x` is named twice"),
        (quote!(world, A@pe[..].{} = b[..]), "name the fields"),
        (quote!(world, A@pe[..].{a, b, c, d, e, f, g, h, i} = b[..]), "at most 8 fields"),
        (quote!(world, algorithm = 4; A@pe[..] = b[..]), "unknown algorithm `4`"),
        (quote!(world, algorithm = 4, A@pe[..] = b[..]), "options end with `;`"),
        (quote!(world, algoritm = 4; A@pe[..] = b[..]), "did you mean `algorithm`?"),
    ];
    for (body, message) in table {
        let text = body.to_string();
        let errors = checked(body).err().unwrap_or_default();
        assert!(errors.len() == 1 && errors[0].contains(message), "{text}: {errors:?}");
    }
}
