//! The build context of an image: a folder as a tar stream with the same bytes on every machine.
//!
//! Entries are sorted by path. Owners are root, times are fixed, and modes are 755 or 644. So the
//! digest of the stream says whether an image must be rebuilt, and images do not depend on the
//! checkout.

use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;

use bytes::Bytes;
use camino::{Utf8Path, Utf8PathBuf};
use futures_util::Stream;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;

use crate::Error;
use crate::ignore::Ignore;

/// 2023-06-15 09:00:00 UTC, the start time of our own sites.
const MTIME: u64 = 1_686_819_600;

/// The stream is sent in pieces of this many bytes. A few of them wait in memory.
const PIECE: usize = 64 * 1024;

/// Increase the number when a change in this crate changes the image of an unchanged folder.
const SCHEME: &[u8] = b"sandbox images 1\n";

/// An entry of the context.
#[derive(Debug, Clone)]
struct Member {
    /// Its path in the tar, with slashes.
    name: String,
    /// Its path on disk.
    path: Utf8PathBuf,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Folder,
    File { size: u64, executable: bool },
    Link { target: Utf8PathBuf },
}

/// The build context of one image.
#[derive(Debug, Clone, Default)]
pub(crate) struct Context {
    members: Vec<Member>,
}

impl Context {
    /// Lists a folder, without what [`Ignore`] excludes.
    pub(crate) fn of(folder: &Utf8Path) -> Result<Context, Error> {
        let path = folder.join(".dockerignore");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Error::of_file("read", &path)(error)),
        };
        let ignore = Ignore::parse(&text).map_err(|why| Error::Malformed { path, why })?;
        let mut context = Context::default();
        context.add(folder, "", &ignore)?;
        Ok(context)
    }

    /// Adds the files of another folder under `name`.
    pub(crate) fn with(mut self, name: &str, folder: &Utf8Path) -> Result<Context, Error> {
        let nothing = Ignore::parse("").expect("an empty text is well formed");
        self.members.push(Member {
            name: name.to_owned(),
            path: folder.to_owned(),
            kind: Kind::Folder,
        });
        self.add(folder, &format!("{name}/"), &nothing)?;
        Ok(self)
    }

    /// Adds a file from elsewhere as `name`.
    pub(crate) fn with_file(mut self, name: &str, path: &Utf8Path) -> Result<Context, Error> {
        let kind = kind(path)?;
        self.members.push(Member { name: name.to_owned(), path: path.to_owned(), kind });
        Ok(self)
    }

    /// Replaces a file of the folder.
    pub(crate) fn instead(mut self, name: &str, path: &Utf8Path) -> Result<Context, Error> {
        let kind = kind(path)?;
        for member in self.members.iter_mut().filter(|member| member.name == name) {
            (member.path, member.kind) = (path.to_owned(), kind.clone());
        }
        Ok(self)
    }

    fn add(&mut self, folder: &Utf8Path, prefix: &str, ignore: &Ignore) -> Result<(), Error> {
        let mut paths = Vec::new();
        for entry in folder.read_dir_utf8().map_err(Error::of_file("read", folder))? {
            paths.push(entry.map_err(Error::of_file("read", folder))?.into_path());
        }
        // Sorted, so that the same folder makes the same bytes.
        paths.sort();
        for path in paths {
            let name = format!("{prefix}{}", path.file_name().unwrap_or_default());
            if ignore.covers(&name) && name != "Dockerfile" {
                continue;
            }
            let kind = kind(&path)?;
            let folder = matches!(kind, Kind::Folder);
            self.members.push(Member { name: name.clone(), path: path.clone(), kind });
            if folder {
                self.add(&path, &format!("{name}/"), ignore)?;
            }
        }
        Ok(())
    }

    /// The digest for the image's label.
    pub(crate) fn digest(&self) -> io::Result<String> {
        let mut hash = Hash(Sha256::new());
        hash.0.update(SCHEME);
        self.write(&mut hash)?;
        Ok(format!("sha256:{}", hex::encode(hash.0.finalize())))
    }

    /// The tar as a stream, which reads files on demand.
    pub(crate) fn stream(self) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
        let (sender, receiver) = mpsc::channel(4);
        tokio::task::spawn_blocking(move || {
            let mut pieces = io::BufWriter::with_capacity(PIECE, Pieces(sender.clone()));
            if let Err(error) = self.write(&mut pieces).and_then(|()| pieces.flush()) {
                // If the receiver is gone, nobody needs the error.
                let _ = sender.blocking_send(Err(error));
            }
        });
        futures_util::stream::unfold(receiver, |mut receiver| async {
            Some((receiver.recv().await?, receiver))
        })
    }

    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut tar = tar::Builder::new(to);
        for member in &self.members {
            let mut header = tar::Header::new_gnu();
            // The same files make the same bytes, whoever has checked them out, so that the
            // engine's cache holds.
            header.set_mtime(MTIME);
            header.set_uid(0);
            header.set_gid(0);
            header.set_mode(0o755);
            header.set_size(0);
            match &member.kind {
                Kind::Folder => {
                    header.set_entry_type(tar::EntryType::Directory);
                    tar.append_data(&mut header, &member.name, io::empty())?;
                }
                Kind::Link { target } => {
                    header.set_entry_type(tar::EntryType::Symlink);
                    tar.append_link(&mut header, &member.name, target)?;
                }
                Kind::File { size, executable } => {
                    header.set_mode(if *executable { 0o755 } else { 0o644 });
                    header.set_size(*size);
                    let file = std::fs::File::open(&member.path).map_err(|error| {
                        io::Error::new(error.kind(), format!("{}: {error}", member.path))
                    })?;
                    tar.append_data(
                        &mut header,
                        &member.name,
                        Exactly { file: file.take(*size), left: *size },
                    )?;
                }
            }
        }
        tar.finish()
    }
}

