fn put(world: &World, west: Pe, column: &[f64]) {
    {
        struct __Transfer;
        impl ::shmem::__private::strided::Written for __Transfer {
            const TO: ::shmem::__private::strided::Region<'static> = ::shmem::__private::strided::Region::new(
                "FIELD",
                &[
                    ::shmem::__private::strided::Axis::through(1, N),
                    ::shmem::__private::strided::Axis::index(N - 1),
                ],
                &[],
            );
            const FROM: ::shmem::__private::strided::Region<'static> = ::shmem::__private::strided::Region::new(
                "column",
                &[::shmem::__private::strided::Axis::all()],
                &[],
            );
            const ALGORITHM: ::core::option::Option<
                ::shmem::__private::strided::Algorithm,
            > = ::core::option::Option::None;
        }
        const __REGION: () = {
            let _ = ::shmem::__private::strided::region(
                &<__Transfer as ::shmem::__private::strided::Written>::TO,
                &FIELD,
            );
        };
        ::shmem::__private::strided::put::<
            __Transfer,
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
            west,
            &column,
            [],
            [],
            |__element| __element,
            |__element| __element,
        );
    }
}
