/// On-package memory.
#[allow(non_camel_case_types)]
#[derive(::core::fmt::Debug)]
pub enum fast {}
impl ::shmem::__private::Partition for fast {
    const DECLARATION: ::shmem::__private::Declaration = ::shmem::__private::Declaration::new(
        "fast",
        2u32,
        ::shmem::__private::Traits {
            size: ::core::option::Option::Some(268435456u64),
            pgsize: ::core::option::Option::Some(2097152u64),
            kind: ::core::option::Option::Some(::shmem::__private::Kind::FastMem),
            policy: ::core::option::Option::Some(::shmem::__private::Policy::Preferred),
        },
        ::core::file!(),
        ::core::line!(),
    );
}
const _: () = {
    extern crate shmem;
    #[used]
    #[unsafe(link_section = "shmem_par")]
    static __DECLARATION: shmem::__private::Declaration = <fast as shmem::__private::Partition>::DECLARATION;
};
#[allow(non_camel_case_types)]
#[derive(::core::fmt::Debug)]
enum bulk {}
impl ::shmem::__private::Partition for bulk {
    const DECLARATION: ::shmem::__private::Declaration = ::shmem::__private::Declaration::new(
        "bulk",
        0u32,
        ::shmem::__private::Traits {
            size: ::core::option::Option::None,
            pgsize: ::core::option::Option::None,
            kind: ::core::option::Option::None,
            policy: ::core::option::Option::None,
        },
        ::core::file!(),
        ::core::line!(),
    );
}
const _: () = {
    extern crate shmem;
    #[used]
    #[unsafe(link_section = "shmem_par")]
    static __DECLARATION: shmem::__private::Declaration = <bulk as shmem::__private::Partition>::DECLARATION;
};
