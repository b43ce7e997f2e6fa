//! The languages that are known, and by what a file of each is told.

/// A language whose definitions are found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Language {
    Rust,
    Python,
    JavaScript,
    TypeScript,
    /// TypeScript with markup in it, which a grammar reads differently.
    Tsx,
    Go,
    C,
    Cpp,
    Java,
    CSharp,
    Ruby,
    Php,
    Kotlin,
    Swift,
    Shell,
}

impl Language {
    /// Tells the language by the name of a file; `None` if it is none that is known.
    pub fn of_path(path: &[u8]) -> Option<Language> {
        let name = path.rsplit(|byte| *byte == b'/').next()?;
        let dot = name.iter().rposition(|byte| *byte == b'.')?;
        Some(match &name[dot + 1..] {
            b"rs" => Language::Rust,
            b"py" | b"pyi" | b"pyw" => Language::Python,
            b"js" | b"jsx" | b"mjs" | b"cjs" => Language::JavaScript,
            b"ts" | b"mts" | b"cts" => Language::TypeScript,
            b"tsx" => Language::Tsx,
            b"go" => Language::Go,
            b"c" => Language::C,
            b"h" | b"cc" | b"cpp" | b"cxx" | b"hh" | b"hpp" | b"hxx" | b"ipp" | b"inl" => {
                Language::Cpp
            }
            b"java" => Language::Java,
            b"cs" => Language::CSharp,
            b"rb" | b"rake" | b"gemspec" => Language::Ruby,
            b"php" | b"phtml" => Language::Php,
            b"kt" | b"kts" => Language::Kotlin,
            b"swift" => Language::Swift,
            b"sh" | b"bash" | b"zsh" | b"ksh" => Language::Shell,
            _ => return None,
        })
    }

    /// Returns the name as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Language::Rust => "Rust",
            Language::Python => "Python",
            Language::JavaScript => "JavaScript",
            Language::TypeScript | Language::Tsx => "TypeScript",
            Language::Go => "Go",
            Language::C => "C",
            Language::Cpp => "C++",
            Language::Java => "Java",
            Language::CSharp => "C#",
            Language::Ruby => "Ruby",
            Language::Php => "PHP",
            Language::Kotlin => "Kotlin",
            Language::Swift => "Swift",
            Language::Shell => "shell",
        }
    }

    /// Whether it is JavaScript or a child of it.
    pub(super) fn is_script(self) -> bool {
        matches!(self, Language::JavaScript | Language::TypeScript | Language::Tsx)
    }

    /// Whether `#` begins a comment.
    pub(super) fn has_hash_comments(self) -> bool {
        matches!(self, Language::Python | Language::Ruby | Language::Php | Language::Shell)
    }

    /// Whether `//` and `/* */` are comments.
    pub(super) fn has_slash_comments(self) -> bool {
        !matches!(self, Language::Python | Language::Ruby | Language::Shell)
    }

    /// Whether a block comment may hold another.
    pub(super) fn nests_comments(self) -> bool {
        matches!(self, Language::Rust | Language::Kotlin | Language::Swift)
    }

    /// Whether a line that begins with `#` speaks to a preprocessor.
    pub(super) fn has_directives(self) -> bool {
        matches!(self, Language::C | Language::Cpp | Language::CSharp)
    }

    /// Whether an ordinary string may run over the end of its line.
    pub(super) fn has_long_strings(self) -> bool {
        matches!(self, Language::Rust | Language::Ruby | Language::Php | Language::Shell)
    }

    /// Whether a statement ends with its line, so that what stands above is another one.
    pub(super) fn ends_by_line(self) -> bool {
        matches!(
            self,
            Language::Python
                | Language::Ruby
                | Language::Shell
                | Language::JavaScript
                | Language::TypeScript
                | Language::Tsx
                | Language::Kotlin
                | Language::Swift
                | Language::Go
        )
    }
}
