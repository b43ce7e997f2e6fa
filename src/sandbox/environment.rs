//! The environment of a command: what an allow list lets through, and fixed values.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::ffi::OsString;
use std::path::Path;

/// Names that commands get as they are set, separated by blanks.
const KEPT: &[&str] = &[
    // The person and the machine.
    "HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR HOSTNAME CI",
    // Proxies and certificates.
    "http_proxy https_proxy ftp_proxy all_proxy no_proxy",
    "HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY",
    "SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO GIT_SSL_CAPATH PIP_CERT AWS_CA_BUNDLE NIX_SSL_CERT_FILE",
    // Compilers and libraries.
    "CC CXX CPP AR LD CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH LD_LIBRARY_PATH PKG_CONFIG_PATH MAKEFLAGS CMAKE_PREFIX_PATH SDKROOT",
    "CUDA_HOME CUDA_PATH CUDA_VISIBLE_DEVICES CCACHE_DIR SCCACHE_DIR",
    // Homes of toolchains and of their managers.
    "RUSTFLAGS RUSTC_WRAPPER RUST_BACKTRACE RUST_LOG",
    "GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOFLAGS GOPROXY GOPRIVATE GONOSUMDB GOSUMDB",
    "GOTOOLCHAIN GOOS GOARCH CGO_ENABLED",
    "JAVA_HOME JDK_HOME M2_HOME MAVEN_HOME GRADLE_HOME GRADLE_USER_HOME KOTLIN_HOME",
    "ANDROID_HOME ANDROID_SDK_ROOT ANDROID_NDK_HOME FLUTTER_ROOT",
    "NVM_DIR NVM_BIN FNM_DIR FNM_MULTISHELL_PATH VOLTA_HOME PNPM_HOME BUN_INSTALL DENO_DIR",
    "DENO_INSTALL NODE_PATH COREPACK_HOME",
    "PYENV_ROOT PYENV_VERSION VIRTUAL_ENV PYTHONPATH PYTHONHOME PIPX_HOME POETRY_HOME",
    "CONDA_PREFIX CONDA_EXE CONDA_DEFAULT_ENV MAMBA_ROOT_PREFIX UV_CACHE_DIR",
    "RBENV_ROOT RBENV_VERSION GEM_HOME GEM_PATH BUNDLE_PATH RUBYLIB PERL5LIB",
    "DOTNET_ROOT PHPENV_ROOT COMPOSER_HOME GHCUP_INSTALL_BASE_PREFIX OPAM_SWITCH_PREFIX",
    "CAML_LD_LIBRARY_PATH OCAML_TOPLEVEL_PATH ELIXIR_HOME MIX_HOME HEX_HOME ZIG_GLOBAL_CACHE_DIR",
    "ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR SDKMAN_DIR NIX_PATH NIX_PROFILES IN_NIX_SHELL",
    "HOMEBREW_PREFIX HOMEBREW_CELLAR HOMEBREW_REPOSITORY",
];

/// Beginnings of names that commands get, unless the name sounds like a secret.
const KEPT_PREFIXES: &[&str] = &["LC_", "XDG_", "CARGO_", "RUSTUP_"];

/// Parts of names that sound like a secret.
const SECRET: &[&str] =
    &["TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "ACCESS_KEY", "CREDENTIAL"];

/// Beginnings of names that no command gets, whoever names them: Snick's own settings.
const OWN_PREFIXES: &[&str] = &["AGENT_", "SNICK_"];

/// What every command gets: a plain terminal, no pager, no editor, no question.
const FIXED: &[(&str, &str)] = &[
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("EDITOR", "true"),
    ("GCM_INTERACTIVE", "never"),
    ("GH_PAGER", "cat"),
    ("GIT_EDITOR", "true"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("MANPAGER", "cat"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("TERM", "dumb"),
    ("VISUAL", "true"),
];

/// The PATH where none is set.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The shell where none is set: bash looks through the system's list of users for one otherwise.
const DEFAULT_SHELL: &str = "/bin/sh";

/// Returns the whole environment of a command, sorted by name.
///
/// Of `inherited` only listed names get through, and those that the person gave as `named`.
/// Relative folders of PATH are left out, so that no file of the workspace passes for a program.
pub fn environment(
    inherited: &[(OsString, OsString)],
    named: &[String],
) -> Vec<(OsString, OsString)> {
    let usual = [("PATH", DEFAULT_PATH), ("SHELL", DEFAULT_SHELL)];
    let mut result =
        BTreeMap::from(usual.map(|(name, value)| (OsString::from(name), OsString::from(value))));
    for (name, value) in inherited {
        if name == "PATH" {
            result.insert(name.clone(), absolute_folders(value));
        } else if name.to_str().is_some_and(|name| passes(name, named)) {
            result.insert(name.clone(), value.clone());
        }
    }
    let fixed = FIXED.iter().filter(|(name, _)| !named.iter().any(|named| named == name));
    result.extend(fixed.map(|(name, value)| (OsString::from(name), OsString::from(value))));
    result.into_iter().collect()
}

/// Returns `environment` as it is unless PATH finds one of `programs` in one of `folders`; then
/// with a PATH that finds nothing there.
pub fn without_planted<'a>(
    environment: &'a [(OsString, OsString)],
    programs: &[&str],
    folders: &[&Path],
) -> Cow<'a, [(OsString, OsString)]> {
    let within = |path: &Path| {
        path.canonicalize().is_ok_and(|path| folders.iter().any(|folder| path.starts_with(folder)))
    };
    let is_planted = |folder: &Path, program: &str| {
        let file = folder.join(program);
        file.is_file() && (within(folder) || within(&file))
    };
    let path = environment.iter().find(|(name, _)| name == "PATH");
    let path = path.map_or(OsStr::new(""), |(_, value)| value);
    let finds_planted = |program: &&str| {
        let folders = std::env::split_paths(path);
        let mut found = folders.filter(|folder| folder.join(program).is_file());
        // What comes after the first that can run is not reached.
        let ends = |folder: &Path| can_run(&folder.join(program)) || is_planted(folder, program);
        found.find(|folder| ends(folder)).is_some_and(|folder| is_planted(&folder, program))
    };
    if !programs.iter().any(finds_planted) {
        return Cow::Borrowed(environment);
    }
    let has_planted = |folder: &Path| programs.iter().any(|program| is_planted(folder, program));
    let kept = std::env::split_paths(path).filter(|folder| !within(folder) && !has_planted(folder));
    let kept = std::env::join_paths(kept).unwrap_or_else(|_| DEFAULT_PATH.into());
    let mut environment = environment.to_owned();
    environment
        .iter_mut()
        .filter(|(name, _)| name == "PATH")
        .for_each(|(_, path)| path.clone_from(&kept));
    Cow::Owned(environment)
}

/// Whether a shell that comes to the file at `file` would run it.
fn can_run(file: &Path) -> bool {
    rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Whether the variable `name` reaches commands.
fn passes(name: &str, named: &[String]) -> bool {
    if OWN_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        return false;
    }
    let upper = name.to_ascii_uppercase();
    let secret = || SECRET.iter().any(|part| upper.contains(part));
    let listed = || KEPT.iter().any(|line| line.split(' ').any(|kept| kept == name));
    let prefixed = || KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    named.iter().any(|named| named == name) || listed() || prefixed() && !secret()
}

fn absolute_folders(path: &OsStr) -> OsString {
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    // Parts of a path list hold no separator, so they can be joined again.
    std::env::join_paths(folders).unwrap_or_else(|_| DEFAULT_PATH.into())
}
