use shmem_core::partition::{Declaration, StaticEntry, Traits};
use shmem_core::text::Text;

use super::*;

fn binary() -> Binary {
    let traits = Traits { size: Some(64 << 10), ..Traits::NONE };
    let bulk = Declaration::new("bulk", 7, traits, "src/parts.rs", 3);
    let object = |name: &str, size, line| StaticEntry {
        name: Text::head(name),
        module: Text::head("heat"),
        file: Text::tail("src/main.rs"),
        line,
        size,
        align: 64,
        pgsize: 0,
        partition: bulk,
    };
    Binary {
        statics: vec![object("NEW", 16000, 9), object("HALO", 800, 12)],
        declarations: vec![bulk],
        globals: None,
    }
}

#[test]
fn objects_are_shown_where_a_job_puts_them() {
    let shown = statics(&binary(), &Environment::default()).unwrap();
    assert_eq!(shown.fault, None);
    let text = shown.text();
    // The fourth partition behind `default`, `fast`, `normal`: 4 * 4160 bytes, within an eighth.
    let colour = 4 * 4160 % 8192;
    let expected = format!(
        "partition 7 `bulk`, 64K: 2 static(s), 16800 bytes; {} bytes left for the heap\n  OFFSET   SIZE  ALIGN  PAGES  NAME        PLACE\n   {:#x}    800     64      -  heat::HALO  src/main.rs:12\n   {:#x}  16000     64      -  heat::NEW   src/main.rs:9\n",
        65536 - colour - 832 - 16000,
        colour,
        colour + 832,
    );
    assert!(text.contains(&expected), "{text}\n{expected}");
    assert!(text.contains("partition 1 `default`, 64M: 0 static(s), 0 bytes; "), "{text}");
    assert!(text.ends_with(&format!("fingerprint {:016x}\n", shown.layout.fingerprint())), "{text}");
}

#[test]
fn globals_of_a_program_in_c_are_listed() {
    let global = |address, size, name: &str| Global { address, size, name: name.to_owned() };
    let globals = Some(vec![global(0x4010, 4, "number"), global(0x4040, 4096, "table")]);
    let shown = statics(&Binary { globals, ..binary() }, &Environment::default()).unwrap().text();
    assert!(shown.contains("globals of the program: 2 object(s), 4100 bytes\n"), "{shown}");
    assert!(
        shown.contains("\n   0x4010     4  number\n") || shown.contains("\n  0x4010     4  number\n"),
        "{shown}"
    );
    assert!(!statics(&binary(), &Environment::default()).unwrap().text().contains("globals"));
}
