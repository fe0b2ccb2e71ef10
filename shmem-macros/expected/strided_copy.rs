fn copy(packed: &mut [f64], block: &[[f64; 8]; 16], i: usize) {
    {
        const __TO: ::shmem::__private::strided::Region<'static> = ::shmem::__private::strided::Region::new(
            "packed",
            &[::shmem::__private::strided::Axis::all()],
            &[],
        );
        const __FROM: ::shmem::__private::strided::Region<'static> = ::shmem::__private::strided::Region::new(
            "block",
            &[
                ::shmem::__private::strided::Axis::range(1, 9),
                ::shmem::__private::strided::Axis::dynamic(),
            ],
            &[],
        );
        use ::shmem::__private::strided::Lend as _;
        ::shmem::__private::strided::copy::<
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            _,
        >(
            packed.__strided_into(),
            &block,
            (),
            (::shmem::__private::strided::selected(&(i)), ()),
            &const {
                ::shmem::__private::strided::Constant::new(
                    ::shmem::__private::strided::destination::<_>(__TO),
                    ::shmem::__private::strided::source::<_>(__FROM),
                    ::core::option::Option::None,
                )
            },
            |__element| __element,
            |__element| __element,
        );
    }
}
