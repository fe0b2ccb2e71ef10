//! Fields of structs as places: plain fields, and atomic words.

use shmem::prelude::*;

#[derive(Symmetric)]
#[repr(C)]
#[shmem(words)]
struct Queue {
    head: Counts,
    arrived: Signal,
    energy: Atomic<f32>,
    kind: u32,
    items: [Item; 64],
}

#[derive(Symmetric)]
#[repr(C)]
#[shmem(words)]
struct Counts {
    head: Atomic<u64>,
    tails: [Atomic<u64>; 2],
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Symmetric)]
#[repr(C)]
struct Item {
    from: u64,
    value: [f64; 2],
}

#[symmetric]
static QUEUE: Queue;

/// Each PE appends items to a queue in a struct of PE 0.
#[shmem::test(pes = 3)]
fn a_queue_in_a_struct(world: &mut World) {
    let (queue, sent) = (QUEUE.on(world.pe(0).unwrap()), 20 * world.n_pes());
    for i in 0..20 {
        let at = world.fetch_inc(queue.field(|queue| &queue.head.tails[1])) as usize;
        let item = Item { from: world.my_pe() as u64, value: [f64::from(i), 0.5] };
        let place = queue.field(|queue| &queue.items).index(at);
        world.put_signal(place, &item, queue.field(|queue| &queue.arrived), SignalOp::Add(1));
        world.add(queue.field(|queue| &queue.energy), 0.25);
    }
    if world.my_pe() == 1 {
        world.p(queue.field(|queue| &queue.kind), 7);
    }
    world.barrier_all();
    if world.my_pe() == 0 {
        let mine = QUEUE.here(world);
        mine.field(|queue| &queue.arrived).wait_until(eq(sent as u64));
        let items = mine.field(|queue| &queue.items[..]).index(..sent).to_vec();
        for pe in 0..world.n_pes() {
            let values = items.iter().filter(|item| item.from == pe as u64).map(|item| item.value);
            assert!(values.eq((0..20).map(|i| [f64::from(i), 0.5])));
        }
        assert_eq!(mine.field(|queue| &queue.energy).value(), sent as f32 / 4.0);
        assert_eq!(mine.field(|queue| &queue.kind).load(), 7);
        let tails = mine.field(|queue| &queue.head.tails);
        assert_eq!([0, 1].map(|side| tails.index(side).value()), [0, sent as u64]);
    }
    // A field of an element, read by all PEs.
    assert_eq!(world.g(queue.field(|queue| &queue.items[3].value[1])), 0.5);
    world.local(&QUEUE, |queue| (*queue.head.head.value_mut(), queue.items[0].from) = (1, 9));
    assert_eq!(world.fetch(queue.field(|queue| &queue.head.head)), 1);
    assert_eq!(world.g(queue.field(|queue| &queue.items[0].from)), 9);
}
