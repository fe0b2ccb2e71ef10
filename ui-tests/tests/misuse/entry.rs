//! `#[shmem::main]`, `#[shmem::test]`, `#[shmem::collective]`, and `#[symmetric] let` in them. Nothing else is wrong: functions
//! are there all the same, and so are the values of `let`s.

use shmem::{Result, SymBox, World};

mod signature {
    use shmem::World;

    mod nothing {
        #[shmem::main]
        fn main() {} //~
    }

    mod shared {
        #[shmem::main]
        fn main(_: &super::World) {} //~
    }

    #[shmem::test]
    async fn qualified(_: &mut World) {} //~

    #[shmem::test]
    fn generic<T>(_: &mut World) {} //~

    mod other_name {
        #[shmem::main]
        fn run(_: &mut super::World) {} //~
    }

    mod no_function {
        #[shmem::main]
        static MAIN: u8 = 3; //~
    }

    mod outcome {
        #[shmem::main] //~
        fn main(world: &mut super::World) -> usize {
            world.my_pe()
        }
    }
}

mod arguments {
    use shmem::World;

    mod level {
        #[shmem::main(threads = many)] //~
        fn main(_: &mut super::World) {}
    }

    mod level_twice {
        #[shmem::main(threads = multiple)]
        fn main(_: &mut super::World<shmem::thread::Single>) {} //~
    }

    #[shmem::collective(partition = "fast")] //~
    fn smooth() {}

    #[shmem::test(pes = 0)] //~
    pub fn zero(_: &mut World) {}

    #[shmem::test(pes = [2, 3, 2])] //~
    fn twice(_: &mut World) {}

    #[shmem::test(npes = 4)] //~
    fn unknown_of_a_test(_: &mut World) {}

    #[shmem::test(env = "A=1")] //~
    fn pair(_: &mut World) {}

    #[shmem::test(pes = 2)]
    fn no_world() {} //~
}

// In a module with errors of the library, rustc does not report names that it cannot find.
mod checked {
    use shmem::partition::fast;
    use shmem::{Result, SymBox, World, partitions};

    partitions! { huge { id = 9, size = "256M", pgsize = "2M" } }

    #[shmem::collective]
    fn placed(world: &mut World) -> Result<()> {
        #[symmetric(partition = "fastt")] //~
        let typo: SymBox<[f64]> = [0.0; 4];
        #[symmetric(partition = "String", pgsize = "4M")] //~
        let no_partition: SymBox<[f64]> = [0.0; 4];
        #[symmetric(partition = fast)]
        let elements: SymBox<[f64]> = [0u32; 4]; //~
        #[symmetric]
        let single: SymBox<f64> = 0.0; //~
        Ok(())
    }

    #[shmem::collective]
    fn pages_larger_than_the_partitions(world: &mut World) -> Result<()> {
        for _ in 0..2 {
            #[symmetric(partition = "huge", pgsize = "4M")] //~
            let scratch: SymBox<[f64]> = [0.0; 4];
            println!("{}", scratch.len());
        }
        Ok(())
    }
}

#[shmem::collective]
fn malformed(world: &mut World) -> Result<()> {
    #[symmetric]
    let empty: SymBox<[f64]>; //~
    #[symmetric]
    let (_a, _b): (SymBox<[f64]>, SymBox<[f64]>) = ([0.0; 4], [0.0; 4]); //~
    #[symmetric(pgsize = 3M)] //~
    let pages: SymBox<[f64]> = [0.0; 4];
    println!("{}", empty.len() + pages.len());
    Ok(())
}

#[shmem::collective]
fn without_a_world(rounds: usize) {
    #[symmetric]
    let scratch: SymBox<[f64]> = [0.0; 16]; //~
    println!("{} {rounds}", scratch.len());
}

fn outside() {
    #[shmem::symmetric(partition = "fast")] //~
    let scratch: SymBox<[f64]> = vec![0.0; 16]; //~
    println!("{}", scratch.len());
}

#[shmem::main(colour = "red")] //~
fn main(world: &mut World) -> Result<()> {
    world.barrier_all();
    without_a_world(3);
    arguments::zero(world);
    malformed(world)
}
