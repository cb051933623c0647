//! Where the links of a page lead, as a browser has it: by the URL standard (WHATWG). The only
//! file that knows url.

use url::Url;

use super::beside::Beside;
use crate::document::Link;

/// The links of a page that can be fetched and are not `nofollow`, without their fragments, in
/// order. References are relative to the page's `<base>`, and that to its address.
pub(super) fn resolve(beside: Beside, page_url: &str) -> Vec<Link> {
    if beside.is_nofollow {
        return Vec::new();
    }
    let page = Url::parse(page_url).ok();
    let base = beside.base.and_then(|href| {
        let options = Url::options().base_url(page.as_ref());
        let base = options.parse(&href).ok()?;
        (!matches!(base.scheme(), "data" | "javascript")).then_some(base)
    });
    let base = base.or(page);
    let links = beside.links.into_iter().filter_map(|link| {
        let mut url = Url::options()
            .base_url(base.as_ref())
            .parse(&link.href)
            .ok()?;
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        url.set_fragment(None);
        Some(Link {
            url: url.into(),
            text: link.text,
        })
    });
    links.collect()
}

/// The words of an address: all but its scheme, with characters in the place of their escapes,
/// and spaces in that of ASCII punctuation.
pub(crate) fn url_words(url: &str) -> String {
    let url = url.split_once("://").map_or(url, |(_, rest)| rest);
    let mut bytes = Vec::with_capacity(url.len());
    let mut rest = url.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        let escaped = match rest {
            [b'%', high, low, ..] => hexadecimal(*high).zip(hexadecimal(*low)),
            _ => None,
        };
        let (byte, behind) = match escaped {
            Some((high, low)) => (high << 4 | low, &rest[3..]),
            None => (byte, behind),
        };
        bytes.push(if byte.is_ascii_punctuation() {
            b' '
        } else {
            byte
        });
        rest = behind;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hexadecimal(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::super::visible;
    use super::*;

    fn links(html: &str, url: &str) -> Vec<(String, String)> {
        let links = resolve(visible::page(html, true).beside, url);
        links
            .into_iter()
            .map(|link| (link.url, link.text))
            .collect()
    }

    fn urls(html: &str, url: &str) -> Vec<String> {
        links(html, url).into_iter().map(|(url, _)| url).collect()
    }

    const PAGE: &str = "https://a.example/dir/page.html?x=1#part";

    #[test]
    fn references_lead_where_a_browser_would_go() {
        for (href, expected) in [
            ("other.html", Some("https://a.example/dir/other.html")),
            ("./other.html", Some("https://a.example/dir/other.html")),
            ("../up", Some("https://a.example/up")),
            ("../../../up", Some("https://a.example/up")),
            ("/root", Some("https://a.example/root")),
            ("//b.example/x", Some("https://b.example/x")),
            ("?q=1", Some("https://a.example/dir/page.html?q=1")),
            ("", Some("https://a.example/dir/page.html?x=1")),
            ("#top", Some("https://a.example/dir/page.html?x=1")),
            ("http://c.example", Some("http://c.example/")),
            ("HTTP://C.EXAMPLE:80/%7e#f", Some("http://c.example/%7e")),
            ("http:/c.example/x", Some("http://c.example/x")),
            ("https:rel", Some("https://a.example/dir/rel")),
            ("http:///c.example", Some("http://c.example/")),
            ("\\\\d.example\\x", Some("https://d.example/x")),
            (" \n/spa ce\t ", Some("https://a.example/spa%20ce")),
            ("/a&amp;b", Some("https://a.example/a&b")),
            (
                "http://пример.example/ю?я",
                Some("http://xn--e1afmkfd.example/%D1%8E?%D1%8F"),
            ),
            ("http://[bad", None),
            ("http://a b.example/", None),
            ("https://", None),
            ("http://a.example:99999/", None),
            ("javascript:void(0)", None),
            ("JavaScript:x", None),
            ("java\nscript:x", None),
            ("mailto:a@b.example", None),
            ("tel:123", None),
            ("data:text/html,x", None),
            ("ftp://f.example/x", None),
        ] {
            let html = format!("<p><a href=\"{href}\">x</a>");
            let found = urls(&html, PAGE);
            assert_eq!(found.first().map(String::as_str), expected, "{href}");
        }
    }

    #[test]
    fn the_first_base_counts() {
        let of = |head: &str| urls(&format!("{head}<a href=x>x</a>"), PAGE);
        assert_eq!(of("<base href=/b/>"), ["https://a.example/b/x"]);
        assert_eq!(
            of("<base target=_top><base href=//b.example/c/d><base href=/no/>"),
            ["https://b.example/c/x"]
        );
        assert_eq!(
            of("<base href='javascript:x'>"),
            ["https://a.example/dir/x"]
        );
        assert_eq!(of("<base href='http://[bad'>"), ["https://a.example/dir/x"]);
        let html = "<base href=http://b.example/><a href=x>x</a>";
        assert_eq!(urls(html, "pages/file.html"), ["http://b.example/x"]);
        assert!(urls("<a href=x>x</a>", "pages/file.html").is_empty());
    }

    #[test]
    fn what_is_no_link_of_the_page_is_left_out() {
        let html = "<!-- <a href=1>1</a> --><script>'<a href=2>2</a>'</script>
            <template><a href=3>3</a></template><textarea><a href=4>4</a></textarea>
            <a name=x>no</a><a rel='x NoFollow' href=5>5</a><link href=6><a href=7>7</a>
            <map><area href=8 alt=eight></map><a href=9 href=10>9</a><noscript><a href=11></noscript>
            <svg><a xlink:href=12><text>12</text></a></svg>";
        let expected = ["7", "8", "9", "12"].map(|name| format!("https://a.example/dir/{name}"));
        assert_eq!(urls(html, PAGE), expected);
        let robots = "<meta name=Robots content='noindex, NOFOLLOW'><a href=1>1</a>";
        assert!(urls(robots, PAGE).is_empty());
    }

    #[test]
    fn a_link_has_the_text_that_is_seen_of_it() {
        let html = "Before <a href=1> one <b>two</b> <img src=x alt='a picture'></a> after
            <a href=2>three<a href=3>four<p>five</a> six <a href=4 style='display:none'>no</a>
            <area href=5 alt=six><a href=6>seven";
        let texts: Vec<String> = links(html, PAGE)
            .into_iter()
            .map(|(_, text)| text)
            .collect();
        let texts: Vec<Vec<&str>> = texts
            .iter()
            .map(|text| text.split_whitespace().collect())
            .collect();
        assert_eq!(
            texts,
            [
                &["a", "picture", "one", "two"][..],
                &["three"],
                &["four", "five"],
                &[],
                &["six"],
                &["seven"],
            ]
        );
    }

    #[test]
    fn the_words_of_an_address_are_apart() {
        assert_eq!(
            url_words("https://www.a.example/robot-arm_2/%D1%8E%2fx?q=sea+sky&%zz"),
            "www a example robot arm 2 ю x q sea sky  zz"
        );
    }

    proptest::proptest! {
        #[test]
        fn no_page_makes_it_panic(html in "(<a |<base |href=|[/:?#%.@]|http|>|</a>|\\PC){0,40}") {
            let _ = urls(&html, PAGE);
            let _ = url_words(&html);
        }
    }
}
