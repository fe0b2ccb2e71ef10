//! Tests whose PEs are copies of them: such a test runs its body in a PE, and otherwise looks at what becomes of jobs.

use shmem::World;
use shmem::launch::Launch;
use shmem::thread::ThreadLevel;

use crate::scenario;

/// A test whose PEs are copies of it, by its path in this program.
#[derive(Clone, Copy)]
pub(crate) struct Case(&'static str);

impl Case {
    /// The test with this path; runs the body instead in one of its PEs.
    pub(crate) fn of<L: ThreadLevel>(path: &'static str, body: fn(&mut World<L>)) -> Option<Self> {
        let (_, path) = path.split_once("::").expect("a path begins with the program");
        if scenario::named().as_deref() != Some(path) {
            return Some(Self(path));
        }
        let mut world = shmem::init().unwrap_or_else(|error| {
            eprintln!("{error}");
            std::process::exit(3)
        });
        body(&mut world);
        None
    }

    pub(crate) fn job(self, pes: usize) -> Launch {
        scenario::entered(Launch::new(std::env::current_exe().unwrap(), pes), self.0, self.0)
    }

    /// A job below a program that runs its arguments.
    pub(crate) fn below(self, program: Launch) -> Launch {
        scenario::entered(program.args([std::env::current_exe().unwrap()]), self.0, self.0)
    }
}

/// Tests by name, with what their PEs do, and what is looked at.
macro_rules! jobs {
    ($($(#[$doc:meta])* $name:ident($world:ident: $type:ty) $body:block => |$case:ident| $then:expr;)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            let body: fn($type) = |$world| $body;
            if let Some($case) = $crate::case::Case::of(concat!(module_path!(), "::", stringify!($name)), body) {
                $then
            }
        }
    )*};
}
pub(crate) use jobs;
