mod allocation;
pub(in crate::transport::ofi) mod fuzz;
mod lying;
mod model;
mod network;
mod threads;
