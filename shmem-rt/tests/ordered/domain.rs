//! Domains: groups of contexts, turns, hints.

use std::sync::Mutex;

use shmem::prelude::*;
use shmem::thread::InTurn;
use shmem::{ContextError, DomainHints, ErrorKind, HintScope};

#[symmetric]
static ROWS: [[u64; 32]; 4];
#[symmetric]
static READY: [Signal; 4];

const ONE_OF_EACH: DomainHints = DomainHints { private: 1, serialized: 1, multiple: 1 };

#[shmem::test(pes = 2)]
fn domains_and_contexts_go_in_any_order(world: &mut World<Multiple>) {
    let (_, east) = world.ring_neighbours();
    for order in 0..6 {
        let mut domains = world.domains::<Multiple>(2).unwrap();
        let a = domains[0].create_ctx::<Multiple>().unwrap();
        let b = domains[0].create_ctx::<Multiple>().unwrap();
        let unused = domains.pop().unwrap();
        let domain = domains.pop().unwrap();
        let last = if order % 2 == 0 { b } else { a };
        if order < 3 {
            domain.destroy();
            unused.destroy();
            last.bind(world).put(ROWS.on(east).index(2), &[order; 32]);
            last.bind(world).quiet();
            last.destroy();
        } else {
            drop(last);
            drop(unused);
            drop(domain);
        }
    }
    assert_eq!(world.resources().used, 1, "everything is given back, whatever went first");
    world.barrier_all();
    assert_eq!(ROWS.here(world).index(2).index(0).load(), 2);
}

#[shmem::test(pes = 2)]
fn a_serialized_domain_is_used_in_turn(world: &mut World<Multiple>) {
    let (west, east) = world.ring_neighbours();
    let domain = world.domains::<Serialized>(1).unwrap().pop().unwrap();
    let contexts = [(); 4].map(|()| domain.create_ctx::<InTurn>().unwrap());
    let shared = Mutex::new((domain, contexts));
    let world = &*world;
    std::thread::scope(|scope| {
        for thread in 0..4_usize {
            let shared = &shared;
            scope.spawn(move || {
                for round in 0..8 {
                    let mut shared = shared.lock().unwrap();
                    let (domain, contexts) = &mut *shared;
                    let turn = domain.turn(world);
                    // Two contexts at once: one thread, one turn.
                    let ctx = turn.bind(&contexts[(thread + round) % 4]);
                    let other = turn.bind(&contexts[thread]);
                    ctx.p(ROWS.on(east).index(thread).index(round), (thread * 100 + round) as u64);
                    ctx.quiet();
                    other.signal_add(READY.on(east).index(thread), 1);
                    other.quiet();
                }
            });
        }
    });
    for thread in 0..4 {
        READY.here(world).index(thread).wait_until(ge(8));
        for round in 0..8 {
            let found = ROWS.here(world).index(thread).index(round).load();
            assert_eq!(found, (thread * 100 + round) as u64, "from {west}");
        }
    }
    world.barrier_all();
}

#[shmem::test(pes = 1)]
#[should_panic(expected = "a context of another domain")]
fn a_turn_binds_contexts_of_its_own_domain(world: &mut World<Serialized>) {
    let mut domains = world.domains::<Serialized>(2).unwrap();
    let context = domains[0].create_ctx::<InTurn>().unwrap();
    domains[1].turn(world).bind(&context).quiet();
}

#[shmem::test(pes = 1, env("SHMEM_MAX_RESOURCES" = "4", "SHMEM_CONTEXT_MAPPING" = "domain"))]
fn three_units_and_three_domains(world: &mut World<Multiple>) {
    // The published scenario; the world has the fourth unit.
    let third = |world: &World<Multiple>, hints: Option<DomainHints>| {
        if let Some(hints) = hints {
            world.domain_config(hints, HintScope::Local).unwrap();
        }
        let many = world.domains::<Multiple>(1).unwrap();
        let single = world.domains::<Private>(1).unwrap();
        let third = world.domains::<Multiple>(1).unwrap();
        let [first, third] = [&many[0], &third[0]].map(|domain| domain.create_ctx::<Multiple>().unwrap());
        let own = single[0].create_ctx::<Private>().unwrap();
        assert_eq!((own.grant().locked, own.grant().shared_with), (false, 0));
        (first.grant().unit, third.grant().unit, third.grant().shared_with)
    };
    assert_eq!(third(world, None), (1, 1, 1), "conservative: the last unit is saved for a Private one");
    let two = DomainHints { private: 1, serialized: 0, multiple: 2 };
    assert_eq!(third(world, Some(two)), (1, 3, 0), "nothing else will come");
    let one = DomainHints { private: 2, serialized: 0, multiple: 1 };
    assert_eq!(third(world, Some(one)), (1, 1, 1), "something else was announced");
}

#[shmem::test(pes = 1, env("SHMEM_MAX_RESOURCES" = "3"))]
fn domains_beyond_the_limit_are_refused_together(world: &mut World<Multiple>) {
    let error = world.domains::<Private>(3).unwrap_err().to_string();
    let expected = "3 domains of level Private cannot be created: 1 of 3 endpoints of this PE are in use (1 by the \
                    world); destroy one, raise SHMEM_MAX_RESOURCES, or share one with a lock by \
                    SHMEM_CONTEXT_SHARING=efficient";
    assert_eq!(error, expected);
    assert_eq!(world.resources().used, 1, "none of them was created");
    let two = world.domains::<Private>(2).unwrap();
    let line = line!() - 1;
    let error = world.domains::<Serialized>(1).unwrap_err().to_string();
    let holders = format!("1 by Private at shmem-rt/tests/ordered/domain.rs:{line}");
    assert!(error.contains("level Serialized") && error.contains(&holders), "{error}");
    drop(two);
    assert!(world.domains::<Serialized>(2).is_ok());
}

