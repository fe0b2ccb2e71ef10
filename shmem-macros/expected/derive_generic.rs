const _: () = {
    #[diagnostic::on_unimplemented(
        message = "`Row` holds `{Self}`, which cannot live in symmetric memory",
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
    const fn __fields<T: Copy, const N: usize>()
    where
        T: Default,
        T: ::shmem::__private::PlainData,
    {
        let () = <T as __Holds>::CHECKED;
        let () = <[T; N] as __Holds>::CHECKED;
    }
    #[automatically_derived]
    unsafe impl<T: Copy, const N: usize> ::shmem::__private::Zeroable for Row<T, N>
    where
        T: Default,
        T: ::shmem::__private::PlainData,
    {}
    #[automatically_derived]
    unsafe impl<T: Copy, const N: usize> ::shmem::__private::Pod for Row<T, N>
    where
        T: Default,
        T: ::shmem::__private::PlainData,
    {}
    #[allow(unused_imports)]
    use ::shmem::__private::Undivided as _;
    #[automatically_derived]
    unsafe impl<T: Copy, const N: usize> ::shmem::__private::Shaped for Row<T, N>
    where
        T: Default,
        T: ::shmem::__private::PlainData,
    {
        type Element = Self;
        const SHAPE: ::shmem::__private::Shape = ::shmem::__private::Shape::element(
            ::core::mem::size_of::<Self>(),
        );
        const FIELDS: &'static [::shmem::__private::Field] = &[
            ::shmem::__private::Field::new(
                "head",
                ::core::mem::offset_of!(Self, head),
                <::shmem::__private::Fields<T>>::CONTENTS,
            ),
            ::shmem::__private::Field::new(
                "rest",
                ::core::mem::offset_of!(Self, rest),
                <::shmem::__private::Fields<[T; N]>>::CONTENTS,
            ),
        ];
    }
    #[automatically_derived]
    unsafe impl<T: Copy, const N: usize> ::shmem::__private::SymmetricData for Row<T, N>
    where
        T: Default,
        T: ::shmem::__private::PlainData,
    {}
};
