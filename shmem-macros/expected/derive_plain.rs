const _: () = {
    #[diagnostic::on_unimplemented(
        message = "`Particle` holds `{Self}`, which cannot live in symmetric memory",
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
    const fn __fields() {
        let () = <[f64; 3] as __Holds>::CHECKED;
        let () = <f32 as __Holds>::CHECKED;
        let () = <[u8; 4] as __Holds>::CHECKED;
    }
    ::shmem::__private::require_no_padding(
        "Particle",
        ::core::mem::size_of::<Particle>(),
        &[
            ::core::mem::size_of::<[f64; 3]>(),
            ::core::mem::size_of::<f32>(),
            ::core::mem::size_of::<[u8; 4]>(),
        ],
    );
    #[automatically_derived]
    unsafe impl ::shmem::__private::Zeroable for Particle {}
    #[automatically_derived]
    unsafe impl ::shmem::__private::Pod for Particle {}
    #[allow(unused_imports)]
    use ::shmem::__private::Undivided as _;
    #[automatically_derived]
    unsafe impl ::shmem::__private::Shaped for Particle {
        type Element = Self;
        const SHAPE: ::shmem::__private::Shape = ::shmem::__private::Shape::element(
            ::core::mem::size_of::<Self>(),
        );
        const FIELDS: &'static [::shmem::__private::Field] = &[
            ::shmem::__private::Field::new(
                "position",
                ::core::mem::offset_of!(Self, position),
                <::shmem::__private::Fields<[f64; 3]>>::CONTENTS,
            ),
            ::shmem::__private::Field::new(
                "charge",
                ::core::mem::offset_of!(Self, charge),
                <::shmem::__private::Fields<f32>>::CONTENTS,
            ),
            ::shmem::__private::Field::new(
                "pad",
                ::core::mem::offset_of!(Self, pad),
                <::shmem::__private::Fields<[u8; 4]>>::CONTENTS,
            ),
        ];
    }
    #[automatically_derived]
    unsafe impl ::shmem::__private::SymmetricData for Particle {}
};
