//! The gateway's certificate authority: one per installation, created on first use, stored in a
//! folder of the user.
//!
//! Key and certificate are in one file, `ca.pem` (mode 0600). It is created by a rename that never
//! replaces a file, so it is whole or absent. If two processes start at once, one wins and the
//! other uses the winner's file. The certificate alone is in `ca.crt` beside it, for import
//! elsewhere.
//!
//! The certificates of hosts are valid from 2000 to 2049, because the virtual clock may be set to
//! any of those years. That of the authority ends 90 days after it was made, so that a store in
//! which somebody has put it trusts it no longer than that. After 45 days the next command makes a
//! new one for the same key. Browsers of ours trust the key.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use parking_lot::Mutex;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PublicKeyData, date_time_ymd,
};
use rustls::crypto::CryptoProvider;
use rustls::server::ProducesTickets;
use rustls::sign::SigningKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use sha2::{Digest, Sha256};

use super::leaf::Leaves;

/// How long the authority's certificate is valid, and its age at which it is made anew.
const VALID_FOR: Duration = Duration::from_secs(90 * DAY);
const RENEW_AFTER: Duration = Duration::from_secs(45 * DAY);
const DAY: u64 = 24 * 60 * 60;
const FILE: &str = "ca.pem";
const PUBLIC_FILE: &str = "ca.crt";

/// The authority that signs the certificates shown to clients.
pub struct CertificateAuthority {
    pub(super) issuer: Issuer<'static, KeyPair>,
    pub(super) certificate: CertificateDer<'static>,
    pub(super) leaf_key: KeyPair,
    pub(super) leaf_signer: Arc<dyn SigningKey>,
    pub(super) provider: Arc<CryptoProvider>,
    pub(super) ticketer: Arc<dyn ProducesTickets>,
    pub(super) leaves: Mutex<Leaves>,
    pem: String,
    spki_sha256: String,
    public_path: Option<Utf8PathBuf>,
}

/// Why the authority's files cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// A file system error.
    #[error("{action} {path}")]
    Io {
        /// The attempted action.
        action: &'static str,
        /// The file or folder.
        path: Utf8PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file exists but does not have the expected format.
    #[error(
        "read the certificate authority in {path}: {reason}; remove the file to have a new one made"
    )]
    Malformed {
        /// The file.
        path: Utf8PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A key or certificate could not be created.
    #[error("make a certificate for {subject}")]
    Sign {
        /// The subject of the certificate.
        subject: String,
        /// The cause.
        source: rcgen::Error,
    },
    /// TLS could not be configured with the certificate.
    #[error("set up TLS for {subject}")]
    Tls {
        /// The subject of the certificate.
        subject: String,
        /// The cause.
        source: rustls::Error,
    },
}

impl std::fmt::Debug for CertificateAuthority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CertificateAuthority")
            .field("spki_sha256", &self.spki_sha256)
            .finish_non_exhaustive()
    }
}

