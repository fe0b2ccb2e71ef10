//! Lists on an arena of the test's own: three PEs, of which all are near, or one is behind a hostile transport, or somebody
//! is told. Also run under AddressSanitizer. (Operations without results, on elements of any size and with indices that come again:
//! `ordered::indexed` of shmem-rt, on several PEs.)

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::context::{NonBlocking, Order};
use crate::endpoint::RemotePath;
use crate::exclusion::Mutex;
use crate::fixture::{Slots, Token, boxed, refusal};
use crate::object::{AmoValue, Atomic, SymBox};
use crate::observe::{Call, Observer};
use crate::pe::Pe;
use crate::segment_table::Segments;
use crate::system_area::{SYSTEM_BYTES, SystemArea};
use crate::transport::Channel;
use crate::transport::loopback::Network;
use crate::transport::target::Target;

const PES: usize = 3;
const BYTES: usize = 8192;

/// Where PE 2 is, and whether anybody is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Near,
    RemotePath,
    Observed,
}

/// PE 0 of three.
type Job = Token<(Reach, Arc<Told>)>;

/// A call: what it is, its bytes, and the elements that it lists.
type Heard = (Family, usize, Vec<(usize, usize)>);

/// What was told of calls.
#[derive(Default)]
struct Told(Mutex<Vec<Heard>>);

impl Observer for Told {
    fn begin(&self, call: &Call<'_>) -> u64 {
        let places = call.listed.map_or(&[][..], |listed| listed.places);
        let places = places.iter().map(|(pe, offset)| (pe.number(), offset - SYSTEM_BYTES)).collect();
        self.0.lock().push((call.family, call.bytes, places));
        0
    }

    fn end(&self, _: &Call<'_>, _: u64) {}
}

impl Job {
    fn new(reach: Reach, seed: u64) -> Self {
        let places = Slots::new(PES, BYTES);
        let target = |pe: usize| {
            // SAFETY: a slot of that many bytes, all zeroes, dropped behind the network.
            unsafe { Target::new(places.start_of(pe), 0..places.stride()) }
        };
        let far = (reach == Reach::RemotePath).then(|| {
            let network = Network::new((0..PES).map(target).collect(), seed);
            RemotePath { transport: Arc::new(network.transport(0)), channel: Channel(0) }
        });
        let (segments, told) = (Segments::new(places.stride(), 21), Arc::<Told>::default());
        let observer = (reach == Reach::Observed).then(|| Arc::clone(&told) as Arc<dyn Observer>);
        // The others have their slots behind that of PE 0; who has none is reached by `far`.
        Self::over(places, pe(reach, 0), far, segments, (reach, told)).observed_by(observer)
    }

    fn pe(&self, number: u32) -> Pe {
        pe(self.more.0, number)
    }

    /// The PEs in the order of their ranks.
    fn team(&self) -> Team {
        Team([1, 0, 2].map(|number| self.pe(number)).into())
    }

    /// What a PE has of an object of as many numbers, by the test's own eyes.
    fn copy<V: AmoValue>(&self, pe: usize, object: &SymBox<[Atomic<V>]>) -> Vec<V> {
        self.quiet();
        let start = self.slots.start_of(pe).wrapping_add(object.offset()).cast::<V>();
        // SAFETY: an element of the object, which nobody changes meanwhile.
        (0..object.len()).map(|k| unsafe { start.wrapping_add(k).read() }).collect()
    }

