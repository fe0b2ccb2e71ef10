//! What the section of the binary says about statics.

use shmem::__private::{Declaration, Descriptor, Partition};
use shmem::symmetric;

shmem::partitions! { pub own { id = 77, size = 1.5K, pgsize = 4_096, kind = LARGEMEM, policy = mandatory } }

#[symmetric(partition = "own", pgsize = "4K")]
static VALUES: [u32; 3] = [7, 8, 9];

#[symmetric]
static ZEROED: u8;

fn section<T>(start: *const T, end: *const T) -> &'static [T] {
    let count = (end.addr() - start.addr()) / size_of::<T>();
    // SAFETY: the linker puts the `T`s of the section between its two symbols.
    unsafe { std::slice::from_raw_parts(start, count) }
}

unsafe extern "C" {
    static __start_shmem_sym: Descriptor;
    static __stop_shmem_sym: Descriptor;
    static __start_shmem_par: Declaration;
    static __stop_shmem_par: Declaration;
}

fn main() {
    let _ = (&VALUES, &ZEROED);
    let objects = section(&raw const __start_shmem_sym, &raw const __stop_shmem_sym);
    assert_eq!(objects.len(), 2);
    let values = objects.iter().find(|object| object.name.as_str() == "VALUES").unwrap();
    assert_eq!((values.size, values.align, values.pgsize), (12, 64, 4096));
    assert_eq!((values.line, values.has_image), (9, 1));
    assert!(values.file.as_str().ends_with("descriptors.rs"), "{}", values.file);
    assert_eq!(values.partition, own::DECLARATION);
    // SAFETY: the image of a static with a value is `size` bytes.
    let image = unsafe { *values.image.0.cast::<[u32; 3]>() };
    assert_eq!(image, [7, 8, 9]);
    let zeroed = objects.iter().find(|object| object.name.as_str() == "ZEROED").unwrap();
    assert_eq!((zeroed.size, zeroed.pgsize, zeroed.has_image), (1, 0, 0));
    assert!(zeroed.image.0.is_null());
    assert_eq!(zeroed.partition.name.as_str(), "default");

    let partitions = section(&raw const __start_shmem_par, &raw const __stop_shmem_par);
    assert_eq!(partitions, [own::DECLARATION]);
    let own = own::DECLARATION;
    assert_eq!((own.id, own.size, own.pgsize, own.line), (77, 1536, 4096, 6));
    assert_eq!(own.name.as_str(), "own");
    assert_eq!((own.kind, own.policy), (4, 1));
}
