shmem::partitions! {
    pub quick { kind = FastMem, polcy = Preferred }
    pub large { size = "64 M" }
}

fn main() {}
