#[::core::prelude::v1::test]
#[should_panic]
fn arrives() {
    fn __body(world: &mut World) {
        let _ = world;
    }
    ::shmem::__private::test(
        ::core::concat!(::core::module_path!(), "::arrives"),
        3usize,
        &[("SHMEM_INFO", "1")],
        __body,
    )
}
