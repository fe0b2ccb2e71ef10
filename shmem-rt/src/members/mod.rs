//! The members of a job and of teams, by number, rank and node. If members follow a rule, memory does not grow with their number.
//!
//! ```text
//! ranks              the numbers of PEs by rank: a start, a stride and a size; a list only where these do not describe them
//! nodes              the node of each member: the first member of each node, and a rule for the others
//! node_distribution  how the ranks of a team are distributed among its nodes, for collectives
//! team               all PEs of the job, and the members of each team
//! ```
//!
//! A query about one member takes constant or logarithmic time.

mod node_distribution;
mod nodes;
mod ranks;
mod team;

pub(crate) use node_distribution::{Layout, most_values};
pub(crate) use team::{Directory, Members};

#[cfg(test)]
mod tests {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::cell::Cell;
    use std::hint::black_box;
    use std::sync::Arc;

    use shmem_core::memory::PeList;
    use shmem_core::pe::Pe;

    use super::*;

    /// The system's allocator, with the bytes that each thread has allocated.
    struct Counting;

    thread_local! {
        static LIVE: Cell<usize> = const { Cell::new(0) };
    }

    // SAFETY: every call is one of the system's allocator, with the same arguments.
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            LIVE.set(LIVE.get().wrapping_add(layout.size()));
            // SAFETY: the caller's promise.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            LIVE.set(LIVE.get().wrapping_sub(layout.size()));
            // SAFETY: the caller's promise.
            unsafe { System.dealloc(block, layout) };
        }
    }

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    /// The result of `make`, and the bytes that it has allocated.
    fn kept<T>(make: impl FnOnce() -> T) -> (T, usize) {
        let before = LIVE.get();
        let made = black_box(make());
        (made, LIVE.get().wrapping_sub(before))
    }

    /// The formulas of `docs/scale.md`, up to the largest job of its tables.
    #[test]
    fn nothing_but_the_list_of_the_job_grows_with_its_pes_where_they_follow_a_rule() {
        for (nodes, per_node) in [(1, 2), (1, 64), (2, 1), (8, 8), (64, 1), (1000, 100)] {
            for in_blocks in [true, false] {
                let count = nodes * per_node;
                let host = |pe| if in_blocks { pe / per_node } else { pe % nodes } as u32;
                let hosts: Vec<u32> = (0..count).map(host).collect();
                // SAFETY: nothing is issued to it.
                let pe = |number| unsafe { Pe::new(number as u32, Pe::OFF_NODE) };
                let (directory, bytes) =
                    kept(|| Directory::new(PeList::new((0..count).map(pe).collect()), &hosts));
                assert_eq!(bytes, 8 * count + 4 * nodes, "the job, {nodes} x {per_node}");
                let directory = Arc::new(directory);
                let (world, bytes) = kept(|| Members::all(directory));
                assert_eq!(bytes, 4 * nodes, "the world, {nodes} x {per_node}");
                let (_node, bytes) = kept(|| Members::of(&world, (0..count).filter(|pe| hosts[*pe] == 0)));
                assert_eq!(bytes, 4, "a node's team");
                let (back, bytes) = kept(|| Members::of(&world, (0..count).rev()));
                assert_eq!(bytes, 4 * back.node_count(), "backwards");
                if count > 4 {
                    // No stride: a list, by whose numbers nodes are found.
                    let far = |pe: &usize| *pe != 1;
                    let (some, bytes) = kept(|| Members::of(&world, (0..count).filter(far)));
                    let mixed = if in_blocks || nodes == 1 || per_node == 1 { 0 } else { 4 * nodes };
                    assert_eq!(bytes, 8 * some.size() + 4 * some.node_count() + mixed, "without one");
                }
            }
        }
    }
}