fn kind(path: &Utf8Path) -> Result<Kind, Error> {
    let metadata = path.symlink_metadata().map_err(Error::of_file("read", path))?;
    if metadata.is_dir() {
        Ok(Kind::Folder)
    } else if metadata.is_file() {
        Ok(Kind::File {
            size: metadata.len(),
            executable: metadata.permissions().mode() & 0o100 != 0,
        })
    } else if metadata.is_symlink() {
        Ok(Kind::Link { target: path.read_link_utf8().map_err(Error::of_file("read", path))? })
    } else {
        let why = "a build context may have only files, folders and links".to_owned();
        Err(Error::Malformed { path: path.to_owned(), why })
    }
}

/// A file that must keep its listed length; otherwise the tar would be invalid.
struct Exactly {
    file: io::Take<std::fs::File>,
    left: u64,
}

impl Read for Exactly {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        if n == 0 && self.left > 0 && !buffer.is_empty() {
            return Err(io::Error::other(
                "a file of the build context was cut short while it was read",
            ));
        }
        self.left -= n as u64;
        Ok(n)
    }
}

/// A writer that computes a digest.
pub(crate) struct Hash(pub(crate) Sha256);

impl Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Pieces(mpsc::Sender<io::Result<Bytes>>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = Ok(Bytes::copy_from_slice(bytes));
        self.0.blocking_send(piece).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::*;

    fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        for (name, text) in files {
            let file = path.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        (folder, path)
    }

    #[test]
    fn the_digest_depends_on_content_and_not_on_order_times_or_caches() {
        let (_a, a) = folder(&[("Dockerfile", "FROM x"), ("src/b.py", "b"), ("src/a.py", "a")]);
        let (_b, b) = folder(&[("src/a.py", "a"), ("src/b.py", "b"), ("Dockerfile", "FROM x")]);
        std::fs::create_dir(b.join("wheels")).unwrap();
        std::fs::create_dir(b.join("src/__pycache__")).unwrap();
        std::fs::write(b.join("wheels/made-elsewhere.whl"), "x").unwrap();
        let old = std::fs::File::open(b.join("src/a.py")).unwrap();
        old.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        let digest = |path| Context::of(path).unwrap().digest().unwrap();
        assert_eq!(digest(&a), digest(&b));

        std::fs::write(b.join("src/a.py"), "c").unwrap();
        let changed = digest(&b);
        assert_ne!(digest(&a), changed);
        std::fs::set_permissions(b.join("src/a.py"), PermissionsExt::from_mode(0o755)).unwrap();
        assert_ne!(digest(&b), changed);
    }

    #[tokio::test]
    async fn the_stream_is_a_tar_of_the_folder_the_program_and_the_wheels() {
        let (_a, path) = folder(&[("Dockerfile", "FROM x"), ("b/long.txt", &"x".repeat(200_000))]);
        std::os::unix::fs::symlink("b/long.txt", path.join("link")).unwrap();
        let (_w, wheels) = folder(&[("x-1.0-py3-none-any.whl", "wheel")]);
        let context =
            Context::of(&path).unwrap().with_file("program", &path.join("Dockerfile")).unwrap();
        let context = context.with("wheels", &wheels).unwrap();
        let mut bytes = Vec::new();
        let mut stream = std::pin::pin!(context.stream());
        while let Some(piece) = stream.next().await {
            bytes.extend_from_slice(&piece.unwrap());
        }
        let mut names = Vec::new();
        for entry in tar::Archive::new(bytes.as_slice()).entries().unwrap() {
            let entry = entry.unwrap();
            let header = entry.header();
            assert_eq!((header.mtime().unwrap(), header.uid().unwrap()), (MTIME, 0));
            names.push(format!("{} {}", entry.path().unwrap().display(), header.size().unwrap()));
        }
        let expected = [
            "Dockerfile 6",
            "b 0",
            "b/long.txt 200000",
            "link 0",
            "program 6",
            "wheels 0",
            "wheels/x-1.0-py3-none-any.whl 5",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_socket_is_no_part_of_a_context() {
        let (_a, path) = folder(&[("Dockerfile", "FROM x")]);
        let _socket = std::os::unix::net::UnixListener::bind(path.join("s")).unwrap();
        assert!(
            Context::of(&path).unwrap_err().to_string().contains("only files, folders and links")
        );
    }
}
