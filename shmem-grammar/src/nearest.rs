//! The name that a mistyped one probably meant.

/// The candidate nearest to `name`, without regard to case; `None` if none is near enough to be
/// what was meant.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let limit = (name.len().max(candidate.len()) / 3).max(2);
            // Long texts are far from short ones: no need to compute how far.
            if name.len().abs_diff(candidate.len()) > limit {
                return None;
            }
            let distance = strsim::damerau_levenshtein(&name, &candidate.to_ascii_lowercase());
            (distance <= limit && distance < candidate.len()).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// `; did you mean X?` or nothing, for messages.
pub fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean {name}?"))
}
