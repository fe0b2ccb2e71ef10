fn put(world: &World, west: Pe, column: &[f64]) {
    {
        const __FROM: ::shmem::__private::strided::Region<'static> = ::shmem::__private::strided::Region::new(
            "column",
            &[::shmem::__private::strided::Axis::all()],
            &[],
        );
        ::shmem::__private::strided::put::<
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
        >(
            ::shmem::__private::strided::storing(&world),
            &FIELD,
            ::shmem::__private::strided::on(west),
            &column,
            (),
            (),
            &const {
                ::shmem::__private::strided::Constant::new(
                    ::shmem::__private::strided::remote::<
                        _,
                    >(
                        ::shmem::__private::strided::Region::new(
                            "FIELD",
                            &const {
                                [
                                    ::shmem::__private::strided::Axis::through(1, N),
                                    ::shmem::__private::strided::Axis::index(N - 1),
                                ]
                            },
                            &[],
                        ),
                    ),
                    ::shmem::__private::strided::source::<_>(__FROM),
                    ::core::option::Option::None,
                )
            },
            |__element| __element,
            |__element| __element,
        );
    }
}
