//! Point-to-point synchronisation: `shmem_wait_until`, `shmem_test`, and their forms for several words.
//!
//! What is waited for may change by a put, an atomic operation, or a plain store of another thread; see
//! [`untyped`] for who wakes whom. Where a call stands is looked for when it takes long enough to
//! be told, and not when it sleeps.

use std::cell::Cell;
use std::ffi::c_int;
use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use shmem_core::context::Endpoint;
use shmem_core::context::untyped::{self, Looks, Relation};
use shmem_core::observe::{self, Family};
use shmem_core::system::Activity;
use shmem_core::text::Text;

use crate::refusal::{Place, refuse};
use crate::symmetric;
use crate::table::routines;
use crate::types::{Compared, Item, Long};
use crate::world;

routines! {
    waited {
        plain "" "_wait_until" (ivar: *mut T, cmp: c_int, cmp_value: T) [shmem_wait_until 0] = wait_until::<T>;
        plain "" "_wait_until_all" (ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_value: T)
            [shmem_wait_until_all 0] = wait_until_all::<T>;
        plain "" "_wait_until_any" (ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_value: T) -> usize
            [shmem_wait_until_any 0] = wait_until_any::<T>;
        plain "" "_wait_until_some"
            (ivars: *mut T, nelems: usize, indices: *mut usize, status: *const c_int, cmp: c_int, cmp_value: T) -> usize
            [shmem_wait_until_some 0] = wait_until_some::<T>;
        plain "" "_wait_until_all_vector"
            (ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_values: *mut T)
            [shmem_wait_until_all_vector 0] = wait_until_all_vector::<T>;
        plain "" "_wait_until_any_vector"
            (ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_values: *mut T) -> usize
            [shmem_wait_until_any_vector 0] = wait_until_any_vector::<T>;
        plain "" "_wait_until_some_vector"
            (ivars: *mut T, nelems: usize, indices: *mut usize, status: *const c_int, cmp: c_int, cmp_values: *mut T) -> usize
            [shmem_wait_until_some_vector 0] = wait_until_some_vector::<T>;
        plain "" "_test" (ivar: *mut T, cmp: c_int, cmp_value: T) -> c_int [shmem_test 0] = test::<T>;
        plain "" "_test_all" (ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_value: T) -> c_int
            [shmem_test_all 0] = test_all::<T>;
        plain "" "_test_any" (ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_value: T) -> usize
            [shmem_test_any 0] = test_any::<T>;
        plain "" "_test_some"
            (ivars: *mut T, nelems: usize, indices: *mut usize, status: *const c_int, cmp: c_int, cmp_value: T) -> usize
            [shmem_test_some 0] = test_some::<T>;
        plain "" "_test_all_vector"
            (ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_values: *mut T) -> c_int
            [shmem_test_all_vector 0] = test_all_vector::<T>;
        plain "" "_test_any_vector"
            (ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_values: *mut T) -> usize
            [shmem_test_any_vector 0] = test_any_vector::<T>;
        plain "" "_test_some_vector"
            (ivars: *mut T, nelems: usize, indices: *mut usize, status: *const c_int, cmp: c_int, cmp_values: *mut T) -> usize
            [shmem_test_some_vector 0] = test_some_vector::<T>;
    }
    old_waited {
        plain "" "_wait" (ivar: *mut T, cmp_value: T) [] = wait::<T>;
    }
    once {
        plain "wait" "" (ivar: *mut Long, cmp_value: Long) [] = wait::<Long>;
        plain "wait_until" "" (ivar: *mut Long, cmp: c_int, cmp_value: Long) [] = wait_until::<Long>;
    }
}

/// What a word is compared by, as C numbers it: `SHMEM_CMP_EQ` to `SHMEM_CMP_GE`; refused if it is nothing.
fn required_relation(routine: &str, cmp: c_int) -> Relation {
    use Relation::{Eq, Ge, Gt, Le, Lt, Ne};
    let relation = usize::try_from(cmp).ok().and_then(|cmp| [Eq, Ne, Gt, Le, Lt, Ge].get(cmp).copied());
    relation.unwrap_or_else(|| {
        let all = "SHMEM_CMP_EQ (0), _NE (1), _GT (2), _LE (3), _LT (4) and _GE (5)";
        refuse(routine, "cmp", format_args!("is {cmp}: comparisons are {all}"))
    })
}