    /// The whole object, by the indices of a distribution.
    fn whole<V: AmoValue, D: Distribution>(
        &self,
        object: &SymBox<[Atomic<V>]>,
        over: &Over<'_, Atomic<V>, D>,
    ) -> Vec<V> {
        let copies: Vec<Vec<V>> = (0..PES).map(|pe| self.copy(pe, object)).collect();
        let of = |index| {
            let place = over.locate(index);
            copies[place.pe().number()][(place.offset() - object.offset()) / size_of::<V>()]
        };
        (0..over.len()).map(of).collect()
    }
}

fn pe(reach: Reach, number: u32) -> Pe {
    let slot = if reach == Reach::RemotePath && number == 2 { Pe::OFF_NODE } else { number };
    // SAFETY: those that have a slot have their place in the arena of the job, and the other one is reached by its transport.
    let pe = unsafe { Pe::new(number, slot) };
    if reach == Reach::Observed {
        // SAFETY: all PEs of such a job are marked.
        return unsafe { pe.observed() };
    }
    pe
}

struct Team(Vec<Pe>);

impl Ranked for Team {
    fn ranked(&self) -> Cow<'_, [Pe]> {
        Cow::Borrowed(&self.0)
    }
}

fn reaches() -> impl Strategy<Value = Reach> {
    prop_oneof![Just(Reach::Near), Just(Reach::RemotePath), Just(Reach::Observed)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 96 }))]

    #[test]
    fn what_was_there_is_that_of_a_slice(
        reach in reaches(),
        seed: u64,
        scoped: bool,
        start in vec(-4..4_i64, 33),
        list in vec((0..33_u32, -4..4_i64), 0..100),
    ) {
        let job = Job::new(reach, seed);
        let (object, team) = (boxed::<[Atomic<i64>]>(64, 11), job.team());
        let over = object.over(&team, Cyclic);
        // Each once: there is no order inside a call.
        let mut seen = BTreeSet::new();
        let (indices, values): (Vec<u32>, Vec<i64>) = list.into_iter().filter(|(index, _)| seen.insert(*index)).unzip();
        let all: Vec<usize> = (0..33).collect();
        let mut model = start.clone();
        job.set_each(over.at(&all), &start);
        job.quiet();
        for verb in 0..6 {
            let mut before = vec![99; indices.len()];
            let words = over.at(&indices);
            macro_rules! fetch {
                ($through:expr) => {
                    match verb {
                        0 => $through.fetch_each(&mut before, words),
                        1 => $through.fetch_add_each(&mut before, words, &values),
                        2 => $through.fetch_min_each(&mut before, words, &values),
                        3 => $through.fetch_max_each(&mut before, words, 1),
                        4 => $through.swap_each(&mut before, words, &values),
                        _ => $through.compare_swap_each(&mut before, words, &values, 77),
                    }
                };
            }
            if scoped {
                job.scope(|s| fetch!(s));
            } else {
                fetch!(job);
            }
            for (k, (index, value)) in indices.iter().zip(&values).enumerate() {
                let word = &mut model[*index as usize];
                prop_assert_eq!(before[k], *word, "verb {} of word {}", verb, index);
                *word = match verb {
                    0 => *word,
                    1 => *word + value,
                    2 => *value.min(word),
                    3 => 1.max(*word),
                    4 => *value,
                    _ if *word == *value => 77,
                    _ => *word,
                };
            }
            prop_assert_eq!(job.whole(&object, &over), &model[..]);
        }
    }

    #[test]
    fn a_wrong_index_is_told_and_nothing_else_is_touched(reach in reaches(), seed: u64, wrong in 0..300_usize, value in 27..u64::MAX) {
        let job = Job::new(reach, seed);
        // The words in front and behind stay.
        let (object, team) = (boxed::<[Atomic<u64>]>(128, 9), job.team());
        let over = object.over(&team, Cyclic);
        let (mut before, mut list) = (vec![0; 300], vec![5_u64; 300]);
        list[wrong] = value;
        let words = over.at(&list);
        let expected = format!("index {value} at position {wrong} of the list is beyond the end: the object has 27 elements (0..27)");
        prop_assert_eq!(refusal(|| job.add_each(words, 1)), &expected[..]);
        prop_assert_eq!(refusal(|| job.set_each(words, 1)), &expected[..]);
        prop_assert_eq!(refusal(|| job.fetch_add_each(&mut before, words, 1)), &expected[..]);
        prop_assert_eq!(refusal(|| job.scope(|s| s.swap_each(&mut before, words, 1))), &expected[..]);
        job.quiet();
        for pe in 0..PES {
            let words = job.copy(pe, &boxed::<[Atomic<u64>]>(0, 64));
            prop_assert!(words[..16].iter().chain(&words[25..]).all(|word| *word == 0));
            // Index 5 is the second word of the last PE.
            prop_assert!((16..25).all(|at| words[at] == 0 || (pe, at) == (2, 17)));
        }
    }
}

