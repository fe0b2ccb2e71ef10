//! Finding the program, before any process is started: a wrong name gets one message instead of one
//! per PE.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

use super::error::LaunchError;

/// The file that `program` means, as shells find it: by its path if it has a `/`, else in the
/// directories of `path`.
pub(crate) fn find(program: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, LaunchError> {
    if program.as_bytes().contains(&b'/') {
        let file = PathBuf::from(program);
        return match check(&file) {
            None => Ok(file),
            Some(_) if !file.exists() => {
                let directory = file.parent().unwrap_or(Path::new("."));
                let hint = nearest(&file, &[directory.to_owned()])
                    .map(|name| format!("did you mean `{}`?", directory.join(name).display()));
                Err(LaunchError::NotFound { program: program.to_owned(), hint })
            }
            Some(reason) => Err(LaunchError::NotExecutable { program: file, reason }),
        };
    }
    let directories: Vec<PathBuf> = path.map(|p| std::env::split_paths(p).collect()).unwrap_or_default();
    let mut unusable = None;
    for directory in &directories {
        let file = directory.join(program);
        if program.is_empty() || !file.exists() {
            continue;
        }
        match check(&file) {
            None => return Ok(file),
            Some(reason) => unusable = Some(LaunchError::NotExecutable { program: file, reason }),
        }
    }
    Err(unusable.unwrap_or_else(|| LaunchError::NotFound {
        program: program.to_owned(),
        hint: hint(program, &directories),
    }))
}

/// Why the file cannot be run, as far as can be seen without trying.
fn check(file: &Path) -> Option<String> {
    let kind = match fs::metadata(file) {
        Ok(metadata) => metadata.file_type(),
        Err(error) => return Some(error.to_string()),
    };
    if kind.is_dir() {
        return Some("it is a directory".into());
    }
    if kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device() {
        return Some("it is no regular file".into());
    }
    if rustix::fs::access(file, Access::EXEC_OK).is_err() {
        return Some(format!("no permission to execute it (chmod +x {})", file.display()));
    }
    let start = head(file)?;
    // What the kernel does not know is given to a shell, which takes it for a script.
    let of_this_host = head(Path::new("/proc/self/exe")).and_then(|start| machine(&start));
    if let (Some(theirs), Some(ours)) = (machine(&start), of_this_host)
        && !runs(theirs, ours)
        && !interpreters().iter().any(|entry| interprets(entry, &start))
    {
        return Some(format!(
            "it was built for another processor (ELF machine {theirs}, and this is {ours})"
        ));
    }
    let interpreter = interpreter(&start)?;
    (!Path::new(&interpreter).exists())
        .then(|| format!("its interpreter `{}` is missing", interpreter.display()))
}

/// The first bytes of a file.
fn head(file: &Path) -> Option<Vec<u8>> {
    use std::io::Read as _;
    let mut head = Vec::new();
    fs::File::open(file).ok()?.take(256).read_to_end(&mut head).ok()?;
    Some(head)
}

/// The processor that an ELF file is for, by its number there (`e_machine` of elf(5)).
fn machine(head: &[u8]) -> Option<u16> {
    const BIG_ENDIAN: u8 = 2;
    let number: [u8; 2] = head.strip_prefix(b"\x7fELF")?.get(14..16)?.try_into().ok()?;
    Some(if head[5] == BIG_ENDIAN { u16::from_be_bytes(number) } else { u16::from_le_bytes(number) })
}

/// Whether a host of one processor may run what was built for another one: its kernel says whether it does.
fn runs(theirs: u16, ours: u16) -> bool {
    /// x86-64 with i386, and AArch64 with ARM.
    const WITH_32_BITS: [(u16, u16); 2] = [(62, 3), (183, 40)];
    theirs == ours || WITH_32_BITS.contains(&(ours, theirs))
}

/// The entries for programs that others run, such as those for another processor (binfmt_misc).
fn interpreters() -> Vec<String> {
    let entries = fs::read_dir("/proc/sys/fs/binfmt_misc").into_iter().flatten().flatten();
    entries.filter_map(|entry| fs::read_to_string(entry.path()).ok()).collect()
}

/// Whether a program that begins so is run by whom such an entry names: for programs of its processor.
fn interprets(entry: &str, head: &[u8]) -> bool {
    let magic = entry.lines().find_map(|line| line.strip_prefix("magic 7f454c46"));
    // The digits of the same two bytes as in `machine`, behind the first four.
    let theirs = head.get(18..20).map(|bytes| format!("{:02x}{:02x}", bytes[0], bytes[1]));
    // One that does not name a processor serves programs of any.
    let serves = magic.is_some_and(|magic| magic.get(28..32).is_none_or(|of| Some(of) == theirs.as_deref()));
    entry.starts_with("enabled") && serves
}

/// What stands behind `#!`.
fn interpreter(head: &[u8]) -> Option<OsString> {
    let line = head.strip_prefix(b"#!")?.split(|&b| b == b'\n').next()?;
    let name = line.trim_ascii().split(|b| b.is_ascii_whitespace()).next()?;
    (!name.is_empty()).then(|| OsStr::from_bytes(name).to_owned())
}

fn hint(program: &OsStr, directories: &[PathBuf]) -> Option<String> {
    if !program.is_empty() && Path::new(program).is_file() {
        return Some(format!(
            "a file of that name is in this directory: did you mean `./{}`?",
            program.display()
        ));
    }
    nearest(Path::new(program), directories).map(|name| format!("did you mean `{name}`?"))
}

/// The name in the directories that is nearest to that of `file`, if it is near.
fn nearest(file: &Path, directories: &[PathBuf]) -> Option<String> {
    let wanted = file.file_name()?.to_str()?;
    // One slip in a short name, two in a longer one.
    let most = if wanted.chars().count() < 5 { 1 } else { 2 };
    directories
        .iter()
        .filter_map(|directory| fs::read_dir(directory).ok())
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .map(|name| (strsim::damerau_levenshtein(wanted, &name), name))
        .filter(|&(distance, _)| distance <= most)
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn directory() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str, mode| {
            let file = directory.path().join(name);
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        };
        file("stencil", "#!/bin/sh\n", 0o755);
        file("notes.txt", "text", 0o644);
        file("broken", "#! /no/such/shell -e\n", 0o755);
        file("sparc", "\x7fELF\x01\x02\x01\0\0\0\0\0\0\0\0\0\0\x02\0\x02", 0o755);
        fs::create_dir(directory.path().join("results")).unwrap();
        directory
    }

    #[test]
    fn a_program_is_found_as_shells_find_it() {
        let d = directory();
        let path = std::env::join_paths([Path::new("/nowhere"), d.path()]).unwrap();
        let stencil = d.path().join("stencil");
        assert_eq!(find(OsStr::new("stencil"), Some(&path)).unwrap(), stencil);
        assert_eq!(find(stencil.as_os_str(), None).unwrap(), stencil);
        assert_eq!(find(OsStr::new("stencil"), None).unwrap_err().code(), 127);
    }

    #[test]
    fn what_another_program_runs_is_known_by_its_first_bytes() {
        // As the kernel shows it.
        let sparc = "enabled\ninterpreter /usr/bin/qemu-sparc\nflags: OCF\noffset 0\n\
                     magic 7f454c4601020100000000000000000000020002\nmask ffffffffffffff00fffffffffffffffffffeffff\n";
        let head = b"\x7fELF\x01\x02\x01\x09\0\0\0\0\0\0\0\0\0\x03\0\x02 and more";
        assert!(interprets(sparc, head));
        let another = sparc.replace("00020002\n", "00020003\n");
        let script = "enabled\noffset 0\nmagic 2321\n";
        for entry in [&sparc.replace("enabled", "disabled"), &another, script, "enabled\nextension .sparc\n"]
        {
            assert!(!interprets(entry, head), "{entry}");
        }
        assert!(!interprets(sparc, &head[..19]), "cut short");
    }

    #[test]
    fn what_cannot_be_run_is_said_with_the_reason() {
        let d = directory();
        for (name, code, text) in [
            ("stencli", 127, "there is no program `stencli`; did you mean `stencil`?"),
            ("tensile-test", 127, "there is no program `tensile-test`"),
            ("notes.txt", 126, "no permission to execute it (chmod +x "),
            ("broken", 126, "its interpreter `/no/such/shell` is missing"),
            ("results", 126, "it is a directory"),
            ("sparc", 126, "it was built for another processor (ELF machine 2, and "),
            ("", 127, "there is no program ``"),
        ] {
            let error = find(OsStr::new(name), Some(d.path().as_os_str())).unwrap_err();
            assert_eq!(error.code(), code, "{error}");
            assert!(error.to_string().contains(text), "{error}");
        }
        let error = find(d.path().join("stenci").as_os_str(), None).unwrap_err().to_string();
        let meant = d.path().join("stencil");
        assert!(error.ends_with(&format!("; did you mean `{}`?", meant.display())), "{error}");
    }
}
