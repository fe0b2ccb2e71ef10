//! Patterns of cases: `micro put|get/{x:8..4096}/*`.
//!
//! A pattern has a piece for the measure, a blank, and pieces for the case, separated by `/`. A piece is a list of alternatives: a
//! word, a range of numbers (`8..`, `..512`), or `*` for any piece. `**` is any number of pieces. `{x:8..}` also returns what it
//! matched, as `x`.

/// What braces have found, in order: their names and the pieces.
pub(crate) type Found<'c> = Vec<(&'static str, &'c str)>;

/// What a pattern finds in a case; nothing if the case is not one of these.
pub(crate) fn find<'c>(pattern: &'static str, measure: &str, case: &'c str) -> Option<Found<'c>> {
    let (of, pieces) = pattern.split_once(' ')?;
    of.split('|').any(|of| of == measure).then(|| find_pieces(pieces, case))?
}

/// The same of the pieces alone.
pub(crate) fn find_pieces<'c>(pieces: &'static str, case: &'c str) -> Option<Found<'c>> {
    let (specs, pieces): (Vec<_>, Vec<_>) = (pieces.split('/').collect(), case.split('/').collect());
    let mut found = Vec::new();
    walk(&specs, &pieces, &mut found).then_some(found)
}

fn walk<'c>(specs: &[&'static str], pieces: &[&'c str], found: &mut Found<'c>) -> bool {
    let Some((spec, rest)) = specs.split_first() else { return pieces.is_empty() };
    if *spec == "**" {
        return (0..=pieces.len()).any(|many| walk(rest, &pieces[many..], found));
    }
    let Some((piece, behind)) = pieces.split_first() else { return false };
    let inside = spec.strip_prefix('{').and_then(|spec| spec.strip_suffix('}'));
    let (name, spec) = match inside {
        Some(inside) => inside.split_once(':').map_or((inside, "*"), |(name, spec)| (name, spec)),
        None => ("", *spec),
    };
    let before = found.len();
    found.extend((!name.is_empty()).then_some((name, *piece)));
    let is_it = spec.split('|').any(|one| is(one, piece)) && walk(rest, behind, found);
    if !is_it {
        found.truncate(before);
    }
    is_it
}

/// Whether a piece is a word, or a number of a range.
fn is(one: &str, piece: &str) -> bool {
    let within = |(low, high): (&str, &str)| {
        let number = piece.parse::<usize>().ok()?;
        let end = |text: &str, none| if text.is_empty() { Some(none) } else { text.parse().ok() };
        Some((end(low, 0)?..=end(high, usize::MAX)?).contains(&number))
    };
    one == "*" || one == piece || one.split_once("..").and_then(within).unwrap_or(false)
}

/// What was found under a name, with blanks between where there are several.
pub(crate) fn named(found: &Found<'_>, name: &str) -> String {
    found.iter().filter(|(of, _)| *of == name).map(|(_, piece)| *piece).collect::<Vec<_>>().join(" ")
}

/// A name with each of the alternatives that it has in braces: `put {1,8}`.
pub(crate) fn expanded(name: &str) -> Vec<String> {
    let braces = name.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    let Some((before, (all, after))) = braces else { return vec![name.to_owned()] };
    all.split(',').flat_map(|one| expanded(&format!("{before}{one}{after}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_words_ranges_and_what_is_named() {
        let is = |pattern, case| find(pattern, "m", case).is_some();
        assert!(is("m a/b", "a/b") && !is("m a/b", "a") && !is("m a", "a/b") && !is("n a", "a"));
        assert!(is("n|m *", "a") && is("m a|b/*", "b/c") && !is("m a|b/*", "c/c"));
        assert!(is("m 8..", "8") && is("m ..8", "8") && is("m 4..8", "6") && !is("m 4..8", "9"));
        assert!(!is("m 8..", "x") && !is("m 8..", ""));
        assert!(is("m a/**/z", "a/z") && is("m a/**/z", "a/b/c/z") && !is("m a/**/z", "a/b"));
        let found = find("m {row}/{x:4..}/**/{row}", "m", "a/8/b/c").unwrap();
        assert_eq!(["row", "x", "y"].map(|name| named(&found, name)), ["a c", "8", ""]);
        assert_eq!(expanded("{a,b} {1,2}"), ["a 1", "a 2", "b 1", "b 2"]);
    }
}
