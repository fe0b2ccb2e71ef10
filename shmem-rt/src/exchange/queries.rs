//! Queries that other PEs answer.

use std::collections::VecDeque;

use shmem_core::pe::Pe;
use shmem_core::symmetric_data::PlainData;

use super::item_messages::Content;
use super::round::ExchangeRound;
use super::{Exchange, ExchangeToken};

/// Limit on the unanswered queries to one PE, as a number of full messages.
const ASKED: usize = 2;

impl<T: PlainData> Exchange<T> {
    /// Sends queries, and answers the queries of other PEs. Calls `answer` with (sender, query) for each incoming query, and `take`
    /// with (position in `queries`, answer) for each own query. Answers of one PE arrive in the order of the queries. All PEs call
    /// `ask`, which returns when all PEs have all their answers.
    ///
    /// ```
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) -> Result<()> {
    /// // Words of a dictionary that is spread over the private memory of all PEs.
    /// let mine: Vec<f64> = (0..100).map(|k| (world.my_pe() * 100 + k) as f64).collect();
    /// let wanted = [3_u32, 99, 50];
    /// let mut exchange = world.exchange::<u32>(ExchangeOptions::default())?;
    /// let mut found = [0.0; 3];
    /// let (_, east) = world.ring_neighbours();
    /// let queries = wanted.iter().map(|word| (east, *word));
    /// exchange.ask(world, queries, |_from, word| mine[word as usize], |number, value| found[number] = value);
    /// assert_eq!(found, [3, 99, 50].map(|word| (east.number() * 100 + word) as f64));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If a message has no space for an answer, another PE does not call `ask`, or another PE's answers have another size.
    #[track_caller]
    pub fn ask<A: PlainData>(
        &mut self,
        token: &(impl ExchangeToken + ?Sized),
        queries: impl IntoIterator<Item = (Pe, T)>,
        mut answer: impl FnMut(Pe, T) -> A,
        mut take: impl FnMut(usize, A),
    ) {
        let post = &self.post;
        assert!(
            post.capacity(size_of::<A>()) > 0,
            "an answer of {} bytes, and messages of this exchange have {}: make it with more `bytes`",
            size_of::<A>(),
            post.bytes()
        );
        // Positions of queries are stored until the answers arrive. The limit is the number of queries, or of positions if these
        // are larger, that fit `ASKED` messages.
        let limit = ASKED * post.capacity(size_of::<T>().max(size_of::<usize>()));
        let pes = post.rings.pes.clone();
        let mut queries = queries.into_iter().enumerate().fuse();
        let mut next = None;
        // Positions of the unanswered queries to each PE.
        let mut asked: Vec<VecDeque<usize>> = pes.iter().map(|_| VecDeque::new()).collect();
        // Queries of other PEs, to be answered in this order as far as there is space for answers.
        let mut aside: VecDeque<(usize, T)> = VecDeque::new();
        let mut answer_some = |round: &mut ExchangeRound<'_, T>, aside: &mut VecDeque<(usize, T)>| {
            while let Some(&(from, query)) = aside.front()
                && round.has_room::<A>(from)
            {
                aside.pop_front();
                round.put(Content::Answers, from, &answer(pes[from], query));
            }
        };
        let mut round = self.begin(token);
        loop {
            // Arrived items are taken first. That frees slots for other PEs, so that no two PEs wait for each other.
            while let Some((from, content)) = round.look() {
                match content {
                    Content::Answers => {
                        let Some(number) = asked[from].pop_front() else {
                            panic!("PE {} answers what nobody has asked", pes[from])
                        };
                        take(number, round.read());
                    }
                    Content::Items => {
                        aside.push_back((from, round.read()));
                        answer_some(&mut round, &mut aside);
                    }
                }
            }
            answer_some(&mut round, &mut aside);
            next = loop {
                let Some((number, (to, query))) = next.take().or_else(|| queries.next()) else { break None };
                let numbers = &mut asked[to.number()];
                if numbers.len() >= limit || !round.put(Content::Items, to.number(), &query) {
                    break Some((number, (to, query)));
                }
                numbers.push_back(number);
            };
            if !round.go_on(next.is_some() || !aside.is_empty()) {
                break;
            }
        }
        for (pe, asked) in pes.iter().zip(&asked) {
            assert!(
                asked.is_empty(),
                "PE {pe} has not answered {} queries: all PEs call `ask`, or none does",
                asked.len()
            );
        }
    }
}
