//! Queries that other PEs answer.

use std::collections::VecDeque;

use shmem_core::data::PlainData;
use shmem_core::pe::Pe;

use super::conveyor::{Come, Conveyor};
use super::post::Kind;
use super::{Exchange, ExchangeToken};

/// Messages of queries to one PE that may wait for their answers, or fewer. The one that is asked has room for so many.
const ASKED: usize = 2;

impl<T: PlainData> Exchange<T> {
    /// Asks PEs, and answers what others ask: `answer` is called with each query that comes and who has sent it, and `take` with the
    /// answer to each query, by its position among `queries`. Answers of one PE come in the order of the queries; those of
    /// different ones as they come. It is over when all PEs have all their answers; all PEs call it.
    ///
    /// ```
    /// # use shmem::prelude::*;
    /// # #[shmem::main]
    /// # fn main(world: &mut World) -> Result<()> {
    /// // Words of a dictionary that lies with all PEs, in memory of their own.
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
    /// If a message has no room for an answer, another PE does not call `ask`, or its answers are of
    /// another size.
    #[track_caller]
    pub fn ask<A: PlainData>(
        &mut self,
        token: &(impl ExchangeToken + ?Sized),
        queries: impl IntoIterator<Item = (Pe, T)>,
        mut answer: impl FnMut(Pe, T) -> A,
        mut take: impl FnMut(usize, A),
    ) {
        let (room, capacity) = (self.belt.post.capacity(size_of::<A>()), self.belt.capacity);
        // Their numbers are kept: no more than there is room for of these.
        let limit = ASKED * capacity.min(self.belt.post.capacity(size_of::<usize>()));
        assert!(
            room > 0,
            "an answer of {} bytes, and messages of this exchange have {}: make it with more `bytes`",
            size_of::<A>(),
            self.belt.post.bytes()
        );
        let pes = self.belt.post.rings.pes.clone();
        let mut queries = queries.into_iter().enumerate().fuse();
        let mut next = None;
        // The numbers of the queries that each PE has to answer, and what it has asked and was not told yet.
        let mut asked: Vec<VecDeque<usize>> = pes.iter().map(|_| VecDeque::new()).collect();
        let mut aside: Vec<VecDeque<T>> = pes.iter().map(|_| VecDeque::new()).collect();
        // Answers what a PE has asked, as far as there is room.
        let mut answer_some = |conveyor: &mut Conveyor<'_, T>, from: usize, aside: &mut VecDeque<T>| {
            while !aside.is_empty() && conveyor.has_room(from, room) {
                let Some(query) = aside.pop_front() else { break };
                conveyor.put(Kind::Answer, from, bytemuck::bytes_of(&answer(pes[from], query)), room);
            }
        };
        let mut conveyor = self.begin(token);
        loop {
            // What has come is taken first: it makes room for queries, and nobody may wait who could go on.
            while let Some(Come { from, kind }) = conveyor.look() {
                match kind {
                    Kind::Answer => {
                        let Some(number) = asked[from].pop_front() else {
                            panic!("PE {} answers what nobody has asked", pes[from])
                        };
                        take(number, conveyor.read());
                    }
                    Kind::Item => {
                        aside[from].push_back(conveyor.read());
                        answer_some(&mut conveyor, from, &mut aside[from]);
                    }
                }
            }
            aside.iter_mut().enumerate().for_each(|(from, aside)| answer_some(&mut conveyor, from, aside));
            next = loop {
                let Some((number, (to, query))) = next.take().or_else(|| queries.next()) else { break None };
                let numbers = &mut asked[to.number()];
                if numbers.len() >= limit
                    || !conveyor.put(Kind::Item, to.number(), bytemuck::bytes_of(&query), capacity)
                {
                    break Some((number, (to, query)));
                }
                numbers.push_back(number);
            };
            let is_left = next.is_some() || aside.iter().any(|aside| !aside.is_empty());
            if !conveyor.go_on(is_left) {
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
