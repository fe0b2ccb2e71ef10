#[cfg(test)]
#[allow(clippy::float_cmp)]
fn agrees(world: &mut World) {
    assert_eq!(world.sum(0.5), world.n_pes() as f64 / 2.0);
}
#[::core::prelude::v1::test]
fn agrees_on_2() {
    ::shmem::__private::test(
        ::core::concat!(::core::module_path!(), "::agrees_on_2"),
        2usize,
        ::core::option::Option::None,
        &[],
        ::core::option::Option::None,
        agrees,
    )
}
#[::core::prelude::v1::test]
fn agrees_on_5() {
    ::shmem::__private::test(
        ::core::concat!(::core::module_path!(), "::agrees_on_5"),
        5usize,
        ::core::option::Option::None,
        &[],
        ::core::option::Option::None,
        agrees,
    )
}
