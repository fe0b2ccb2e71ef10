//! The steps that a failing program needs to fail.

use std::ops::Range;

use super::step::{Program, Step};

/// Most attempts: each of them is a job.
const ATTEMPTS: usize = 150;

/// Cuts steps out as long as what is left fails; `None` if all together do not.
pub(crate) fn least(steps: Vec<usize>, mut fails: impl FnMut(&[usize]) -> bool) -> Option<Vec<usize>> {
    if !fails(&steps) {
        return None;
    }
    let (mut left, mut attempts) = (steps, 0);
    let mut size = left.len().div_ceil(2);
    loop {
        let mut at = 0;
        while at < left.len() && attempts < ATTEMPTS {
            let without: Range<usize> = at..(at + size).min(left.len());
            let rest = [&left[..without.start], &left[without.end..]].concat();
            attempts += 1;
            if !rest.is_empty() && fails(&rest) {
                left = rest;
            } else {
                at += size;
            }
        }
        if size <= 1 || attempts >= ATTEMPTS {
            return Some(left);
        }
        size = size.div_ceil(2);
    }
}

/// The steps of a program that are kept, and the operations inside them: all are numbered in the order in which they
/// are written.
pub(crate) fn cut(program: Program, kept: &[usize], number: &mut usize) -> Program {
    let mut left = Vec::new();
    for mut step in program {
        let is_kept = kept.binary_search(number).is_ok();
        *number += 1;
        match &mut step {
            Step::Window { storms, steps } => {
                storms.retain(|_| take(kept, number));
                *steps = cut(std::mem::take(steps), kept, number);
            }
            Step::TeamPhase { storms, .. } => storms.retain(|_| take(kept, number)),
            Step::Exchange { hold, .. } => *hold = cut(std::mem::take(hold), kept, number),
            Step::Epoch { streams } => {
                for stream in streams.iter_mut() {
                    stream.ops.retain(|_| take(kept, number));
                }
                streams.retain(|stream| !stream.ops.is_empty());
            }
            _ => {}
        }
        if is_kept {
            left.push(step);
        }
    }
    left
}

fn take(kept: &[usize], number: &mut usize) -> bool {
    *number += 1;
    kept.binary_search(&(*number - 1)).is_ok()
}

/// How many numbers the steps of a program have.
pub(crate) fn count(program: &Program) -> usize {
    let mut number = 0;
    cut(program.clone(), &[], &mut number);
    number
}

/// Steps as a text.
pub(crate) fn show(steps: &[usize]) -> String {
    steps.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// What [`show`] made.
pub(crate) fn parse(text: &str) -> Vec<usize> {
    let number =
        |text: &str| text.trim().parse().unwrap_or_else(|_| panic!("`{text}` is no number of a step"));
    text.split(',').map(number).collect()
}
