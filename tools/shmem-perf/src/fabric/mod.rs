//! What operations over libfabric cost, against a bare program.
//!
//! The bare program calls libfabric directly, in the same way as the transport does: the same provider,
//! puts that are complete when they are delivered, a counter that says so, a queue that is empty but for
//! errors, the same kind of thread at the target. It is part of the PEs that are measured, with endpoints
//! and memory of its own, so that both run in turn between the same two processes.
//!
//! ```text
//! bare        a provider opened by hand, and memory          lane       an endpoint, and what goes through it
//! attendant   a thread that drives an endpoint                    atomic     operations on words through a lane
//! pair        two PEs, of which one measures                 operation  what they are measured with
//! together    what both of them do at once
//! mapping     threads with contexts, against threads with endpoints
//! quiet       the quiet of one context, against that of all
//! tracking    contexts in a mapping, against one with a counter of its own
//! at_once     a provider whose writes are complete at once
//! model       three numbers, and what they predict
//! costs       eight numbers, by which strided transfers choose their way
//! pingpong    the latency of libfabric's own tool, to hold the bare program against
//! ```

pub mod at_once;
mod atomic;
mod attendant;
mod bare;
mod costs;
mod lane;
pub mod mapping;
pub mod model;
mod operation;
mod pair;
pub mod pingpong;
pub mod quiet;
mod together;
pub mod tracking;

pub use atomic::AtomicKind;
pub use attendant::Attendant;
pub use bare::{Bare, BareError, CARD, Peer};
pub use costs::Costs;
pub use lane::{Lane, Port};
pub use operation::{OPERATIONS, Operation, OperationName};
pub use pair::{Pair, PairError, State};
pub use together::{Form, Together};
