mod nothing {
    #[shmem::main]
    fn main() {}
}

mod two {
    use shmem::World;
    #[shmem::main]
    fn main(world: &mut World, arguments: Vec<String>) {}
}

mod shared {
    use shmem::World;
    #[shmem::main]
    fn main(world: &World) {}
}

mod qualified {
    use shmem::World;
    #[shmem::main]
    async fn main(world: &mut World) {}
}

mod generic {
    use shmem::World;
    #[shmem::main]
    fn main<T>(world: &mut World) {}
}

mod other_name {
    use shmem::World;
    #[shmem::main]
    fn run(world: &mut World) {}
}

mod no_function {
    #[shmem::main]
    static MAIN: u8 = 3;
}

fn main() {}
