mod fuzz;
mod lying;
mod model;
mod network;
mod threads;
mod unwinding;
