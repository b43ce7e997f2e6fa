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

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// Returns how a shell ended by `end` is said to have ended when its helper said `words`.
    fn settled(words: &str, end: End) -> Result<(End, usize), String> {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(words.as_bytes()).unwrap();
        drop(theirs);
        Told::new(ours).settle(end, 0).map_err(|error| error.to_string())
    }

    #[test]
    fn a_shell_is_believed_confined_only_after_its_helper_has_said_so() {
        for words in ["", "confine", "unconfined\n", "not confined\n", "left 0\n", "signal 9\n"] {
            for end in [End::Exited(0), End::Signalled(9)] {
                assert!(settled(words, end).is_err(), "{words:?} {end:?}");
            }
        }
        let why = settled("confined\nfailed no bash\n", End::Exited(125)).unwrap_err();
        assert!(why.contains("no bash"), "{why}");
        let rows = [
            ("confined\n", End::Exited(0), (End::Exited(0), 0)),
            ("confined\nleft 2\nsignal 9\n", End::Exited(137), (End::Signalled(9), 2)),
            // It was ended before it could say anything, and nothing ran.
            ("", End::TimedOut, (End::TimedOut, 0)),
        ];
        for (words, end, expected) in rows {
            assert_eq!(settled(words, end).unwrap(), expected, "{words:?}");
        }
    }
}
