shmem::partitions! {
    pub a { sise = "1M" }
    pub b { colour = "red" }
    pub c { size = "1M", size = "2M" }
    pub d { size }
}

fn main() {}
