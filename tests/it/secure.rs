//! Servers behind TLS: which authorities are trusted, and what is told where one is not.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use expect_test::{Expect, expect};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::cli::Place;

const MODELS: &str = r#"{"data":[{"id":"big"}]}"#;

/// A file that was made for these tests: its keys open nothing, and it is valid for a century.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/tls").join(name)
}

/// A server on loopback whose certificate `authority.pem` has signed for `localhost`.
struct Secure {
    port: u16,
    stopped: Arc<AtomicBool>,
    serving: Option<JoinHandle<()>>,
}

impl Secure {
    fn start() -> Secure {
        let chain = vec![CertificateDer::from_pem_file(fixture("server.pem")).unwrap()];
        let key = PrivateKeyDer::from_pem_file(fixture("server-key.pem")).unwrap();
        let crypto = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(crypto)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        let (listener, config) = (TcpListener::bind("127.0.0.1:0").unwrap(), Arc::new(config));
        let (port, stopped) = (listener.local_addr().unwrap().port(), Arc::default());
        let serving = std::thread::spawn({
            let stopped: Arc<AtomicBool> = Arc::clone(&stopped);
            move || {
                for connection in listener.incoming() {
                    if stopped.load(Ordering::SeqCst) {
                        return;
                    }
                    // A client that does not trust it goes away.
                    answer(connection.unwrap(), &config);
                }
            }
        });
        Secure { port, stopped, serving: Some(serving) }
    }
}

impl Drop for Secure {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        TcpStream::connect(("127.0.0.1", self.port)).ok();
        self.serving.take().map(JoinHandle::join);
    }
}

/// Answers one request over TLS.
fn answer(connection: TcpStream, config: &Arc<ServerConfig>) -> Option<()> {
    let mut stream = StreamOwned::new(ServerConnection::new(Arc::clone(config)).ok()?, connection);
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let length = MODELS.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(MODELS.as_bytes()).ok()?;
    stream.conn.send_close_notify();
    stream.flush().ok()
}

/// Asks for the models with the `added` authority in the settings and the `system`'s in its store.
#[track_caller]
fn check(added: Option<&str>, system: Option<&str>, expected: &Expect) {
    let server = Secure::start();
    let place = Place::new(&[]);
    let folder = place.folder.path().join("home/.config/snick");
    std::fs::create_dir_all(&folder).unwrap();
    let url = format!("https://localhost:{}/v1", server.port);
    let ca = added
        .map(|name| format!("ca_file = \"{}\"\n", fixture(name).display()))
        .unwrap_or_default();
    let settings = format!("[providers.mine]\nbase_url = \"{url}\"\n{ca}");
    std::fs::write(folder.join("config.toml"), settings).unwrap();
    let mut command = place.command(&["models", "--provider", "mine"]);
    if let Some(name) = system {
        command.env("SSL_CERT_FILE", fixture(name));
    }
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let told = format!(
        "{}\n{}{}",
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr)
    );
    expected.assert_eq(&told.replace(&server.port.to_string(), "PORT"));
}

#[test]
fn an_authority_of_the_settings_is_trusted_beside_those_of_the_system() {
    let listed = expect![[r#"
        0
        big
    "#]];
    check(Some("authority.pem"), None, &listed);
    check(None, Some("authority.pem"), &listed);
    // The one does not take the place of the other.
    check(Some("other-authority.pem"), Some("authority.pem"), &listed);
    check(Some("authority.pem"), Some("other-authority.pem"), &listed);
}

#[test]
fn a_server_of_an_unknown_authority_is_not_asked() {
    let refused = expect![[r#"
        1
        snick: there is no secure connection to localhost:PORT: invalid peer certificate: UnknownIssuer
        an address without TLS begins with http://; where a proxy inspects the traffic, its certificate must be in the system's store, in the file that SSL_CERT_FILE names, or in that of `ca_file` in `[providers.NAME]` of the settings file
    "#]];
    check(None, None, &refused);
    check(Some("other-authority.pem"), None, &refused);
}
