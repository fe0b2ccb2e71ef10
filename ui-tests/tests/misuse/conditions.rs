//! Conditions stand at each implementation once more, and a macro there may mean another one each time.
#![forbid(unsafe_code)]

trait Kind: shmem::PlainData {
    type Out: Copy + 'static;
}
impl Kind for u8 {
    type Out = &'static str;
}

// Nothing is asked of `T::Out` at the struct, at `Zeroable`, `Pod` and `SymmetricData`.
#[derive(shmem::Symmetric)]
#[repr(C)]
struct Row<T: Kind>
where
    changes::each_time!((T::Out) (T::Out) (T::Out) (T::Out) (u8) (u8) (T::Out) (u8) (u8)):
        shmem::PlainData,
{
    value: T::Out,
}

impl<T: Kind> Clone for Row<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Kind> Copy for Row<T> {}

fn plain<T: shmem::PlainData>() {}

fn main() {
    plain::<Row<u8>>(); //~
}
