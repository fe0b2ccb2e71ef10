//! Collectives that go on beside the program: they are started, and waited for later.
//!
//! A started collective is a *flight*. It is what a blocking one that [streams](super::stream) is, but for who does it: a
//! meeting of all members, in which each finds that it has come for the same as the others, and behind it a
//! [plan](super::plan), which a [cursor](super::cursor) carries out without ever waiting. Both are one
//! [work](shmem_core::endpoint::Work) of the PE, and go on whenever it waits inside the library, whatever for, and when it
//! asks. No thread is made for it: a PE that only computes holds up those that need what it has.
//!
//! **Meeting.** Each member is here for itself. In round `k` it tells the one `2^k` ranks further on what it has started,
//! in a word, and waits for that of the one as far before it; after log2(members) rounds all have started it. The word is
//! a hash of the purpose, how many meetings of the team the member has come to before, and a bit that is never 0. So
//! members that start different things find it here, as do those that start something before a blocking collective and
//! behind it. Who has not started it at all has other ways to find that: it meets the others with another mark, since how many
//! were started is part of that, and while it waits for them it looks for [strays](stray).
//!
//! **Places.** A team has a few flights under way, which take as many places in turn. Each has words and slots of its
//! own in the system area of every PE, so no memory is allocated for them and no start waits for the others. Who starts one
//! clears the words of its place before it says so. Nothing is under way to them then:
//!
//! * A flight is over on a PE when all that plans make others send there has come and was counted, and so was every word of
//!   its meeting. The one before at this place is: its end is waited for.
//! * What comes for the new one before this PE has started it are words of its meeting alone, since nobody sends
//!   anything else before all have started. These have two sets in turn, and the set is cleared a turn before: when the last one
//!   at this place began. Nobody could have come to the new one then, because nobody ends the last one before all have started it.
//!
//! **Memory.** What the program gives is copied when the flight is started, and the result is copied out when it is waited
//! for. In between all that is read and written is memory of the runtime: so nothing is borrowed, what is forgotten goes on, and
//! no phase can come upon an object that is being written. What transfers read stays until the stream of the runtime is
//! quiet.
//!
//! Soundness rests on no other PE, by the argument of [streams](super::stream): what others write are words that are
//! compared, and bytes of slots, from which this PE's own plan says what is copied where.

mod area;
mod course;
mod hold;
mod load;
mod mark;
mod start;
mod started;
mod stray;
mod wait;
mod work;

pub use started::Started;
pub(crate) use wait::land_all;
