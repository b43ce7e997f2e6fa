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

/// Whether `word` is one that names nothing: what stands before a parenthesis is then no call.
pub(super) fn is_reserved(word: &[u8]) -> bool {
    matches!(
        word,
        b"if"
            | b"else"
            | b"for"
            | b"while"
            | b"do"
            | b"switch"
            | b"case"
            | b"return"
            | b"sizeof"
            | b"catch"
            | b"new"
            | b"delete"
            | b"throw"
            | b"throws"
            | b"try"
            | b"synchronized"
            | b"using"
            | b"lock"
            | b"foreach"
            | b"fixed"
            | b"function"
            | b"super"
            | b"this"
            | b"typeof"
            | b"instanceof"
            | b"await"
            | b"yield"
            | b"with"
            | b"in"
            | b"defined"
            | b"__attribute__"
            | b"__attribute"
            | b"alignas"
            | b"decltype"
            | b"noexcept"
            | b"static_assert"
            | b"_Static_assert"
            | b"asm"
            | b"__asm__"
            | b"__declspec"
            | b"typedef"
            | b"extends"
            | b"implements"
            | b"where"
            | b"requires"
            | b"assert"
            | b"when"
            | b"checked"
            | b"unchecked"
            | b"unsafe"
            | b"nameof"
            | b"base"
            | b"import"
            | b"default"
            | b"goto"
            | b"__typeof__"
    )
}
