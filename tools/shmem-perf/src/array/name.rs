//! What cases of arrays are called.

use crate::name::{names, words};

names! {
    NextLayer(storage: StorageName, bytes: usize, pes: usize) = "array": ["next-layer" / storage / bytes / pes];
    Pes(pes: usize) = "array": ["technique" / "pes" / pes];
    Technique(storage: StorageName) = "array": ["technique" / storage];
    Loop(storage: StorageName, way: Way) = "array": [storage / way];
    /// 256 KiB in a cache.
    Cached(storage: StorageName, way: Way) = "array": [storage / way / "cache"];
    /// Of several dimensions.
    Shaped(storage: StorageName, way: Way, dimensions: usize) = "array": [storage / way / dimensions];
}

words! {
    /// Where the memory of an array is.
    StorageName {
        Single = "single", Separate = "separate", Cyclic = "cyclic", Multi = "multi",
        /// Nobody has named one.
        Chosen = "chosen",
    }
}

words! {
    /// How a loop goes through an array; the last ones by all threads.
    Way {
        Index = "index", Iter = "iter", Each = "each", Zip = "zip", Chunks = "chunks", Read = "read",
        ParIndex = "par-index", ParIter = "par-iter", ParChunks = "par-chunks", ParRead = "par-read",
    }
}

impl StorageName {
    /// The four that a program may name.
    pub const NAMED: [Self; 4] = [Self::Single, Self::Separate, Self::Cyclic, Self::Multi];

    /// Whether elements lie in one range of addresses.
    pub(crate) const fn is_one_range(self) -> bool {
        matches!(self, Self::Single | Self::Separate | Self::Cyclic)
    }
}
