shmem::partitions! {
    pub a_partition_with_a_name_that_does_not_end {}
}

fn main() {}
