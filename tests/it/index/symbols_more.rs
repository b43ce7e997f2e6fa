//! What the other languages define, and that odd and broken files do no harm.

use expect_test::expect;
use snick::index::symbols::Language;

use super::symbols::check;

#[test]
fn java() {
    check(
        Language::Java,
        r####"package a.b;
@Annotated("class No {}")
public final class Shape<T extends Comparable<T>> extends Base implements A, B {
    private final List<String> names = new ArrayList<>();
    public Shape(int side) { super(side); }
    @Override
    public <K> Map<K, T> area(K key, int... more) throws IOException {
        if (key != null) { return call(key); }
        Runnable r = new Runnable() { public void run() { go(); } };
        return null;
    }
    abstract int declared();
    enum Color { RED, GREEN; int code() { return 1; } }
    interface Inner { void act(); }
    record Pair(int a, int b) {}
    @interface Marker { int value(); }
}
"####,
        expect![[r#"
            2-17 class Shape
            5-5 method Shape in Shape
            6-11 method area in Shape
            9-9 method run in area
            12-12 method declared in Shape
            13-13 enum Color in Shape
            13-13 method code in Color
            14-14 interface Inner in Shape
            14-14 method act in Inner
            15-15 class Pair in Shape
            16-16 interface Marker in Shape
            16-16 method value in Marker
        "#]],
    );
}

#[test]
fn c_sharp() {
    check(
        Language::CSharp,
        r####"using System;
#region one
namespace App.Inner
{
    public class Shape<T> : Base, IShape where T : class
    {
        public string Path => @"C:\";
        public int Side { get; set; }
        public Shape(int side) : base(side) { }
        public async Task<int> Area(string a = "}") { return $"{a}".Length; }
        int Short() => 1;
        private struct Point { }
        enum Color { Red }
    }
    public interface IShape { int Area(); }
    public record Pair(int A, int B);
    public delegate void Changed(object sender);
}
#endregion
"####,
        expect![[r#"
            3-18 module App.Inner
            5-14 class Shape in App.Inner
            9-9 method Shape in Shape
            10-10 method Area in Shape
            11-11 method Short in Shape
            12-12 struct Point in Shape
            13-13 enum Color in Shape
            15-15 interface IShape in App.Inner
            15-15 method Area in IShape
            16-16 class Pair in App.Inner
            17-17 type Changed in App.Inner
        "#]],
    );
}

#[test]
fn ruby() {
    check(
        Language::Ruby,
        r####"module App
  LIMIT = 3
  class Shape < Base
    attr_reader :side
    def initialize(side)
      @side = side if side
      text = <<~TEXT
        def no
        end
      TEXT
    end

    def self.create = new(1)
    def valid?; true; end
    def side=(value)
      [1, 2].each do |x|
        puts "#{x} def no"
      end
    end
    def ==(other)
      other.class == self.class
    end
  end
end
=begin
def no
end
=end
def top
  %w(def class)
end
"####,
        expect![[r#"
            1-24 module App
            2-2 constant LIMIT in App
            3-23 class Shape in App
            5-11 method initialize in Shape
            13-13 method create in Shape
            14-14 method valid? in Shape
            15-19 method side= in Shape
            20-22 method == in Shape
            29-31 function top
        "#]],
    );
}

#[test]
fn php() {
    check(
        Language::Php,
        r####"<p>function no() {}</p>
<?php
namespace App\Inner;
const LIMIT = 3;
interface Shape { public function area(): int; }
abstract class Base implements Shape {
    const SIDE = 1;
    public function __construct(private string $function) {}
    #[Pure]
    public static function &make(array $a = []): static {
        $text = <<<EOT
        function no() {
        EOT;
        return new class { function inner() {} };
    }
}
trait Named {}
enum Color: string { case Red = 'r'; }
function top() { $f = function () {}; return Base::class; }
?>
<b>class No {}</b>
"####,
        expect![[r#"
            3-3 module App\Inner
            4-4 constant LIMIT
            5-5 interface Shape
            5-5 method area in Shape
            6-16 class Base
            7-7 constant SIDE in Base
            8-8 method __construct in Base
            9-15 method make in Base
            14-14 function inner in make
            17-17 trait Named
            18-18 enum Color
            19-19 function top
        "#]],
    );
}

#[test]
fn kotlin() {
    check(
        Language::Kotlin,
        r####"package a
const val LIMIT = 3
data class Point(val x: Int, val y: Int)
sealed interface Shape { fun area(): Double }
enum class Color { RED, GREEN }
class Square(private val side: Int) : Shape {
    override fun area(): Double = side * 1.0
    val name: String
        get() = "fun no() { ${side.let { "}" }}"
    companion object { fun of(side: Int) = Square(side) }
}
fun <T> List<T>.second(): T {
    fun inner() {}
    return this[1]
}
object Single
typealias Names = List<String>
"####,
        expect![[r#"
            2-2 constant LIMIT
            3-3 class Point
            3-3 constant x in Point
            3-3 constant y in Point
            4-4 interface Shape
            4-4 method area in Shape
            5-5 enum Color
            6-11 class Square
            6-6 constant side in Square
            7-7 method area in Square
            8-8 constant name in Square
            10-10 method of in Square
            12-15 function second
            13-13 function inner in second
            16-16 class Single
            17-17 type Names
        "#]],
    );
}

#[test]
fn swift() {
    check(
        Language::Swift,
        r####"protocol Shape { func area() -> Double }
public final class Square: Shape {
    let side: Double
    init(side: Double) { self.side = side }
    func area() -> Double { let s = "\(call("}"))"; return side }
    static func == (a: Square, b: Square) -> Bool { return true }
    class func make() -> Square { Square(side: 1) }
}
struct Point { var x = 1 }
enum Color { case red }
extension Square { func twice() {} }
typealias Name = String
let raw = #"func no() {"#
func top<T: Shape>(_ shape: T) async throws -> Int where T: Equatable {
    1
}
actor Counter {}
"####,
        expect![[r#"
            1-1 interface Shape
            1-1 method area in Shape
            2-8 class Square
            3-3 constant side in Square
            4-4 method init in Square
            5-5 method area in Square
            6-6 method == in Square
            7-7 method make in Square
            9-9 struct Point
            9-9 variable x in Point
            10-10 enum Color
            11-11 method twice in Square
            12-12 type Name
            13-13 constant raw
            14-16 function top
            17-17 class Counter
        "#]],
    );
}

#[test]
fn shell() {
    check(
        Language::Shell,
        r####"#!/bin/bash
start() {
  echo "stop() { ${1#x}"
  cat <<EOF
no() {
}
EOF
}
function with-dash { :; }
function both() {
  local a=${b##*/}
}
sub() ( : )
start now
"####,
        expect![[r#"
            2-8 function start
            9-9 function with-dash
            10-12 function both
            13-13 function sub
        "#]],
    );
}

#[test]
fn broken_files_keep_what_can_be_told() {
    check(
        Language::Rust,
        "fn a( {\nstruct B {\nfn c() {\n",
        expect![[r#"
        1-1 function a
        2-2 struct B
        3-3 function c
    "#]],
    );
    check(
        Language::Python,
        "def a(:\n  x = (\ndef b():\n  pass\n",
        expect![[r#"
        1-2 function a
        3-4 function b
    "#]],
    );
    check(
        Language::C,
        "int a(void) { if (\n}\nint b(void) { }\n",
        expect![[r#"
        1-2 function a
        3-3 function b
    "#]],
    );
    check(
        Language::JavaScript,
        "function a() { `${\nfunction b() {}\n",
        expect![[r#"
        1-1 function a
        2-2 function b
    "#]],
    );
}
