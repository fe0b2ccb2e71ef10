static A: ::shmem::__private::Symmetric<u8> = unsafe {
    ::shmem::__private::Symmetric::__new()
};
const _: () = {
    #[diagnostic::on_unimplemented(
        message = "`A` holds `{Self}`, which cannot live in symmetric memory",
        label = "not plain data",
        note = "symmetric objects are copied byte for byte between PEs, so they may hold no pointers, no padding and no invalid bit patterns (use `u8` for `bool` and for enums)",
        note = "for your own `#[repr(C)]` struct, add `#[derive(Symmetric)]`"
    )]
    trait __Holds {
        const CHECKED: () = ();
    }
    #[diagnostic::do_not_recommend]
    impl<T: ::shmem::__private::SymmetricData> __Holds for T {}
    let () = <u8 as __Holds>::CHECKED;
    const __PARTITION: ::shmem::__private::Declaration = <::shmem::__private::default as ::shmem::__private::Partition>::DECLARATION;
    ::shmem::__private::require_pages(&__PARTITION, 4096u64);
    ::shmem::__private::require_room(&__PARTITION, "A", &A);
    #[used]
    #[unsafe(link_section = "shmem_sym")]
    static __DESCRIPTOR: ::shmem::__private::Descriptor = unsafe {
        ::shmem::__private::Descriptor::new(
            &A,
            ::core::option::Option::None,
            __PARTITION,
            4096u64,
            "A",
            ::core::module_path!(),
            ::core::file!(),
            ::core::line!(),
        )
    };
};
