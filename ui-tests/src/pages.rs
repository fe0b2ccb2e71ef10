//! The code in the pages of this repository: each block compiles as part of a program of a user's.

#[doc = include_str!("../../README.md")]
struct Readme;

#[doc = include_str!("../../docs/arrays.md")]
struct Arrays;

#[doc = include_str!("../../docs/from-openshmem.md")]
struct FromOpenshmem;

#[doc = include_str!("../../docs/libraries.md")]
struct Libraries;
