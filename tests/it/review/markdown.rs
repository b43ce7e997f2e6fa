//! Markdown as it streams: finished blocks once, whatever the pieces it comes in.

use expect_test::Expect;
use expect_test::expect;
use proptest::prelude::*;
use snick::frontend::markdown::Streaming;
use snick::frontend::style::Line;

use super::plain;
use super::symbolic;

fn draw(source: &str, columns: usize) -> Vec<Line> {
    let mut text = Streaming::new(columns);
    let mut lines = text.push(source);
    lines.extend(text.finish());
    lines
}

#[track_caller]
fn check(source: &str, columns: usize, expected: &Expect) {
    expected.assert_eq(&plain(&draw(source, columns)));
}

#[test]
fn inline_styles_and_links() {
    let source = "# A *title*\nSome **bold _both_** and `code`, ~~gone~~ [text](http://x.y) \
                  <http://z.z> ![alt](i.png)\nnext line";
    expect![[r#"
        {heading+bold:# A }{heading+bold+italic:title}
        Some {bold:bold }{bold+italic:both} and {code:code}, {strike:gone} {link:text}{faint: (http://x.y)} {link:http://z.z} image: {link:alt}{faint: (i.png)}
        next line
    "#]].assert_eq(&symbolic(&draw(source, 200)));
}

#[test]
fn prose_is_wrapped_and_blank_lines_are_kept_once() {
    check(
        "\n\nthe quick brown fox\n\n\n\njumps over the dog\n",
        12,
        &expect![[r#"
        the quick
        brown fox

        jumps over
        the dog
    "#]],
    );
}

#[test]
fn lists_nest_and_hang() {
    check(
        "Intro:\n- one two three four\n  - inner\n    continued\n- second\n\n1. a\n2. b\n   1. c\n\n- [x] done\n- [ ] open\n-\n",
        16,
        &expect![[r#"
            Intro:
            • one two three
              four
              • inner
                continued
            • second

            1. a
            2. b
               1. c

            • [x] done
            • [ ] open
            • 
        "#]],
    );
}

#[test]
fn a_list_with_blank_lines_goes_on_and_counts() {
    check(
        "1. one\n\n   more of one\n\n   - inner\n\n1. two\n\n       code\n2. three\n\nend\n\n1. anew\n",
        40,
        &expect![[r#"
            1. one

               more of one

               • inner

            2. two

                   code
            3. three

            end

            1. anew
        "#]],
    );
}

#[test]
fn code_in_a_list_stays_in_its_item_and_the_list_goes_on() {
    check(
        "1. run\n   ```sh\n   cargo test\n\n     indented\n   ```\n   then\n2. read\n\n   ```\n   x\n   ```\n\n- ```\n  y\n  ```\n",
        40,
        &expect![[r#"
            1. run
                 cargo test
     
                   indented
               then
            2. read

                 x

            • 
                y
        "#]],
    );
}

#[test]
fn code_is_coloured_and_never_parsed() {
    let source =
        "```rust\nfn main() { // *x*\n\tlet s = \"a\";\n\n}\n```\nafter\n\n~~~~\n```\n~~~~\n";
    expect![[r#"
          {keyword:fn} main() { {comment:// *x*}
              {keyword:let} s = {literal:"a"};
  
          }
        after

          ```
    "#]]
    .assert_eq(&symbolic(&draw(source, 60)));
}

#[test]
fn quotes_keep_their_bar() {
    check(
        "> one two three four\n> five\n>\n> - a\n> - b\n>\n> ```\n> code\n> ```\n\nout\n",
        14,
        &expect![[r#"
            │ one two
            │ three four
            │ five
            │ 
            │ • a
            │ • b
            │ 
            │   code

            out
        "#]],
    );
}

#[test]
fn tables_are_aligned() {
    check(
        "| name | n |\n|:--|--:|\n| a `x` | 1 |\n| longer | 200 |\n| short |\n",
        40,
        &expect![[r#"
            name   │   n
            ───────┼────
            a x    │   1
            longer │ 200
            short  │    
        "#]],
    );
}

#[test]
fn a_table_that_nearly_fits_has_its_cells_broken() {
    check(
        "| key | meaning |\n|---|---|\n| y | accept this change and go on to the next file |\n| n | no |\n",
        30,
        &expect![[r#"
            key │ meaning
            ────┼─────────────────────────
            y   │ accept this change and
                │ go on to the next file
            n   │ no
        "#]],
    );
}

#[test]
fn a_table_that_does_not_fit_becomes_records() {
    check(
        "| key | meaning of the key | more |\n|---|---|---|\n| y | accept this change | aaaaaaaaaaaaa |\n| n | no | b |\n",
        20,
        &expect![[r#"
            key: y
            meaning of the key:
              accept this change
            more: aaaaaaaaaaaaa

            key: n
            meaning of the key:
              no
            more: b
        "#]],
    );
}

#[test]
fn rules_html_and_odd_text_come_through() {
    check(
        "a\n\n---\n\n<div>x</div>\n\na<br>b <b>c</b> &amp; &#27;[2J \x1b[31mred\u{202e}\n\n    indented *code*\n\nTitle\n=====\n",
        30,
        &expect![[r#"
            a

            ──────────────────────────────

            <div>x</div>

            a
            b <b>c</b> &  red

              indented *code*

            # Title
        "#]],
    );
}

#[test]
fn an_unclosed_fence_is_shown_as_code() {
    check(
        "so:\n```\nx",
        30,
        &expect![[r#"
            so:
              x
        "#]],
    );
}

/// Lists what comes out at each piece, and what is pending after it.
#[track_caller]
fn check_stream(pieces: &[&str], expected: &Expect) {
    let mut text = Streaming::new(30);
    let mut shown = String::new();
    let mut show = |mark: &str, lines: &[Line]| {
        for line in plain(lines).lines() {
            shown.extend([mark, line, "\n"]);
        }
    };
    for piece in pieces {
        show(&format!("{piece:?}"), &[Line::default()]);
        show("  out ", &text.push(piece));
        show("  ... ", &text.pending());
    }
    show("  end ", &text.finish());
    expected.assert_eq(&shown);
}

#[test]
fn what_is_finished_comes_out_once_and_the_rest_is_pending() {
    check_stream(
        &[
            "Some *te",
            "xt*\nmore",
            "\n\n`",
            "``",
            "rs\nlet a",
            " = 1;\n}",
            "\n``",
            "`\n\n- a\n",
            "- b",
        ],
        &expect![[r#"
            "Some *te"
              ... Some *te
            "xt*\nmore"
              ... Some text
              ... more
            "\n\n`"
              out Some text
              out more
            "``"
            "rs\nlet a"
              out 
              ...   let a
            " = 1;\n}"
              out   let a = 1;
              ...   }
            "\n``"
              out   }
            "`\n\n- a\n"
              ... 
              ... • a
            "- b"
              ... 
              ... • a
              ... • b
              end 
              end • a
              end • b
        "#]],
    );
}

#[test]
fn an_endless_line_comes_out_in_parts() {
    let mut text = Streaming::new(100);
    let out: usize = (0..10).map(|_| text.push(&"word ".repeat(1_000)).len()).sum();
    assert!(out >= 300, "{out} lines came out");
    assert!(plain(&text.pending()).len() < 32 << 10);
}

const PIECES: &[&str] = &[
    "word ",
    "*it* ",
    "`c` ",
    "\n",
    "\n\n",
    "- item\n",
    "  - sub\n",
    "1. one\n",
    "   more\n",
    "```rs\n",
    "```\n",
    "  ```\n",
    "# head\n",
    "> quote\n",
    ">\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "---\n",
    "    code\n",
    "漢字 ",
    "\x1b[2J",
    "\u{202e}",
    "&#27;",
    "[a](b) ",
    "<br>",
    "\r\n",
    "\t",
];

proptest! {
    /// The same text gives the same lines however it is cut; no line is too wide; nothing acts;
    /// and what is pending is what would come.
    #[test]
    fn the_cuts_do_not_matter(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..30),
        cut in 1..7usize,
        columns in 20..60usize,
    ) {
        let source = pieces.concat();
        let whole = draw(&source, columns);
        let mut text = Streaming::new(columns);
        let mut lines = Vec::new();
        let characters: Vec<char> = source.chars().collect();
        for piece in characters.chunks(cut) {
            lines.extend(text.push(&piece.iter().collect::<String>()));
            text.pending();
        }
        lines.extend(text.finish());
        prop_assert_eq!(plain(&lines), plain(&whole));
        for line in &whole {
            let drawn = line.text();
            prop_assert!(line.width() <= columns, "{:?}", line);
            prop_assert!(!drawn.contains(|c: char| c.is_control() || c == '\u{202e}'), "{:?}", drawn);
        }
    }
}
