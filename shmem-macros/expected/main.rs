fn main() -> ::std::process::ExitCode {
    fn __body(world: &mut World<::shmem::__private::Multiple>) -> Result<()> {
        let mut scratch: SymBox<[f64]> = {
            const _: () = ::shmem::__private::require_pages(
                &<fast as ::shmem::__private::Partition>::DECLARATION,
                4096u64,
            );
            ::shmem::__private::alloc_in::<fast, _>(&*world, [0.0; 8], 4096u64)?
        };
        Ok(())
    }
    ::shmem::__private::main(__body)
}
