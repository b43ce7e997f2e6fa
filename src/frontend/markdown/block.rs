//! One piece of Markdown, parsed and drawn.

use pulldown_cmark::CodeBlockKind;
use pulldown_cmark::Event;
use pulldown_cmark::HeadingLevel;
use pulldown_cmark::Options;
use pulldown_cmark::Parser;
use pulldown_cmark::Tag;
use pulldown_cmark::TagEnd;

use super::code_line;
use super::table::Table;
use crate::frontend::highlight::Lexer;
use crate::frontend::style::Ink;
use crate::frontend::style::Line;
use crate::frontend::style::Style;
use crate::frontend::wrap;

/// What a piece came to.
pub(super) struct Drawn {
    pub(super) lines: Vec<Line>,
    /// The number of its last item, if it ends in a numbered list.
    pub(super) ordinal: Option<u64>,
}

/// Draws `source`. A numbered list at its beginning goes on from `ordinal`.
pub(super) fn draw(source: &str, columns: usize, ordinal: Option<u64>) -> Drawn {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut pen = Pen::new(source, columns, ordinal);
    for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
        pen.take(event, range.start);
    }
    pen.end_line();
    Drawn { lines: pen.lines, ordinal: pen.ordinal }
}

/// What stands before the lines of a quote or of an item: once, and then on.
struct Margin {
    first: Option<Line>,
    rest: Line,
}

struct Pen<'a> {
    source: &'a str,
    columns: usize,
    lines: Vec<Line>,
    /// The line being written, without its margins.
    line: Line,
    margins: Vec<Margin>,
    styles: Vec<Style>,
    /// The next number of each open list; `None` for one without numbers.
    lists: Vec<Option<u64>>,
    links: Vec<Link>,
    code: Option<(String, Option<Lexer>)>,
    table: Option<Table>,
    ordinal: Option<u64>,
    /// Whether nothing but the beginning of a list was met.
    at_start: bool,
}

struct Link {
    target: String,
    /// Where its text begins in the line.
    text_from: usize,
}

