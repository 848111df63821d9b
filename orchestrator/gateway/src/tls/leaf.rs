//! Host certificates, signed on demand. Recently used ones are cached.
//!
//! Any host gets one, even a host that no route allows. Only behind TLS can a browser be shown the
//! page that says so. Signing costs as much as the handshake that it serves, so only the cache
//! needs a limit.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use rand::Rng;
use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, KeyUsagePurpose,
    SanType, SerialNumber,
};
use rustls::ServerConfig;
use rustls::server::NoServerSessionStorage;
use rustls::sign::{CertifiedKey, SingleCertAndKey};

use super::{AuthorityError, CertificateAuthority, H2, HTTP1};

/// The maximum number of cached hosts. Beyond it the least recently used one is evicted.
const KEPT: usize = 1024;

/// The configurations of hosts, with the time of last use.
#[derive(Default)]
pub(super) struct Leaves {
    kept: HashMap<String, (u64, Arc<ServerConfig>)>,
    uses: u64,
}

impl Leaves {
    fn get(&mut self, host: &str) -> Option<Arc<ServerConfig>> {
        let (last, config) = self.kept.get_mut(host)?;
        self.uses += 1;
        *last = self.uses;
        Some(config.clone())
    }

    fn put(&mut self, host: &str, config: &Arc<ServerConfig>) {
        if self.kept.len() >= KEPT
            && let Some(oldest) =
                self.kept.iter().min_by_key(|(_, (last, _))| *last).map(|(host, _)| host.clone())
        {
            self.kept.remove(&oldest);
        }
        self.uses += 1;
        self.kept.insert(host.to_owned(), (self.uses, config.clone()));
    }
}

impl CertificateAuthority {
    /// The server side of TLS for `host`, a DNS name or an IP address: h2 and HTTP/1.1, session
    /// tickets, and a chain that includes the authority.
    pub fn server_config(&self, host: &str) -> Result<Arc<ServerConfig>, AuthorityError> {
        if let Some(config) = self.leaves.lock().get(host) {
            return Ok(config);
        }
        // Signed outside the lock. Two concurrent signatures for one host are harmless: the later
        // one is kept.
        let config = Arc::new(self.sign(host)?);
        self.leaves.lock().put(host, &config);
        Ok(config)
    }

    fn sign(&self, host: &str) -> Result<ServerConfig, AuthorityError> {
        let sign = |source| AuthorityError::Sign { subject: host.to_owned(), source };
        let tls = |source| AuthorityError::Tls { subject: host.to_owned(), source };
        let name = match host.parse::<IpAddr>() {
            Ok(ip) => SanType::IpAddress(ip),
            Err(_) => SanType::DnsName(host.try_into().map_err(sign)?),
        };
        let mut subject = DistinguishedName::new();
        // A common name holds at most 64 characters. Clients read the alternative name anyway.
        subject.push(DnType::CommonName, host.get(..host.len().min(64)).unwrap_or("host"));
        let mut params = CertificateParams::default();
        params.distinguished_name = subject;
        params.subject_alt_names = vec![name];
        // All leaves share a key, and the library derives the serial number from the key. Without
        // our own, all leaves would have the same number.
        params.serial_number = Some(SerialNumber::from_slice(&serial()));
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        params.not_before = rcgen::date_time_ymd(2000, 1, 1);
        params.not_after = rcgen::date_time_ymd(2049, 12, 31);
        let leaf = params.signed_by(&self.leaf_key, &self.issuer).map_err(sign)?;
        let chain = vec![leaf.der().clone(), self.certificate.clone()];
        let key = CertifiedKey::new(chain, self.leaf_signer.clone());
        let mut config = ServerConfig::builder_with_provider(self.provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(tls)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(key)));
        config.alpn_protocols = vec![H2.to_vec(), HTTP1.to_vec()];
        config.ticketer = self.ticketer.clone();
        // Session tickets are sufficient. The memory for a host's session cache would be larger
        // than its certificate.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        Ok(config)
    }
}

/// A random positive number of 16 octets.
fn serial() -> [u8; 16] {
    let mut bytes = [0; 16];
    rand::rng().fill_bytes(&mut bytes);
    bytes[0] = (bytes[0] & 0x7f) | 0x40;
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_signed_once() {
        let authority = CertificateAuthority::in_memory().unwrap();
        let first = authority.server_config("shop.test").unwrap();
        assert!(Arc::ptr_eq(&first, &authority.server_config("shop.test").unwrap()));
        assert!(!Arc::ptr_eq(&first, &authority.server_config("forum.test").unwrap()));
    }

    #[test]
    fn odd_hosts_get_a_certificate_or_an_error() {
        let authority = CertificateAuthority::in_memory().unwrap();
        let long = format!("{}.test", "a".repeat(60));
        for host in ["127.0.0.1", "::1", "a_b.test", "*.test", &long] {
            authority.server_config(host).unwrap();
        }
        authority.server_config("bücher.test").unwrap_err();
    }

    #[test]
    fn of_too_many_hosts_the_one_longest_not_asked_for_goes() {
        let authority = CertificateAuthority::in_memory().unwrap();
        let first = authority.server_config("shop.test").unwrap();
        for n in 1..KEPT {
            authority.leaves.lock().put(&format!("h{n}.test"), &first);
        }
        assert!(Arc::ptr_eq(&first, &authority.server_config("shop.test").unwrap()));
        authority.server_config("last.test").unwrap();
        let mut leaves = authority.leaves.lock();
        assert_eq!(leaves.kept.len(), KEPT);
        assert!(leaves.get("shop.test").is_some() && leaves.get("h1.test").is_none());
    }
}
