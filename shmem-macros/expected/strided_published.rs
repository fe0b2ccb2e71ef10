fn published(world: &World, pe: Pe) {
    {
        struct __Transfer;
        impl ::shmem::__private::strided::Written for __Transfer {
            const TO: ::shmem::__private::strided::Region<'static> = ::shmem::__private::strided::Region::new(
                "PANEL",
                &[
                    ::shmem::__private::strided::Axis::all(),
                    ::shmem::__private::strided::Axis::range(0, 32),
                ],
                &[],
            );
            const FROM: ::shmem::__private::strided::Region<'static> = ::shmem::__private::strided::Region::new(
                "PANEL",
                &[
                    ::shmem::__private::strided::Axis::all(),
                    ::shmem::__private::strided::Axis::range(36, 68),
                ],
                &[],
            );
            const ALGORITHM: ::core::option::Option<
                ::shmem::__private::strided::Algorithm,
            > = ::core::option::Option::Some(
                ::shmem::__private::strided::Algorithm::Three,
            );
        }
        const __REGION: () = {
            let () = ::shmem::__private::strided::agree(
                ::shmem::__private::strided::region(
                    &<__Transfer as ::shmem::__private::strided::Written>::TO,
                    &PANEL,
                ),
                ::shmem::__private::strided::region(
                    &<__Transfer as ::shmem::__private::strided::Written>::FROM,
                    &PANEL,
                ),
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
            &PANEL,
            pe,
            &PANEL,
            [],
            [],
            |__element| __element,
            |__element| __element,
        );
    }
}