#[shmem::test(pes = 2)]
fn hints_change_only_while_nothing_lives(world: &mut World<Multiple>) {
    let domains = world.domains::<Multiple>(2).unwrap();
    let of_domains = line!() - 1;
    let context = world.create_ctx::<Private>().unwrap();
    let of_context = line!() - 1;
    let error = world.domain_config(ONE_OF_EACH, HintScope::Local).unwrap_err();
    let expected = format!(
        "the hints of domains cannot change while 2 domains live, created at shmem-rt/tests/ordered/domain.rs:{of_domains}, \
         and 1 context lives, created at shmem-rt/tests/ordered/domain.rs:{of_context}; destroy them first"
    );
    assert_eq!(error.to_string(), expected);
    assert!(matches!(error.kind(), ErrorKind::Context(ContextError::Live { .. })));
    drop(domains);
    assert!(world.domain_config(ONE_OF_EACH, HintScope::Local).is_err(), "the context still lives");
    drop(context);
    // As often as one likes.
    for private in 0..5 {
        let hints = DomainHints { private, ..DomainHints::default() };
        world.domain_config(hints, HintScope::Local).unwrap();
        assert_eq!(world.resources().hints, Some(hints));
    }
}

#[shmem::test(pes = 2, env("SHMEM_MAX_RESOURCES" = "12"))]
fn global_hints_share_out_the_units_of_the_node_anew(world: &mut World<Multiple>) {
    let on_node = world.pes().iter().filter(|pe| pe.on_node().is_some()).count() == 2;
    let limit = |world: &World<Multiple>| world.resources().limit.unwrap();
    // Of a network, as many as it has.
    let apart = limit(world).min(12);
    assert_eq!(limit(world), if on_node { 6 } else { apart });
    // PE 0 wants seven and one for itself, PE 1 one and one; two are left over.
    let me = world.my_pe();
    let most = if on_node { 7 } else { 7.min(apart - 1) };
    let private = if me == 0 { most } else { 1 };
    let hints = DomainHints { private, ..DomainHints::default() };
    world.domain_config(hints, HintScope::Global).unwrap();
    assert_eq!(limit(world), if on_node { [9, 3][me] } else { apart });
    let domains = world.domains::<Private>(private).unwrap();
    // One PE has domains: the same error on all.
    let kept = (me == 0).then_some(domains);
    let error = world.domain_config(hints, HintScope::Global).unwrap_err().to_string();
    let expected = format!("on PE 0: the hints of domains cannot change while {most} domains live");
    assert!(error.contains(&expected), "{error}");
    drop(kept);
    world.domain_config(DomainHints::default(), HintScope::Global).unwrap();
    assert_eq!(limit(world), if on_node { 6 } else { apart });
}

/// The mapping decides who completes with whom, never what arrives.
fn moves_the_same_data(world: &World<Multiple>) {
    let (west, east) = world.ring_neighbours();
    for round in 1..=10 {
        let domains = world.domains::<Multiple>(2).unwrap();
        let contexts: Vec<_> =
            domains.iter().cycle().take(4).map(|domain| domain.create_ctx::<Multiple>().unwrap()).collect();
        std::thread::scope(|scope| {
            for (row, context) in contexts.iter().enumerate() {
                scope.spawn(move || {
                    let ctx = context.bind(world);
                    ctx.put(ROWS.on(east).index(row), &[round; 32]);
                    ctx.quiet();
                    ctx.signal_set(READY.on(east).index(row), round);
                    ctx.quiet();
                });
            }
        });
        for row in 0..4 {
            READY.here(world).index(row).wait_until(ge(round));
            assert_eq!(ROWS.here(world).index(row).index(31).load(), round, "from {west}");
        }
        world.barrier_all();
    }
}

/// A variable is read at the start of a job.
macro_rules! mappings {
    ($($name:ident = $mapping:literal;)*) => {$(
        #[shmem::test(pes = 2, env("SHMEM_CONTEXT_MAPPING" = $mapping, "SHMEM_MAX_RESOURCES" = "12"))]
        fn $name(world: &mut World<Multiple>) {
            assert_eq!(world.resources().mapping.name(), $mapping);
            moves_the_same_data(world);
            let domain = world.domains::<Multiple>(1).unwrap().pop().unwrap();
            let [a, _b] = [(); 2].map(|()| domain.create_ctx::<Multiple>().unwrap());
            // Contexts of one level share from the start, where nobody has said that there are enough. Of the three
            // that a network may have, the last is saved for one that cannot share.
            let alone = $mapping == "auto" && world.resources().limit > Some(3);
            assert_eq!(a.grant().shared_with, usize::from(!alone), "{}", a.grant());
        }
    )*};
}
mappings! {
    mapped_by_events = "events";
    mapped_by_the_hybrid = "hybrid";
    mapped_by_domains = "domain";
    mapped_by_contexts = "context";
    mapped_by_whatever_fits = "auto";
}
