//! The program, on several PEs.

use std::process::Command;

#[test]
fn the_vector_is_the_same_on_any_number_of_pes() {
    for pes in ["1", "3", "4"] {
        let program =
            Command::new(env!("CARGO_BIN_EXE_distributed-vector")).env("SHMEM_NPES", pes).output().unwrap();
        assert!(program.status.success(), "{}", String::from_utf8_lossy(&program.stderr));
        let said = String::from_utf8(program.stdout).unwrap();
        assert_eq!(said, "length 168.819, and then 1.000; sum 26.656, last element 0.053\n");
    }
}
