//! What a page says beside what a reader sees: of itself, of its images, and where it links to.

use std::ops::Range;

/// The attributes of a tag that are of interest.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    href: Option<String>,
    rel: Option<String>,
    name: Option<String>,
    content: Option<String>,
    alt: Option<String>,
    title: Option<String>,
}

impl Attributes {
    /// Takes an attribute. Of two with the same name the first counts.
    pub(super) fn add(&mut self, name: &[u8], value: &[u8]) {
        let place = match name {
            b"href" | b"xlink:href" => &mut self.href,
            b"rel" => &mut self.rel,
            b"name" => &mut self.name,
            b"content" => &mut self.content,
            b"alt" => &mut self.alt,
            b"title" => &mut self.title,
            _ => return,
        };
        if place.is_none() {
            *place = Some(String::from_utf8_lossy(value).into_owned());
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// What a page says beside its text.
#[derive(Debug, Default)]
pub(super) struct Beside {
    pub(super) keywords: String,
    pub(super) description: String,
    /// The `alt` and `title` of images.
    pub(super) images: String,
    /// What references are relative to, as it stands in the first `<base>` that says so.
    pub(super) base: Option<String>,
    /// Robots are not to follow any link.
    pub(super) is_nofollow: bool,
    pub(super) links: Vec<RawLink>,
    /// Whether the last of the links has not ended.
    is_open: bool,
}

/// A link as it stands in the page.
#[derive(Debug)]
pub(super) struct RawLink {
    pub(super) href: String,
    /// What a reader sees of it, and the `alt` of its images.
    pub(super) text: String,
    /// Where that is in the text.
    place: Range<usize>,
}

impl Beside {
    /// Takes a start tag. `place` is where the text is that follows it.
    pub(super) fn tag(&mut self, name: &[u8], tag: &Attributes, place: usize, is_seen: bool) {
        match name {
            b"meta" => self.meta(tag),
            b"base" => {
                if self.base.is_none() {
                    self.base.clone_from(&tag.href);
                }
            }
            b"img" | b"image" => {
                for text in [&tag.alt, &tag.title].into_iter().flatten() {
                    if is_seen {
                        add_line(&mut self.images, text);
                    }
                }
                if let (Some(alt), true, Some(link)) =
                    (&tag.alt, self.is_open, self.links.last_mut())
                {
                    add_line(&mut link.text, alt);
                }
            }
            // A link in a link ends it.
            _ => {
                self.end_link(place);
                self.link(name, tag, place);
            }
        }
    }

    fn meta(&mut self, tag: &Attributes) {
        let (Some(name), Some(content)) = (&tag.name, &tag.content) else {
            return;
        };
        match name.trim_ascii().to_ascii_lowercase().as_str() {
            "keywords" => add_line(&mut self.keywords, content),
            "description" => add_line(&mut self.description, content),
            "robots" => {
                self.is_nofollow |= content.split(',').any(|word| {
                    let word = word.trim_ascii();
                    word.eq_ignore_ascii_case("nofollow") || word.eq_ignore_ascii_case("none")
                });
            }
            _ => {}
        }
    }

    fn link(&mut self, name: &[u8], tag: &Attributes, place: usize) {
        let rel = tag.rel.as_deref().unwrap_or_default();
        let is_nofollow = rel
            .split_ascii_whitespace()
            .any(|word| word.eq_ignore_ascii_case("nofollow"));
        let Some(href) = tag.href.as_ref().filter(|_| !is_nofollow) else {
            return;
        };
        let is_area = name == b"area";
        self.is_open = !is_area;
        self.links.push(RawLink {
            href: href.clone(),
            text: tag.alt.clone().filter(|_| is_area).unwrap_or_default(),
            place: place..place,
        });
    }

    /// The link that is open ends here.
    pub(super) fn end_link(&mut self, place: usize) {
        if std::mem::take(&mut self.is_open)
            && let Some(link) = self.links.last_mut()
        {
            link.place.end = place;
        }
    }

    /// Adds to each link what a reader sees of it.
    pub(super) fn spell(&mut self, text: &[u8]) {
        for link in &mut self.links {
            let seen = String::from_utf8_lossy(&text[link.place.clone()]);
            add_line(&mut link.text, &seen);
        }
    }
}

fn add_line(text: &mut String, line: &str) {
    if !text.is_empty() && !line.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}
