//! Point-to-point synchronisation: `shmem_wait_until`, `shmem_test`, and their forms for several words.
//!
//! Puts, atomic operations and plain stores of other threads may change the words. [`untyped`] says how each wakes a sleeping PE.
//! The source line of a call is looked up for the report of a long wait, and not before.

use std::cell::Cell;
use std::ffi::c_int;
use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use shmem_core::context::Endpoint;
use shmem_core::context::untyped::{self, Relation, WordSet};
use shmem_core::observe::{Call, Family, Wait};
use shmem_core::system_area::Activity;
use shmem_core::text::Text;

use crate::call_site::CallSite;
use crate::context;
use crate::errors::refuse;
use crate::symmetric;
use crate::table::routines;
use crate::types::{Compared, Item, Long};
use crate::world;

routines! {
    waited {
        plain "" "_wait_until" (ivar: *mut T, cmp: c_int, cmp_value: T) [shmem_wait_until 0] = wait_until::<T>;
        plain "" "_wait_until_all" (ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_value: T)
            [shmem_wait_until_all 0] = among, Values::One, WordSet::wait_until_all;
        plain "" "_wait_until_any" (ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_value: T) -> usize
            [shmem_wait_until_any 0] = among, Values::One, |words| words.wait_until_any().unwrap_or(NO_WORD);
        plain "" "_wait_until_some"
            (ivars: *mut T, nelems: usize, indices: *mut usize, status: *const c_int, cmp: c_int, cmp_value: T) -> usize
            [shmem_wait_until_some 0] = some_among, Values::One, WordSet::wait_until_some;
        plain "" "_wait_until_all_vector"
            (ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_values: *mut T)
            [shmem_wait_until_all_vector 0] = among, Values::Each, WordSet::wait_until_all;
        plain "" "_wait_until_any_vector"
            (ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_values: *mut T) -> usize
            [shmem_wait_until_any_vector 0] = among, Values::Each, |words| words.wait_until_any().unwrap_or(NO_WORD);
        plain "" "_wait_until_some_vector"
            (ivars: *mut T, nelems: usize, indices: *mut usize, status: *const c_int, cmp: c_int, cmp_values: *mut T) -> usize
            [shmem_wait_until_some_vector 0] = some_among, Values::Each, WordSet::wait_until_some;
        plain "" "_test" (ivar: *mut T, cmp: c_int, cmp_value: T) -> c_int [shmem_test 0] = test::<T>;
        plain "" "_test_all" (ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_value: T) -> c_int
            [shmem_test_all 0] = among, Values::One, |words| words.test_all().into();
        plain "" "_test_any" (ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_value: T) -> usize
            [shmem_test_any 0] = among, Values::One, |words| words.test_any().unwrap_or(NO_WORD);
        plain "" "_test_some"
            (ivars: *mut T, nelems: usize, indices: *mut usize, status: *const c_int, cmp: c_int, cmp_value: T) -> usize
            [shmem_test_some 0] = some_among, Values::One, WordSet::test_some;
        plain "" "_test_all_vector"
            (ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_values: *mut T) -> c_int
            [shmem_test_all_vector 0] = among, Values::Each, |words| words.test_all().into();
        plain "" "_test_any_vector"
            (ivars: *mut T, nelems: usize, status: *const c_int, cmp: c_int, cmp_values: *mut T) -> usize
            [shmem_test_any_vector 0] = among, Values::Each, |words| words.test_any().unwrap_or(NO_WORD);
        plain "" "_test_some_vector"
            (ivars: *mut T, nelems: usize, indices: *mut usize, status: *const c_int, cmp: c_int, cmp_values: *mut T) -> usize
            [shmem_test_some_vector 0] = some_among, Values::Each, WordSet::test_some;
    }
    old_waited {
        plain "" "_wait" (ivar: *mut T, cmp_value: T) [] = wait::<T>;
    }
    once {
        plain "wait" "" (ivar: *mut Long, cmp_value: Long) [] = wait::<Long>;
        plain "wait_until" "" (ivar: *mut Long, cmp: c_int, cmp_value: Long) [] = wait_until::<Long>;
    }
}

