//! What all else stands on: run over each provider, under each launcher and under each demand of a fabric.

mod collective;
mod rma;
mod signal;
