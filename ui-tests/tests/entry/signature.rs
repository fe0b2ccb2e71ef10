mod nothing {
    #[shmem::main]
    fn main() {}
}

mod two {
    use shmem::World;
    #[shmem::main]
    fn main(_: &mut World, _: Vec<String>) {}
}

mod shared {
    use shmem::World;
    #[shmem::main]
    fn main(_: &World) {}
}

mod qualified {
    use shmem::World;
    #[shmem::main]
    async fn main(_: &mut World) {}
}

mod generic {
    use shmem::World;
    #[shmem::main]
    fn main<T>(_: &mut World) {}
}

mod other_name {
    use shmem::World;
    #[shmem::main]
    fn run(_: &mut World) {}
}

mod no_function {
    #[shmem::main]
    static MAIN: u8 = 3;
}

fn main() {}
