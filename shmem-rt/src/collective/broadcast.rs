//! broadcast.

use std::panic::Location;

use shmem_core::context::Initiator;
use shmem_core::data::{Contents, PlainData};
use shmem_core::partition::show_size;
use shmem_core::pe::Pe;

use super::barrier::Purpose;
use super::reduce::Steps;
use crate::team::Team;

impl Team {
    /// Gives every member what `root` has in `data`, a value or a slice of the same length on all.
    ///
    /// # Panics
    ///
    /// If `root` is not a member.
    ///
    /// Source: OpenSHMEM 1.6, `shmem_broadcast`.
    #[track_caller]
    pub fn broadcast<T>(&self, token: &(impl Initiator + ?Sized), data: &mut T, root: Pe)
    where
        T: Contents<Item: PlainData> + ?Sized,
    {
        let location = Location::caller();
        assert!(
            self.rank_of(root).is_some(),
            "the root of a broadcast, PE {root}, is not a member of the team"
        );
        let endpoint = token.endpoint();
        let bytes = size_of_val(data);
        let arguments = [root.number() as u64, bytes as u64];
        let subject = || format!("{} from PE {root}", show_size(bytes as u64));
        let purpose = Purpose {
            operation: "broadcast",
            opens: false,
            arguments: &arguments,
            subject: &subject,
            location: Some(location),
        };
        let data = bytes_of(data);
        let collective = self.enter(endpoint);
        for (step, piece) in Steps::of(&collective, data) {
            if root == endpoint.me() {
                step.contribute(endpoint, piece);
            }
            collective.meet(&purpose);
            if root != endpoint.me() {
                step.read(endpoint, root, piece);
            }
        }
    }
}

/// The bytes of plain data.
pub(super) fn bytes_of<T: Contents<Item: PlainData> + ?Sized>(data: &mut T) -> &mut [u8] {
    let (bytes, start) = (size_of_val(data), core::ptr::from_mut(data).cast());
    // SAFETY: `data` is an exclusive reference to `bytes` bytes of a type without padding, for
    // which every bit pattern is a value.
    unsafe { core::slice::from_raw_parts_mut(start, bytes) }
}