pub(crate) const CMP_NE: c_int = 1;

/// Returns the relation of a constant from `SHMEM_CMP_EQ` to `SHMEM_CMP_GE`. Refuses other numbers.
fn required_relation(routine: &str, cmp: c_int) -> Relation {
    use Relation::{Eq, Ge, Gt, Le, Lt, Ne};
    let relation = usize::try_from(cmp).ok().and_then(|cmp| [Eq, Ne, Gt, Le, Lt, Ge].get(cmp).copied());
    relation.unwrap_or_else(|| {
        let all = "SHMEM_CMP_EQ (0), _NE (1), _GT (2), _LE (3), _LT (4) and _GE (5)";
        refuse(routine, "cmp", format_args!("is {cmp}: comparisons are {all}"))
    })
}

/// Loads a word, with acquire ordering.
///
/// # Safety
///
/// `word` must be readable, and aligned to its size.
#[inline]
unsafe fn load<T: Item>(word: *const T) -> T {
    let word = word.cast_mut();
    macro_rules! by {
        ($atomic:ident) => {
            // SAFETY: the caller keeps this function's contract.
            bytemuck::cast(unsafe { $atomic::from_ptr(word.cast()) }.load(Ordering::Acquire))
        };
    }
    match size_of::<T>() {
        1 => by!(AtomicU8),
        2 => by!(AtomicU16),
        4 => by!(AtomicU32),
        _ => by!(AtomicU64),
    }
}

pub(crate) struct Words<T> {
    routine: &'static str,
    words: *const T,
    count: usize,
    /// An entry for each word, or null. Words with an entry other than 0 are ignored.
    status: *const c_int,
    relation: Relation,
    values: Values<T>,
}

#[derive(Clone, Copy)]
enum Values<T> {
    One(T),
    Each(*mut T),
}

impl<T: Compared> Words<T> {
    /// Returns a set of one word. `argument` is the word's name in error texts.
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

    fn word(&self, at: usize) -> T {
        // SAFETY: the C program passes `count` words, and `at` is below `count`.
        unsafe { load(self.words.wrapping_add(at)) }
    }

    fn value(&self, at: usize) -> T {
        match self.values {
            Values::One(value) => value,
            // SAFETY: the C program passes `count` values, and `at` is below `count`.
            Values::Each(values) => unsafe { values.wrapping_add(at).read() },
        }
    }

    fn offset(&self, endpoint: &Endpoint) -> usize {
        let offset = symmetric::offset(self.words);
        offset.unwrap_or_else(|| self.words.addr().wrapping_sub(endpoint.mine(0).addr()))
    }

    fn call(&self, endpoint: &Endpoint, family: Family) -> Call<'static> {
        let least = match (self.count, self.values) {
            (1, Values::One(value)) => bytemuck::try_cast(value).ok(),
            _ => None,
        };
        let wait = least.and_then(|bits| self.relation.least(bits)).map(|least| {
            // SAFETY: the word is symmetric and aligned (`new`), and so mapped until the job ends. Like `value` it has 8 bytes.
            let number = unsafe { AtomicU64::from_ptr(self.words.cast_mut().cast()) };
            Wait { number, least }
        });
        let bytes = self.count * size_of::<T>();
        let call = Call::new(family, Location::caller()).at(endpoint.me(), 0, self.offset(endpoint), bytes);
        Call { wait, ..call }
    }

    pub(crate) fn now(&self, family: Family) -> T {
        self.look(family, || self.word(0))
    }

    /// Blocks until the set's only word has the wanted value. Returns the word.
    pub(crate) fn wait_for_word(&self) -> T {
        let mut word = self.word(0);
        self.wait(Family::WaitUntil, || {
            word = self.word(0);
            self.relation.holds(&word, &self.value(0))
        });
        word
    }
}

