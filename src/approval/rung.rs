//! How strong the sandbox is here.

/// The strength of the sandbox, strongest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// A: own namespaces, Landlock, system call filter, no capabilities.
    Namespaces,
    /// B: the system's bubblewrap, with the inner layers of C.
    Bubblewrap,
    /// C: Landlock, system call filter, no capabilities.
    Landlock,
    /// D: nothing confines commands.
    #[default]
    None,
}

impl Rung {
    /// Returns the word that events and people get.
    pub fn name(self) -> &'static str {
        match self {
            Rung::Namespaces => "namespaces",
            Rung::Bubblewrap => "bubblewrap",
            Rung::Landlock => "landlock",
            Rung::None => "none",
        }
    }

    /// Whether anything confines commands.
    pub fn confines(self) -> bool {
        self != Rung::None
    }
}
