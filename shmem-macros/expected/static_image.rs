/// Where to go on.
#[cfg(all())]
#[allow(dead_code)]
static NEXT: ::shmem::__private::Symmetric<u64> = {
    static __IMAGE: u64 = 6 * 7;
    #[used]
    #[unsafe(link_section = "shmem_sym")]
    static __DESCRIPTOR: ::shmem::__private::Descriptor = {
        let (__object, __image) = (
            &NEXT,
            ::shmem::__private::core::option::Option::Some(&__IMAGE),
        );
        let (__module, __file, __line) = (
            ::shmem::__private::core::module_path!(),
            ::shmem::__private::core::file!(),
            ::shmem::__private::core::line!(),
        );
        const __PARTITION: ::shmem::__private::Declaration = <::shmem::partition::fast as ::shmem::__private::Partition>::DECLARATION;
        unsafe {
            ::shmem::__private::Descriptor::new(
                __object,
                __image,
                __PARTITION,
                2097152u64,
                "NEXT",
                __module,
                __file,
                __line,
            )
        }
    };
    unsafe { ::shmem::__private::Symmetric::__described(&__DESCRIPTOR) }
};
#[cfg(all())]
const _: () = {
    extern crate shmem;
    trait __Named {
        type Name;
    }
    #[allow(non_camel_case_types, non_local_definitions, clippy::upper_case_acronyms)]
    const _: () = {
        pub enum NEXT {}
        impl __Named for () {
            type Name = NEXT;
        }
    };
    type __Contents<T> = T;
    let _ = [
        shmem::__private::contents_of(&NEXT),
        <__Contents<_> as shmem::__private::ContentsOf<<() as __Named>::Name>>::CHECKED,
    ];
    const __PARTITION: shmem::__private::Declaration = <::shmem::partition::fast as shmem::__private::Partition>::DECLARATION;
    shmem::__private::require_pages(&__PARTITION, 2097152u64);
    shmem::__private::require_room(&__PARTITION, "NEXT", &NEXT);
};
