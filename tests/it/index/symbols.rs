//! What each language defines: name, kind, place, container; and that no bytes are too odd.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use snick::index::symbols::{self, Language};

const LANGUAGES: [Language; 15] = [
    Language::Rust,
    Language::Python,
    Language::JavaScript,
    Language::TypeScript,
    Language::Tsx,
    Language::Go,
    Language::C,
    Language::Cpp,
    Language::Java,
    Language::CSharp,
    Language::Ruby,
    Language::Php,
    Language::Kotlin,
    Language::Swift,
    Language::Shell,
];

/// Lists the definitions of a text: lines, kind, name and container.
pub(super) fn listed(text: &[u8], language: Language) -> String {
    let lexed = symbols::lex(text, language);
    let line = |one: &symbols::Definition| {
        let within = if one.container.is_empty() { "" } else { " in " };
        let (kind, name, container) = (one.kind.name(), &one.name, &one.container);
        format!("{}-{} {kind} {name}{within}{container}\n", one.start, one.end)
    };
    lexed.definitions.iter().map(line).collect()
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "as an argument it reads better")]
pub(super) fn check(language: Language, text: &str, expected: Expect) {
    expected.assert_eq(&listed(text.as_bytes(), language));
}

#[test]
fn rust() {
    check(
        Language::Rust,
        r####"//! fn not_one() {}
mod outer {
    #[derive(Debug)]
    pub struct Point<'a, T: 'static> where T: Copy { name: &'a str, at: T }
    struct Unit;
    struct Pair(u8, [u8; 2]);
    impl<'a, T: Copy> Point<'a, T> {
        pub const fn new() -> Self { let c = '{'; let s = "fn no() {"; Self }
        async unsafe fn from(&self) -> impl Fn() -> u8 {
            fn inner() {}
            || 1
        }
    }
}
/* fn no() /* nested */ fn no_more() {} */
impl std::fmt::Display for outer::Unit {
    fn fmt(&self) -> R { write!(f, r#"fn no() { "#) }
}
pub trait Shape: Sized { type Area; const SIDES: usize; fn area(&self) -> Self::Area; }
enum Kind { A { fn_: u8 }, B }
union Bits { a: u8 }
static mut COUNT: u8 = 0;
pub(crate) const LIMIT: [u8; 2] = [1, 2];
macro_rules! twice { ($a:expr) => { $a + $a } }
type Alias = Vec<u8>;
extern "C" { fn open(path: *const u8) -> i32; }
"####,
        expect![[r#"
            2-14 module outer
            3-4 struct Point in outer
            5-5 struct Unit in outer
            6-6 struct Pair in outer
            8-8 method new in Point
            9-12 method from in Point
            10-10 function inner in from
            17-17 method fmt in Unit
            19-19 trait Shape
            19-19 type Area in Shape
            19-19 constant SIDES in Shape
            19-19 method area in Shape
            20-20 enum Kind
            21-21 union Bits
            22-22 variable COUNT
            23-23 constant LIMIT
            24-24 macro twice
            25-25 type Alias
            26-26 function open
        "#]],
    );
}

#[test]
fn python() {
    check(
        Language::Python,
        r####"import os
LIMIT = 3
names: list[str] = [
    "def no(): pass",
]
@decorated(
    1)
@again
def first(a, b=")"):
    """def no(): pass
class No: pass
"""
    def inner():
        return f"{a['x']}"
    return inner

class Shape(Base):
    side = 1
    async def area(self):
        if self.side:
            return 1

    # a comment
    def empty(self): ...
double = lambda x: x * 2
if True:
    def guarded():
        pass
"####,
        expect![[r#"
            2-2 constant LIMIT
            3-5 variable names
            8-15 function first
            13-14 function inner in first
            17-24 class Shape
            19-21 method area in Shape
            24-24 method empty in Shape
            25-25 function double
            27-28 function guarded
        "#]],
    );
}

#[test]
fn javascript() {
    check(
        Language::JavaScript,
        r####"#!/usr/bin/env node
export default function main() { return `function no() { ${inner("}")} }`; }
const add = (a, b) => a + b;
let later = async function () { return /[}"]\/{/.test(x) };
export class Shape extends Base {
  #side = 1;
  static create() { return new Shape() }
  get area() { if (x) { return 1 } }
  *[Symbol.iterator]() {}
  handle = (event) => { this.go(event) };
}
function* walk() { function inner() {} }
const api = {
  list() { return 1 },
  get: function () {},
  "quoted": async () => 1,
  value: 1,
};
module.exports.run = function () {};
Shape.prototype.old = function () {};
const LIMIT = 3;
function Component() { return <p>it's {"fine"} <b/></p>; }
"####,
        expect![[r#"
            2-2 function main
            3-3 function add
            4-4 function later
            5-11 class Shape
            7-7 method create in Shape
            8-8 method area in Shape
            9-9 method [Symbol.iterator] in Shape
            10-10 method handle in Shape
            12-12 function walk
            12-12 function inner in walk
            13-18 constant api
            14-14 method list in api
            15-15 method get in api
            16-16 method quoted in api
            19-19 function run
            20-20 method old
            21-21 constant LIMIT
            22-22 function Component
        "#]],
    );
}

#[test]
fn typescript() {
    check(
        Language::TypeScript,
        r####"export interface Shape<T> { area(): number; name?: string }
export type Point = { x: number; y: number };
declare function outside(a: string): void;
export const enum Color { Red, Green }
namespace App.Inner { export function run(): void {} }
abstract class Base<T> implements Shape<T> {
  constructor(private readonly a: string, public b = { c: 1 }) { super(); }
  abstract area(): number;
  protected async load<K>(key: K): Promise<{ a: K }> { return null as any }
  static of = <T>(value: T): Base<T> => new Real(value);
}
export const pick = <T,>(value: T): T => value;
let type = 1;
"####,
        expect![[r#"
            1-1 interface Shape
            1-1 method area in Shape
            2-2 type Point
            3-3 function outside
            4-4 enum Color
            5-5 module Inner
            5-5 function run in Inner
            6-11 class Base
            7-7 method constructor in Base
            8-8 method area in Base
            9-9 method load in Base
            10-10 method of in Base
            12-12 function pick
            13-13 variable type
        "#]],
    );
}

#[test]
fn typescript_with_types_written_out() {
    // Braces of a type are no body, wherever they stand in a head.
    check(
        Language::TypeScript,
        r####"export declare class Failure extends Failure_base<{
  readonly reason: string;
}> {
  get message(): string;
  static is(u: unknown): u is Failure;
}
class Pair extends Both<A, { b: number }> implements C<{ d: 1 } | { e: 2 }> {
  first(): { a: 1 } { return { a: 1 } }
}
function made(): { a: number; b: { c: string } } {
  function inner() {}
  return null as any;
}
interface Router {
  readonly add: <E = never, R extends object = {}>(path: string) => void;
  readonly on: (a: string) => { off(): void };
}
"####,
        expect![[r#"
            1-6 class Failure
            4-4 method message in Failure
            5-5 method is in Failure
            7-9 class Pair
            8-8 method first in Pair
            10-13 function made
            11-11 function inner in made
            14-17 interface Router
            15-15 method add in Router
            16-16 method on in Router
        "#]],
    );
}

#[test]
fn go() {
    check(
        Language::Go,
        r####"package main

type Point struct {
	X, Y int
}
type Shape interface { Area() float64 }
type (
	ID   string
	List[T any] struct { items []T }
)
const (
	First = iota
	Second
)
var a, b = 1, 2
func main() { s := `func no() {`; f := func() {}; type local int }
func (p *Point) Move(by int) error {
	return nil
}
func Map[T, U any](in []T, f func(T) U) []U { return nil }
"####,
        expect![[r#"
            3-5 struct Point
            6-6 interface Shape
            8-8 type ID
            9-9 struct List
            12-12 constant First
            13-13 constant Second
            15-15 variable a
            15-15 variable b
            16-16 function main
            17-19 method Move
            20-20 function Map
        "#]],
    );
}

#[test]
fn c() {
    check(
        Language::C,
        r####"#include <stdio.h>
#define MAX(a, b) \
	((a) > (b) ? (a) : (b))
struct point { int x, y; };
typedef struct { int a; } pair_t;
typedef int (*compare)(const void *, const void *);
enum color { RED, GREEN };
static __init int __attribute__((noinline))
start(void)
{
	if (x) { return 1; }
	call("}", '{');
}
int declared(int);
#ifdef A
int chosen(int a) {
#else
int chosen(long a) {
#endif
	return a;
}
SYSCALL_DEFINE2(open_it, int, a, int, b)
{
}
int old(a, b)
	int a;
	char *b;
{ return 0; }
static const struct point table[] = { { 1, 2 } };
struct point *make(struct point *p) { return p; }
"####,
        expect![[r#"
            2-3 macro MAX
            4-4 struct point
            5-5 type pair_t
            6-6 type compare
            7-7 enum color
            8-13 function start
            16-16 function chosen
            18-21 function chosen
            22-24 function open_it
            25-28 function old
            30-30 function make
        "#]],
    );
}

#[test]
fn cpp() {
    check(
        Language::Cpp,
        r####"namespace a::b {
template <typename T, typename U = std::map<T, int>>
class Shape final : public Base<T> {
public:
  Shape() : side_{1}, name_("x") {}
  ~Shape() override {}
  virtual int area() const noexcept = 0;
  bool operator==(const Shape &other) const { return true; }
  auto size() const -> int { return 1; }
private:
  int side_;
};
}
enum class Color : int { Red };
using Alias = int;
int a::b::Shape<int>::area() const { return R"x(int no() {)x"[0]; }
void Shape::draw() { auto f = [](int a) { return a; }; for (int i = 0; i < 3; i++) {} }
extern "C" { void from_c(void) { } }
struct Plain { int a; };
"####,
        expect![[r#"
            1-13 module b
            2-12 class Shape in b
            5-5 method Shape in Shape
            6-6 method ~Shape in Shape
            8-8 method operator== in Shape
            9-9 method size in Shape
            14-14 enum Color
            15-15 type Alias
            16-16 method area
            17-17 method draw
            18-18 function from_c
            19-19 struct Plain
        "#]],
    );
}

#[test]
fn the_words_of_a_file_are_its_identifiers_once() {
    let lexed = symbols::lex(b"fn a(b: u8) { b + a; \"c\"; 1x; } // d\n", Language::Rust);
    let words = lexed.identifiers.iter().map(|word| String::from_utf8_lossy(word));
    assert_eq!(words.collect::<Vec<_>>().join(" "), "a b fn u8");
}

#[test]
fn a_file_of_one_long_line_is_not_lexed_beyond_the_limit() {
    let long = "fn a(){}".repeat(usize::try_from(symbols::LARGEST).unwrap() / 8);
    assert_eq!(symbols::lex(long.as_bytes(), Language::Rust).definitions.len(), long.len() / 8);
    let longer = vec![b'('; 50_000_000];
    for language in LANGUAGES {
        assert_eq!(symbols::lex(&longer, language), symbols::Lexed::default());
    }
}

/// Bytes that mean something in some language, and others.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "fn a",
            "def b",
            "class C",
            "struct D",
            "impl E for F",
            "(",
            ")",
            "{",
            "}",
            "[",
            "]",
            "<",
            ">",
            "\"",
            "'",
            "`",
            "${",
            "#{",
            "\\",
            "\n",
            " ",
            "/*",
            "*/",
            "//",
            "#",
            "=",
            "=>",
            ";",
            ":",
            ",",
            ".",
            "<<EOF",
            "<<~A",
            "EOF",
            "r#\"",
            "\"\"\"",
            "%w(",
            "#if",
            "#else",
            "#endif",
            "#define X",
            "<?php",
            "?>",
            "function",
            "type",
            "const",
            "end",
            "operator",
            "typedef",
            "R\"(",
            "@",
            "$\"",
            "=begin",
            "async",
            "new",
            "extension",
            "val",
            "é",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(piece, 0..80).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_bytes_give_definitions_within_the_file(bytes in pieces()) {
        let lines = u32::try_from(bytes.split(|byte| *byte == b'\n').count()).unwrap();
        for language in LANGUAGES {
            let lexed = symbols::lex(&bytes, language);
            prop_assert!(lexed.identifiers.is_sorted());
            for one in &lexed.definitions {
                prop_assert!(1 <= one.start && one.start <= one.line, "{language:?} {one:?}");
                prop_assert!(one.line <= one.end && one.end <= lines, "{language:?} {one:?} {lines}");
            }
        }
    }
}
