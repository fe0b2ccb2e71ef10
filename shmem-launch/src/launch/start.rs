//! From what was asked to PEs that run.

use super::error::LaunchError;
use super::output::{Outlets, pipes};
use super::pes::Pes;
use super::run::{Run, Terms};
use super::signals::Signals;
use super::spawn::{Before, Description};
use super::{Launch, Outcome, limits, random};

impl Launch {
    /// Starts the job on this host and waits for its end.
    ///
    /// # Errors
    ///
    /// If it could not be started. What happens to a job that runs is its [`Outcome`].
    pub fn run(self) -> Result<Outcome, LaunchError> {
        let pes = self.pes;
        let descriptors = limits::prepare(pes)?;
        let hosts = self.hosts.as_ref().map(|hosts| hosts.hosts(pes)).transpose()?;
        if let Some(pe) = self.debugger.filter(|pe| *pe >= pes) {
            return Err(LaunchError::NoSuchPe { pe, pes });
        }
        let number = random().map_err(LaunchError::system("no random number for the job"))?;
        let signals = self.watch_signals.then(Signals::watch).transpose();
        let signals = signals.map_err(LaunchError::system("signals cannot be received"))?;
        let terms = Terms {
            program: self.program.clone(),
            output: self.output,
            debugged: self.debugger.is_some(),
            time: self.time,
            speaker: self.speaker,
        };
        let description = Description {
            arg0: self.arg0.unwrap_or_else(|| self.program.clone()),
            program: self.program,
            args: self.args,
            environment: self.environment,
            number: u64::from_le_bytes(number),
            pretends: hosts.is_some(),
            hosts: hosts.unwrap_or_else(|| vec![0; pes]),
            bind: self.bind,
            output: self.output,
            pipes: pipes(self.output, pes),
            debugger: self.debugger,
            attach_wait: self.attach_wait,
        };
        let outlets = Outlets::new(description.output, &description.pipes);
        let outlets = outlets.map_err(LaunchError::system(
            "no thread can be started that passes output on; raise the limit of this user's processes (ulimit -u) or of data (ulimit -d)",
        ))?;
        let before = Before { descriptors, mask: signals.as_ref().map(Signals::before) };
        let (pes, remark) = Pes::start(description, before, &outlets)?;
        let mut run = Run::new(terms, pes, signals, outlets);
        if let Some(remark) = remark {
            run.say(&remark);
        }
        Ok(run.finish())
    }
}
