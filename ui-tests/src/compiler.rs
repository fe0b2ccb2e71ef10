//! Runs the compiler, with the library `shmem` as a dependency of the compiled programs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use serde_json::Value;
use tempfile::TempDir;

use crate::diagnostic::Diagnostic;

/// The result of compiling a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// Nothing: the program is checked, as by `cargo check`.
    Check,
    /// Machine code, for errors that only code generation finds.
    Code,
    /// An executable program.
    Program,
    /// A library that a program loads at run time.
    Plugin,
    /// A dynamic library called `half`, to which a program is linked.
    Half,
    /// A library called `shmem` that depends on the real library under the name `real`.
    Impostor,
}

/// A compiler, and a library `shmem` that it has built.
#[derive(Debug)]
pub struct Compiler {
    rustc: PathBuf,
    version: String,
    library: PathBuf,
    /// Directories of the library's dependencies. Some versions of Cargo use several directories.
    dependencies: BTreeSet<PathBuf>,
    /// Further crates for programs, by name. The first is `changes`, with macros that change items.
    others: Vec<(&'static str, PathBuf)>,
    directory: TempDir,
}

impl Compiler {
    /// Returns the compiler that Cargo uses for this test. Builds the library in the test's target directory.
    ///
    /// # Panics
    ///
    /// If the library does not build.
    pub fn of_this_test() -> Self {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let rustc = env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from);
        let said = text(Command::new(&rustc).arg("-vV"));
        let version =
            said.lines().find_map(|line| line.strip_prefix("release: ")).unwrap_or_default().to_owned();
        let directory = tempfile::tempdir().expect("a directory for what is built");
        let changes = directory.path().join("libchanges.so");
        let source = package.join("src/compiler/changes.rs");
        let mut macros = Command::new(&rustc);
        macros.args(["--edition=2024", "--crate-type=proc-macro", "--crate-name=changes"]);
        text(macros.arg("-o").arg(&changes).arg(source));
        let (library, dependencies) = library(package);
        Self { version, library, dependencies, others: vec![("changes", changes)], directory, rustc }
    }

