use proptest::prelude::*;

use super::*;

fn text_of(what: HtmlText, html: &str) -> String {
    what.of(html, "", &PageSettings::default()).0
}

fn seen(html: &str) -> String {
    text_of(HtmlText::All, html)
}

#[test]
fn a_reader_sees_text_and_no_markup() {
    for (html, text) in [
        ("", ""),
        ("plain text, a < b & c", "plain text, a < b & c"),
        ("<p>f<b>o</b>o<p>bar", "foo\nbar"),
        ("one<br>two<br/>three", "one\ntwo\nthree"),
        ("  a \n\t b  ", "a b"),
        ("<ul><li>a<li>b</ul>c", "a\nb\nc"),
        (
            "<table><tr><td>a<td>b<tr><th>c</th><th>d</table>e",
            "a b\nc d\ne",
        ),
        ("a<img src=x>b<wbr>c", "a bc"),
        ("<dl><dt>a<dd>b</dl>", "a\nb"),
        ("a<hr>b", "a\nb"),
        ("<select><option>a<option>b</select>c", "a\nb c"),
        ("<textarea>a <b></textarea>", "a <b>"),
        ("<xmp><b>a</xmp>b", "<b>a\nb"),
        ("a<plaintext><b></plaintext>", "a\n<b></plaintext>"),
        // References.
        (
            "caf&eacute; &#x416;&#1078; &lt;b&gt; &amp;amp; &notit; &x",
            "café Жж <b> &amp; ¬it; &x",
        ),
        (
            "&nbsp;a&#0;&#xD800;&#x110000;b",
            "\u{a0}a\u{fffd}\u{fffd}\u{fffd}b",
        ),
        // What is not shown.
        ("a<script>if (a < b) '</p>'</script>b", "ab"),
        ("a<script><!-- <script> </script> --></script>b", "ab"),
        ("a<style>p { }</style>b<noscript><p>no</noscript>c", "abc"),
        ("a<template><p>no</p></template>b", "ab"),
        ("a<!-- no > -->b<!-->c<!--->d", "abcd"),
        ("a<!-- unclosed <p>b", "a"),
        ("a<![CDATA[b]]>c", "ac"),
        ("<iframe><p>no</iframe>a<video>no</video>b", "a b"),
        (
            "a<datalist><option>no</datalist>b<ruby>c<rp>(</rp><rt>d</ruby>",
            "abcd",
        ),
        ("<dialog>no</dialog><dialog open>yes</dialog>", "yes"),
        ("<p hidden>no<p>yes", "yes"),
        ("<div hidden=until-found>no<div>no</div>no</div>yes", "yes"),
        (
            "<div style='color:red; DISPLAY : none!important'>no</div>yes",
            "yes",
        ),
        ("<div style='display:nonesuch'>yes</div>", "yes"),
        (
            "<div data-hidden title=hidden style='x-display:none'>yes</div>",
            "yes",
        ),
        ("<html hidden><body style='display:none'>yes", "yes"),
        ("<input hidden>yes<br style='display:none'>yes", "yes\nyes"),
        // The title comes first, and once.
        (
            "<p>a<title>t &amp; <b></title>b<title>no</title>",
            "t & <b>\nab",
        ),
        ("<title>t</title>", "t"),
        (
            "<svg><title>no</title><text>a</text></svg><title>t</title>b",
            "t\na b",
        ),
    ] {
        assert_eq!(seen(html), text, "{html}");
    }
}

