//! Prints the mistakes that checks have found.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use shmem_core::exclusion::Mutex;
use shmem_core::text::counted;
use shmem_launch::bootstrap::Bootstrap;
use shmem_launch::codec;
use shmem_launch::diagnostics::say;
use shmem_launch::env::CheckChoice;

use super::shadow::Site;
use crate::caller::prefix;

const CODE: i32 = 1;

pub(super) struct Where {
    pub(super) pe: usize,
    pub(super) site: Site,
}

impl std::fmt::Display for Where {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PE {} in {}", self.pe, self.site)
    }
}

pub(super) struct Reports {
    choice: CheckChoice,
    me: usize,
    bootstrap: Arc<dyn Bootstrap>,
    said: Mutex<HashSet<String>>,
}

impl Reports {
    pub(super) fn new(choice: CheckChoice, me: usize, bootstrap: Arc<dyn Bootstrap>) -> Self {
        Self { choice, me, bootstrap, said: Mutex::default() }
    }

    pub(super) fn warn(&self, text: &str) {
        if self.me == 0 {
            say(&format!("shmem: check: warning: {text}"));
        }
    }

    pub(super) fn race(&self, earlier: &Where, later: &Where, to: usize, what: &str) {
        self.say(
            &format!("race {} {}", earlier.site, later.site),
            &format!(
                "{later} and {earlier} use the same bytes ({what} of PE {to}), one of them writes, and nothing \
                 orders them; have one wait for the other: a barrier, or a fence, a flag and a wait for it"
            ),
        );
    }

    /// Reports an access to data that may not have arrived: there was no fence between their put and the flag after it.
    pub(super) fn early_flag(&self, put: &Where, flag: &Site, wait: &Site, later: &Where, what: &str) {
        self.say(
            &format!("flag {} {flag} {}", put.site, later.site),
            &format!(
                "{later} uses {what}, which may not have arrived: {put} wrote it, and then set a flag in {flag} \
                 without a fence or quiet of the same context in between; PE {} saw the flag in {wait}; call \
                 {c}fence() between the two, or use {c}put_signal",
                later.pe,
                c = prefix(),
            ),
        );
    }

    /// Reports an access to the data of a put with a signal, after a wait that the signal of another put may have ended.
    pub(super) fn other_signal(&self, put: &Where, wait: &Site, later: &Where, what: &str) {
        self.say(
            &format!("signal {} {wait} {}", put.site, later.site),
            &format!(
                "{later} uses {what}, which may not have arrived: {put} wrote it, and what PE {} has seen in {wait} \
                 may be the signals of other puts: {}",
                later.pe,
                signals_order()
            ),
        );
    }

    /// Reports waits for a part of the signals that several puts add to one word: such waits do not tell which puts have arrived.
    pub(super) fn steps(&self, put: &Where, wait: &Where) {
        self.say(
            &format!("steps {} {}", put.site, wait.site),
            &format!(
                "{wait} waits step by step for signals that {put} adds, and cannot know which of them have come: {}",
                signals_order()
            ),
        );
    }

    pub(super) fn reuse(&self, flight: &Where, flight_writes: bool, later: &Where, writes: bool) {
        let (doing, does) =
            (if flight_writes { "write" } else { "read" }, if writes { "writes" } else { "reads" });
        self.say(
            &format!("reuse {} {}", flight.site, later.site),
            &format!(
                "{later} {does} a buffer that {flight} may still {doing}: the transfer is under way until a quiet; \
                 call {}quiet() between the two",
                prefix()
            ),
        );
    }

    /// Ends the job if any PE has found a mistake. All PEs call this function together.
    pub(super) fn conclude(&self) -> io::Result<()> {
        let mine = self.said.lock().len();
        let all = self.bootstrap.exchange("checks", &codec::encode(&mine))?;
        let found: usize = all.iter().filter_map(|bytes| codec::decode::<usize>(bytes).ok()).sum();
        if found > 0 && self.me == 0 {
            let mistakes = counted(found, "mistake");
            self.bootstrap.abort(CODE, &format!("SHMEM_CHECK found {mistakes}, reported above"));
        }
        // All PEs wait here, so that PE 0 can end the job before another PE leaves it without an error.
        self.bootstrap.fence()
    }

    fn say(&self, lines: &str, text: &str) {
        let is_new = self.said.lock().insert(lines.to_owned());
        if !is_new {
            return;
        }
        match self.choice {
            CheckChoice::Abort => self.bootstrap.abort(CODE, &format!("check: {text}")),
            _ => say(&format!("shmem: check: {text}")),
        }
    }
}

fn signals_order() -> String {
    format!(
        "a signal orders its own data and the puts before the last fence; wait for all signals that are under way, \
         have a signal for each place, or call {}fence() between the puts",
        prefix()
    )
}
