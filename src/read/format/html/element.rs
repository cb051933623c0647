//! The elements of HTML, as far as they differ in what a reader sees and in what closes them.

/// A kind of element. Elements of one kind are treated alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    Html,
    Body,
    Head,
    /// Stands on lines of its own.
    Block,
    P,
    Heading,
    Li,
    /// `dt`, `dd`.
    Definition,
    Option,
    Table,
    Caption,
    RowGroup,
    Row,
    Cell,
    Button,
    Dialog,
    Template,
    /// What stands apart from the words around it and has an end, such as `select`.
    Apart,
    /// Shown only where what it stands for cannot be: `video`, `object`.
    Fallback,
    /// Never shown: `datalist`, `rp`.
    Unseen,
    Br,
    /// No end and nothing to see: `meta`, `wbr`.
    Void,
    /// No end, and apart from the words around it: `img`.
    VoidApart,
    /// No end, and a line of its own: `hr`.
    VoidBlock,
    Title,
    TextArea,
    Script,
    /// Raw text that is not shown: `style`, `iframe`.
    Hidden,
    /// Raw text that is shown.
    Xmp,
    PlainText,
    /// `svg`, `math`.
    Foreign,
    /// HTML inside of SVG.
    ForeignObject,
    /// Not shown, but only inside of SVG or MathML.
    ForeignUnseen,
    /// `b`, `a` and others that are opened anew in the next paragraph.
    Formatting,
    /// Any other, in the midst of words.
    Inline,
}

/// How the content of an element is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Raw {
    No,
    Title,
    TextArea,
    Script,
    Text,
    Plain,
}

impl Element {
    /// The kind of an element, by its name in lower case.
    pub(super) fn of(name: &[u8]) -> Self {
        match name {
            b"a" | b"b" | b"big" | b"code" | b"em" | b"font" | b"i" | b"nobr" | b"s" | b"small"
            | b"strike" | b"strong" | b"tt" | b"u" => Self::Formatting,
            b"p" => Self::P,
            b"div" | b"address" | b"article" | b"aside" | b"blockquote" | b"center"
            | b"details" | b"dir" | b"dl" | b"fieldset" | b"figcaption" | b"figure" | b"footer"
            | b"form" | b"header" | b"hgroup" | b"legend" | b"listing" | b"main" | b"menu"
            | b"nav" | b"ol" | b"optgroup" | b"pre" | b"search" | b"section" | b"summary"
            | b"ul" | b"frameset" => Self::Block,
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => Self::Heading,
            b"li" => Self::Li,
            b"dt" | b"dd" => Self::Definition,
            b"br" => Self::Br,
            b"td" | b"th" => Self::Cell,
            b"tr" => Self::Row,
            b"tbody" | b"thead" | b"tfoot" => Self::RowGroup,
            b"table" => Self::Table,
            b"caption" => Self::Caption,
            b"script" => Self::Script,
            b"style" | b"noscript" | b"iframe" | b"noembed" | b"noframes" => Self::Hidden,
            b"title" => Self::Title,
            b"html" => Self::Html,
            b"head" => Self::Head,
            b"body" => Self::Body,
            b"img" | b"image" | b"input" | b"embed" => Self::VoidApart,
            b"hr" | b"frame" => Self::VoidBlock,
            b"link" | b"meta" | b"base" | b"basefont" | b"bgsound" | b"wbr" | b"area" | b"col"
            | b"source" | b"track" | b"param" | b"keygen" => Self::Void,
            b"svg" | b"math" => Self::Foreign,
            b"foreignobject" => Self::ForeignObject,
            b"desc" | b"metadata" | b"defs" | b"symbol" | b"annotation" | b"annotation-xml" => {
                Self::ForeignUnseen
            }
            b"option" => Self::Option,
            b"select" | b"meter" | b"progress" => Self::Apart,
            b"button" => Self::Button,
            b"textarea" => Self::TextArea,
            b"video" | b"audio" | b"canvas" | b"object" | b"applet" => Self::Fallback,
            b"datalist" | b"rp" => Self::Unseen,
            b"template" => Self::Template,
            b"dialog" => Self::Dialog,
            b"xmp" => Self::Xmp,
            b"plaintext" => Self::PlainText,
            _ => Self::Inline,
        }
    }

