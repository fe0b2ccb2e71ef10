shmem::partitions! {
    pub a { size = 1M }
    pub b = "1M",
}

fn main() {
    let _: Option<a> = None;
}
