//! The life of a process in its job: joined once, left once.

use shmem::thread::Single;
use shmem::version::{NAME, OPENSHMEM, Version};
use shmem::{ErrorKind, init, initialized};

/// The only test in which the process of the tests has a world itself: it has one, ever.
#[test]
fn a_process_is_in_its_job_as_long_as_it_has_its_world() {
    assert!(!initialized());
    let world = init::<Single>().unwrap();
    assert!(initialized());
    assert!(matches!(init::<Single>().unwrap_err().kind(), ErrorKind::SecondWorld));
    assert!(initialized(), "who asks for a second one keeps the first");
    world.barrier_all();
    drop(world);
    assert!(!initialized());
    assert!(matches!(init::<Single>().unwrap_err().kind(), ErrorKind::SecondWorld));

    assert_eq!((OPENSHMEM, OPENSHMEM.to_string()), (Version { major: 1, minor: 6 }, "1.6".to_owned()));
    assert!(OPENSHMEM < Version { major: 2, minor: 0 } && OPENSHMEM > Version { major: 1, minor: 5 });
    assert_eq!(NAME, concat!("shmem-rt ", env!("CARGO_PKG_VERSION")));
}
