//! The languages, by family: how comments and strings look, and which words are keywords.

/// What the lexer knows of a language.
#[derive(Debug)]
pub(super) struct Language {
    /// Extensions and names, in lower case, a blank between them; `keywords` likewise.
    names: &'static str,
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    /// Longest first.
    pub(super) quotes: &'static [&'static str],
    /// Whether a backslash inside a string takes the next character's meaning.
    pub(super) escapes: bool,
    /// Whether an apostrophe may stand without a second one.
    pub(super) lifetimes: bool,
    keywords: &'static str,
    ignores_case: bool,
}

impl Language {
    pub(super) fn is_keyword(&self, word: &str) -> bool {
        let mut keywords = self.keywords.split(' ');
        if self.ignores_case {
            return keywords.any(|keyword| keyword.eq_ignore_ascii_case(word));
        }
        keywords.any(|keyword| keyword == word)
    }
}

/// Returns the language of a name or an extension in lower case.
pub(super) fn find(name: &str) -> Option<&'static Language> {
    LANGUAGES.iter().find(|language| language.names.split(' ').any(|known| known == name))
}

const C_LIKE: Language = Language {
    names: "",
    line_comments: &["//"],
    block_comment: Some(("/*", "*/")),
    quotes: &["\"", "'"],
    escapes: true,
    lifetimes: false,
    keywords: "",
    ignores_case: false,
};

const HASH: Language = Language { line_comments: &["#"], block_comment: None, ..C_LIKE };

const LANGUAGES: &[Language] = &[
    Language {
        names: "rs rust",
        lifetimes: true,
        keywords: "as async await break const continue crate dyn else enum extern false fn for \
                   if impl in let loop match mod move mut pub ref return self Self static \
                   struct super trait true type unsafe use where while",
        ..C_LIKE
    },
    Language {
        names: "c h cc cpp cxx hh hpp hxx c++ m mm cu glsl wgsl proto",
        keywords: "auto bool break case catch char class const constexpr continue default \
                   delete do double else enum explicit extern false final float for friend goto \
                   if inline int long message namespace new noexcept nullptr operator override \
                   private protected public return short signed sizeof static struct switch \
                   template this throw true try typedef typename union unsigned using virtual \
                   void volatile while define include ifdef ifndef endif NULL",
        ..C_LIKE
    },
    Language {
        names: "js mjs cjs jsx ts mts cts tsx javascript typescript vue svelte",
        quotes: &["\"", "'", "`"],
        keywords: "abstract any as async await boolean break case catch class const continue \
                   debugger declare default delete do else enum export extends false finally \
                   for from function get if implements import in instanceof interface keyof let \
                   new null number of private protected public readonly return set static \
                   string super switch this throw true try type typeof undefined unknown var \
                   void while with yield",
        ..C_LIKE
    },
    Language {
        names: "java kt kts kotlin scala cs csharp swift dart groovy gradle php",
        quotes: &["\"\"\"", "\"", "'"],
        keywords: "abstract as assert async await boolean break byte case catch char class \
                   const continue data def default defer do double echo else enum export \
                   extends extension false final finally float for foreach fun func function \
                   guard if implements import in init instanceof int interface internal is lazy \
                   let long match namespace new nil null object open override package private \
                   protected protocol public readonly record return sealed self static string \
                   struct super switch synchronized this throw throws trait true try typealias \
                   use using val var void volatile when where while with yield",
        ..C_LIKE
    },
    Language {
        names: "go golang zig",
        quotes: &["\"", "'", "`"],
        keywords: "break case chan comptime const continue default defer else enum error \
                   fallthrough false fn for func go goto if import interface map nil null \
                   package pub range return select struct switch true try type undefined var \
                   while",
        ..C_LIKE
    },
    Language {
        names: "py pyi python pyx bzl bazel starlark",
        quotes: &["\"\"\"", "'''", "\"", "'"],
        keywords: "False None True and as assert async await break case class continue def del \
                   elif else except finally for from global if import in is lambda match \
                   nonlocal not or pass raise return self try while with yield",
        ..HASH
    },
    Language {
        names: "rb ruby rake gemfile rakefile ex exs elixir cr jl julia",
        keywords: "alias and begin break case class cond def defmodule defp do else elsif end \
                   ensure false fn for function if import in let module next nil not nothing or \
                   raise require rescue return self struct super then true unless until use \
                   using when while yield",
        ..HASH
    },
    Language {
        names: "sh bash zsh shell fish console dockerfile makefile mk cmake just justfile \
                   nix tf hcl r pl pm perl awk",
        keywords: "case do done elif else esac exit export fi for function if in let local my \
                   return set sub then until use while FROM RUN COPY ADD ENV ARG CMD ENTRYPOINT \
                   WORKDIR EXPOSE USER inherit with rec resource variable",
        ..HASH
    },
    Language {
        names: "toml yaml yml ini cfg conf properties env gitignore dockerignore lock",
        keywords: "true false null yes no on off",
        ..HASH
    },
    Language { names: "json jsonc json5", quotes: &["\""], keywords: "true false null", ..C_LIKE },
    Language {
        names: "css scss sass less",
        line_comments: &[],
        keywords: "important import media use mixin include keyframes",
        ..C_LIKE
    },
    Language {
        names: "html htm xml svg xhtml xsd plist",
        line_comments: &[],
        block_comment: Some(("<!--", "-->")),
        quotes: &["\""],
        escapes: false,
        ..C_LIKE
    },
    Language {
        names: "sql psql mysql sqlite",
        line_comments: &["--"],
        escapes: false,
        ignores_case: true,
        keywords: "add all alter and as asc begin between by case check column commit \
                   constraint create cross default delete desc distinct drop else end exists \
                   foreign from full group having if in index inner insert into is join key \
                   left like limit not null offset on or order outer primary references \
                   returning right rollback select set table then union unique update using \
                   values view when where with",
        ..C_LIKE
    },
    Language {
        names: "lua hs haskell elm ada vhdl",
        line_comments: &["--"],
        block_comment: Some(("{-", "-}")),
        lifetimes: true,
        keywords: "and break case class data deriving do else elseif end false for function if \
                   import in instance let local module newtype nil not of or repeat return then \
                   true type until where while",
        ..C_LIKE
    },
    Language {
        names: "lisp el clj cljs scm rkt asm s",
        line_comments: &[";"],
        block_comment: None,
        quotes: &["\""],
        keywords: "def defn defun define fn if lambda let ns nil",
        ..C_LIKE
    },
];
