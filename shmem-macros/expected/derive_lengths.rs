const _: () = {
    #[diagnostic::on_unimplemented(
        message = "`Line` holds `{Self}`, which cannot live in symmetric memory",
        label = "not plain data",
        note = "symmetric objects are copied byte for byte between PEs, so they may hold no pointers, no padding and no invalid bit patterns (use `u8` for `bool` and for enums)",
        note = "`Atomic` and `Signal` words cannot stand in a struct that put and get move: declare each as a static of its own",
        note = "for your own `#[repr(C)]` struct, add `#[derive(Symmetric)]`"
    )]
    trait __Holds {
        const CHECKED: () = ();
    }
    #[diagnostic::do_not_recommend]
    impl<T: ::shmem::__private::PlainData> __Holds for T {}
    #[allow(clippy::multiple_bound_locations)]
    const fn __fields<const N: usize>() {
        let () = <u64 as __Holds>::CHECKED;
        let () = <[f64; N] as __Holds>::CHECKED;
    }
    ::shmem::__private::require_one_alignment(
        "Line",
        &[::core::mem::align_of::<u64>(), ::core::mem::align_of::<f64>()],
    );
    #[automatically_derived]
    unsafe impl<const N: usize> ::shmem::__private::Zeroable for Line<N> {}
    #[automatically_derived]
    unsafe impl<const N: usize> ::shmem::__private::Pod for Line<N> {}
    #[allow(unused_imports)]
    use ::shmem::__private::Undivided as _;
    #[automatically_derived]
    unsafe impl<const N: usize> ::shmem::__private::Shaped for Line<N> {
        type Element = Self;
        const SHAPE: ::shmem::__private::Shape = ::shmem::__private::Shape::element(
            ::core::mem::size_of::<Self>(),
        );
        const FIELDS: &'static [::shmem::__private::Field] = &[
            ::shmem::__private::Field::new(
                "0",
                ::core::mem::offset_of!(Self, 0),
                <::shmem::__private::Fields<u64>>::CONTENTS,
            ),
            ::shmem::__private::Field::new(
                "1",
                ::core::mem::offset_of!(Self, 1),
                <::shmem::__private::Fields<[f64; N]>>::CONTENTS,
            ),
        ];
    }
    #[automatically_derived]
    unsafe impl<const N: usize> ::shmem::__private::SymmetricData for Line<N> {}
};
