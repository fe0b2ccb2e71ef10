#[::core::prelude::v1::test]
fn arrives() {
    fn __body(world: &mut World) {
        assert!(world.n_pes() != 3, "three PEs");
    }
    ::shmem::__private::test(
        ::core::concat!(::core::module_path!(), "::arrives"),
        3usize,
        ::core::option::Option::Some(::core::time::Duration::from_millis(90000u64)),
        &[("SHMEM_INFO", "1")],
        ::core::option::Option::Some("three PEs"),
        __body,
    )
}
