mod fuzz;
mod model;
mod network;
mod threads;
mod unwinding;
