#[::core::prelude::v1::test]
#[should_panic(expected = "three PEs")]
fn arrives() {
    fn __body(world: &mut World) {
        assert!(world.n_pes() != 3, "three PEs");
    }
    ::shmem::__private::test(
        ::core::concat!(::core::module_path!(), "::arrives"),
        3usize,
        &[("SHMEM_INFO", "1")],
        __body,
    )
}
