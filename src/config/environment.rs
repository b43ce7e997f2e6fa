//! The environment, read once; the only place that does.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use etcetera::base_strategy::Xdg;

/// The process's environment as it was at the start.
#[derive(Clone, Debug)]
pub struct Environment {
    variables: Vec<(OsString, OsString)>,
    pub folders: Folders,
    /// Where the program was started; `None` when that folder is gone.
    pub directory: Option<PathBuf>,
    /// Where temporary files belong.
    pub temporary: PathBuf,
}

/// Where Snick keeps its own files. Relative values of the XDG variables are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders {
    pub home: Option<PathBuf>,
    pub config: PathBuf,
    pub state: PathBuf,
    pub cache: PathBuf,
}

impl Environment {
    /// Reads the process's environment.
    #[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
    pub fn read() -> Environment {
        let variables = std::env::vars_os().collect();
        let directory = std::env::current_dir().ok();
        let temporary = std::env::temp_dir();
        let folders = if let Ok(xdg) = Xdg::new() {
            Folders {
                home: Some(xdg.home_dir().to_owned()),
                config: xdg.config_dir().join("snick"),
                state: xdg.state_dir().unwrap_or_else(|| xdg.data_dir()).join("snick"),
                cache: xdg.cache_dir().join("snick"),
            }
        } else {
            // Without a home nothing can be kept between runs; a private place still works.
            let base = temporary.join("snick");
            let [config, state, cache] = ["config", "state", "cache"].map(|name| base.join(name));
            Folders { home: None, config, state, cache }
        };
        Environment { variables, folders, directory, temporary }
    }

    /// Returns every variable, as inherited.
    pub fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }

    /// Returns a variable that is set, not empty and valid Unicode.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.get_os(name)?.to_str().filter(|value| !value.is_empty())
    }

    fn get_os(&self, name: &str) -> Option<&OsStr> {
        let found = self.variables.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_os_str())
    }

    /// Returns the person's editor.
    pub(super) fn editor(&self) -> Option<String> {
        ["VISUAL", "EDITOR"].iter().find_map(|name| self.get(name)).map(str::to_owned)
    }

    /// Whether colour is unwanted on a terminal: `NO_COLOR`, `CLICOLOR=0`, or a dumb terminal.
    pub fn refuses_color(&self) -> bool {
        self.get("NO_COLOR").is_some()
            || self.get("CLICOLOR") == Some("0")
            || self.is_dumb_terminal()
    }

    /// Whether colour is wanted even without a terminal.
    pub fn forces_color(&self) -> bool {
        self.get("CLICOLOR_FORCE").is_some_and(|value| value != "0")
            && self.get("NO_COLOR").is_none()
    }

    /// Whether the terminal cannot move its cursor.
    pub fn is_dumb_terminal(&self) -> bool {
        self.get("TERM").is_none_or(|term| term == "dumb")
    }

    /// Returns folders outside the workspace whose files may be read unasked.
    pub fn toolchains(&self) -> Vec<PathBuf> {
        let home = self.folders.home.as_deref();
        let named = |name: &str, below: &str| {
            let set = self.get_os(name).map(PathBuf::from);
            set.or_else(|| home.map(|home| home.join(below)))
        };
        let under = |folder: Option<PathBuf>, path: &str| folder.map(|folder| folder.join(path));
        let folders = [
            Some(PathBuf::from("/usr")),
            under(named("CARGO_HOME", ".cargo"), "registry/src"),
            under(named("CARGO_HOME", ".cargo"), "git/checkouts"),
            under(named("RUSTUP_HOME", ".rustup"), "toolchains"),
            under(named("GOPATH", "go"), "pkg/mod"),
        ];
        folders.into_iter().flatten().filter(|folder| is_folder(folder)).collect()
    }
}

fn is_folder(path: &Path) -> bool {
    path.is_absolute() && path.is_dir()
}
