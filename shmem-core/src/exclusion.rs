//! Mutual exclusion of the threads of one process: std's [`Mutex`](std::sync::Mutex) and
//! [`RwLock`](std::sync::RwLock) without poison.
//!
//! Here, no panic leaves locked data half changed. With poison the next thread would panic as well, and the job would report
//! that panic instead of the first. (The lock between PEs is [`object::Lock`](crate::object::Lock).)

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
    /// Waits until no other thread has the value.
    /// May panic, or never return, if this thread has it.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value, unless it is locked.
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
    /// Waits until no other thread changes the value.
    /// May panic, or never return, if this thread has it.
    #[inline]
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value, unless a thread writes it or waits to.
    #[inline]
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, T>> {
        match self.0.try_read() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Waits until no other thread has the value.
    /// May panic, or never return, if this thread has it.
    #[inline]
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `f` on a thread that panics behind it.
    fn panicking(f: impl FnOnce() + Send) {
        std::thread::scope(|scope| {
            scope.spawn(f).join().expect_err("it panics");
        });
    }

    #[test]
    fn a_thread_that_panics_keeps_nobody_out() {
        let mutex = Mutex::new(1);
        panicking(|| {
            *mutex.lock() += 1;
            let _held = mutex.lock();
            panic!("with the mutex");
        });
        assert_eq!(*mutex.try_lock().expect("nobody has it"), 2);
        assert_eq!(mutex.into_inner(), 2);

        let lock = RwLock::new(1);
        panicking(|| {
            let mut held = lock.write();
            *held += 1;
            panic!("with the lock");
        });
        assert_eq!(*lock.read(), 2);
    }
}
