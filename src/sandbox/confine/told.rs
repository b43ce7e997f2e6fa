//! What a helper said of itself and of the shell, read when it has ended.

use std::io;
use std::io::Read as _;
use std::os::unix::net::UnixStream;

use super::super::SandboxError;
use super::super::command::End;
use super::inside;

/// The other end of a helper's control socket.
pub(in crate::sandbox) struct Told {
    socket: UnixStream,
}

impl Told {
    pub(super) fn new(socket: UnixStream) -> Told {
        Told { socket }
    }

    pub(super) fn socket(&self) -> &UnixStream {
        &self.socket
    }

    /// Returns everything that was said so far.
    fn lines(&mut self) -> Vec<String> {
        let mut bytes = Vec::new();
        if self.socket.set_nonblocking(true).is_ok() {
            let mut block = [0; 512];
            loop {
                match self.socket.read(&mut block) {
                    Ok(0) => break,
                    Ok(length) => bytes.extend_from_slice(&block[..length]),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    // Nothing more yet, or the helper died with words unread.
                    Err(_) => break,
                }
            }
        }
        String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
    }

    /// Returns how the shell ended and how many processes were left, by the helper's words.
    ///
    /// # Errors
    /// A helper that did not say that the shell was confined: then none was started.
    pub(in crate::sandbox) fn settle(
        &mut self,
        end: End,
        ended: usize,
    ) -> Result<(End, usize), SandboxError> {
        let lines = self.lines();
        let after = |word: &str| lines.iter().find_map(|line| line.strip_prefix(word));
        let confined = lines.iter().any(|line| line == inside::CONFINED);
        if let Some(why) = after(inside::REASON) {
            return Err(SandboxError::Confine { why: why.to_owned() });
        }
        if !confined && matches!(end, End::Exited(_) | End::Signalled(_)) {
            let why = "the helper ended without a word".to_owned();
            return Err(SandboxError::Confine { why });
        }
        let number = |word: &str| after(word).and_then(|rest| rest.trim().parse::<i32>().ok());
        let ended = ended.max(number(inside::LEFT).and_then(|n| n.try_into().ok()).unwrap_or(0));
        let end = match (end, number(inside::SIGNAL)) {
            (End::Exited(_), Some(signal)) => End::Signalled(signal),
            (end, _) => end,
        };
        Ok((end, ended))
    }
}