/// A word now. What the PE that wrote it did before its last fence is visible behind it.
///
/// # Safety
///
/// It must be readable, and aligned for its size.
#[inline]
pub(crate) unsafe fn now<T: Item>(word: *const T) -> T {
    let word = word.cast_mut();
    macro_rules! load {
        ($atomic:ident) => {
            // SAFETY: the caller's promise.
            bytemuck::cast(unsafe { $atomic::from_ptr(word.cast()) }.load(Ordering::Acquire))
        };
    }
    match size_of::<T>() {
        1 => load!(AtomicU8),
        2 => load!(AtomicU16),
        4 => load!(AtomicU32),
        _ => load!(AtomicU64),
    }
}

/// Words that are waited for, as C names them.
#[derive(Clone, Copy)]
pub(crate) struct Words<T> {
    routine: &'static str,
    words: *const T,
    count: usize,
    /// Which are left out; null: none is.
    status: *const c_int,
    relation: Relation,
    values: Values<T>,
}

/// What words are compared with.
#[derive(Clone, Copy)]
enum Values<T> {
    One(T),
    Each(*const T),
}

impl<T: Compared> Words<T> {
    /// One, which C names by an argument.
    pub(crate) fn one(routine: &'static str, argument: &str, word: *const T, cmp: c_int, value: T) -> Self {
        Self::new(routine, argument, word, 1, ptr::null(), cmp, Values::One(value))
    }

    fn new(
        routine: &'static str,
        argument: &str,
        words: *const T,
        count: usize,
        status: *const c_int,
        cmp: c_int,
        values: Values<T>,
    ) -> Self {
        world::current(routine);
        let relation = required_relation(routine, cmp);
        if count > 0 {
            symmetric::must_be_aligned(words, routine, argument);
            if symmetric::range(words, size_of::<T>()).is_none() {
                symmetric::locate(words, size_of::<T>(), routine, argument);
            }
        }
        Self { routine, words, count, status, relation, values }
    }

    /// Whether a word is one of those that count.
    fn counts(&self, at: usize) -> bool {
        // SAFETY: null, or as many numbers as there are words, from C.
        self.status.is_null() || unsafe { self.status.wrapping_add(at).read() } == 0
    }

    /// The numbers of those that count.
    fn numbers(&self) -> impl Iterator<Item = usize> {
        (0..self.count).filter(|at| self.counts(*at))
    }

    /// A word now.
    fn word(&self, at: usize) -> T {
        // SAFETY: C gives so many words.
        unsafe { now(self.words.wrapping_add(at)) }
    }

    /// What a word is compared with.
    fn value(&self, at: usize) -> T {
        match self.values {
            Values::One(value) => value,
            // SAFETY: C gives as many values as words.
            Values::Each(values) => unsafe { values.wrapping_add(at).read() },
        }
    }

    fn holds(&self, at: usize) -> bool {
        self.relation.holds(&self.word(at), &self.value(at))
    }

    /// One that counts and holds.
    fn any(&self) -> Option<usize> {
        untyped::find_in_turn(self.words.addr(), self.count, |at| self.counts(at) && self.holds(at))
    }

    /// Whether all that count hold.
    fn all(&self) -> bool {
        self.numbers().all(|at| self.holds(at))
    }

    /// Writes which hold; gives how many.
    ///
    /// # Safety
    ///
    /// There must be room for as many numbers as there are words.
    unsafe fn some(&self, indices: *mut usize) -> usize {
        let holding = self.numbers().filter(|at| self.holds(*at));
        // SAFETY: fewer have been written than there are words (caller).
        holding.zip(0..).map(|(at, found)| unsafe { indices.wrapping_add(found).write(at) }).count()
    }

    fn looks(&self, endpoint: &Endpoint, family: Family) -> Looks<'static> {
        let offset = symmetric::offset(self.words)
            .unwrap_or_else(|| self.words.addr().wrapping_sub(endpoint.mine(0).addr()));
        let bytes = self.count * size_of::<T>();
        let least = match (self.count, self.values) {
            (1, Values::One(value)) => {
                bytemuck::try_cast(value).ok().and_then(|bits| self.relation.least(bits))
            }
            _ => None,
        };
        let wait = least.map(|least| {
            // SAFETY: a symmetric word, aligned (`new`), of eight bytes as its value is, and mapped for as long as the job.
            let number = unsafe { AtomicU64::from_ptr(self.words.cast_mut().cast()) };
            observe::Wait { number, least }
        });
        Looks { family, offset, bytes, wait, location: Location::caller() }
    }

    fn look<R>(&self, family: Family, look: impl FnOnce() -> R) -> R {
        let endpoint = world::default_stream().endpoint(self.routine);
        untyped::look(endpoint, self.looks(endpoint, family), look)
    }

    /// Waits until the one word holds, and gives it.
    pub(crate) fn wait_for_word(&self) -> T {
        let mut word = self.word(0);
        self.wait(Family::WaitUntil, || {
            word = self.word(0);
            self.relation.holds(&word, &self.value(0))
        });
        word
    }

    /// Waits until one that counts holds, and gives that; none of none.
    fn wait_for_any(&self, family: Family) -> Option<usize> {
        let mut found = None;
        self.numbers().next()?;
        self.wait(family, || {
            found = self.any();
            found.is_some()
        });
        found
    }

    fn wait(&self, family: Family, done: impl FnMut() -> bool) {
        let endpoint = world::default_stream().endpoint(self.routine);
        let looks = self.looks(endpoint, family);
        wait_for(endpoint, self.routine, looks, done, || {
            let missing = self.numbers().find(|at| !self.holds(*at)).unwrap_or(0);
            let name = endpoint.waiting().name_of(looks.offset + missing * size_of::<T>());
            let (sign, value, now) = (self.relation.sign(), self.value(missing), self.word(missing));
            let of = if self.count > 1 { format!(", of {} words", self.count) } else { String::new() };
            format!("{name} {sign} {value}, is {now}{of}")
        });
    }
}

