impl Solver<'_> {
    fn get(&mut self, i: usize) {
        {
            const __FROM: ::shmem::__private::strided::Region<'static> = ::shmem::__private::strided::Region::new(
                "FIELD",
                &[
                    ::shmem::__private::strided::Axis::dynamic(),
                    ::shmem::__private::strided::Axis::range(0, 8),
                ],
                &[],
            );
            const __REGION: () = {
                let _ = ::shmem::__private::strided::region(&__FROM, &FIELD);
            };
            use ::shmem::__private::strided::Lend as _;
            ::shmem::__private::strided::get::<
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
                ::shmem::__private::strided::on(self.west),
                (),
                (::shmem::__private::strided::selected(&(i)), ()),
                &const {
                    ::shmem::__private::strided::Constant::new(
                        ::shmem::__private::strided::destination::<
                            _,
                        >(
                            ::shmem::__private::strided::Region::new(
                                "self.row",
                                &const {
                                    [
                                        ::shmem::__private::strided::Axis::range(0, N)
                                            .step(4)
                                            .block(2),
                                    ]
                                },
                                &[],
                            ),
                        ),
                        ::shmem::__private::strided::remote::<_>(__FROM),
                        ::core::option::Option::None,
                    )
                },
                |__element| __element,
                |__element| __element,
            );
        }
    }
}
