//! Until somebody sleeps: how one part of a test knows that another one has come to where it waits. A pause that is
//! "long enough" never is, on a machine that is busy.

use std::time::Duration;

/// Looks in a row, a pause apart, at which it must sleep: it may sleep for a moment on its way, too.
const LOOKS: usize = 5;
pub(crate) const PAUSE: Duration = Duration::from_millis(5);

/// Looks after which something is wrong: more than a minute.
const MOST_LOOKS: usize = 15_000;

/// A thread of the job, wherever its process is.
#[derive(Clone, Copy)]
pub(crate) struct Thread(pub(crate) u64);

impl Thread {
    pub(crate) fn current() -> Self {
        let process = u64::from(std::process::id());
        Self(process << 32 | u64::from(rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned()))
    }

    fn is_asleep(self) -> bool {
        let (process, thread) = (self.0 >> 32, self.0 & u64::from(u32::MAX));
        let stat = std::fs::read_to_string(format!("/proc/{process}/task/{thread}/stat")).unwrap();
        // Behind the name, which may be anything.
        stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('S'))
    }

    /// Returns when the thread, which is about to wait for somebody, has fallen asleep. One that only waits for a
    /// processor does not sleep.
    pub(crate) fn wait_until_asleep(self) {
        let mut looks = 0;
        for _ in 0..MOST_LOOKS {
            looks = if self.is_asleep() { looks + 1 } else { 0 };
            if looks == LOOKS {
                return;
            }
            std::thread::sleep(PAUSE);
        }
        panic!("it does not fall asleep");
    }
}
