mod unknown {
    use shmem::World;
    #[shmem::main(thread = multiple)]
    fn main(_: &mut World) {}
}

mod level {
    use shmem::World;
    #[shmem::main(threads = many)]
    fn main(_: &mut World) {}
}

mod level_twice {
    use shmem::World;
    #[shmem::main(threads = multiple)]
    fn main(_: &mut World<shmem::thread::Single>) {}
}

mod collective {
    #[shmem::collective(partition = "fast")]
    fn smooth() {}
}

fn main() {}
