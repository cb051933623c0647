//! What a reader of an HTML page sees, as text.
//!
//! Tags come from a tokenizer that follows the standard; here is a stack of the elements
//! that are open, to know where something hidden ends, closed as the standard's tree builder
//! would close them. Time and memory are linear in the page, however it is nested. The only
//! file that knows html5gum.

use html5gum::{Emitter, Error, State, Tokenizer};

use super::beside::{Attributes, Beside};
use super::element::{Element, Raw};

/// How deep elements are followed. Browsers stop at 512 too.
const DEPTH_MAX: usize = 512;

/// A page, taken apart.
#[cfg_attr(not(feature = "article"), allow(dead_code))]
pub(super) struct Page {
    pub(super) title: String,
    /// What a reader sees below it.
    pub(super) body: String,
    /// What else it says of itself, if that is asked for.
    pub(super) beside: Beside,
    /// Whether it is so nested that a tree should not be built of it.
    pub(super) is_tangled: bool,
    /// How many elements it has.
    pub(super) elements: usize,
}

/// Takes a page apart; with what it says beside its text if `with_beside`.
pub(super) fn page(html: &str, with_beside: bool) -> Page {
    let mut text = Text {
        is_xml: html.trim_start().starts_with("<?xml"),
        tag: Tag {
            is_kept: with_beside,
            ..Tag::default()
        },
        ..Text::default()
    };
    let emitter = Listener { text: &mut text };
    let Ok(()) = Tokenizer::new_with_emitter(html, emitter).finish();
    text.beside.end_link(text.body.bytes.len());
    text.beside.spell(&text.body.bytes);
    Page {
        is_tangled: text.is_tangled(),
        elements: text.elements,
        title: string(text.title.unwrap_or_default().bytes),
        body: string(text.body.bytes),
        beside: text.beside,
    }
}

/// It is put together of text and of characters that references stand for.
fn string(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// What stands between what was written and what will be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
}

/// Text with its white space folded.
#[derive(Debug, Default)]
struct Folded {
    bytes: Vec<u8>,
    gap: Gap,
}

impl Folded {
    /// Adds text. White space in it is one space, wherever it stands.
    fn push(&mut self, text: &[u8]) {
        for (index, word) in text.split(u8::is_ascii_whitespace).enumerate() {
            if index > 0 {
                self.gap = self.gap.max(Gap::Space);
            }
            if word.is_empty() {
                continue;
            }
            match self.gap {
                Gap::None => {}
                _ if self.bytes.is_empty() => {}
                Gap::Space => self.bytes.push(b' '),
                Gap::Line => self.bytes.push(b'\n'),
            }
            self.gap = Gap::None;
            self.bytes.extend_from_slice(word);
        }
    }

    fn separate(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }
}

/// An element that is open.
#[derive(Clone, Copy, Debug)]
struct Open {
    element: Element,
    /// Tells elements of the same kind apart: what is not known has a kind of its own.
    name: u64,
}

/// The tag that is being read.
#[derive(Debug, Default)]
struct Tag {
    name: Vec<u8>,
    is_end: bool,
    is_self_closing: bool,
    is_hidden: bool,
    is_open: bool,
    attribute: Vec<u8>,
    style: Vec<u8>,
    /// Attributes are kept of every start tag that is of interest.
    is_kept: bool,
    value: Vec<u8>,
    kept: Attributes,
}

#[derive(Debug, Default)]
struct Text {
    title: Option<Folded>,
    body: Folded,
    beside: Beside,
    is_xml: bool,
    tag: Tag,
    /// The last start tag: what it names ends raw text.
    last_start: Vec<u8>,
    stack: Vec<Open>,
    /// Elements that are open beyond those in the stack.
    beyond: usize,
    /// The outermost of the elements in the stack that are not shown.
    hidden: Option<usize>,
    is_in_title: bool,
    /// The SVG or MathML that is open, unless there is HTML in it.
    foreign: Option<usize>,
    open_paragraphs: usize,
    /// Formatting elements that are open, and the most there were.
    formatting: usize,
    formatting_max: usize,
    beyond_max: usize,
    elements: usize,
}

/// Formatting elements that may be open at a time before a tree of them explodes: they are
/// opened anew in every paragraph.
const FORMATTING_MAX: usize = 100;

impl Text {
    fn is_tangled(&self) -> bool {
        self.beyond_max > 0 || self.formatting_max > FORMATTING_MAX
    }

    fn characters(&mut self, text: &[u8]) {
        if self.is_in_title {
            if let Some(title) = &mut self.title {
                title.push(text);
            }
        } else if self.hidden.is_none() {
            self.body.push(text);
        }
    }

