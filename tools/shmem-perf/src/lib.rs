//! Measures: what operations cost, each against a limit that is measured beside it.
//!
//! A measure takes [`Samples`]: pairs of what the operation cost and what its limit cost, taken in turn. What comes out of them is
//! a [`Case`], and what it ought to be a [`Goal`].
//!
//! ```text
//! command     the tool's command line         check       what must not become slower
//! report      everything on one page          elsewhere   two hosts to measure between
//! measure     the measures: one constant each
//! guard       cases, bounds, trials           runner      starts jobs, shows or keeps what they print
//! task        what PEs are started for
//! bench       inside a PE                     beside      other libraries, inside a PE
//! array lookup micro placement strided fabric             what measures are made of, where one file is not enough
//! peers       other libraries, as programs    sources     what a build leaves beside this program
//! jobs hosts  the tool's own program as PEs, and where they run
//! scale       how collectives and starts grow: formulas, and a model
//! baseline    the limits                      affinity    a core for each PE
//! rounds      what threads do together        stencil scratch sequence touch
//! table       cases as text                   fact        what is found and is no number
//! footprint   what a process has of the machine
//! case goal samples name                      a line of a report, what it ought to be, what it comes from, what it is called
//! ```

pub mod affinity;
pub mod array;
pub mod baseline;
mod bench;
mod beside;
mod case;
mod check;
pub mod command;
mod elsewhere;
pub mod fabric;
mod fact;
mod footprint;
mod goal;
pub mod guard;
pub mod hosts;
pub mod jobs;
pub mod lookup;
pub mod measure;
pub mod micro;
pub mod name;
pub mod peers;
pub mod placement;
mod report;
pub mod rounds;
mod runner;
mod samples;
pub mod scale;
pub mod scratch;
mod sequence;
pub mod sources;
pub mod stencil;
pub mod strided;
pub mod table;
mod task;
mod touch;

pub use case::{Case, Record, Site};
pub use check::guarded;
pub use goal::Goal;
pub use samples::{FEWEST, Quartiles, Samples, nanoseconds_each};
