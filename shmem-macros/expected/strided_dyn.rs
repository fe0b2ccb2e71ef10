fn dynamic(world: &World, column: &[f64], a: usize, b: usize, s: usize) -> Result<()> {
    {
        ::shmem::__private::strided::put_dyn::<
            _,
            _,
            _,
            _,
            _,
            _,
        >(
            ::shmem::__private::strided::storing(&world),
            &FIELD,
            ::shmem::__private::strided::on(world.pe(0)?),
            &column,
            &::shmem::__private::strided::Region::new(
                "FIELD",
                &[
                    ::shmem::__private::strided::Axis::index(const { 0 }),
                    ::shmem::__private::strided::Axis::range(a, b).step(s),
                ],
                &[],
            ),
            &::shmem::__private::strided::Region::new(
                "column",
                &[
                    ::shmem::__private::strided::Axis::range(0, const { 8 })
                        .step(const { 2 }),
                ],
                &[],
            ),
            ::core::option::Option::None,
            |__element| __element,
            |__element| __element,
        );
    }
    Ok(())
}