/// Tags that do not match close what a browser would close.
#[test]
fn broken_pages_lose_nothing() {
    for (html, text) in [
        ("<div><p hidden>no</div>yes", "yes"),
        ("<ul><li hidden>no<li>yes</ul>", "yes"),
        ("<ul><li hidden>no<ul><li>no</ul><li>yes</ul>", "yes"),
        ("<table><tr hidden><td>no<td>no<tr><td>yes</table>", "yes"),
        ("<table><tr><td hidden>no<td>yes</table>", "yes"),
        (
            "<table><tbody hidden><tr><td>no<tbody><tr><td>yes</table>",
            "yes",
        ),
        ("<p hidden>no<div>yes</div>", "yes"),
        (
            "<p hidden><button>no<div>no</div>no</button>no</p>yes",
            "yes",
        ),
        ("<div hidden>no</span></b></p>no</div>yes", "yes"),
        (
            "<div hidden><table><tr><td></div>no</table>no</div>yes",
            "yes",
        ),
        ("<span hidden>no<p>no</span>no</p>no</span>yes", "yes"),
        ("</div></p></table>yes</body>yes</html>yes", "yes\nyes\nyes"),
        ("<option hidden>no<option>yes", "yes"),
        ("<svg hidden><path d=x /><circle>no</svg>yes", "yes"),
        ("<svg><style/><p>yes", "yes"),
        (
            "<svg><desc>no</desc><foreignObject><p>yes<style>no</style></foreignObject><desc>no</desc></svg>b",
            "yes b",
        ),
        ("<svg><g>a<div>b</div>c", "a\nb\nc"),
        ("<math><mi>x</mi><annotation>no</annotation></math>", "x"),
        ("<svg><![CDATA[a<b]]></svg>", "a<b"),
        (
            "<a hidden>no</a>yes<x-y hidden>no<x-z>no</x-z>no</x-y>yes",
            "yesyes",
        ),
        ("<dl><dt hidden>no<dd>yes", "yes"),
        ("<select><option hidden>no<option>a</select>", "a"),
    ] {
        assert_eq!(seen(html), text, "{html}");
    }
}

#[test]
fn in_xml_an_element_may_close_itself() {
    let page = "<?xml version=\"1.0\"?><html><head><title/><script src=\"x\"/></head><div hidden=\"\"/>yes</html>";
    assert_eq!(seen(page), "yes");
    assert_eq!(seen("<div hidden/>no"), "");
}

#[test]
fn pages_are_told_by_their_start() {
    for head in [
        "<!DOCTYPE html>",
        "<!doctype HTML PUBLIC",
        "\u{feff} \n<html lang=en>",
        "<!-- a --> <!-- b --><HTML>",
        "<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC",
        "<head><title>",
        "<body>",
        "<title>",
        "<html",
    ] {
        assert!(looks_like_html(head.as_bytes()), "{head}");
    }
    for head in [
        "",
        "<",
        "text <html>",
        "<!DOCTYPE htmlx",
        "<htmls>",
        "<?xml version='1.0'?><feed>",
        "<?xml",
        "<!-- <html>",
        "<p>a fragment",
        "<header>",
    ] {
        assert!(!looks_like_html(head.as_bytes()), "{head}");
    }
}

