pub fn smooth(rounds: u32, world: &World) -> Result<()> {
    for _ in 0..rounds {
        #[allow(unused_assignments)]
        let sums: SymBox<[f64]> = {
            ::shmem::__private::alloc_in(
                world,
                &<::shmem::__private::default as ::shmem::__private::Partition>::DECLARATION,
                [0.0; 8],
                0u64,
            )?
        };
        let _ = sums;
    }
    Ok(())
}
