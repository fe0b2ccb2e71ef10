//! A library that has a world of its own.

#[unsafe(no_mangle)]
extern "C" fn start() {
    let _world = other::init::<other::thread::Single>().unwrap();
}
