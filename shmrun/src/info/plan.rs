//! Plans of strided transfers, for people.

use std::fmt::Write as _;

use shmem::calibration;
use shmem_core::strided::{Advice, Algorithm, Level, Pattern, Plan, Settings};

use crate::error::InfoError;

/// How a job in this environment would move `count` blocks of `block` bytes, `to` bytes apart at the
/// destination and `from` at the source, by each algorithm; and how `strided!` would, where the regions are
/// constant.
///
/// # Errors
///
/// If blocks overlap, or reach further than any memory.
pub(crate) fn plans(
    block: usize,
    count: usize,
    to: usize,
    from: usize,
    settings: &shmem_launch::env::Settings,
) -> Result<String, InfoError> {
    if let Some(stride) = [to, from].into_iter().find(|stride| count > 1 && *stride < block) {
        return Err(InfoError::Overlap { block, stride });
    }
    let end = |stride: usize| count.saturating_sub(1).saturating_mul(stride).saturating_add(block);
    if let Some(stride) = [to, from].into_iter().find(|stride| end(*stride) > isize::MAX as usize) {
        return Err(InfoError::Endless { block, count, stride });
    }
    let (measured, warning) = calibration::load(settings.strided_table.as_deref());
    let pattern = Pattern::blocks(block, count, to, from);
    // Symmetric objects start on lines; how far in the blocks do is not known here.
    let align = 1 << (block | to | from).trailing_zeros().min(6);
    let mut text = String::new();
    let constant = Settings::default().thresholds;
    let _ = writeln!(text, "constant  {}", Plan::of(pattern, align, Algorithm::Auto, &constant));
    for algorithm in Algorithm::ALL {
        let plan = Plan::of(pattern, align, algorithm, &measured.thresholds);
        let chosen = if algorithm == settings.strided_algorithm { "  (this environment's)" } else { "" };
        let _ = writeln!(text, "{:8}  {plan}{chosen}", algorithm.name());
    }
    if let Some(advice) = Advice::of_blocks(block, Level { count, to, from }) {
        let _ = writeln!(text, "advice    {advice}");
    }
    if let Some(warning) = warning {
        let _ = writeln!(text, "warning   {warning}");
    }
    Ok(text)
}