    /// Whether a line ends before and behind it.
    pub(super) fn is_block(self) -> bool {
        matches!(
            self,
            Self::Html
                | Self::Body
                | Self::Head
                | Self::Block
                | Self::P
                | Self::Heading
                | Self::Li
                | Self::Definition
                | Self::Option
                | Self::Table
                | Self::Caption
                | Self::RowGroup
                | Self::Row
                | Self::Dialog
                | Self::Br
                | Self::VoidBlock
                | Self::Xmp
                | Self::PlainText
        )
    }

    /// Whether a word ends before and behind it.
    pub(super) fn is_apart(self) -> bool {
        matches!(
            self,
            Self::Cell
                | Self::Button
                | Self::Apart
                | Self::Fallback
                | Self::TextArea
                | Self::VoidApart
                | Self::Foreign
        )
    }

    /// Whether it is opened anew in the next paragraph unless it is closed.
    pub(super) fn is_formatting(self) -> bool {
        self == Self::Formatting
    }

    /// Whether it has neither content nor end tag.
    pub(super) fn is_void(self) -> bool {
        matches!(
            self,
            Self::Br | Self::Void | Self::VoidApart | Self::VoidBlock
        )
    }

    /// Whether its content is never shown.
    pub(super) fn is_unseen(self, is_foreign: bool) -> bool {
        match self {
            Self::Template
            | Self::Fallback
            | Self::Unseen
            | Self::Title
            | Self::Script
            | Self::Hidden => true,
            Self::ForeignUnseen => is_foreign,
            _ => false,
        }
    }

    pub(super) fn raw(self) -> Raw {
        match self {
            Self::Title => Raw::Title,
            Self::TextArea => Raw::TextArea,
            Self::Script => Raw::Script,
            Self::Hidden | Self::Xmp => Raw::Text,
            Self::PlainText => Raw::Plain,
            _ => Raw::No,
        }
    }

    /// Whether its start ends SVG or MathML that was never closed.
    pub(super) fn breaks_out(self) -> bool {
        matches!(
            self,
            Self::Body
                | Self::Head
                | Self::Block
                | Self::P
                | Self::Heading
                | Self::Li
                | Self::Definition
                | Self::Table
                | Self::Br
                | Self::VoidBlock
                | Self::VoidApart
        )
    }

    /// Whether its start closes a paragraph.
    pub(super) fn closes_paragraph(self) -> bool {
        matches!(
            self,
            Self::Block
                | Self::P
                | Self::Heading
                | Self::Li
                | Self::Definition
                | Self::Table
                | Self::Dialog
                | Self::VoidBlock
                | Self::Xmp
                | Self::PlainText
        )
    }

    /// What a missing end tag is not looked for beyond.
    fn ends_scope(self) -> bool {
        matches!(
            self,
            Self::Html
                | Self::Table
                | Self::Caption
                | Self::Cell
                | Self::Template
                | Self::Fallback
                | Self::Foreign
                | Self::ForeignObject
        )
    }

    pub(super) fn ends_paragraph_scope(self) -> bool {
        self.ends_scope() || self == Self::Button
    }

    pub(super) fn ends_table_scope(self) -> bool {
        matches!(self, Self::Html | Self::Table | Self::Template)
    }

    pub(super) fn ends_row_scope(self) -> bool {
        self == Self::Row || self.ends_table_scope()
    }

    /// Blocks but for some that stand inside of items.
    pub(super) fn ends_item_scope(self) -> bool {
        self.ends_scope() || matches!(self, Self::Li | Self::Definition | Self::Block)
    }

    /// Whether its end tag closes nothing beyond an `open` element.
    pub(super) fn end_stops_at(self, open: Self) -> bool {
        match self {
            Self::Table | Self::Caption | Self::RowGroup | Self::Row | Self::Cell => {
                open.ends_table_scope()
            }
            Self::Template | Self::Foreign | Self::ForeignObject => false,
            Self::P => open.ends_paragraph_scope(),
            _ if self.is_block() || matches!(self, Self::Button | Self::Fallback) => {
                open.ends_scope()
            }
            _ => {
                open.is_block() && open != Self::Option || open.ends_scope() || open == Self::Button
            }
        }
    }
}
