fn fields(world: &World, pe: Pe) {
    {
        const __TO: ::shmem::__private::strided::Region<'static> = ::shmem::__private::strided::Region::new(
            "CELLS",
            &[::shmem::__private::strided::Axis::all()],
            &[&["mass", "velocity"]],
        );
        const __FROM: ::shmem::__private::strided::Region<'static> = ::shmem::__private::strided::Region::new(
            "CELLS",
            &[::shmem::__private::strided::Axis::all().step(1)],
            &[&["mass", "velocity"]],
        );
        const __REGION: () = {
            let () = ::shmem::__private::strided::agree(
                ::shmem::__private::strided::region(&__TO, &CELLS),
                ::shmem::__private::strided::region(&__FROM, &CELLS),
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
            &CELLS,
            ::shmem::__private::strided::on(pe),
            &CELLS,
            (),
            (),
            &const {
                ::shmem::__private::strided::Constant::new(
                    ::shmem::__private::strided::remote::<_>(__TO),
                    ::shmem::__private::strided::source::<_>(__FROM),
                    ::core::option::Option::None,
                )
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
