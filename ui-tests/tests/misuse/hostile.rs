//! What a program of safe code may do to the names, traits and macros that expansions meet.
#![forbid(unsafe_code)]

// A module `diagnostic` may change attributes of that name. Their contents are checked nevertheless.
mod diagnostics {
    #[allow(unused_imports)]
    mod diagnostic {
        pub use changes::nothing_required as on_unimplemented;
        pub use changes::nothing_required as do_not_recommend;
    }

    #[shmem::symmetric]
    static READY: bool; //~

    type Truth = bool;

    #[derive(Clone, Copy, shmem::Symmetric)]
    #[repr(C)]
    struct Flags {
        ready: Truth, //~
    }
}

// A program may name another macro `derive`.
mod derives {
    use changes::words as derive;
    use shmem::Symmetric;
    use std::prelude::v1::derive as standard;

    #[standard(Clone, Copy)]
    #[standard(Symmetric)]
    #[derive((C) => (C, align(16)))]
    #[repr(C)]
    pub struct Row { //~
        value: u64,
    }
}

mod attributes {
    #[allow(unused_imports)]
    use changes::words as shmem;

    #[::shmem::symmetric]
    #[shmem(BELOW => ANOTHER)] //~
    static BELOW: u64 = 5;
}

// The expression of an array's length can use names around the array.
mod lengths {
    use shmem::prelude::*;

    trait __Holds {
        const CHECKED: () = ();
    }

    #[derive(Clone, Copy)]
    pub struct Text(&'static str);

    #[derive(Clone, Copy)]
    pub struct Other(&'static str);

    #[symmetric]
    static TEXTS: [Other; { //~
        impl __Holds for Other {}
        8
    }];

    #[derive(Clone, Copy, Symmetric)]
    #[repr(C)]
    pub struct Local {
        text: Text, //~
        bytes: [u8; {
            impl __Holds for Text {} //~
            8
        }],
    }
}

// A program that gives the path of the library must say `unsafe`: any code can be at the path.
mod paths {
    use shmem::prelude::*;

    pub mod elsewhere {
        pub mod __private {
            #[allow(unused_imports)]
            pub use shmem::__private::*;
        }
    }

    #[derive(Clone, Copy, Symmetric)]
    #[shmem(crate = crate::paths::elsewhere)] //~
    #[repr(C)]
    struct Pair {
        first: u64,
        second: u64,
    }

    #[derive(Clone, Copy, Symmetric)]
    #[shmem(unsafe(crate = ::shmem))] //~
    #[repr(C)]
    struct Promised {
        first: u64,
        second: u64,
    }

    #[symmetric(unsafe(partition = "fast"))] //~
    static A: u64;
}

// This macro expands to `bool` in the struct, and to `u8` elsewhere.
mod types {
    #[derive(Clone, Copy, shmem::Symmetric)]
    #[repr(C)]
    struct Meanings {
        ready: changes::each_time!((u8) (bool)), //~
    }
}

fn main() {}