impl<T: Compared> WordSet for Words<T> {
    fn address(&self) -> usize {
        self.words.addr()
    }

    fn count(&self) -> usize {
        self.count
    }

    fn counts(&self, at: usize) -> bool {
        // SAFETY: `status` is null, or the C program passes `count` entries.
        self.status.is_null() || unsafe { self.status.wrapping_add(at).read() } == 0
    }

    fn holds(&self, at: usize) -> bool {
        self.relation.holds(&self.word(at), &self.value(at))
    }

    fn look<R>(&self, family: Family, look: impl FnOnce() -> R) -> R {
        let endpoint = context::default_endpoint(self.routine);
        untyped::look(endpoint, || self.call(endpoint, family), look)
    }

    fn wait(&self, family: Family, done: impl FnMut() -> bool) {
        let endpoint = context::default_endpoint(self.routine);
        wait_for(
            endpoint,
            self.routine,
            || self.call(endpoint, family),
            done,
            || {
                let missing = self.missing();
                let name = endpoint.waiting().name_of(self.offset(endpoint) + missing * size_of::<T>());
                let (sign, value, now) = (self.relation.sign(), self.value(missing), self.word(missing));
                let of = if self.count > 1 { format!(", of {} words", self.count) } else { String::new() };
                format!("{name} {sign} {value}, is {now}{of}")
            },
        );
    }
}

/// Blocks until `done` returns true. Passes `call` to observers, and `subject` to reports of long waits.
pub(crate) fn wait_for(
    endpoint: &Endpoint,
    routine: &'static str,
    call: impl FnOnce() -> Call<'static>,
    done: impl FnMut() -> bool,
    subject: impl Fn() -> String,
) {
    let times = Cell::new(0);
    untyped::wait(endpoint, call, done, || {
        // This closure is called once before the PE sleeps, and must be fast then. Later calls are for reports of long waits.
        let place = if times.replace(times.get() + 1) > 0 { CallSite::find() } else { CallSite::default() };
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
    wait_until(routine, ivar, CMP_NE, value);
}

fn test<T: Compared>(routine: &'static str, ivar: *mut T, cmp: c_int, value: T) -> c_int {
    let words = Words::one(routine, "ivar", ivar, cmp, value);
    words.look(Family::Test, || c_int::from(words.holds(0)))
}

/// The result of `wait_until_any` if all words are ignored, and of `test_any` if no word has the wanted value.
const NO_WORD: usize = usize::MAX;

/// Calls `form`, a wait or test, on several words. `values` is one value for all words, or a value for each word.
unsafe fn among<T: Compared, V, R>(
    routine: &'static str,
    ivars: *mut T,
    nelems: usize,
    status: *const c_int,
    cmp: c_int,
    values: V,
    of: fn(V) -> Values<T>,
    form: impl FnOnce(&Words<T>) -> R,
) -> R {
    form(&Words::new(routine, "ivars", ivars, nelems, status, cmp, of(values)))
}

/// A wait or test for some words. Returns the count of words found, and calls back with (index in the result, word's index).
type SomeForm<T> = fn(&Words<T>, &mut dyn FnMut(usize, usize)) -> usize;

/// Calls [`among`] for a routine that writes to `indices` the index of each word that was found.
unsafe fn some_among<T: Compared, V>(
    routine: &'static str,
    ivars: *mut T,
    nelems: usize,
    indices: *mut usize,
    status: *const c_int,
    cmp: c_int,
    values: V,
    of: fn(V) -> Values<T>,
    form: SomeForm<T>,
) -> usize {
    let words = Words::new(routine, "ivars", ivars, nelems, status, cmp, of(values));
    // SAFETY: the C program passes an `indices` of `nelems` entries, and each word is found at most once.
    form(&words, &mut |at, word| unsafe { indices.wrapping_add(at).write(word) })
}
