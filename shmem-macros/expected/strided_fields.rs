fn fields(world: &World, pe: Pe) {
    {
        struct __Transfer;
        impl ::shmem::__private::strided::Written for __Transfer {
            const TO: ::shmem::__private::strided::Region<'static> = ::shmem::__private::strided::Region::new(
                "CELLS",
                &[::shmem::__private::strided::Axis::all()],
                &[&["mass", "velocity"]],
            );
            const FROM: ::shmem::__private::strided::Region<'static> = ::shmem::__private::strided::Region::new(
                "CELLS",
                &[::shmem::__private::strided::Axis::all().step(1)],
                &[&["mass", "velocity"]],
            );
            const ALGORITHM: ::core::option::Option<
                ::shmem::__private::strided::Algorithm,
            > = ::core::option::Option::None;
        }
        const __REGION: () = {
            let () = ::shmem::__private::strided::agree(
                ::shmem::__private::strided::region(
                    &<__Transfer as ::shmem::__private::strided::Written>::TO,
                    &CELLS,
                ),
                ::shmem::__private::strided::region(
                    &<__Transfer as ::shmem::__private::strided::Written>::FROM,
                    &CELLS,
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
            &CELLS,
            pe,
            &CELLS,
            [],
            [],
            |__element| {
                let __of = __element;
                ::shmem::__private::strided::run((
                    ::shmem::__private::strided::field(
                        __of,
                        |__element| &raw const __element.mass,
                    ),
                    ::shmem::__private::strided::field(
                        __of,
                        |__element| &raw const __element.velocity,
                    ),
                ))
            },
            |__element| {
                let __of = __element;
                ::shmem::__private::strided::run((
                    ::shmem::__private::strided::field(
                        __of,
                        |__element| &raw const __element.mass,
                    ),
                    ::shmem::__private::strided::field(
                        __of,
                        |__element| &raw const __element.velocity,
                    ),
                ))
            },
        );
    }
}
