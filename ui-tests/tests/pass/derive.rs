//! Structs that are plain data.
#![forbid(unsafe_code)]
#![deny(warnings)]

use shmem::__private::{PlainData, Pod};
use shmem::{Symmetric, symmetric};

#[derive(Clone, Copy, Debug, PartialEq, Symmetric)]
#[repr(C)]
struct Particle {
    position: [f64; 3],
    charge: f32,
    flags: u8,
    _pad: [u8; 3],
}

#[derive(Clone, Copy, Symmetric)]
#[repr(transparent)]
struct Metres(f64);

#[derive(Clone, Copy, Symmetric)]
#[repr(C, packed)]
struct Packed(u8, u64);

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Nested {
    particle: Particle,
    lengths: [Metres; 2],
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Row<T, const N: usize> {
    head: T,
    rest: [[T; N]; 2],
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Line<const N: usize> {
    tag: u64,
    values: [f64; N],
}

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
struct Nothing;

#[derive(Clone, Copy, Symmetric)]
#[repr(C)]
#[shmem(crate = ::shmem)]
struct Named {
    number: i16,
}

#[symmetric]
static PARTICLES: [Particle; 100];

#[symmetric]
static LINE: Line<7> = Line { tag: 1, values: [0.5; 7] };

fn plain<T: PlainData + Pod>(_: T) {}

fn main() {
    let particle = Particle { position: [0.0; 3], charge: 1.0, flags: 0, _pad: [0; 3] };
    plain(particle);
    plain(Metres(1.0));
    plain(Packed(1, 2));
    plain(Nested { particle, lengths: [Metres(1.0); 2] });
    plain(Row { head: 1u32, rest: [[2; 3]; 2] });
    plain(Line { tag: 1, values: [0.0; 9] });
    plain(Nothing);
    plain(Named { number: 3 });
    let _ = (&PARTICLES, &LINE);
}