impl CertificateAuthority {
    /// Loads the authority from `dir`, or creates it there.
    pub fn load_or_create(dir: &Utf8Path) -> Result<Self, AuthorityError> {
        let io = |action, path: &Utf8Path| {
            let path = path.to_owned();
            move |source| AuthorityError::Io { action, path, source }
        };
        let path = dir.join(FILE);
        make_private(dir).map_err(io("create the folder", dir))?;
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let fresh = generate()?;
                // If another process was faster, its clients trust the authority that it has
                // published.
                if publish(&path, fresh.as_bytes()).map_err(io("write", &path))? {
                    fresh
                } else {
                    fs::read_to_string(&path).map_err(io("read", &path))?
                }
            }
            Err(error) => return Err(io("read", &path)(error)),
        };
        let metadata = fs::metadata(&path).map_err(io("read", &path))?;
        if metadata.permissions().mode() & 0o077 != 0 {
            tracing::warn!(%path, "the certificate authority's key was readable by others; made private again");
            fs::set_permissions(&path, Permissions::from_mode(0o600))
                .map_err(io("protect", &path))?;
        }
        let text = match metadata.modified().ok().and_then(|made| made.elapsed().ok()) {
            Some(age) if age > RENEW_AFTER => {
                let renewed = renew(&text, &path)?;
                write_beside(&path, renewed.as_bytes())
                    .and_then(|file| file.persist(&path).map(drop).map_err(|error| error.error))
                    .map_err(io("write", &path))?;
                renewed
            }
            _ => text,
        };
        let mut authority = Self::from_pem(&text, &path)?;

        // Clients get a file of their own, because the other one holds the key.
        let public = dir.join(PUBLIC_FILE);
        if fs::read_to_string(&public).ok().as_deref() != Some(&authority.pem) {
            replace(&public, authority.pem.as_bytes()).map_err(io("write", &public))?;
        }
        authority.public_path = Some(public);
        Ok(authority)
    }

    /// An authority that lives as long as the process; for tests and throw-away runs.
    pub fn in_memory() -> Result<Self, AuthorityError> {
        Self::from_pem(&generate()?, Utf8Path::new("memory"))
    }

    fn from_pem(text: &str, path: &Utf8Path) -> Result<Self, AuthorityError> {
        let malformed =
            |reason: String| AuthorityError::Malformed { path: path.to_owned(), reason };
        let key = PrivateKeyDer::from_pem_slice(text.as_bytes())
            .map_err(|error| malformed(error.to_string()))?;
        let certificate = CertificateDer::from_pem_slice(text.as_bytes())
            .map_err(|error| malformed(error.to_string()))?;
        let key = KeyPair::try_from(&key).map_err(|error| malformed(error.to_string()))?;
        let public_key = key.subject_public_key_info();
        // A certificate has the public key as it is, so that it need not be parsed.
        if !certificate.windows(public_key.len()).any(|window| window == public_key) {
            return Err(malformed("key and certificate do not belong together".to_owned()));
        }
        let pem = text
            .find("-----BEGIN CERTIFICATE-----")
            .map(|start| text[start..].to_owned())
            .ok_or_else(|| malformed("no certificate".to_owned()))?;

        let provider = super::provider();
        let sign = |source| AuthorityError::Sign { subject: "leaves".to_owned(), source };
        let tls = |source| AuthorityError::Tls { subject: "leaves".to_owned(), source };
        let leaf_key = KeyPair::generate().map_err(sign)?;
        let leaf_der = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(leaf_key.serialize_der()));
        Ok(Self {
            spki_sha256: BASE64_STANDARD.encode(Sha256::digest(&public_key)),
            issuer: Issuer::new(params(), key),
            certificate,
            leaf_signer: provider.key_provider.load_private_key(leaf_der).map_err(tls)?,
            leaf_key,
            ticketer: rustls::crypto::ring::Ticketer::new().map_err(tls)?,
            provider,
            leaves: Mutex::default(),
            pem,
            public_path: None,
        })
    }

    /// The certificate as PEM, for clients to trust.
    pub fn certificate_pem(&self) -> &str {
        &self.pem
    }

    /// The file with the certificate alone; `None` for [`Self::in_memory`].
    pub fn certificate_path(&self) -> Option<&Utf8Path> {
        self.public_path.as_deref()
    }

    /// The authority's public key in the form of Chromium's
    /// `--ignore-certificate-errors-spki-list`: base64 of the SHA-256 of its SubjectPublicKeyInfo.
    /// The authority is part of every chain shown, so this one value covers every host.
    pub fn spki_sha256_base64(&self) -> &str {
        &self.spki_sha256
    }
}

/// The identity of the authority as an issuer. Must never change, because it is part of the
/// certificates on users' disks.
fn params() -> CertificateParams {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, "sandbox local authority");
    name.push(DnType::OrganizationName, "sandbox");
    let mut params = CertificateParams::default();
    params.distinguished_name = name;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::CrlSign,
        KeyUsagePurpose::DigitalSignature,
    ];
    params.not_before = date_time_ymd(2000, 1, 1);
    let end = Timestamp::now()
        .saturating_add(VALID_FOR)
        .unwrap_or(Timestamp::MAX)
        .to_zoned(TimeZone::UTC);
    let part = |number: i8| u8::try_from(number).unwrap_or(1);
    params.not_after = date_time_ymd(end.year().into(), part(end.month()), part(end.day()));
    params
}

/// A new key and its certificate, in the file's format.
fn generate() -> Result<String, AuthorityError> {
    let sign = |source| AuthorityError::Sign { subject: "the authority".to_owned(), source };
    let key = KeyPair::generate().map_err(sign)?;
    let certificate = params().self_signed(&key).map_err(sign)?;
    Ok(format!("{}{}", key.serialize_pem(), certificate.pem()))
}

/// A new certificate for the key in a file's text, with that key.
fn renew(text: &str, path: &Utf8Path) -> Result<String, AuthorityError> {
    let malformed = |source: rcgen::Error| AuthorityError::Malformed {
        path: path.to_owned(),
        reason: source.to_string(),
    };
    let key = KeyPair::from_pem(text).map_err(malformed)?;
    let certificate = params().self_signed(&key).map_err(malformed)?;
    Ok(format!("{}{}", key.serialize_pem(), certificate.pem()))
}

