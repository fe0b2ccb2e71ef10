//! How far a report has come: a bar for a terminal, lines for a file.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::section::Step;

/// Parts of a second that the bar counts.
const PARTS: f64 = 100.0;

/// The bar. It counts expected seconds, so that it moves evenly.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// For these steps.
    pub(crate) fn new<'a>(steps: impl Iterator<Item = &'a Step>) -> Self {
        let seconds: f64 = steps.map(|step| step.seconds).sum();
        let bar = ProgressBar::with_draw_target(Some((seconds * PARTS) as u64), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{elapsed_precise} {wide_bar} {percent:>3} %  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(500));
        Self { bar }
    }

    /// A step begins.
    pub(crate) fn begin(&self, step: &Step) {
        self.bar.set_message(step.name.clone());
        if self.bar.is_hidden() {
            eprintln!("shmem-perf: {} (about {:.0} s)", step.name, step.seconds);
        }
    }

    /// A step has ended that was expected to take so long.
    pub(crate) fn end(&self, expected: f64, took: Duration) {
        self.bar.inc((expected * PARTS) as u64);
        if self.bar.is_hidden() {
            eprintln!("shmem-perf:   {:.1} s", took.as_secs_f64());
        }
    }

    /// All steps have ended.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
