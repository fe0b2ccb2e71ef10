shmem::partitions! {
    pub a { kind = FastMen, policy = Preferred }
    pub b { policy = "Bind" }
    pub c { kind = 3 }
    pub d { kind = FASTMEM, size = 1M }
    pub e { kind = Pmem, size = 1M }
    pub f { kind = sys, policy = "S" }
}

fn main() {}
