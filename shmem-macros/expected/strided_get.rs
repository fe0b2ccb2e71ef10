impl Solver<'_> {
    fn get(&mut self, i: usize) {
        {
            struct __Transfer;
            impl ::shmem::__private::strided::Written for __Transfer {
                const TO: ::shmem::__private::strided::Region<'static> = ::shmem::__private::strided::Region::new(
                    "self.row",
                    &[::shmem::__private::strided::Axis::range(0, N).step(4).block(2)],
                    &[],
                );
                const FROM: ::shmem::__private::strided::Region<'static> = ::shmem::__private::strided::Region::new(
                    "FIELD",
                    &[
                        ::shmem::__private::strided::Axis::later(),
                        ::shmem::__private::strided::Axis::range(0, 8),
                    ],
                    &[],
                );
                const ALGORITHM: ::core::option::Option<
                    ::shmem::__private::strided::Algorithm,
                > = ::core::option::Option::None;
            }
            const __REGION: () = {
                let _ = ::shmem::__private::strided::region(
                    &<__Transfer as ::shmem::__private::strided::Written>::FROM,
                    &FIELD,
                );
            };
            use ::shmem::__private::strided::Lend as _;
            ::shmem::__private::strided::get::<
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
                ::shmem::__private::strided::loading(&self.world),
                self.row.__strided_into(),
                &FIELD,
                self.west,
                [],
                [i],
                |__element| __element,
                |__element| __element,
            );
        }
    }
}
