//! Definitions that are easily overlooked: names that are words elsewhere, signs in odd places, types within functions.

use expect_test::expect;
use snick::index::symbols::Language;

use super::symbols::check;

#[test]
fn a_sign_that_names_a_variable_of_ruby_is_no_quote() {
    check(
        Language::Ruby,
        r####"class Settings
  def local
    all.each { |k| repos[$'] = self[k] if k =~ /^local\./ }
    puts $/, $", $`
  end

  def Settings::parse(text)
    if text then 1 elsif /"/ then 2 end
  end

  def level= level
    @level = level
  end
end
"####,
        expect![[r#"
            1-14 class Settings
            2-5 method local in Settings
            7-9 method parse in Settings
            11-13 method level= in Settings
        "#]],
    );
}

#[test]
fn names_are_reserved_in_their_own_language_only() {
    check(
        Language::Java,
        r####"class Buffer {
    Object base() { return null; }
    Buffer with(int value) { assert(value > 0); return this; }
    void delete(String name) throws IOException { synchronized (this) { } }
    int $hidden() { return 1; }
}
"####,
        expect![[r#"
            1-6 class Buffer
            2-2 method base in Buffer
            3-3 method with in Buffer
            4-4 method delete in Buffer
            5-5 method $hidden in Buffer
        "#]],
    );
}

#[test]
fn templates_made_for_types_and_types_within_functions() {
    check(
        Language::Cpp,
        r####"template <> inline void put<wchar_t>(const wchar_t* text) { use<int>(text); }
template <typename It>
auto join(It begin, It end) -> join_view<It, !flag> {
  struct Guard {
    ~Guard() { release(); }
    std::map<int, int> all;
  };
  using local = int;
  return {begin, end};
}
struct Pair {
  Pair(int a) : base<int>(a), second(a) {}
  explicit operator std::less<std::string>() const { return {}; }
};
"####,
        expect![[r#"
            1-1 function put
            2-10 function join
            4-7 struct Guard in join
            5-5 method ~Guard in Guard
            11-14 struct Pair
            12-12 method Pair in Pair
            13-13 method operatorstd::less<std::string> in Pair
        "#]],
    );
}

#[test]
fn dollars_and_fields_that_are_functions() {
    check(
        Language::TypeScript,
        r####"export interface $Shape<T extends { a: number }> {
  readonly area: <A>(side: A) => number
  handle<K extends { id: string; }>(key: K): void
  name: string
}
export type $Kind = "a" | "b";
const text = `${$Kind}`;
"####,
        expect![[r#"
            1-5 interface $Shape
            2-2 method area in $Shape
            3-3 method handle in $Shape
            6-6 type $Kind
            7-7 constant text
        "#]],
    );
}
