//! The words by which each language begins a definition.

use super::Scope;
use crate::index::symbols::language::Language;
use crate::index::symbols::lexed::Kind;

/// Returns what `word` begins to define, and what is within its braces.
pub(super) fn begins(language: Language, word: &[u8]) -> Option<(Kind, Scope)> {
    use Language as L;
    let members = |kind| Some((kind, Scope::Members));
    match (language, word) {
        (L::Rust, b"fn")
        | (L::Go | L::Swift, b"func")
        | (L::Kotlin, b"fun")
        | (L::Php | L::JavaScript | L::TypeScript | L::Tsx, b"function") => {
            Some((Kind::Function, Scope::Code))
        }
        (L::Rust | L::Swift | L::CSharp | L::C | L::Cpp, b"struct") => members(Kind::Struct),
        (L::Rust | L::C | L::Cpp, b"union") => members(Kind::Union),
        (
            L::Rust
            | L::Swift
            | L::Php
            | L::TypeScript
            | L::Tsx
            | L::Java
            | L::CSharp
            | L::C
            | L::Cpp,
            b"enum",
        ) => {
            let is_list = matches!(language, L::Rust | L::C | L::Cpp | L::TypeScript | L::Tsx);
            Some((Kind::Enum, if is_list { Scope::Names } else { Scope::Members }))
        }
        (L::Rust | L::Php, b"trait") => members(Kind::Trait),
        (L::Swift, b"protocol")
        | (L::Java | L::CSharp | L::Php | L::Kotlin | L::TypeScript | L::Tsx, b"interface") => {
            members(Kind::Interface)
        }
        (L::Rust, b"mod") | (L::CSharp | L::Cpp | L::TypeScript | L::Tsx, b"namespace") => {
            Some((Kind::Module, Scope::Top))
        }
        (L::Java | L::CSharp, b"record") | (L::Swift, b"actor") | (L::Kotlin, b"object") => {
            members(Kind::Class)
        }
        (
            L::Java
            | L::CSharp
            | L::Php
            | L::Kotlin
            | L::Swift
            | L::Cpp
            | L::JavaScript
            | L::TypeScript
            | L::Tsx,
            b"class",
        ) => members(Kind::Class),
        (L::Rust | L::TypeScript | L::Tsx, b"type") | (L::Kotlin | L::Swift, b"typealias") => {
            Some((Kind::Type, Scope::Code))
        }
        (L::Rust | L::Php, b"const") => Some((Kind::Constant, Scope::Code)),
        (L::Rust, b"static") => Some((Kind::Variable, Scope::Code)),
        _ => None,
    }
}

/// Words that name nothing in the languages whose functions are told by their shape: what stands
/// before a parenthesis is then no call.
const RESERVED: &[&[u8]] = &[
    b"if", b"else", b"for", b"while", b"do", b"switch", b"case", b"return", b"catch", b"throw",
    b"try", b"goto", b"default", b"new", b"this", b"super",
];
const RESERVED_IN_C: &[&[u8]] = &[
    b"sizeof",
    b"alignas",
    b"asm",
    b"__asm__",
    b"typedef",
    b"__attribute__",
    b"__attribute",
    b"_Static_assert",
    b"__declspec",
    b"__typeof__",
    b"typeof",
    b"defined",
];
const RESERVED_IN_CPP: &[&[u8]] =
    &[b"delete", b"decltype", b"noexcept", b"static_assert", b"requires", b"using"];
const RESERVED_IN_JAVA: &[&[u8]] =
    &[b"synchronized", b"throws", b"assert", b"extends", b"implements", b"import", b"instanceof"];
const RESERVED_IN_C_SHARP: &[&[u8]] = &[
    b"lock",
    b"foreach",
    b"fixed",
    b"using",
    b"checked",
    b"unchecked",
    b"unsafe",
    b"nameof",
    b"base",
    b"where",
    b"when",
    b"typeof",
    b"sizeof",
    b"await",
    b"yield",
    b"in",
];

/// Whether `word` names nothing in `language`.
pub(super) fn is_reserved(language: Language, word: &[u8]) -> bool {
    let more: [&[&[u8]]; 2] = match language {
        Language::C => [RESERVED_IN_C, &[]],
        Language::Cpp => [RESERVED_IN_C, RESERVED_IN_CPP],
        Language::Java => [RESERVED_IN_JAVA, &[]],
        Language::CSharp => [RESERVED_IN_C_SHARP, &[]],
        _ => [&[], &[]],
    };
    RESERVED.contains(&word) || more.iter().any(|words| words.contains(&word))
}