/// Nothing is moved of them, and their indices are checked.
#[test]
fn elements_without_bytes_have_indices() {
    for reach in [Reach::Near, Reach::RemotePath, Reach::Observed] {
        let (job, object) = (Job::new(reach, 0), boxed::<[[u64; 0]]>(64, 4));
        let (team, none) = (job.team(), [[]; 2]);
        let over = object.over(&team, Block);
        job.scatter(over.at(&[11_u32, 0]), &none);
        job.gather(&mut none.clone(), over.at(&[5_u32, 5]));
        refusal(|| job.scatter(over.at(&[0_u32, 12]), &none));
    }
}

#[test]
fn an_observer_is_told_what_elements_a_call_lists() {
    let job = Job::new(Reach::Observed, 0);
    let (object, team) = (boxed::<[Atomic<u64>]>(64, 4), job.team());
    let (over, list) = (object.over(&team, Block), [9_usize, 0, 9]);
    job.add_each(over.at(&list), 1);
    // 12 words, each five times: combined, and told as it was called.
    let often: Vec<usize> = (0..60).map(|k| k % 12).collect();
    job.add_each(over.at(&often), 1);
    job.fetch_each(&mut [0; 3], object.on(job.pe(2)).at(&[1_u32, 1, 3]));
    let told = core::mem::take(&mut *job.more.1.0.lock());
    let families: Vec<_> =
        told.iter().map(|(family, bytes, places)| (*family, *bytes, places.len())).collect();
    let nested = |(family, bytes, _): &(Family, usize, usize)| (*family, *bytes) == (Family::AddEach, 96);
    let outer: Vec<_> = families.into_iter().filter(|told| !nested(told)).collect();
    assert_eq!(outer, [(Family::AddEach, 24, 3), (Family::AddEach, 480, 60), (Family::FetchEach, 24, 3)]);
    assert_eq!(told[0].2, [(2, 64 + 8), (1, 64), (2, 64 + 8)]);
    assert_eq!(told.last().unwrap().2, [(2, 64 + 8), (2, 64 + 8), (2, 64 + 24)]);
}

#[test]
fn updates_ring_the_bell_of_who_has_the_words_alone() {
    for reach in [Reach::Near, Reach::RemotePath, Reach::Observed] {
        let (job, object) = (Job::new(reach, 5), boxed::<[Atomic<u64>]>(64, 4));
        let rings = |pe: usize, act: &dyn Fn()| {
            // SAFETY: a slot begins with its system area, all zeroes, and its words are atomics.
            let area = unsafe { &*job.slots.start_of(pe).cast::<SystemArea>() };
            area.doorbell.is_rung_by(|| {
                act();
                job.quiet();
            })
        };
        let (list, words) = ([0_u32, 3, 3, 1, 2], object.on(job.pe(2)));
        assert!(rings(2, &|| job.add_each(words.at(&[3_u32]), 1)), "{reach:?}");
        assert!(rings(2, &|| job.fetch_add_each(&mut [0; 5], words.at(&list), 1)), "{reach:?}");
        assert!(!rings(1, &|| job.add_each(words.at(&list), 1)), "{reach:?}");
        // The transport of tests reads words as it changes them.
        let reads = rings(2, &|| job.fetch_each(&mut [0; 5], words.at(&list)));
        assert!(reach == Reach::RemotePath || !reads, "{reach:?}");
        let team = job.team();
        let both = || job.add_each(object.over(&team, Cyclic).at(&[0_u32, 2]), 1);
        assert!(rings(1, &both) && rings(2, &both), "{reach:?}");
    }
}