    /// A tag has been read. Tells how what follows is to be read.
    fn tag(&mut self) -> Option<State> {
        self.end_attribute();
        let element = Element::of(&self.tag.name);
        if self.hidden.is_none() {
            self.body.separate(match element {
                _ if element.is_block() => Gap::Line,
                _ if element.is_apart() => Gap::Space,
                _ => Gap::None,
            });
        }
        if self.tag.is_kept {
            self.note();
        }
        let name = hash(&self.tag.name);
        if self.tag.is_end {
            self.last_start.clear();
            self.close(element, name);
            return None;
        }
        self.last_start.clone_from(&self.tag.name);
        self.start(element, name)
    }

    /// Takes what a tag says beside the text.
    fn note(&mut self) {
        let place = self.body.bytes.len();
        let Tag {
            name, is_end, kept, ..
        } = &self.tag;
        match (&name[..], is_end) {
            (b"a", true) => self.beside.end_link(place),
            (b"a" | b"area" | b"base" | b"meta" | b"img" | b"image", false) => {
                let is_in_template = |open: &Open| open.element == Element::Template;
                // What is in a template is not on the page.
                if !self.stack.iter().any(is_in_template) {
                    let is_seen = self.hidden.is_none() && !self.tag.is_hidden;
                    self.beside.tag(name, kept, place, is_seen);
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, element: Element, name: u64) -> Option<State> {
        self.elements += 1;
        if element.is_formatting() {
            self.formatting += 1;
            self.formatting_max = self.formatting_max.max(self.formatting);
        }
        if let (Some(foreign), true) = (self.foreign, element.breaks_out()) {
            self.close_from(foreign);
        }
        let is_foreign = self.foreign.is_some();
        if !is_foreign {
            self.close_implied(element);
        }
        let is_closed = self.tag.is_self_closing && (is_foreign || self.is_xml);
        if is_closed || (element.is_void() && !is_foreign) {
            return None;
        }
        let is_seen = self.hidden.is_none();
        if self.stack.len() == DEPTH_MAX {
            self.beyond += 1;
            self.beyond_max = self.beyond_max.max(self.beyond);
        } else {
            self.push(element, name);
        }
        if is_foreign {
            return None;
        }
        match element.raw() {
            Raw::Title => {
                if is_seen && self.title.is_none() {
                    self.title = Some(Folded::default());
                    self.is_in_title = true;
                }
                Some(State::RcData)
            }
            Raw::TextArea => Some(State::RcData),
            Raw::Script => Some(State::ScriptData),
            Raw::Text => Some(State::RawText),
            Raw::Plain => Some(State::PlainText),
            Raw::No => None,
        }
    }

    fn push(&mut self, element: Element, name: u64) {
        let place = self.stack.len();
        let is_hidden = match element {
            // Scripts show what they hid at first.
            Element::Html | Element::Body => false,
            Element::Dialog => !self.tag.is_open || self.tag.is_hidden,
            _ => self.tag.is_hidden || element.is_unseen(self.foreign.is_some()),
        };
        if is_hidden && self.hidden.is_none() {
            self.hidden = Some(place);
        }
        match element {
            Element::Foreign => self.foreign = self.foreign.or(Some(place)),
            Element::ForeignObject => self.foreign = None,
            _ => {}
        }
        self.open_paragraphs += usize::from(element == Element::P);
        self.stack.push(Open { element, name });
    }

    /// Closes all elements from this place in the stack on.
    fn close_from(&mut self, place: usize) {
        let mut is_foreign_known = true;
        for open in &self.stack[place..] {
            is_foreign_known &= open.element != Element::ForeignObject;
            self.open_paragraphs -= usize::from(open.element == Element::P);
            if open.element.raw() == Raw::Title {
                self.is_in_title = false;
            }
        }
        self.stack.truncate(place);
        self.hidden = self.hidden.filter(|&hidden| hidden < place);
        self.foreign = self.foreign.filter(|&foreign| foreign < place);
        if !is_foreign_known {
            let is_change =
                |open: &Open| matches!(open.element, Element::Foreign | Element::ForeignObject);
            let last = self.stack.iter().rposition(is_change);
            self.foreign = last.filter(|&last| self.stack[last].element == Element::Foreign);
        }
    }

    /// Closes what the start of another element closes.
    fn close_implied(&mut self, element: Element) {
        if element.closes_paragraph() && self.open_paragraphs > 0 {
            self.close_in(|open| open == Element::P, Element::ends_paragraph_scope);
        }
        match element {
            Element::Li | Element::Definition => {
                self.close_in(|open| open == element, Element::ends_item_scope);
            }
            Element::Option => {
                self.close_in(|open| open == Element::Option, |_| true);
            }
            Element::Cell => {
                self.close_in(|open| open == Element::Cell, Element::ends_row_scope);
            }
            Element::Row => {
                self.close_in(|open| open == Element::Row, Element::ends_table_scope);
            }
            Element::RowGroup => {
                let is_part = |open| matches!(open, Element::RowGroup | Element::Row);
                // The group is around its row.
                self.close_in(is_part, Element::ends_table_scope);
                self.close_in(is_part, Element::ends_table_scope);
            }
            _ => {}
        }
    }

    /// Closes the innermost element that is wanted, unless the end of the scope comes first.
    fn close_in(&mut self, is_wanted: impl Fn(Element) -> bool, is_end: impl Fn(Element) -> bool) {
        for place in (0..self.stack.len()).rev() {
            let element = self.stack[place].element;
            if is_wanted(element) {
                return self.close_from(place);
            }
            if is_end(element) {
                return;
            }
        }
    }

    fn close(&mut self, element: Element, name: u64) {
        if element.is_formatting() {
            self.formatting = self.formatting.saturating_sub(1);
        }
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        if matches!(element, Element::Html | Element::Body) {
            return;
        }
        for place in (0..self.stack.len()).rev() {
            let open = self.stack[place];
            if open.element == element && open.name == name {
                return self.close_from(place);
            }
            if element.end_stops_at(open.element) {
                return;
            }
        }
    }

    fn end_attribute(&mut self) {
        let Tag {
            attribute,
            style,
            is_hidden,
            is_open,
            is_end,
            is_kept,
            value,
            kept,
            ..
        } = &mut self.tag;
        if *is_kept && !*is_end {
            kept.add(attribute, value);
        }
        value.clear();
        match &attribute[..] {
            _ if *is_end => {}
            b"hidden" => *is_hidden = true,
            b"open" => *is_open = true,
            b"style" => *is_hidden |= hides(style),
            _ => {}
        }
        attribute.clear();
        style.clear();
    }
}

/// Whether a style has `display: none`.
fn hides(style: &[u8]) -> bool {
    style.split(|&byte| byte == b';').any(|declaration| {
        let mut parts = declaration.splitn(2, |&byte| byte == b':');
        let (Some(property), Some(value)) = (parts.next(), parts.next()) else {
            return false;
        };
        let value = value.trim_ascii();
        property.trim_ascii().eq_ignore_ascii_case(b"display")
            && value
                .get(..4)
                .is_some_and(|start| start.eq_ignore_ascii_case(b"none"))
            && value
                .get(4)
                .is_none_or(|next| matches!(next, b' ' | b'!' | b'\t' | b'\n'))
    })
}

/// FNV-1a, to know a name again.
fn hash(name: &[u8]) -> u64 {
    name.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Listens to the tokenizer.
struct Listener<'t> {
    text: &'t mut Text,
}

impl Emitter for Listener<'_> {
    type Token = std::convert::Infallible;

    fn set_last_start_tag(&mut self, name: Option<&[u8]>) {
        let last = &mut self.text.last_start;
        last.clear();
        last.extend_from_slice(name.unwrap_or_default());
    }

    fn emit_eof(&mut self) {}

    fn emit_error(&mut self, _: Error) {}

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn pop_token(&mut self) -> Option<Self::Token> {
        None
    }

    fn emit_string(&mut self, text: &[u8]) {
        self.text.characters(text);
    }

    fn init_start_tag(&mut self) {
        let tag = &mut self.text.tag;
        tag.name.clear();
        tag.attribute.clear();
        tag.style.clear();
        tag.value.clear();
        tag.kept.clear();
        (tag.is_end, tag.is_self_closing) = (false, false);
        (tag.is_hidden, tag.is_open) = (false, false);
    }

    fn init_end_tag(&mut self) {
        self.init_start_tag();
        self.text.tag.is_end = true;
    }

    fn init_comment(&mut self) {}

    fn emit_current_tag(&mut self) -> Option<State> {
        self.text.tag()
    }

    fn emit_current_comment(&mut self) {}

    fn emit_current_doctype(&mut self) {}

    fn set_self_closing(&mut self) {
        self.text.tag.is_self_closing = true;
    }

    fn set_force_quirks(&mut self) {}

    fn push_tag_name(&mut self, name: &[u8]) {
        self.text.tag.name.extend_from_slice(name);
    }

    fn push_comment(&mut self, _: &[u8]) {}

    fn push_doctype_name(&mut self, _: &[u8]) {}

    fn init_doctype(&mut self) {}

    fn init_attribute(&mut self) {
        self.text.end_attribute();
    }

    fn push_attribute_name(&mut self, name: &[u8]) {
        self.text.tag.attribute.extend_from_slice(name);
    }

    fn push_attribute_value(&mut self, value: &[u8]) {
        let tag = &mut self.text.tag;
        if tag.attribute == b"style" {
            tag.style.extend_from_slice(value);
        }
        if tag.is_kept {
            tag.value.extend_from_slice(value);
        }
    }

    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}

    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}

    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}

    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        let Text {
            tag, last_start, ..
        } = &*self.text;
        tag.is_end && !last_start.is_empty() && tag.name == *last_start
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.text.is_xml || self.text.foreign.is_some()
    }
}
