//! Which certificates are trusted: the system's, read only when a connection needs them.

use std::sync::Arc;
use std::sync::OnceLock;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::crypto::{verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier;

/// Returns the settings for secure connections, with `added` certificates trusted beside the
/// system's. Making them reads no file.
pub(super) fn tls(added: Option<&str>) -> Result<rustls::ClientConfig, Error> {
    let crypto = Arc::new(rustls::crypto::ring::default_provider());
    let added = added.map(certificates).transpose()?.unwrap_or_default();
    let verifier = SystemRoots { crypto: Arc::clone(&crypto), added, inner: OnceLock::new() };
    let mut config = rustls::ClientConfig::builder_with_provider(crypto)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Verifies servers against the system's certificates, or the bundled ones where there are none.
///
/// Reading the system's store costs tens of milliseconds, which a start must not pay, and a
/// session with a local server never needs it; so it is read at the first handshake.
#[derive(Debug)]
struct SystemRoots {
    crypto: Arc<CryptoProvider>,
    /// What the person's settings add.
    added: Vec<CertificateDer<'static>>,
    inner: OnceLock<Result<Arc<dyn ServerCertVerifier>, Error>>,
}

impl SystemRoots {
    fn inner(&self) -> Result<&dyn ServerCertVerifier, Error> {
        let inner = self.inner.get_or_init(|| {
            let (crypto, added) = (Arc::clone(&self.crypto), self.added.clone());
            match Verifier::new_with_extra_roots(added, crypto) {
                Ok(system) => Ok(Arc::new(system)),
                Err(_) => bundled(Arc::clone(&self.crypto), &self.added),
            }
        });
        inner.as_ref().map(AsRef::as_ref).map_err(Clone::clone)
    }
}

/// Reads certificates in PEM form.
fn certificates(text: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let read = CertificateDer::pem_slice_iter(text.as_bytes()).collect::<Result<Vec<_>, _>>();
    let wrong = |why: String| Error::General(format!("the certificates of `ca_file`: {why}"));
    let read = read.map_err(|error| wrong(error.to_string()))?;
    if read.is_empty() { Err(wrong("there are none in it".to_owned())) } else { Ok(read) }
}

fn bundled(
    crypto: Arc<CryptoProvider>,
    added: &[CertificateDer<'static>],
) -> Result<Arc<dyn ServerCertVerifier>, Error> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    roots.add_parsable_certificates(added.iter().cloned());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), crypto).build();
    Ok(verifier.map_err(|error| Error::General(error.to_string()))?)
}

impl ServerCertVerifier for SystemRoots {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let inner = self.inner()?;
        inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.crypto.signature_verification_algorithms;
        verify_tls12_signature(message, cert, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.crypto.signature_verification_algorithms;
        verify_tls13_signature(message, cert, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.crypto.signature_verification_algorithms.supported_schemes()
    }
}
