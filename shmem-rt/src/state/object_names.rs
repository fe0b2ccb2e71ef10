//! Finds the names of objects in the slot (the symmetric memory) of one PE, for diagnostics.

use std::sync::{Arc, OnceLock, Weak};

use shmem_core::exclusion::Mutex;
use shmem_core::heap::{Allocation, Ledger, Owner};
use shmem_core::object::Extent;
use shmem_core::partition::show_size;

use super::persistent_partition::PersistentPartition;
use super::team_memory::TeamAllocator;

pub(crate) type Variable = (usize, String);

/// Finds the variable at an offset. Set by a library for another language than Rust, whose programs have variables of their own.
pub(crate) static VARIABLES: OnceLock<fn(usize) -> Option<Variable>> = OnceLock::new();

/// Where the names of objects in the slot are found. No lock is waited for, because a thread may hold it while it waits in a
/// collective.
#[derive(Clone)]
pub(crate) struct ObjectNames {
    pub(crate) statics: Arc<[(Extent, String)]>,
    pub(crate) ledger: Arc<Mutex<Ledger>>,
    /// The persistent partitions. Weak, so that diagnostics that outlive the job do not keep the partitions' files open.
    pub(crate) persistent_partitions: Weak<Mutex<Vec<PersistentPartition>>>,
    pub(crate) room: Arc<Mutex<TeamAllocator>>,
}

struct NamedObject {
    whole: Extent,
    name: String,
    /// Whether `name` is an identifier, to which an index can be appended: that of a static or of a named object. Otherwise it is a
    /// description.
    is_called: bool,
    /// Whether the object is an array of [`World::array`](crate::World::array). Ranges of elements of such an array are not named.
    is_array: bool,
}

impl ObjectNames {
    /// Returns the name of the object at an extent: a static, a team's object, or an allocation. Otherwise size and offset.
    pub(crate) fn of(&self, extent: Extent) -> String {
        self.of_part(extent, 0)
    }

    /// Returns the name of the object at an extent. For a part of an object, adds the range of elements of `element` bytes each, as
    /// in `TABLE[4..8]`.
    pub(crate) fn of_part(&self, extent: Extent, element: usize) -> String {
        let Some(NamedObject { whole, name, is_called, is_array }) = self.around(extent) else {
            return match self.statics.iter().find(|(there, _)| there.overlaps(extent)) {
                Some((_, name)) => format!("a part of {name}"),
                None => format!("{} at offset {:#x}", show_size(extent.bytes as u64), extent.offset),
            };
        };
        if whole == extent || is_array {
            return name;
        }
        let at = extent.offset - whole.offset;
        match element {
            0 => return format!("a part of {name}"),
            _ if !at.is_multiple_of(element) => {
                return format!("bytes {at}..{} of {name}", at + extent.bytes);
            }
            _ => {}
        }
        let (first, count) = (at / element, extent.bytes / element);
        let part = if count == 1 { format!("[{first}]") } else { format!("[{first}..{}]", first + count) };
        if is_called { name + &part } else { format!("{part} of {name}") }
    }

    /// Returns the name of the object, or of another language's variable, at an offset. `None` if neither is known.
    pub(crate) fn at(&self, offset: usize) -> Option<String> {
        let (start, name) = match self.around(Extent { offset, bytes: 1 }) {
            Some(object) => (object.whole.offset, object.name),
            None => VARIABLES.get()?(offset)?,
        };
        let within = (offset - start) as u64;
        Some(if within == 0 { name } else { format!("{name} + {}", show_size(within)) })
    }

    /// Returns the name of the object or variable at an offset; a text with the offset if neither is known.
    pub(crate) fn word_at(&self, offset: usize) -> String {
        self.at(offset).unwrap_or_else(|| format!("a word at offset {offset:#x}"))
    }

    /// Returns the object that contains an extent.
    fn around(&self, extent: Extent) -> Option<NamedObject> {
        let holds = |whole: &Extent| {
            let at = extent.offset.checked_sub(whole.offset);
            at.is_some_and(|at| at <= whole.bytes && extent.bytes <= whole.bytes - at)
        };
        if let Some((whole, name)) = self.statics.iter().find(|(whole, _)| holds(whole)) {
            return Some(NamedObject { whole: *whole, name: name.clone(), is_called: true, is_array: false });
        }
        if let Some(room) = self.room.try_lock()
            && let Some((whole, name)) = room.name_before(extent.offset).filter(|(whole, _)| holds(whole))
        {
            return Some(NamedObject { whole, name: name.to_owned(), is_called: false, is_array: false });
        }
        let found @ Allocation { offset, bytes, made, .. } = *self.ledger.try_lock()?.find(extent.offset)?;
        let whole = Extent { offset, bytes };
        let is_array = made.is_some_and(|made| made.is_array);
        let name = self.given(&found).unwrap_or_else(|| found.to_string());
        holds(&whole).then_some(NamedObject { whole, name, is_called: made.is_none(), is_array })
    }

    /// Returns the name under which a later job finds an allocation.
    pub(crate) fn given(&self, found: &Allocation) -> Option<String> {
        let persistent_partitions =
            self.persistent_partitions.upgrade().filter(|_| found.owner == Owner::Name)?;
        let persistent_partitions = persistent_partitions.try_lock()?;
        let partition = persistent_partitions.iter().find(|partition| partition.segment == found.segment)?;
        let object =
            partition.objects.iter().find(|object| partition.start + object.offset == found.offset)?;
        Some(format!("`{}`", object.name))
    }
}

#[cfg(test)]
mod tests {
    use shmem_core::heap::Allocator;
    use shmem_core::text::Text;

    use super::*;

    #[test]
    fn an_offset_is_named_by_what_lies_there() {
        let extent = |offset, bytes| Extent { offset, bytes };
        let statics = [(extent(64, 8), "READY".to_owned()), (extent(128, 80), "FLAGS".to_owned())];
        let mut ledger = Ledger::new();
        ledger.add_heap(1, Allocator::new(1, Text::head("default"), 4096..8192, 4096));
        let block = ledger.allocate(1, 24, 8, Owner::Handle).unwrap();
        let mut room = TeamAllocator::new(9000..9900);
        room.propose(0, 32, 8).unwrap();
        room.name(9000, 32, "object of a team".to_owned());
        let (statics, ledger, room) =
            (statics.into(), Arc::new(Mutex::new(ledger)), Arc::new(Mutex::new(room)));
        let names = ObjectNames { statics, ledger, persistent_partitions: Weak::new(), room };
        let name = |offset| names.word_at(offset);
        let none = |offset| format!("a word at offset {offset:#x}");
        let expected = ["READY", "READY + 7 bytes", &none(72), "FLAGS", "FLAGS + 72 bytes", &none(208)];
        assert_eq!([64, 71, 72, 128, 200, 208].map(name), expected);
        let found = [0, 16, 24].map(|at| name(block.offset + at));
        assert_eq!(found, ["heap object #1", "heap object #1 + 16 bytes", &none(block.offset + 24)]);
        let expected = ["object of a team + 8 bytes", &none(9040), &none(usize::MAX)];
        assert_eq!([9008, 9040, usize::MAX].map(name), expected);
        let _held = names.ledger.lock();
        assert_eq!(name(block.offset), none(block.offset), "nobody waits for a name");
    }
}
