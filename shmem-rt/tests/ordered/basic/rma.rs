//! put and get between PEs, typed and untyped, on statics and heap objects.

use shmem::prelude::*;

const N: usize = 1000;

#[symmetric]
static ROW: [f64; N];
#[symmetric(partition = "fast")]
static GRID: [[u32; 8]; 16];
#[symmetric]
static BYTE: [u8; 3];
#[symmetric]
static START: u64 = 42;

#[shmem::test(pes = 3)]
fn a_put_arrives_where_it_was_aimed_and_nowhere_else(world: &mut World) {
    let (west, east) = world.ring_neighbours();
    let me = world.my_pe() as f64;
    world.put(ROW.on(east).index(10..20), &[me + 1.0; 10]);
    world.p(ROW.on(east).index(N - 1), -me);
    world.barrier_all();
    let from = west.number() as f64;
    let mut all = vec![0.0; N];
    ROW.here(world).index(..).copy_to(&mut all);
    for (i, value) in all.iter().enumerate() {
        let expected = match i {
            10..20 => from + 1.0,
            999 => -from,
            _ => 0.0,
        };
        assert_eq!(*value, expected, "element {i}");
    }
}

#[shmem::test(pes = 3)]
fn a_get_reads_what_the_owner_has(world: &mut World) {
    let me = world.my_pe() as u32;
    for row in 0..16 {
        for column in 0..8 {
            GRID.here(world).index(row).index(column).store(me * 1000 + (row * 8 + column) as u32);
        }
    }
    world.barrier_all();
    for pe in world.pes() {
        let mut row = [0; 8];
        world.get(&mut row, GRID.on(pe).index(5));
        let first = pe.number() as u32 * 1000 + 40;
        assert_eq!(row, std::array::from_fn(|i| first + i as u32));
        let mut part = [0; 3];
        world.get(&mut part[..], GRID.on(pe).index(7).index(2..=4));
        assert_eq!(part, std::array::from_fn(|i| pe.number() as u32 * 1000 + 58 + i as u32));
        assert_eq!(world.g(GRID.on(pe).index(15).index(7)), pe.number() as u32 * 1000 + 127);
        let mut whole = [[0; 8]; 16];
        world.get(&mut whole, GRID.on(pe));
        assert_eq!(whole[15][7], pe.number() as u32 * 1000 + 127);
    }
}

#[shmem::test(pes = 2)]
fn small_types_do_not_spill_over(world: &mut World) {
    let (_, east) = world.ring_neighbours();
    world.p(BYTE.on(east).index(1), 0xAB);
    world.barrier_all();
    let mut bytes = [9; 3];
    BYTE.here(world).index(..).copy_to(&mut bytes);
    assert_eq!(bytes, [0, 0xAB, 0]);
}

#[shmem::test(pes = 2)]
fn a_static_begins_as_its_image(world: &mut World) {
    for pe in world.pes() {
        assert_eq!(world.g(START.on(pe)), 42);
    }
}

#[shmem::test(pes = 3)]
fn heap_objects_are_symmetric(world: &mut World) {
    let a = world.alloc([1_i64; 100]).unwrap();
    let b = world.alloc_in::<fast, _>(shmem::filled(2.5_f32, 33)).unwrap();
    let c = world.alloc(shmem::value(7_u16)).unwrap();
    let (west, east) = world.ring_neighbours();
    world.put(a.on(east).index(90..), &[world.my_pe() as i64; 10]);
    world.p(b.on(west).index(32), 9.0);
    world.p(c.on(east), 11);
    world.barrier_all();
    assert_eq!(a.here(world).index(89).load(), 1);
    assert_eq!(a.here(world).index(90).load(), west.number() as i64);
    assert_eq!(world.g(b.on(east).index(32)), 9.0);
    assert_eq!(b.here(world).index(31).load(), 2.5);
    assert_eq!(c.here(world).load(), 11);
}

#[shmem::test(pes = 2)]
fn untyped_transfers_find_their_segment(world: &mut World) {
    let (_, east) = world.ring_neighbours();
    let block = world.malloc(4096).unwrap();
    let me = world.my_pe() as u8;
    world.putmem(block.add(100), &[me + 1; 50], east);
    world.barrier_all();
    let mut back = [0; 50];
    world.getmem(&mut back, block.add(100), world.me());
    assert_eq!(back, [2 - me; 50]);
    let row = ROW.here(world).index(3..).addr();
    world.putmem(row, &1.5_f64.to_ne_bytes(), east);
    world.barrier_all();
    assert_eq!(ROW.here(world).index(3).load(), 1.5);
    assert_eq!(world.address(row.as_ptr()).unwrap(), row);
    let local = 5;
    let miss = world.address(&raw const local).unwrap_err().to_string();
    assert!(miss.contains("not symmetric memory") && miss.contains("(partition 1)"), "{miss}");
    world.free(block).unwrap();
}

#[shmem::test(pes = 2)]
fn a_neighbour_on_the_node_has_a_pointer(world: &mut World) {
    let (_, east) = world.ring_neighbours();
    world.p(ROW.on(east).index(0), world.my_pe() as f64 + 0.5);
    world.barrier_all();
    match ROW.on(east).index(0).ptr(world) {
        // SAFETY: the barrier ordered the put before this load, and nobody writes now.
        Some(pointer) => assert_eq!(unsafe { pointer.read() }, world.my_pe() as f64 + 0.5),
        None => assert!(world.me() != east && east.on_node().is_none()),
    }
}
