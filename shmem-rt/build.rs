//! Nothing to do: Cargo wants a build script where a package claims the name of a library (`links`), as this one does to
//! be in a program once.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
