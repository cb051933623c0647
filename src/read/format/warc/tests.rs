use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::read::{Input, InputFormat, Piece, Pieces};

fn record(kind: &str, headers: &str, content: &[u8]) -> Vec<u8> {
    let head = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\n{headers}Content-Length: {}\r\n\r\n",
        content.len()
    );
    [head.as_bytes(), content, b"\r\n\r\n"].concat()
}

fn response(url: &str, head: &str, body: &str) -> Vec<u8> {
    let http = format!("HTTP/1.1 200 OK\r\n{head}\r\n{body}");
    let headers = format!("WARC-Target-URI: {url}\r\nContent-Type: application/http\r\n");
    record("response", &headers, http.as_bytes())
}

/// Ids and texts, or what is wrong.
type Documents = Vec<Result<(String, String), String>>;

/// The documents, and how many records are none.
fn read(bytes: &[u8]) -> (Documents, u64) {
    let settings = ReadSettings {
        format: Some(InputFormat::Warc),
        ..ReadSettings::default()
    };
    let input = Input::from_reader("f", Cursor::new(bytes.to_vec()));
    let mut pieces = Pieces::new(vec![input], &settings);
    let mut piece = Piece::default();
    let (mut all, mut others) = (vec![], 0);
    while pieces.next(&mut piece) {
        for block in piece.blocks() {
            let mut records = 0;
            block.records(&mut |_| records += 1);
            let before = all.len();
            block.documents(&settings, &mut |document| {
                all.push(document.map_err(|error| error.to_string()).map(|document| {
                    let Content::Text(text) = document.content else {
                        panic!("no text")
                    };
                    assert!(document.record.starts_with(START));
                    (document.url.into_owned(), text.into_owned())
                }));
            });
            assert_eq!(all.len() - before, records);
            block.passed_over(&mut |_, _| others += 1);
        }
        all.extend(piece.problem.take().map(|error| Err(error.to_string())));
    }
    (all, others)
}

fn ok(url: &str, text: &str) -> Result<(String, String), String> {
    Ok((url.into(), text.into()))
}

#[test]
fn documents_are_text_that_was_sent() {
    let html = "Content-Type: text/html; charset=utf-8\r\n";
    let latin = "Content-Type: text/html; charset=iso-8859-1\r\n";
    let archive = [
        record("warcinfo", "", b"software: x\r\n"),
        record(
            "request",
            "WARC-Target-URI: u\r\n",
            b"GET / HTTP/1.1\r\n\r\n",
        ),
        response("https://a.example/", html, "<title>t</title><p>caf\u{e9}"),
        response("https://b.example/", "Content-Type: image/png\r\n", "PNG"),
        response(
            "https://c.example/",
            "Content-Type: TEXT/Plain\r\n",
            "a < b\n",
        ),
        // In an encoding that only the response names.
        {
            let http = [b"HTTP/1.0 200\r\n", latin.as_bytes(), b"\r\ncaf\xe9"].concat();
            record(
                "response",
                "WARC-Target-URI: <https://d.example/>\r\n",
                &http,
            )
        },
        record(
            "response",
            "WARC-Target-URI: e\r\n",
            b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\nno",
        ),
        record(
            "conversion",
            "warc-target-uri: f\r\nContent-Type: text/plain\r\n",
            b"W E T",
        ),
        record(
            "resource",
            "WARC-Target-URI: g\r\nContent-Type: text/html\r\n",
            b"<p>r",
        ),
        record("resource", "WARC-Target-URI: h\r\n", b"<!doctype html>r"),
        record("metadata", "WARC-Target-URI: i\r\n", b"x: y"),
        record(
            "revisit",
            "WARC-Target-URI: i\r\n",
            b"HTTP/1.1 200 OK\r\n\r\n",
        ),
    ];
    let (all, others) = read(&archive.concat());
    assert_eq!(
        all,
        [
            ok("https://a.example/", "t\ncaf\u{e9}"),
            ok("https://c.example/", "a < b\n"),
            ok("https://d.example/", "caf\u{e9}"),
            ok("f", "W E T"),
            ok("g", "r"),
            ok("h", "r"),
        ]
    );
    assert_eq!(others, 6);
}

