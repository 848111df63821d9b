//! Builds the Rust program of an image on this machine, so that no container needs a compiler.
//!
//! If an image's folder is a package of this workspace (`Cargo.toml`), its build context has the
//! package's binary as `program`. The program is linked statically, so it runs on every Debian
//! version.

use camino::{Utf8Path, Utf8PathBuf};
use tokio::process::Command;

use crate::{Error, Event, OnEvent, Recipe, program};

/// Builds the program of an image for the engine's `machine`. `None` if the folder is not a
/// package. Cargo decides what has to be compiled; its output stays in `cache`.
pub(crate) async fn program(
    recipe: &Recipe,
    cache: &Utf8Path,
    machine: &str,
    on: &OnEvent,
) -> Result<Option<Utf8PathBuf>, Error> {
    let manifest = recipe.folder.join("Cargo.toml");
    if !manifest.exists() {
        return Ok(None);
    }
    on(Event::Doing("building its program"));
    let (target, made) = (format!("{machine}-unknown-linux-gnu"), cache.join("programs"));
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--locked", "--color=never"]).arg("--bin").arg(&recipe.name);
    cargo.arg("--manifest-path").arg(&manifest).arg("--target-dir").arg(&made);
    // An explicit target keeps the flags away from build scripts and macros, which must load
    // libraries.
    cargo.arg("--target").arg(&target).env("CARGO_ENCODED_RUSTFLAGS", flags().join("\x1f"));
    let ended = match program::run(&mut cargo, on).await {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::Missing { program: "cargo", install: INSTALL });
        }
        other => other.map_err(Error::of_file("run cargo for", &manifest))?,
    };
    if !ended.status.success() {
        let doing = format!("build the program of {}", recipe.name);
        return Err(Error::Program {
            doing,
            program: "cargo",
            status: ended.status,
            tail: ended.tail,
            log: None,
        });
    }
    Ok(Some(made.join(target).join("release").join(&recipe.name)))
}

const INSTALL: &str = "sudo apt-get install -y rustup && rustup default stable";

/// Flags for a static program that does not contain local paths.
fn flags() -> Vec<String> {
    let home =
        std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| home + "/.cargo"));
    let remap = home.map(|home| format!("--remap-path-prefix={home}=cargo"));
    ["-Ctarget-feature=+crt-static".to_owned()].into_iter().chain(remap).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn package(source: &str) -> (tempfile::TempDir, Recipe) {
        let keep = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(keep.path().join("small")).unwrap();
        std::fs::create_dir_all(folder.join("src")).unwrap();
        let manifest =
            "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
        let lock = "version = 4\n\n[[package]]\nname = \"small\"\nversion = \"0.1.0\"\n";
        for (name, text) in
            [("Cargo.toml", manifest), ("Cargo.lock", lock), ("src/main.rs", source)]
        {
            std::fs::write(folder.join(name), text).unwrap();
        }
        (keep, Recipe { name: "small".to_owned(), folder })
    }

    /// Whether a 64-bit program names a dynamic loader.
    fn names_a_loader(program: &[u8]) -> bool {
        let number = |at: usize, size: usize| {
            program[at..at + size]
                .iter()
                .rev()
                .fold(0, |number, byte| number << 8 | usize::from(*byte))
        };
        let (table, size, count) = (number(0x20, 8), number(0x36, 2), number(0x38, 2));
        (0..count).any(|segment| number(table + segment * size, 4) == 3)
    }

    #[tokio::test]
    async fn the_program_needs_no_library() {
        let (_keep, recipe) = package("fn main() { println!(\"here\") }");
        let on: OnEvent = Arc::new(|_| ());
        let made = program(&recipe, &recipe.folder.join("cache"), std::env::consts::ARCH, &on)
            .await
            .unwrap()
            .unwrap();
        let says = std::process::Command::new(&made).output().unwrap();
        assert_eq!(says.stdout, b"here\n");
        assert!(!names_a_loader(&std::fs::read(&made).unwrap()), "{made} is linked to libraries");
        let this = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(names_a_loader(&this), "this test itself is linked to libraries");
    }

    #[tokio::test]
    async fn what_does_not_compile_is_told_in_cargos_words() {
        let (_keep, recipe) = package("fn main() { nothing }");
        let on: OnEvent = Arc::new(|_| ());
        let error = program(&recipe, &recipe.folder.join("cache"), std::env::consts::ARCH, &on)
            .await
            .unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("build the program of small: cargo ended with exit status: 101"),
            "{text}"
        );
        assert!(text.contains("\n  last words: error: could not compile `small`"), "{text}");
        let Error::Program { tail, .. } = &error else { panic!("{error}") };
        assert!(tail.iter().any(|line| line.contains("cannot find value `nothing`")), "{tail:?}");
    }

    #[tokio::test]
    async fn a_folder_without_a_package_has_none() {
        let (_keep, recipe) = package("");
        std::fs::remove_file(recipe.folder.join("Cargo.toml")).unwrap();
        let on: OnEvent = Arc::new(|_| ());
        assert_eq!(program(&recipe, "no/such/cache".into(), "x86_64", &on).await.unwrap(), None);
    }
}