/// Creates a folder that only its owner can enter, and shuts one that others can write to: whoever
/// can, can put another key in the place of ours.
fn make_private(dir: &Utf8Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let mode = fs::metadata(dir)?.permissions().mode();
    if mode & 0o022 == 0 { Ok(()) } else { fs::set_permissions(dir, Permissions::from_mode(0o700)) }
}

/// Creates a private file atomically under its name; `false` if one exists by then.
fn publish(path: &Utf8Path, bytes: &[u8]) -> io::Result<bool> {
    match write_beside(path, bytes)?.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.error),
    }
}

/// Replaces a public file by one rename.
fn replace(path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    let file = write_beside(path, bytes)?;
    file.as_file().set_permissions(Permissions::from_mode(0o644))?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Writes a temporary file in the same folder. Temporary files have mode 0600.
fn write_beside(path: &Utf8Path, bytes: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Utf8Path::new(".")))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(dir.path()).unwrap().join("data");
        (dir, path)
    }

    #[test]
    fn an_old_certificate_is_made_anew_for_the_same_key_in_a_folder_that_is_shut() {
        let (_keep, dir) = folder();
        let first = CertificateAuthority::load_or_create(&dir).unwrap();
        let file = dir.join(FILE);
        let age = |age: Duration| {
            let made = std::time::SystemTime::now().checked_sub(age).unwrap();
            File::options().write(true).open(&file).unwrap().set_modified(made).unwrap();
            CertificateAuthority::load_or_create(&dir).unwrap()
        };
        assert_eq!(
            age(RENEW_AFTER - Duration::from_secs(60)).certificate_pem(),
            first.certificate_pem()
        );
        let renewed = age(RENEW_AFTER + Duration::from_secs(60));
        assert_ne!(renewed.certificate_pem(), first.certificate_pem());
        assert_eq!(renewed.spki_sha256_base64(), first.spki_sha256_base64());
        assert_eq!(fs::read_to_string(dir.join(PUBLIC_FILE)).unwrap(), renewed.certificate_pem());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
        fs::set_permissions(&dir, Permissions::from_mode(0o777)).unwrap();
        CertificateAuthority::load_or_create(&dir).unwrap();
        assert_eq!(fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn the_same_authority_comes_back() {
        let (_keep, dir) = folder();
        let first = CertificateAuthority::load_or_create(&dir).unwrap();
        let again = CertificateAuthority::load_or_create(&dir).unwrap();
        assert_eq!(first.certificate_pem(), again.certificate_pem());
        assert_eq!(first.spki_sha256_base64(), again.spki_sha256_base64());
        assert_eq!(fs::read_to_string(dir.join(PUBLIC_FILE)).unwrap(), first.certificate_pem());
        assert!(!first.certificate_pem().contains("PRIVATE"));
        assert_eq!(fs::metadata(dir.join(FILE)).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn many_at_once_agree_on_one() {
        let (_keep, dir) = folder();
        let keys: std::collections::HashSet<String> = std::thread::scope(|scope| {
            let starts: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        CertificateAuthority::load_or_create(&dir)
                            .unwrap()
                            .certificate_pem()
                            .to_owned()
                    })
                })
                .collect();
            starts.into_iter().map(|start| start.join().unwrap()).collect()
        });
        assert_eq!(keys.len(), 1);
        let names: Vec<_> =
            fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "left over: {names:?}");
    }

    #[test]
    fn a_key_that_others_can_read_is_made_private() {
        let (_keep, dir) = folder();
        CertificateAuthority::load_or_create(&dir).unwrap();
        fs::set_permissions(dir.join(FILE), Permissions::from_mode(0o644)).unwrap();
        CertificateAuthority::load_or_create(&dir).unwrap();
        assert_eq!(fs::metadata(dir.join(FILE)).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn garbage_and_strangers_are_refused_with_the_cure() {
        let (_keep, dir) = folder();
        CertificateAuthority::load_or_create(&dir).unwrap();
        let stranger = KeyPair::generate().unwrap().serialize_pem();
        let certificate = fs::read_to_string(dir.join(PUBLIC_FILE)).unwrap();
        for text in
            [String::new(), "garbage".to_owned(), certificate.clone(), stranger + &certificate]
        {
            fs::write(dir.join(FILE), text).unwrap();
            let error = CertificateAuthority::load_or_create(&dir).unwrap_err().to_string();
            assert!(error.contains("remove the file"), "{error}");
        }
    }
}
