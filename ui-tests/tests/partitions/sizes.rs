shmem::partitions! {
    pub a { size = 0 }
    pub b { size = 64Q }
    pub c { size = "lots" }
    pub d { pgsize = 3M }
    pub e { pgsize = 0 }
    pub f { pgsize = "1K" }
}

fn main() {}
