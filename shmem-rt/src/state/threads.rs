//! The registered threads of a PE. Numbers that threads give back are reused, oldest first. If the number of threads is limited,
//! they are reused only after all numbers below the limit were used.

use std::collections::{HashMap, VecDeque};
use std::panic::Location;
use std::thread::ThreadId;

use crate::error::ContextError;

pub(crate) struct Threads {
    limit: Option<usize>,
    /// Numbers of threads that were unregistered, oldest first.
    free: VecDeque<usize>,
    registered: HashMap<ThreadId, (usize, &'static Location<'static>)>,
}

impl Threads {
    pub(crate) fn new(limit: Option<usize>) -> Self {
        Self { limit, free: VecDeque::new(), registered: HashMap::new() }
    }

    pub(crate) fn register(
        &mut self,
        thread: &std::thread::Thread,
        at: &'static Location<'static>,
    ) -> Result<usize, ContextError> {
        if let Some(&(number, at)) = self.registered.get(&thread.id()) {
            return Err(ContextError::Registered { thread: name_of(thread), number, at });
        }
        let registered = self.registered.len();
        if let Some(limit) = self.limit.filter(|limit| registered >= *limit) {
            return Err(ContextError::Threads { thread: name_of(thread), registered, limit });
        }
        let used = registered + self.free.len();
        // With a limit, numbers that were never used are assigned before numbers that are reused.
        let rested = if self.limit.is_some_and(|limit| used < limit) { None } else { self.free.pop_front() };
        let number = rested.unwrap_or(used);
        self.registered.insert(thread.id(), (number, at));
        Ok(number)
    }

    pub(crate) fn unregister(&mut self, number: usize) {
        self.registered.retain(|_, (registered, _)| *registered != number);
        self.free.push_back(number);
    }
}

fn name_of(thread: &std::thread::Thread) -> String {
    let id: ThreadId = thread.id();
    thread.name().map_or_else(|| format!("the thread {id:?}"), |name| format!("thread `{name}`"))
}
