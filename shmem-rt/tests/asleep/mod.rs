//! Waits until another thread sleeps, which means that it has reached its wait. A fixed pause would be too short on a busy machine.

use std::time::Duration;

/// Number of consecutive looks that must find the thread asleep. A thread may also sleep for a moment before its wait.
const LOOKS: usize = 5;
pub(crate) const PAUSE: Duration = Duration::from_millis(5);

/// Number of looks after which the test fails, in more than a minute.
const MOST_LOOKS: usize = 15_000;

/// A thread of any process on this host: process ID and thread ID.
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
        // The state follows the thread's name, which may contain any characters.
        stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('S'))
    }

    /// Blocks until the thread sleeps.
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
