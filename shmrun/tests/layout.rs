//! `shmem-info layout BINARY` tells what the running job does, for a program with a library, linked
//! with full link-time optimisation and without sections that nothing refers to.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the program in `tests/layout`, apart from the workspace: a copy of it, with the versions that the workspace
/// has.
fn build() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = package.with_file_name("shmem-rt");
    let (source, copy) =
        (package.join("tests/layout"), Path::new(env!("CARGO_TARGET_TMPDIR")).join("layout"));
    let lines = |file: &Path| std::fs::read_to_string(file).unwrap();
    for file in ["Cargo.toml", "app/Cargo.toml", "app/src/main.rs", "fields/Cargo.toml", "fields/src/lib.rs"]
    {
        let (from, to) = (source.join(file), copy.join(file));
        let text =
            lines(&from).replace("\"../../../../shmem-rt\"", &format!("{:?}", library.display().to_string()));
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        // What stays as it is is not built again.
        if std::fs::read_to_string(&to).ok().as_ref() != Some(&text) {
            std::fs::write(to, text).unwrap();
        }
    }
    std::fs::write(copy.join("Cargo.lock"), lines(&package.join("../Cargo.lock"))).unwrap();
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--manifest-path"])
        .arg(copy.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(copy.join("target"))
        .status()
        .unwrap();
    assert!(built.success(), "the program does not build");
    copy.join("target/release/app")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_layout_of_a_file_is_that_of_the_job() {
    let program = build();
    let shown = Command::new(env!("CARGO_BIN_EXE_shmem-info")).arg("layout").arg(&program).output().unwrap();
    let shown = text(&shown.stdout);
    // Name -> (partition, offset in it).
    let mut file: HashMap<String, (String, usize)> = HashMap::new();
    let mut partition = String::new();
    for line in shown.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["partition", _, name, ..] => partition = name.trim_matches([',', '`']).to_owned(),
            [offset, _, _, _, name, _] if offset.starts_with("0x") => {
                let offset = usize::from_str_radix(&offset[2..], 16).unwrap();
                file.insert((*name).to_owned(), (partition.clone(), offset));
            }
            _ => {}
        }
    }
    assert_eq!(file.len(), 7, "all statics, also the one that nobody uses: {shown}");
    assert!(file.contains_key("fields::UNUSED"), "{shown}");

    let job = Command::new(&program).env("SHMEM_NPES", "2").output().unwrap();
    assert!(job.status.success(), "{}", text(&job.stderr));
    let mut starts: HashMap<String, usize> = HashMap::new();
    let said = text(&job.stdout);
    for line in said.lines() {
        let (name, offset) = line.split_once(' ').unwrap();
        let found = file.iter().find(|(full, _)| full.ends_with(&format!("::{name}")) || *full == name);
        let (partition, in_partition) = found.unwrap_or_else(|| panic!("{name} is not in: {shown}")).1;
        let start = offset.parse::<usize>().unwrap() - in_partition;
        assert_eq!(*starts.entry(partition.clone()).or_insert(start), start, "{name} lies elsewhere");
        assert!(start.is_multiple_of(2 << 20), "{name}: a partition starts on 2 MiB, not at {start:#x}");
    }
    assert_eq!((said.lines().count(), starts.len()), (6, 2));
}
