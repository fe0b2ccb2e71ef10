shmem::partitions! {
    pub bulk { id = 4 }
    pub bulk { id = 5 }
}

fn main() {}