/// However a page is nested, time and memory are those of its length.
#[test]
fn hostile_pages_are_read_in_linear_time() {
    let of = |part: &str| part.repeat(1_000_000 / part.len());
    let started = std::time::Instant::now();
    for page in [
        of("<div>"),
        of("<b>"),
        of("</div>"),
        of("&"),
        of("&a"),
        of("&#"),
        of("<"),
        of("</"),
        of("<!--"),
        of("<![CDATA["),
        of("<p>"),
        of("<li>"),
        of("<table>"),
        of("<svg>"),
        of("<svg><foreignObject>"),
        of("<a x=y>"),
        of("<x a a a"),
        of("<title>"),
        of("<script>"),
        of("<p hidden>"),
        "<div>".repeat(500) + "<table><td>" + &of("<span></div>"),
        format!("<script>{}", of("</scrip")),
        format!("<p style='{}'>x", of("display:")),
    ] {
        for html in [HtmlText::All, HtmlText::Article] {
            assert!(text_of(html, &page).len() <= 3 * page.len());
        }
    }
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

#[cfg(feature = "article")]
#[test]
fn an_article_is_found_among_navigation() {
    let paragraph = "The harbour of Saltmere was rebuilt in the spring, and the boats that had \
                     wintered ashore were back in the water within a week, the pilot said. ";
    let page = |links: &str| {
        format!(
            "<html><head><title>Harbour rebuilt</title></head><body><nav><ul>{links}</ul></nav>\
             <div class=cookie-banner>We use cookies. Accept all.</div>\
             <article><h1>Harbour rebuilt</h1><p>{0}</p><p>{0}</p><p>{0}</p></article>\
             <footer>Imprint and contact</footer></body></html>",
            paragraph.repeat(3)
        )
    };
    let links = |names: &[&str]| -> String {
        names
            .iter()
            .map(|name| format!("<li><a href='/{name}'>{name}</a>"))
            .collect()
    };
    let one = page(&links(&["home", "news", "sports", "weather"]));
    let other = page(&links(&["start", "shop", "about us", "jobs", "archive"]));
    let article = text_of(HtmlText::Article, &one);
    assert_eq!(article, text_of(HtmlText::Article, &other));
    assert!(article.contains("the pilot said"));
    for gone in ["sports", "cookies", "Imprint"] {
        assert!(
            seen(&one).contains(gone) && !article.contains(gone),
            "{article}"
        );
    }
    // Words of different paragraphs stay apart.
    assert!(!article.contains("said.The"), "{article}");
    // Where there is no article, all of the page counts.
    assert_eq!(text_of(HtmlText::Article, "<p>short"), "short");
}

/// Text without markup, and what is seen of it within markup: the twin of a page is the text
/// that it was made from.
fn marked() -> impl Strategy<Value = (String, String)> {
    let word = "[a-zé<&>]{1,5}";
    let inline = (word, 0..4_usize).prop_map(|(word, kind)| {
        let escaped = word
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        let html = match kind {
            0 => escaped,
            1 => format!("<b class='x'>{escaped}</b>"),
            2 => format!("<span>{escaped}</span><!-- {escaped} -->"),
            _ => format!("<script>{word}</script>{escaped}<i hidden>{escaped}</i>"),
        };
        (html, word)
    });
    let line = (proptest::collection::vec(inline, 1..4), 0..5_usize).prop_map(|(parts, kind)| {
        let html: String = parts.iter().map(|(html, _)| html.as_str()).collect();
        let text: String = parts.iter().map(|(_, text)| text.as_str()).collect();
        let html = match kind {
            0 => format!("<p>{html}</p>"),
            1 => format!("<div>{html}</div>"),
            2 => format!("<br>{html}<br>"),
            3 => format!("<ul><li>{html}</ul>"),
            _ => format!("<div style='display:none'>{html}</div><section>{html}</section>"),
        };
        (html, text)
    });
    proptest::collection::vec(line, 0..6).prop_map(|lines| {
        let text: Vec<String> = lines.iter().map(|(_, text)| text.clone()).collect();
        (
            lines.into_iter().map(|(html, _)| html).collect(),
            text.join("\n"),
        )
    })
}

proptest! {
    #[test]
    fn what_was_marked_up_is_seen((html, text) in marked()) {
        // A script may hold what looks like its end, or a comment.
        prop_assume!(!html.contains("<!<"));
        prop_assert_eq!(seen(&html), text);
    }

    #[test]
    fn no_page_is_too_strange(
        parts in proptest::collection::vec(
            prop_oneof![
                "<(/)?(p|b|div|table|tr|td|svg|title|script|template|a|li|math|foreignObject)( hidden)?(/)?>",
                "[<>/!&;a-z \\-\\[\\]'\"=é]{0,9}",
                "\\PC{0,5}",
            ],
            0..40,
        ),
    ) {
        let html = parts.concat();
        let _ = text_of(HtmlText::All, &html);
        let _ = text_of(HtmlText::Article, &html);
        let _ = decode(html.as_bytes(), None, TextEncoding::Auto);
    }
}
