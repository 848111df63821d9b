//! A certificate authority made at start and forgotten at the end, with one certificate for every
//! host of the demo web.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::Error;

pub(crate) struct Authority {
    /// The certificate a client has to trust, as PEM.
    pub(crate) certificate_pem: String,
    /// A server configuration that offers `h2` and `http/1.1`.
    pub(crate) tls: Arc<ServerConfig>,
}

impl Authority {
    pub(crate) fn for_hosts(hosts: &[String]) -> Result<Authority, Error> {
        let mut params = CertificateParams::default();
        params.distinguished_name = named("Demo web throw-away authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate()?;
        let root = params.self_signed(&key)?;
        let issuer = Issuer::new(params, key);

        let mut params = CertificateParams::new(hosts)?;
        params.distinguished_name = named("Demo web");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let leaf_key = KeyPair::generate()?;
        let leaf = params.signed_by(&leaf_key, &issuer)?;

        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(leaf_key.serialize_der()));
        let mut tls = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone()], private)?;
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Authority { certificate_pem: root.pem(), tls: Arc::new(tls) })
    }
}

fn named(common_name: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common_name);
    name
}
