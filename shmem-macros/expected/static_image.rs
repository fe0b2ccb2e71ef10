/// Where to go on.
#[cfg(all())]
#[allow(dead_code)]
static NEXT: ::shmem::__private::Symmetric<u64> = unsafe {
    ::shmem::__private::Symmetric::__new()
};
#[cfg(all())]
const _: () = {
    #[diagnostic::on_unimplemented(
        message = "`NEXT` holds `{Self}`, which cannot live in symmetric memory",
        label = "not plain data",
        note = "symmetric objects are copied byte for byte between PEs, so they may hold no pointers, no padding and no invalid bit patterns (use `u8` for `bool` and for enums)",
        note = "for your own `#[repr(C)]` struct, add `#[derive(Symmetric)]`"
    )]
    trait __Holds {
        const CHECKED: () = ();
    }
    #[diagnostic::do_not_recommend]
    impl<T: ::shmem::__private::SymmetricData> __Holds for T {}
    let () = <u64 as __Holds>::CHECKED;
    const __PARTITION: ::shmem::__private::Declaration = <::shmem::partition::fast as ::shmem::__private::Partition>::DECLARATION;
    ::shmem::__private::require_pages(&__PARTITION, 2097152u64);
    ::shmem::__private::require_room(&__PARTITION, "NEXT", &NEXT);
    static __IMAGE: u64 = 6 * 7;
    #[used]
    #[unsafe(link_section = "shmem_sym")]
    static __DESCRIPTOR: ::shmem::__private::Descriptor = unsafe {
        ::shmem::__private::Descriptor::new(
            &NEXT,
            ::core::option::Option::Some(&__IMAGE),
            __PARTITION,
            2097152u64,
            "NEXT",
            ::core::module_path!(),
            ::core::file!(),
            ::core::line!(),
        )
    };
};