#[test]
fn behind_a_bad_record_the_next_one_is_found() {
    let good = |url: &str| {
        let headers = format!("WARC-Target-URI: {url}\r\nContent-Type: text/plain\r\n");
        record("conversion", &headers, b"x")
    };
    let head =
        "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: b\r\nContent-Type: text/plain\r\n";
    let first = good("a").len();
    for (bad, says) in [
        ("garbage\r\n\r\n".to_owned(), "no record starts here"),
        (format!("{head}\r\nxyz\r\n\r\n"), "no Content-Length"),
        (
            format!("{head}Content-Length: -3\r\n\r\nxyz\r\n\r\n"),
            "no Content-Length",
        ),
        (
            format!("{head}Content-Length: 9999999999999\r\n\r\nxyz\r\n\r\n"),
            "no Content-Length",
        ),
        (
            format!("{head}Content-Length: 2\r\n\r\nxyz\r\n\r\n"),
            "not as long as",
        ),
        (
            format!("{head}Content-Length: 1000000\r\n\r\nxyz\r\n\r\n"),
            "not as long as",
        ),
    ] {
        let (all, _) = read(&[good("a"), bad.into_bytes(), good("c")].concat());
        assert_eq!(all.len(), 3, "{says}: {all:?}");
        assert_eq!((&all[0], &all[2]), (&ok("a", "x"), &ok("c", "x")));
        let error = all[1].as_ref().unwrap_err();
        assert!(
            error.starts_with(&format!("f: record 2, byte {first}: ")),
            "{error}"
        );
        assert!(error.contains(says), "{error}");
    }
    // Cut off.
    let whole = good("b");
    let (all, _) = read(&[&good("a")[..], &whole[..whole.len() - 5]].concat());
    assert_eq!(all.len(), 2);
    assert!(
        all[1]
            .as_ref()
            .is_err_and(|error| error.contains("not as long as"))
    );
    // The ends of lines are not needed at the end of all.
    let (all, _) = read(&whole[..whole.len() - 4]);
    assert_eq!(all, [ok("b", "x")]);
    let (all, _) = read(&record("conversion", "Content-Type: text/plain\r\n", b"x"));
    assert!(
        all[0]
            .as_ref()
            .is_err_and(|error| error.contains("no WARC-Target-URI"))
    );
}

/// Whatever byte of a record is changed, doubled or left out, the records around it are read.
#[test]
fn damage_stays_where_it_is() {
    let html = "Content-Type: text/html\r\nTransfer-Encoding: chunked\r\n";
    let one = |url: &str| response(url, html, "5\r\n<p>wo\r\n3\r\nrds\r\n0\r\n\r\n");
    let whole = [one("a"), one("b"), one("c"), one("d")];
    assert_eq!(read(&whole.concat()).0.len(), 4);
    for place in 0..whole[1].len() {
        for damage in 0..7 {
            let mut archive = whole.clone();
            let bytes = &mut archive[1];
            match damage {
                0 => drop(bytes.remove(place)),
                1 => bytes.insert(place, bytes[place]),
                2 => bytes[place] = 0,
                3 => bytes[place] = b'\n',
                4 => bytes[place] = b'9',
                5 => bytes[place] ^= 1,
                _ => bytes.truncate(place),
            }
            let (all, _) = read(&archive.concat());
            for url in ["a", "c", "d"] {
                let is_there = all.contains(&ok(url, "words"));
                assert!(is_there, "{damage} at {place}, {url}: {all:?}");
            }
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        read(&bytes);
        read(&[b"WARC/1.0\r\n", &bytes[..]].concat());
    }
}
