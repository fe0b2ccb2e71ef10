//! Patterns of cases, such as `micro put|get/{x:8..4096}/*`.
//!
//! A pattern is a piece for the measure, a blank, and pieces for the case, separated by `/`. A piece is a list of alternatives: a
//! word, a range of numbers (`8..`, `..512`), or `*` for any piece. `**` is any number of pieces. `{x:8..}` returns the matched
//! piece, named `x`.

/// The pieces that parts in braces have matched: (name, piece), in order.
pub(crate) type Found<'p, 'c> = Vec<(&'p str, &'c str)>;

/// Matches a pattern against a case. Returns the pieces that parts in braces have matched; `None` if the pattern does not match.
pub(crate) fn find<'p, 'c>(pattern: &'p str, measure: &str, case: &'c str) -> Option<Found<'p, 'c>> {
    let (of, pieces) = pattern.split_once(' ')?;
    of.split('|').any(|of| of == measure).then(|| find_pieces(pieces, case))?
}

pub(crate) fn find_pieces<'p, 'c>(pieces: &'p str, case: &'c str) -> Option<Found<'p, 'c>> {
    let (specs, pieces): (Vec<_>, Vec<_>) = (pieces.split('/').collect(), case.split('/').collect());
    let mut found = Vec::new();
    walk(&specs, &pieces, &mut found).then_some(found)
}

/// Returns whether one of the patterns matches a case such as `put 4096`; true if there are no patterns.
pub(crate) fn is_wanted(patterns: &[String], name: &str) -> bool {
    let (measure, case) = name.split_once(' ').unwrap_or_default();
    patterns.is_empty() || patterns.iter().any(|pattern| find(pattern, measure, case).is_some())
}

fn walk<'p, 'c>(specs: &[&'p str], pieces: &[&'c str], found: &mut Found<'p, 'c>) -> bool {
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

/// Returns whether a piece matches one alternative: `*`, a word, or a range of numbers.
fn is(one: &str, piece: &str) -> bool {
    let within = |(low, high): (&str, &str)| {
        let number = piece.parse::<usize>().ok()?;
        let end = |text: &str, none| if text.is_empty() { Some(none) } else { text.parse().ok() };
        Some((end(low, 0)?..=end(high, usize::MAX)?).contains(&number))
    };
    one == "*" || one == piece || one.split_once("..").and_then(within).unwrap_or(false)
}

/// Returns all pieces that were matched under a name, separated by blanks.
pub(crate) fn named(found: &Found<'_, '_>, name: &str) -> String {
    found.iter().filter(|(of, _)| *of == name).map(|(_, piece)| *piece).collect::<Vec<_>>().join(" ")
}

/// Returns the names that a list in braces stands for: `put {1,8}` is `put 1` and `put 8`.
pub(crate) fn expanded(name: &str) -> Vec<String> {
    let braces = name.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    let Some((before, (all, after))) = braces else { return vec![name.to_owned()] };
    all.split(',').flat_map(|one| expanded(&format!("{before}{one}{after}"))).collect()
}
