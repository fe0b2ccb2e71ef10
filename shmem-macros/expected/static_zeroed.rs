pub static GRID: ::shmem::__private::Symmetric<[[f64; 4]; 2]> = {
    #[used]
    #[unsafe(link_section = "shmem_sym")]
    static __DESCRIPTOR: ::shmem::__private::Descriptor = {
        let (__object, __image) = (
            &GRID,
            ::shmem::__private::core::option::Option::None,
        );
        let (__module, __file, __line) = (
            ::shmem::__private::core::module_path!(),
            ::shmem::__private::core::file!(),
            ::shmem::__private::core::line!(),
        );
        const __PARTITION: ::shmem::__private::Declaration = <::shmem::__private::default as ::shmem::__private::Partition>::DECLARATION;
        unsafe {
            ::shmem::__private::Descriptor::new(
                __object,
                __image,
                __PARTITION,
                0u64,
                "GRID",
                __module,
                __file,
                __line,
            )
        }
    };
    unsafe { ::shmem::__private::Symmetric::__described(&__DESCRIPTOR) }
};
const _: () = {
    extern crate shmem;
    trait __Named {
        type Name;
    }
    #[allow(non_camel_case_types, non_local_definitions, clippy::upper_case_acronyms)]
    const _: () = {
        pub enum GRID {}
        impl __Named for () {
            type Name = GRID;
        }
    };
    type __Contents<T> = T;
    let _ = [
        shmem::__private::contents_of(&GRID),
        <__Contents<_> as shmem::__private::ContentsOf<<() as __Named>::Name>>::CHECKED,
    ];
    const __PARTITION: shmem::__private::Declaration = <::shmem::__private::default as shmem::__private::Partition>::DECLARATION;
    shmem::__private::require_room(&__PARTITION, "GRID", &GRID);
};