    /// Returns the compiler's version, such as `1.95.0`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Compiles `source`, a path relative to this package. Returns the diagnostics, and the path of the result.
    ///
    /// # Panics
    ///
    /// If the compiler does not start, or prints anything but diagnostics.
    pub(crate) fn compile(&self, source: &Path, product: Product) -> (Vec<Diagnostic>, PathBuf) {
        // Each program has a directory of its own, because programs in different directories may have equal names.
        let to = self.directory.path().join(source.with_extension(""));
        fs::create_dir_all(&to).expect("a directory for what is built");
        let (emit, kind, name) = match product {
            Product::Check => ("metadata", "bin", "case"),
            Product::Code => ("obj", "bin", "case"),
            Product::Program => ("link", "bin", "case"),
            Product::Plugin => ("link", "cdylib", "case"),
            Product::Half => ("link", "dylib", "half"),
            Product::Impostor => ("link", "rlib", "shmem"),
        };
        let library = if product == Product::Impostor { "real" } else { library_name(source) };
        let output = Command::new(&self.rustc)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["--edition=2024", "--error-format=json"])
            .args((product == Product::Half).then_some("-Cprefer-dynamic"))
            .arg(format!("--crate-name={name}"))
            .arg(format!("--crate-type={kind}"))
            .args(["-Adead_code", "-Cdebuginfo=0", "-Cdebug-assertions=on"])
            .arg(format!("--emit={emit}"))
            .arg("--out-dir")
            .arg(&to)
            .args(self.dependencies.iter().map(|place| format!("-Ldependency={}", place.display())))
            .arg(format!("--extern={library}={}", self.library.display()))
            .args(self.others.iter().flat_map(|(name, other)| {
                let deps = other.parent().expect("a file in a directory");
                [format!("-Ldependency={}", deps.display()), format!("--extern={name}={}", other.display())]
            }))
            .arg(source)
            .output()
            .expect("rustc starts");
        let file = match kind {
            "bin" => name.to_owned(),
            "rlib" => format!("lib{name}.rlib"),
            _ => format!("lib{name}.so"),
        };
        (diagnostics(&output), to.join(file))
    }

    /// Returns the compiler with a further crate for programs.
    #[must_use]
    pub fn with(mut self, name: &'static str, file: PathBuf) -> Self {
        self.others.push((name, file));
        self
    }

    /// Returns the compiler with `impostor` in place of the library. The impostor depends on the library.
    #[must_use]
    pub fn with_impostor(mut self, impostor: PathBuf) -> Self {
        self.library = impostor;
        self
    }

    /// Compiles `source`, and returns the path of the result.
    ///
    /// # Errors
    ///
    /// The compiler's diagnostics.
    pub fn build(&self, source: &str, product: Product) -> Result<PathBuf, String> {
        let (said, built) = self.compile(Path::new(source), product);
        let said: Vec<String> = said.iter().map(|diagnostic| diagnostic.text()).collect();
        if said.is_empty() { Ok(built) } else { Err(said.join("\n")) }
    }

    /// Runs rustdoc on `source`.
    ///
    /// # Errors
    ///
    /// The errors of rustdoc, one on each line.
    ///
    /// # Panics
    ///
    /// If rustdoc does not start.
    pub fn document(&self, source: &Path) -> Result<(), String> {
        let mut rustdoc = Command::new(env::var_os("RUSTDOC").unwrap_or("rustdoc".into()));
        rustdoc.args(["--edition=2024", "--error-format=short", "--out-dir"]).arg(self.directory.path());
        rustdoc.args(self.dependencies.iter().map(|place| format!("-Ldependency={}", place.display())));
        rustdoc.arg(format!("--extern=shmem={}", self.library.display())).arg(source);
        let output = rustdoc.output().expect("rustdoc starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(said) }
    }
}

/// Returns the name under which a program imports the library: `pgas` in the program `renamed`, or else `shmem`.
fn library_name(source: &Path) -> &'static str {
    if source.file_stem().is_some_and(|name| name == "renamed") { "pgas" } else { "shmem" }
}

fn diagnostics(output: &Output) -> Vec<Diagnostic> {
    let said = String::from_utf8_lossy(&output.stderr);
    said.lines()
        .map(|line| match serde_json::from_str(line) {
            Ok(diagnostic) => diagnostic,
            Err(error) => panic!("rustc says what is no diagnostic ({error}): {line}"),
        })
        .filter(|diagnostic: &Diagnostic| !diagnostic.is_summary())
        .collect()
}

/// Returns the path of the library, and the directories of its dependencies.
fn library(package: &Path) -> (PathBuf, BTreeSet<PathBuf>) {
    let test = env::current_exe().expect("the path of this test");
    // Only the top of the target directory has this file.
    let target = test.ancestors().find(|directory| directory.join(".rustc_info.json").exists());
    let target = target.expect("it lies in Cargo's target directory");
    let said = text(
        Command::new(env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from))
            .current_dir(package)
            .args(["build", "--quiet", "--lib", "--message-format=json", "--target-dir"])
            .arg(target),
    );
    let files = |line: &str| -> Vec<PathBuf> {
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        let files = message["filenames"].as_array().into_iter().flatten();
        files.filter_map(Value::as_str).map(PathBuf::from).collect()
    };
    let dependencies = said.lines().flat_map(files).filter_map(|file| Some(file.parent()?.to_path_buf()));
    let is_library =
        |line: &&str| line.contains(r#""name":"shmem""#) && line.contains(r#""crate_types":["lib"]"#);
    let mut library = said.lines().filter(is_library).flat_map(files);
    let library = library.find(|file| file.extension().is_some_and(|extension| extension == "rlib"));
    (library.expect("Cargo names the library `shmem` among what it built"), dependencies.collect())
}

/// Returns the standard output of a command, which must succeed.
fn text(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?} ended with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}
