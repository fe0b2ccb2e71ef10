//! Mutual exclusion of the threads of one process: std's [`Mutex`](std::sync::Mutex) and [`RwLock`](std::sync::RwLock) without
//! poison.
//!
//! Here, a panic leaves locked data whole. With poison the next thread would panic as well, and the job would report this second
//! panic instead of the first. (The lock between PEs is [`object::Lock`](crate::object::Lock).)

use std::sync::{MutexGuard, PoisonError, RwLockReadGuard, RwLockWriteGuard, TryLockError};

/// A value for one thread at a time.
#[derive(Debug, Default)]
pub struct Mutex<T: ?Sized>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Puts a value behind a mutex.
    pub const fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    /// Takes the value out.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until no other thread has the value. May panic, or never return, if this thread has the value already.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the value, unless it is locked already.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// A value for many readers or one writer.
#[derive(Debug, Default)]
pub struct RwLock<T: ?Sized>(std::sync::RwLock<T>);

impl<T> RwLock<T> {
    /// Puts a value behind a lock.
    pub const fn new(value: T) -> Self {
        Self(std::sync::RwLock::new(value))
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits until no other thread changes the value. May panic, or never return, if this thread has the value already.
    #[inline]
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the value for reading, unless a thread writes it or waits to write it.
    #[inline]
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, T>> {
        match self.0.try_read() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Waits until no other thread has the value. May panic, or never return, if this thread has the value already.
    #[inline]
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_panics_keeps_nobody_out() {
        let (mutex, lock) = (Mutex::new(1), RwLock::new(1));
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let (mut one, mut other) = (mutex.lock(), lock.write());
                (*one, *other) = (2, 3);
                panic!("with the mutex and the lock");
            });
            thread.join().expect_err("it panics");
        });
        assert_eq!(
            (mutex.try_lock().map(|held| *held), lock.try_read().map(|held| *held)),
            (Some(2), Some(3))
        );
        *mutex.lock() += 1;
        *lock.write() += 1;
        assert_eq!((*lock.read(), mutex.into_inner()), (4, 3));
    }
}
