//! Domains: groups of contexts, turns, hints. (Contexts that are used in turn, and sessions: random programs.)

use shmem::prelude::*;
use shmem::thread::{InTurn, NoStore};
use shmem::{ContextError, Ctx, DomainHints, ErrorKind, HintScope, Session, Stores};
use static_assertions::{assert_impl_all, assert_not_impl_any};

use crate::panics::refused;

#[symmetric]
static ROWS: [[u64; 32]; 4];

#[shmem::test(pes = 2)]
fn domains_and_contexts_go_in_any_order(world: &mut World<Multiple>) {
    let (_, east) = world.ring_neighbours();
    for order in 0..4 {
        let mut domains = world.domains::<Multiple>(2).unwrap();
        let (unused, domain) = (domains.pop().unwrap(), domains.pop().unwrap());
        let [a, b] = [(); 2].map(|()| domain.create_ctx::<Multiple>().unwrap());
        let last = if order % 2 == 0 { b } else { a };
        if order < 2 {
            drop((domain, unused));
            last.bind(world).put(ROWS.on(east).index(2), &[order; 32]);
            last.bind(world).quiet();
            drop(last);
        } else {
            drop((last, unused, domain));
        }
    }
    assert_eq!(world.resources().used, 1, "everything is given back, whatever went first");
    world.barrier_all();
    assert_eq!(ROWS.here(world).index(2).index(0).load(), 1);
}

#[shmem::test(pes = 1)]
fn a_turn_binds_contexts_of_its_own_domain(world: &mut World<Serialized>) {
    let mut domains = world.domains::<Serialized>(2).unwrap();
    let context = domains[0].create_ctx::<InTurn>().unwrap();
    refused! { domains[1].turn(world).bind(&context).quiet() => "a context of another domain"; }
}

#[shmem::test(pes = 1, env("SHMEM_MAX_RESOURCES" = "3"))]
fn domains_beyond_the_limit_are_refused_together(world: &mut World<Multiple>) {
    refused! {
        world.domains::<Private>(3).unwrap()
            => "3 domains of level Private cannot be created: 1 of 3 endpoints of this PE are in use";
    }
    assert_eq!(world.resources().used, 1, "none of them was created");
    let two = world.domains::<Private>(2).unwrap();
    refused! { world.domains::<Serialized>(1).unwrap() => "level Serialized"; }
    drop(two);
    assert!(world.domains::<Serialized>(2).is_ok());
}

#[shmem::test(pes = 2)]
fn hints_change_only_while_nothing_lives(world: &mut World<Multiple>) {
    let domains = world.domains::<Multiple>(2).unwrap();
    let context = world.create_ctx::<Private>().unwrap();
    let config =
        |private| world.domain_config(DomainHints { private, ..DomainHints::default() }, HintScope::Local);
    let error = config(1).unwrap_err();
    let expected = "the hints of domains cannot change while the program has 2 domains and 1 context; destroy them first";
    assert_eq!(error.to_string(), expected);
    assert!(matches!(error.kind(), ErrorKind::Context(ContextError::Live { .. })));
    drop(domains);
    assert!(config(1).is_err(), "the context still lives");
    drop(context);
    for private in 0..5 {
        config(private).unwrap();
        assert_eq!(world.resources().hints.unwrap().private, private);
    }
}

#[shmem::test(pes = 2, env("SHMEM_MAX_RESOURCES" = "12"))]
fn global_hints_share_out_the_units_of_the_node_anew(world: &mut World<Multiple>) {
    let on_node = world.pes().iter().filter(|pe| pe.on_node().is_some()).count() == 2;
    let limit = |world: &World<Multiple>| world.resources().limit.unwrap();
    // A network may have fewer endpoints.
    let apart = limit(world).min(12);
    assert_eq!(limit(world), if on_node { 6 } else { apart });
    // PE 0 asks for seven domains, PE 1 for one, each besides its world. Two endpoints are left over.
    let me = world.my_pe();
    let most = if on_node { 7 } else { 7.min(apart - 1) };
    let private = if me == 0 { most } else { 1 };
    let hints = DomainHints { private, ..DomainHints::default() };
    world.domain_config(hints, HintScope::Global).unwrap();
    assert_eq!(limit(world), if on_node { [9, 3][me] } else { apart });
    let domains = world.domains::<Private>(private).unwrap();
    // A PE with domains makes the call an error on all PEs.
    let kept = (me == 0).then_some(domains);
    let error = world.domain_config(hints, HintScope::Global).unwrap_err().to_string();
    let expected =
        format!("on PE 0: the hints of domains cannot change while the program has {most} domains");
    assert!(error.contains(&expected), "{error}");
    drop(kept);
    world.domain_config(DomainHints::default(), HintScope::Global).unwrap();
    assert_eq!(limit(world), if on_node { 6 } else { apart });
}

// A session is `Sync` exactly if its token is, and has stores exactly if its token has.
assert_not_impl_any!(Session<'static, Ctx<'static, Private>>: Send, Sync);
assert_not_impl_any!(Session<'static, World>: Send, Sync);
assert_impl_all!(Session<'static, World<Multiple>>: Send, Sync);
assert_impl_all!(Session<'static, Ctx<'static, Private>>: Stores);
assert_not_impl_any!(Session<'static, Ctx<'static, NoStore<Private>>>: Stores);