impl<'a> Pen<'a> {
    fn new(source: &'a str, columns: usize, ordinal: Option<u64>) -> Pen<'a> {
        Pen {
            source,
            columns,
            lines: Vec::new(),
            line: Line::default(),
            margins: Vec::new(),
            styles: vec![Style::default()],
            lists: Vec::new(),
            links: Vec::new(),
            code: None,
            table: None,
            ordinal,
            at_start: true,
        }
    }

    fn take(&mut self, event: Event<'_>, start: usize) {
        match event {
            Event::Start(tag) => self.start(tag, start),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((code, _)) => code.push_str(&text),
                None => self.write(&text),
            },
            Event::Code(text) => {
                let style = Style { ink: Ink::Code, ..self.style() };
                self.line_or_cell().push(&text, style);
            }
            Event::SoftBreak | Event::HardBreak if self.table.is_none() => self.break_line(),
            Event::SoftBreak | Event::HardBreak => self.write(" "),
            Event::InlineHtml(text) if text.starts_with("<br") => self.break_line(),
            Event::InlineHtml(text)
            | Event::Html(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.write_lines(&text),
            Event::Rule => {
                let columns = self.room().min(40);
                self.line.push(&"─".repeat(columns), Ink::Faint);
                self.end_line();
            }
            Event::TaskListMarker(done) => self.write(if done { "[x] " } else { "[ ] " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>, start: usize) {
        let is_list = matches!(tag, Tag::List(_));
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.separate(start),
            Tag::Heading { level, .. } => {
                self.separate(start);
                self.styles.push(Style::from(Ink::Heading).bold());
                self.write(&format!("{} ", "#".repeat(depth(level))));
            }
            Tag::BlockQuote(_) => {
                self.separate(start);
                let bar = Line::of("│ ", Ink::Faint);
                self.margins.push(Margin { first: None, rest: bar });
            }
            Tag::CodeBlock(kind) => {
                self.separate(start);
                let lexer = match kind {
                    CodeBlockKind::Fenced(language) => Lexer::for_language(&language),
                    CodeBlockKind::Indented => None,
                };
                self.code = Some((String::new(), lexer));
            }
            Tag::List(first) => {
                self.separate(start);
                let goes_on = self.ordinal.filter(|_| self.at_start && self.lists.is_empty());
                self.lists.push(first.map(|first| match goes_on {
                    Some(last) if first <= last => last + 1,
                    _ => first,
                }));
            }
            Tag::Item => self.item(),
            Tag::Table(alignments) => {
                self.separate(start);
                self.table = Some(Table::new(alignments));
            }
            Tag::TableRow | Tag::TableHead => self.table.iter_mut().for_each(Table::start_row),
            Tag::TableCell => self.table.iter_mut().for_each(Table::start_cell),
            Tag::Emphasis => self.styles.push(self.style().italic()),
            Tag::Strong => self.styles.push(self.style().bold()),
            Tag::Strikethrough => self.styles.push(Style { strike: true, ..self.style() }),
            Tag::Link { dest_url, .. } => self.link(&dest_url),
            Tag::Image { dest_url, .. } => {
                self.write("image: ");
                self.link(&dest_url);
            }
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => {}
        }
        self.at_start &= is_list;
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_line(),
            TagEnd::Heading(_) => {
                self.end_line();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.end_line();
                self.margins.pop();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                let next = self.lists.pop().flatten();
                if self.lists.is_empty() {
                    self.ordinal = next.map(|next| next - 1);
                    return;
                }
            }
            TagEnd::Item => {
                self.end_line();
                // An item without text still shows its marker.
                if self.margins.last().is_some_and(|margin| margin.first.is_some()) {
                    self.push_row(&Line::default());
                }
                self.margins.pop();
            }
            TagEnd::Table => self.end_table(),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => drop(self.styles.pop()),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::TableCell
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => {}
        }
        if !matches!(tag, TagEnd::List(_) | TagEnd::Item) && self.lists.is_empty() {
            self.ordinal = None;
        }
    }

    fn item(&mut self) {
        self.end_line();
        let marker = match self.lists.last_mut() {
            Some(Some(next)) => {
                *next += 1;
                format!("{}. ", *next - 1)
            }
            _ => "• ".to_owned(),
        };
        let rest = Line::plain(" ".repeat(crate::frontend::style::width(&marker)));
        self.margins.push(Margin { first: Some(Line::of(marker, Ink::Faint)), rest });
    }

    fn link(&mut self, target: &str) {
        let text_from = self.line_or_cell().text().len();
        self.links.push(Link { target: target.to_owned(), text_from });
        self.styles.push(Style { ink: Ink::Link, ..self.style() });
    }

    /// Shows where the link leads, unless its text says so.
    fn end_link(&mut self) {
        self.styles.pop();
        let Some(Link { target, text_from }) = self.links.pop() else { return };
        let shown = self.line_or_cell().text();
        let text = shown.get(text_from..).unwrap_or_default().trim();
        if !target.is_empty() && text != target.trim_start_matches("mailto:") {
            let open = if text.is_empty() { "(" } else { " (" };
            self.line_or_cell().push(&format!("{open}{target})"), Ink::Faint);
        }
    }

    fn end_code(&mut self) {
        let Some((code, mut lexer)) = self.code.take() else { return };
        for text in code.trim_end_matches('\n').split('\n') {
            let indent = Line::plain("  ");
            for line in code_line(text, lexer.as_mut(), self.room(), &indent) {
                self.push_row(&line);
            }
        }
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        for line in table.draw(self.room()) {
            self.push_row(&line);
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn line_or_cell(&mut self) -> &mut Line {
        match self.table.as_mut().and_then(Table::cell) {
            Some(cell) => cell,
            None => &mut self.line,
        }
    }

    fn write(&mut self, text: &str) {
        let style = self.style();
        self.line_or_cell().push(text, style);
    }

    fn write_lines(&mut self, text: &str) {
        for piece in text.split_inclusive('\n') {
            self.write(piece.trim_end_matches('\n'));
            if piece.ends_with('\n') {
                self.break_line();
            }
        }
    }

    /// Ends the line in the middle of a block; in a cell a blank does.
    fn break_line(&mut self) {
        if self.table.is_some() { self.write(" ") } else { self.end_line() }
    }

    /// Keeps the blank line that stands before a block inside a quote.
    fn separate(&mut self, start: usize) {
        self.end_line();
        let line_start = self.source[..start].rfind('\n').map_or(0, |at| at);
        let above = self.source[..line_start].rsplit('\n').next().unwrap_or_default();
        let is_blank = above.contains('>') && above.trim_matches(['>', ' ', '\t']).is_empty();
        if is_blank && !self.lines.is_empty() {
            self.push_row(&Line::default());
        }
    }

    fn room(&self) -> usize {
        let used: usize = self.margins.iter().map(|margin| margin.rest.width()).sum();
        if used * 2 > self.columns { self.columns } else { (self.columns - used).max(1) }
    }

    fn end_line(&mut self) {
        if self.line.is_empty() {
            return;
        }
        let line = std::mem::take(&mut self.line);
        for row in wrap::words(&line, self.room(), &Line::default()) {
            self.push_row(&row);
        }
    }

    /// Brings out `row` behind the margins; on a screen too narrow for them, without.
    fn push_row(&mut self, row: &Line) {
        let mut placed = Line::default();
        if self.room() < self.columns || self.margins.is_empty() {
            for margin in &mut self.margins {
                placed.append(&margin.first.take().unwrap_or_else(|| margin.rest.clone()));
            }
        }
        self.margins.iter_mut().for_each(|margin| margin.first = None);
        placed.append(row);
        self.lines.push(placed);
    }
}

fn depth(level: HeadingLevel) -> usize {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