/// Waits until `done`; `subject` says what for, when it takes long.
pub(crate) fn wait_for(
    endpoint: &Endpoint,
    routine: &'static str,
    looks: Looks<'_>,
    done: impl FnMut() -> bool,
    subject: impl Fn() -> String,
) {
    let times = Cell::new(0);
    untyped::wait(endpoint, looks, done, || {
        // The first time it begins to sleep; later ones are told.
        let place = if times.replace(times.get() + 1) > 0 { Place::of_the_call() } else { Place::default() };
        Activity {
            operation: Text::head(routine),
            subject: Text::head(&subject()),
            file: Text::tail(&place.file),
            line: place.line,
            ..Activity::NONE
        }
    });
}

fn wait_until<T: Compared>(routine: &'static str, ivar: *mut T, cmp: c_int, value: T) {
    Words::one(routine, "ivar", ivar, cmp, value).wait_for_word();
}

fn wait<T: Compared>(routine: &'static str, ivar: *mut T, value: T) {
    wait_until(routine, ivar, 1, value);
}

fn test<T: Compared>(routine: &'static str, ivar: *mut T, cmp: c_int, value: T) -> c_int {
    let words = Words::one(routine, "ivar", ivar, cmp, value);
    words.look(Family::Test, || c_int::from(words.holds(0)))
}

/// The forms of several words, with one value and with a value for each.
macro_rules! forms {
    ($($form:ident / $vector:ident ($($indices:ident)?) $(-> $result:ty)? = $all:expr;)*) => {$(
        unsafe fn $form<T: Compared>(
            routine: &'static str,
            ivars: *mut T,
            nelems: usize,
            $($indices: *mut usize,)?
            status: *const c_int,
            cmp: c_int,
            value: T,
        ) $(-> $result)? {
            let words = Words::new(routine, "ivars", ivars, nelems, status, cmp, Values::One(value));
            ($all)(words $(, $indices)?)
        }

        unsafe fn $vector<T: Compared>(
            routine: &'static str,
            ivars: *mut T,
            nelems: usize,
            $($indices: *mut usize,)?
            status: *const c_int,
            cmp: c_int,
            values: *mut T,
        ) $(-> $result)? {
            let words = Words::new(routine, "ivars", ivars, nelems, status, cmp, Values::Each(values));
            ($all)(words $(, $indices)?)
        }
    )*};
}
forms! {
    wait_until_all / wait_until_all_vector () = |words: Words<T>| words.wait(Family::WaitUntilAll, || words.all());
    wait_until_any / wait_until_any_vector () -> usize
        = |words: Words<T>| words.wait_for_any(Family::WaitUntilAny).unwrap_or(usize::MAX);
    wait_until_some / wait_until_some_vector (indices) -> usize
        = |words: Words<T>, indices| match words.wait_for_any(Family::WaitUntilSome) {
        // SAFETY: C gives room for as many numbers as words.
        Some(_) => unsafe { words.some(indices) },
        None => 0,
    };
    test_all / test_all_vector () -> c_int = |words: Words<T>| words.look(Family::TestAll, || c_int::from(words.all()));
    test_any / test_any_vector () -> usize = |words: Words<T>| words.look(Family::TestAny, || words.any().unwrap_or(usize::MAX));
    test_some / test_some_vector (indices) -> usize = |words: Words<T>, indices| {
        // SAFETY: C gives room for as many numbers as words.
        words.look(Family::TestSome, || unsafe { words.some(indices) })
    };
}
