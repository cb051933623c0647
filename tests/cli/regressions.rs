//! Defects that were found and mended, each by its name.

/// What is read, and as what.
mod reading {
    use crate::harness::{Place, gzip, line};

    /// Text that starts with characters of several bytes was taken for frames.
    #[test]
    fn text_in_other_scripts_is_no_protobuf() {
        let texts = [
            ("ar", "كان يا ما كان، في قديم الزمان"),
            ("he", "היה היה פעם מלך זקן וטוב לב"),
            ("ja", "昔々、あるところに王様がいました"),
            ("ru", "Жили-были старик со старухой у моря"),
            ("th", "กาลครั้งหนึ่งนานมาแล้ว มีพระราชา"),
            ("zh", "很久很久以前,有一个国王"),
        ];
        let place = Place::new();
        for (language, text) in texts {
            place
                .file(&format!("d/{language}1.txt"), text)
                .file(&format!("d/{language}2.txt"), text);
        }
        let expected: String = texts
            .iter()
            .map(|(language, _)| format!("d/{language}1.txt d/{language}2.txt 1.0\n"))
            .collect();
        assert_eq!(place.run("d").clean(), expected);
    }

    #[test]
    fn formats_that_are_not_read_are_named_with_a_remedy() {
        let mut tar = b"words.txt\0".to_vec();
        tar.resize(257, 0);
        tar.extend(b"ustar\x0000");
        tar.resize(1024, 0);
        let utf16: Vec<u8> = "some words\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        for (content, says) in [
            (&tar[..], "a tar archive; unpack it and name the files"),
            (&gzip(&tar), "a tar archive; unpack it and name the files"),
            (b"PK\x03\x04\x14\0\0\0", "a zip archive, "),
            (b"PK\x05\x06\0\0\0\0", "a zip archive, "),
            (b"7z\xbc\xaf\x27\x1c\0\x04", "a 7z archive; unpack it"),
            (
                b"BZh11AY&SY\x9a\x01",
                "bzip2; unpack it: `bzcat FILE | simdup`",
            ),
            (b"\xfd7zXZ\0\0\x04", "xz; unpack it: `xzcat FILE | simdup`"),
            (b"\x04\x22\x4d\x18\x64\x40\xa7", "lz4; unpack it: "),
            (b"%PDF-1.4\n%\xc7\xec\n", "a PDF; take its text out"),
            (b"%!PS-Adobe-3.0\n%%Pages: 1\n", "PostScript; "),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image; "),
            (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG image; "),
            (b"GIF89a\x01\0\x01\0\x80", "a GIF image; "),
            (b"SQLite format 3\0\x10\0\x01", "an SQLite database; "),
            (b"PAR1\x15\x04\x15\x10", "Parquet; write its documents out"),
            (b"ARROW1\0\0\xff\xff\xff\xff", "Arrow (Feather); "),
            (b"\x7fELF\x02\x01\x01\0", "an ELF program "),
            (
                &[b"\xff\xfe", &utf16[..]].concat(),
                "UTF-16 text; convert it with `iconv -f UTF-16 -t UTF-8",
            ),
            (
                &utf16,
                "UTF-16 text; convert it with `iconv -f UTF-16LE -t UTF-8",
            ),
            (&[0; 100_000], "neither text nor any format that is known; "),
        ] {
            let place = Place::new();
            place
                .file("1", "some words")
                .file("2", content)
                .file("3", "some words");
            let run = place.run("1 2 3");
            assert_eq!((run.status, run.stdout.as_str()), (2, "1 3 1.0\n"));
            assert!(
                run.stderr.starts_with(&format!("simdup: 2: {says}")),
                "{}",
                run.stderr
            );
            let asked = place.run("--input-format lines 2");
            assert!(!asked.stderr.contains(says), "{}", asked.stderr);
        }
    }

    #[test]
    fn text_in_an_old_encoding_is_to_be_converted() {
        let place = Place::new();
        // "Жили-были" in Windows-1251.
        place.file(
            "t",
            b"\xc6\xe8\xeb\xe8-\xe1\xfb\xeb\xe8 \xf1\xf2\xe0\xf0\xe8\xea",
        );
        let run = place.run("t");
        assert_eq!(run.status, 2);
        assert!(
            run.stderr
                .starts_with("simdup: t: record 1, byte 0: invalid UTF-8; ")
                && run.stderr.contains("iconv"),
            "{}",
            run.stderr
        );
    }

