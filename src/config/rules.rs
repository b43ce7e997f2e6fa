//! The files of rules: the person's, and the project's, which may only be stricter.

use std::io;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Environment;
use crate::approval::{Answer, Origin, Rules, RulesError};

/// A project's rules, below its root.
const PROJECT_FILE: &str = ".snick/rules.toml";

/// The rules of a workspace, and the files they come from.
#[derive(Clone, Debug)]
pub struct RuleFiles {
    user: PathBuf,
    project: PathBuf,
    home: Option<PathBuf>,
    root: PathBuf,
    /// What the files looked like when they were read.
    stamps: [Stamp; 2],
}

/// Size and time of a file; `None` if there is none.
type Stamp = Option<(u64, SystemTime)>;

impl RuleFiles {
    /// Names the files that hold for the workspace `root`.
    pub fn new(environment: &Environment, root: &Path) -> RuleFiles {
        let mut files = RuleFiles {
            user: environment.folders.config.join("rules.toml"),
            project: root.join(PROJECT_FILE),
            home: environment.folders.home.clone(),
            root: root.to_owned(),
            stamps: [None, None],
        };
        files.stamps = files.now();
        files
    }

    /// Returns the person's file.
    pub fn user(&self) -> &Path {
        &self.user
    }

    /// Reads both files, with what the person should know of them.
    ///
    /// # Errors
    /// A file that cannot be read or understood, with its line.
    pub fn read(&self) -> Result<(Rules, Vec<String>), RulesError> {
        let mut notices = Vec::new();
        let user = self.file(&self.user, Origin::User)?;
        super::file::of_project(&self.root, PROJECT_FILE).map_err(|source| RulesError::Read {
            path: self.project.display().to_string(),
            source,
        })?;
        let mut project = self.file(&self.project, Origin::Project)?;
        for rule in project.iter().filter(|rule| rule.answer == Answer::Allow) {
            notices.push(format!(
                "the project's `.snick/rules.toml` says `{rule}`; that is ignored, since a project \
                 may only deny and ask"
            ));
        }
        project.retain(|rule| rule.answer != Answer::Allow);
        Ok((Rules::new(user.into_iter().chain(project), &self.root), notices))
    }

    /// Reads the files again if they changed since; `None` if they did not.
    pub fn read_changed(&mut self) -> Option<Result<(Rules, Vec<String>), RulesError>> {
        let now = self.now();
        if now == self.stamps {
            return None;
        }
        self.stamps = now;
        Some(self.read())
    }

    /// Returns the text of the person's file; nothing if there is none.
    pub fn text(&self) -> Result<String, RulesError> {
        text_of(&self.user)
    }

    fn file(&self, path: &Path, origin: Origin) -> Result<Vec<crate::approval::Rule>, RulesError> {
        Rules::parse(&text_of(path)?, path, origin, self.home.as_deref())
    }

    fn now(&self) -> [Stamp; 2] {
        [&self.user, &self.project].map(|path| {
            let facts = std::fs::metadata(path).ok()?;
            Some((facts.len(), facts.modified().ok()?))
        })
    }
}

fn text_of(path: &Path) -> Result<String, RulesError> {
    let failed = |source| RulesError::Read { path: path.display().to_string(), source };
    match super::file::read_settings(path) {
        Ok(text) => Ok(text),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(String::new())
        }
        Err(error) => Err(failed(error)),
    }
}

/// Replaces a file of the config folder in one step; only the person can read it.
///
/// # Errors
/// Whatever keeps it from being written; then the file is as it was.
pub fn write_text(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}", std::process::id()));
    let mut open = std::fs::OpenOptions::new();
    let mut file = open.write(true).create_new(true).mode(0o600).open(&temporary)?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        // The error that counts is the one before.
        std::fs::remove_file(&temporary).ok();
    }
    written
}
