mod allocation;
mod fuzz;
mod lists;
mod lying;
mod model;
mod network;
mod threads;
