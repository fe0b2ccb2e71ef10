fn published(world: &World, pe: Pe) {
    {
        const __TO: ::shmem::__private::strided::Region<'static> = ::shmem::__private::strided::Region::new(
            "PANEL",
            &[
                ::shmem::__private::strided::Axis::all(),
                ::shmem::__private::strided::Axis::range(0, 32),
            ],
            &[],
        );
        const __FROM: ::shmem::__private::strided::Region<'static> = ::shmem::__private::strided::Region::new(
            "PANEL",
            &[
                ::shmem::__private::strided::Axis::all(),
                ::shmem::__private::strided::Axis::range(36, 68),
            ],
            &[],
        );
        const __REGION: () = {
            let () = ::shmem::__private::strided::agree(
                ::shmem::__private::strided::region(&__TO, &PANEL),
                ::shmem::__private::strided::region(&__FROM, &PANEL),
            );
        };
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
            &PANEL,
            ::shmem::__private::strided::on(pe),
            &PANEL,
            (),
            (),
            &const {
                ::shmem::__private::strided::Constant::new(
                    ::shmem::__private::strided::remote::<_>(__TO),
                    ::shmem::__private::strided::source::<_>(__FROM),
                    ::core::option::Option::Some(
                        ::shmem::__private::strided::Algorithm::Three,
                    ),
                )
            },
            |__element| __element,
            |__element| __element,
        );
    }
}
