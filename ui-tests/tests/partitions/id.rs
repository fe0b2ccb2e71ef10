shmem::partitions! {
    pub a { id = 0 }
    pub b { id = 256 }
    pub c { id = "two" }
    pub d { id = 7 }
    pub e { id = 7 }
}

fn main() {}