    /// Without room for what comes from a pipe, the rest of the pipe was left out.
    #[test]
    fn no_room_to_keep_a_pipe_in_is_fatal() {
        let docs: String = (0..3000)
            .map(|n| line(&n.to_string(), &"some words here ".repeat(40)))
            .collect();
        let place = Place::new();
        let run = place.pipe("dedup --memory 1M --temp-dir nowhere -o out", docs);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""));
        assert!(
            run.stderr
                .starts_with("simdup: nowhere: no temporary file there: "),
            "{}",
            run.stderr
        );
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        assert!(!place.path("out").exists());
    }

    /// A file without a byte in it was nothing at all.
    #[test]
    fn an_empty_text_file_is_a_document_without_text() {
        let place = Place::new();
        place
            .file("d/1.txt", "")
            .file("d/2.txt.gz", gzip(""))
            .file("d/3.txt", "some words")
            .file("d/4.jsonl", "")
            .file("d/5.jsonl.gz", gzip(""));
        let counts = |arguments: &str| {
            place.run(&format!("--stats stats {arguments}")).clean();
            let stats: serde_json::Value = serde_json::from_str(&place.read("stats")).unwrap();
            ["documents", "empty"].map(|name| stats["counts"][name].as_u64().unwrap())
        };
        assert_eq!(counts("d"), [3, 2]);
        assert_eq!(counts("--input-format text d"), [5, 4]);
        for format in ["jsonl", "protobuf", "lines"] {
            assert_eq!(counts(&format!("--input-format {format} d/1.txt")), [0, 0]);
        }
        assert_eq!(counts("-"), [0, 0]);
        let kept = place.run("dedup -q d/1.txt d/2.txt.gz d/3.txt");
        assert_eq!(kept.clean(), "d/1.txt\nd/2.txt.gz\nd/3.txt\n");
    }

    /// Names that are not text had all the same character in place of what is none.
    #[cfg(target_os = "linux")]
    #[test]
    fn names_that_are_not_utf8_do_not_collide() {
        use std::os::unix::ffi::OsStrExt;
        let place = Place::new();
        place.file("d/a", "some words");
        for name in [&b"\xfe"[..], b"\xff"] {
            let name = std::ffi::OsStr::from_bytes(name);
            std::fs::write(place.path("d").join(name), "some words").unwrap();
        }
        assert_eq!(
            place.run("-f tsv d").clean(),
            "d/a\td/%FE\t1.0\nd/a\td/%FF\t1.0\nd/%FE\td/%FF\t1.0\n"
        );
    }

    /// Most memory that a run has taken, in bytes, as far as looking again and again tells.
    #[cfg(target_os = "linux")]
    fn peak_bytes(mut child: std::process::Child) -> u64 {
        let mut peak = 0;
        while child.try_wait().unwrap().is_none() {
            let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
            let kilobytes = status.unwrap_or_default().lines().find_map(|line| {
                let (_, value) = line.split_once("VmHWM:")?;
                value.trim().strip_suffix(" kB")?.parse::<u64>().ok()
            });
            peak = peak.max(kilobytes.unwrap_or(0) * 1024);
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        peak
    }

    /// What is wrong with records was not counted among what waits.
    #[cfg(target_os = "linux")]
    #[test]
    fn bad_records_do_not_pile_up() {
        let place = Place::new();
        place.file("zeros.gz", gzip(vec![0; 20_000_000]));
        let run = |files: &str| {
            let arguments = format!("--input-format protobuf -j 8 --hashes 1 {files}");
            let mut command = place.command(&arguments);
            command.stderr(std::process::Stdio::null());
            peak_bytes(command.spawn().unwrap())
        };
        let peak = run("zeros.gz zeros.gz");
        assert!(peak > 1 << 20);
        assert!(peak < 250 << 20, "{peak}");
    }

    /// A report quoted all of a string that should have been an object.
    #[test]
    fn reports_of_long_records_are_short() {
        let long = format!("\"{}\"\n", "word ".repeat(100_000));
        let docs = line("a", "b") + &long + &line("c", "d");
        let run = Place::new().pipe("--input-format jsonl", docs);
        assert_eq!(run.status, 2);
        let report = run.stderr.lines().next().unwrap();
        assert!(report.contains("malformed JSON: invalid type: string") && report.len() < 400);
    }
}
