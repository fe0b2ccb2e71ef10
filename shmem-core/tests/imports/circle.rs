//! Who can be reached from whom, and back.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

/// How many paths are said of each arrow.
const MOST_PATHS: usize = 4;

/// Members that import each other, directly or through others, and what they import.
pub(crate) struct Circle {
    pub members: Vec<String>,
    arrows: BTreeMap<(String, String), BTreeSet<String>>,
}

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "circle of {}:", self.members.join(", "))?;
        for ((from, to), paths) in &self.arrows {
            let said: Vec<&str> = paths.iter().take(MOST_PATHS).map(String::as_str).collect();
            let more = if paths.len() > MOST_PATHS { ", .." } else { "" };
            write!(f, "\n  {from} -> {to}: {}{more}", said.join(", "))?;
        }
        Ok(())
    }
}

/// The circles that arrows (from, to, what) make, largest first. An arrow to itself is none.
pub(crate) fn circles(arrows: impl Iterator<Item = (String, String, String)>) -> Vec<Circle> {
    let mut all: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for (from, to, what) in arrows.filter(|(from, to, _)| from != to) {
        all.entry((from, to)).or_default().insert(what);
    }
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in all.keys() {
        next.entry(from).or_default().insert(to);
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        next.keys().map(|&from| (from, reach(&next, from))).collect();
    let mut circles: Vec<Circle> = Vec::new();
    for (&from, behind) in reached.iter().filter(|(from, behind)| behind.contains(*from)) {
        if circles.iter().any(|circle| circle.members.iter().any(|member| member == from)) {
            continue;
        }
        let back = |to: &&str| reached.get(*to).is_some_and(|behind| behind.contains(from));
        let members: Vec<String> = behind.iter().copied().filter(back).map(str::to_owned).collect();
        let inside = |(from, to): &(String, String)| members.contains(from) && members.contains(to);
        let arrows = all
            .iter()
            .filter(|(ends, _)| inside(ends))
            .map(|(ends, what)| (ends.clone(), what.clone()))
            .collect();
        circles.push(Circle { members, arrows });
    }
    circles.sort_by_key(|circle| core::cmp::Reverse(circle.members.len()));
    circles
}

fn reach<'a>(next: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &str) -> BTreeSet<&'a str> {
    let (mut found, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(at) = open.pop() {
        for &to in next.get(at).into_iter().flatten() {
            if found.insert(to) {
                open.push(to);
            }
        }
    }
    found
}
