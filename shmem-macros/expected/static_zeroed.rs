pub static GRID: ::shmem::__private::Symmetric<[[f64; 4]; 2]> = unsafe {
    ::shmem::__private::Symmetric::__new()
};
const _: () = {
    #[diagnostic::on_unimplemented(
        message = "`GRID` holds `{Self}`, which cannot live in symmetric memory",
        label = "not plain data",
        note = "symmetric objects are copied byte for byte between PEs, so they may hold no pointers, no padding and no invalid bit patterns (use `u8` for `bool` and for enums)",
        note = "for your own `#[repr(C)]` struct, add `#[derive(Symmetric)]`"
    )]
    trait __Holds {
        const CHECKED: () = ();
    }
    #[diagnostic::do_not_recommend]
    impl<T: ::shmem::__private::SymmetricData> __Holds for T {}
    let () = <[[f64; 4]; 2] as __Holds>::CHECKED;
    const __PARTITION: ::shmem::__private::Declaration = <::shmem::__private::default as ::shmem::__private::Partition>::DECLARATION;
    ::shmem::__private::require_room(&__PARTITION, "GRID", &GRID);
    #[used]
    #[unsafe(link_section = "shmem_sym")]
    static __DESCRIPTOR: ::shmem::__private::Descriptor = unsafe {
        ::shmem::__private::Descriptor::new(
            &GRID,
            ::core::option::Option::None,
            __PARTITION,
            0u64,
            "GRID",
            ::core::module_path!(),
            ::core::file!(),
            ::core::line!(),
        )
    };
};
