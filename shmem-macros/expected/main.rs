fn main() -> ::std::process::ExitCode {
    fn __body(world: &mut World<::shmem::__private::Multiple>) -> Result<()> {
        #[allow(unused_assignments)]
        let mut scratch: SymBox<[f64]> = {
            const __PARTITION: ::shmem::__private::Declaration = <fast as ::shmem::__private::Partition>::DECLARATION;
            const _: () = ::shmem::__private::require_pages(&__PARTITION, 4096u64);
            ::shmem::__private::alloc_in(&*world, &__PARTITION, [0.0; 8], 4096u64)?
        };
        scratch = world.alloc([scratch.len() as f64])?;
        world.free(scratch)
    }
    ::shmem::__private::main(__body)
}
