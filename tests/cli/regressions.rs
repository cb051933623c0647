//! Defects that were found and mended, each under its name.

mod command_line {
    use crate::harness::{Place, line};

    #[test]
    fn a_share_that_is_no_number_is_refused() {
        for share in ["€%", "1€%", "%", "é.5%"] {
            let run = Place::new().run(&format!("--score jaccard --ignore-common {share}"));
            assert_eq!(run.status, 2, "{share}");
            run.says("a share such as 5%");
        }
    }

    /// They ended in "No such file".
    #[test]
    fn a_mistyped_command_is_no_missing_file() {
        let place = Place::new();
        place.file("docs", line("a", "some text"));
        for (arguments, command) in [
            ("clsuter docs", "cluster"),
            ("dedupe docs", "dedup"),
            ("-j 1 skech docs", "sketch"),
        ] {
            let run = place.run(arguments);
            assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{arguments}");
            let says = format!("no such command or file; did you mean `{command}`?\n");
            assert!(run.stderr.ends_with(&says), "{}", run.stderr);
        }
        // A file of such a name is one.
        place.file("dedupe", line("a", "some text"));
        place.run("dedupe").clean();
        place.run("nothing.jsonl").says("cannot be read");
    }

    /// Numbers as `3,212.3118/s`, and a bar that stood at its end for half the run.
    #[test]
    fn progress_has_whole_numbers_and_a_phase_of_comparing() {
        let docs: String = (0..2000)
            .map(|n| line(&n.to_string(), "some text"))
            .collect();
        let run = Place::new().pipe("dedup --progress always -o /dev/null", docs);
        assert_eq!(run.status, 0);
        run.says("simdup: comparing\n");
        assert!(
            run.stderr.contains("simdup: 2,000 documents, ") && !run.stderr.contains(".3"),
            "{}",
            run.stderr
        );
    }

    /// What is read must not be written over, whatever path leads to it; and nothing is read
    /// before that is known.
    #[test]
    fn no_output_takes_the_place_of_an_input() {
        let place = Place::new();
        place
            .file("docs", line("a", "some text"))
            .file("d/in", line("b", "some text"))
            .file("old/in", line("c", "some text"))
            .file("elsewhere", "x")
            .file("stop", "of\n")
            .file("pairs", "a\tb\t0.9\n");
        #[cfg(unix)]
        {
            use std::os::unix::fs::symlink;
            symlink("../elsewhere", place.path("d/link")).unwrap();
            symlink("docs", place.path("link")).unwrap();
            std::fs::hard_link(place.path("docs"), place.path("hard")).unwrap();
        }
        let both_unix = [
            ("docs", "link"),
            ("docs", "hard"),
            ("link", "docs"),
            ("d", "elsewhere"),
        ];
        let both = [
            ("docs", "docs"),
            ("docs", "./docs"),
            ("docs", "d/../docs"),
            ("d", "d/in"),
            ("d", "d/new"),
            (".", "new"),
            ("docs d", "d/new"),
            ("--stopwords stop docs", "stop"),
        ];
        let unix = if cfg!(unix) { &both_unix[..] } else { &[] };
        for (read, written) in both.iter().chain(unix) {
            for command in ["", "sketch", "cluster", "dedup"] {
                for flag in ["-o", "--stats"] {
                    refused(&place, &format!("{command} {flag} {written} {read}"));
                }
            }
            refused(&place, &format!("dedup --removed {written} {read}"));
        }
        for written in ["old/in", "old/new"] {
            for command in ["--score jaccard", "dedup"] {
                for flag in ["-o", "--stats"] {
                    let flags = format!("{command} {flag} {written} --against old docs");
                    refused(&place, &flags);
                }
            }
            refused(
                &place,
                &format!("dedup --removed {written} --against old docs"),
            );
        }
        refused(&place, "cluster --pairs pairs -o pairs");
        refused(&place, "cluster --pairs pairs --stats ./pairs");
        if cfg!(unix) {
            for command in ["", "sketch", "cluster", "dedup"] {
                let flags = format!("{command} -o docs");
                let docs = std::fs::File::open(place.path("docs")).unwrap();
                let output = place.command(&flags).stdin(docs).output().unwrap();
                let says = String::from_utf8(output.stderr).unwrap();
                assert!(says.contains("read from standard input"), "{flags}: {says}");
            }
        }
        assert_eq!(place.read("docs"), line("a", "some text"));
    }

    #[track_caller]
    fn refused(place: &Place, arguments: &str) {
        let run = place.run(arguments);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{arguments}");
        assert!(
            run.stderr.contains("would replace what is read from"),
            "{arguments}: {}",
            run.stderr
        );
    }

    #[test]
    fn no_two_outputs_go_to_one_file() {
        let place = Place::new();
        place
            .file("docs", line("a", "some text"))
            .file("out", "old");
        for (arguments, says) in [
            ("-o out --stats ./out", "--output and --stats name the same"),
            ("-o new --stats ./new", "--output and --stats name the same"),
            ("sketch -o out --stats out", "--output and --stats name"),
            ("cluster -o out --stats out", "--output and --stats name"),
            ("dedup -o out --removed out", "--output and --removed name"),
            ("dedup --removed x --stats ./x", "--removed and --stats"),
            ("dedup --removed -", "--output and --removed are both for"),
            ("dedup -o - --removed -", "standard output"),
        ] {
            let run = place.run(&format!("{arguments} docs"));
            assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{arguments}");
            assert!(run.stderr.contains(says), "{arguments}: {}", run.stderr);
        }
        assert_eq!(place.read("out"), "old");
        // A device takes whatever comes.
        if cfg!(unix) {
            let run = place.run("dedup -o /dev/null --removed /dev/null --stats /dev/null docs");
            run.clean();
        }
    }
}

/// Pipes, devices and signals, as Linux has them.
#[cfg(target_os = "linux")]
mod outputs {
    use std::fs::{self, File};
    use std::io::Read;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command, Stdio};
    use std::thread;
    use std::time::Duration;

    use crate::harness::{Place, line};

    fn copies(count: usize) -> String {
        (0..count)
            .map(|n| line(&format!("{n:0100}"), "the same text"))
            .collect()
    }

    fn shell(place: &Place, script: &str) -> (i32, String, String) {
        let output = Command::new("sh")
            .args(["-c", script])
            .env("SIMDUP", env!("CARGO_BIN_EXE_simdup"))
            .current_dir(place.path(""))
            .output()
            .unwrap();
        (
            output.status.code().unwrap(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    }

    /// Everything under `/dev` was taken for a device.
    #[test]
    fn a_file_in_shared_memory_is_an_ordinary_file() {
        let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
            return;
        };
        let path = folder.path().join("out");
        fs::write(&path, "old content, longer than what is new").unwrap();
        let place = Place::new();
        let flags = format!("-o {}", path.display());
        place.pipe(&flags, copies(2)).clean();
        assert!(fs::read_to_string(&path).unwrap().ends_with(" 1.0\n"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    /// Results on standard output may be cut short; what a flag names may not.
    #[test]
    fn a_broken_pipe_is_an_error_where_a_flag_named_it() {
        let place = Place::new();
        place.file("docs", copies(3000));
        for (flags, is_error) in [
            ("-o fifo docs", true),
            ("dedup -q --annotate -o fifo docs", true),
            ("dedup -q --removed fifo -o /dev/null docs", true),
            ("sketch -o fifo docs", true),
            ("docs", false),
            ("-o /dev/stdout docs", false),
            ("dedup -q --annotate docs", false),
        ] {
            let _ = fs::remove_file(place.path("fifo"));
            assert!(shell(&place, "mkfifo fifo").0 == 0);
            let mut child = place.command(flags).spawn().unwrap();
            let mut byte = [0];
            if is_error {
                let mut fifo = File::open(place.path("fifo")).unwrap();
                fifo.read_exact(&mut byte).unwrap();
            } else {
                child.stdout.take().unwrap().read_exact(&mut byte).unwrap();
            }
            let output = child.wait_with_output().unwrap();
            let told = String::from_utf8(output.stderr).unwrap();
            let expected = match is_error {
                true => (
                    Some(2),
                    "simdup: fifo: cannot be written: Broken pipe (os error 32)\n",
                ),
                false => (Some(0), ""),
            };
            assert_eq!((output.status.code(), told.as_str()), expected, "{flags}");
        }
        let (status, _, told) = shell(
            &place,
            "{ \"$SIMDUP\" dedup -q --removed - -o out docs; echo $? >&2; } | head -c 1",
        );
        assert!(
            status == 0 && told.ends_with("Broken pipe (os error 32)\n2\n"),
            "{told}"
        );
    }

    /// `| head -1` made every status 0, and files beside the results were not written.
    #[test]
    fn a_closed_pipe_leaves_the_status_and_files_beside() {
        let place = Place::new();
        let many: String = (0..4000)
            .map(|n| {
                line(
                    &format!("{n:0100}"),
                    &format!("text {n} is not like any other {n} {n}"),
                )
            })
            .collect();
        place
            .file("docs", copies(200))
            .file("bad", copies(200) + "{\"url\":\n")
            .file("many", many);
        for (arguments, expected, beside) in [
            ("docs", 0, ""),
            ("--exit-status docs", 1, ""),
            ("--exit-status -f github docs", 1, ""),
            ("--exit-status --sort score -s jaccard docs", 1, ""),
            ("dedup -q --annotate --exit-status docs", 1, ""),
            ("cluster -q --exit-status docs", 1, ""),
            ("--input-format jsonl bad", 2, ""),
            ("--input-format jsonl --exit-status bad", 2, ""),
            ("--input-format jsonl --skip-ok bad", 0, ""),
            ("--input-format jsonl --skip-ok --exit-status bad", 1, ""),
            ("dedup --annotate --input-format jsonl bad", 2, ""),
            ("--stats stats docs", 0, "stats"),
            ("--write-baseline known docs", 0, "known"),
            ("dedup --removed removed many", 0, "removed"),
            ("sketch --stats stats many", 0, "stats"),
        ] {
            let script = format!("{{ \"$SIMDUP\" {arguments}; echo $? >&2; }} | head -c 1");
            let (_, _, told) = shell(&place, &script);
            assert!(
                told.ends_with(&format!("{expected}\n")),
                "{arguments}: {told}"
            );
            if !arguments.contains("bad") {
                assert_eq!(told.lines().count(), 1, "{arguments}: {told}");
            }
            if !beside.is_empty() {
                assert!(place.path(beside).exists(), "{arguments}");
                fs::remove_file(place.path(beside)).unwrap();
            }
        }
        // What is written does not depend on who reads.
        shell(&place, "\"$SIMDUP\" --write-baseline one docs | head -c 1");
        shell(&place, "\"$SIMDUP\" --write-baseline all docs >/dev/null");
        assert_eq!(place.read("one"), place.read("all"));
    }

    /// What a terminal shows in the end: each line from where it was cleared last.
    fn on_a_terminal(place: &Place, arguments: &str) -> Option<String> {
        let typed = format!("{} {arguments}", env!("CARGO_BIN_EXE_simdup"));
        let output = Command::new("script")
            .args(["-qec", &typed, "/dev/null"])
            .env("TERM", "xterm")
            .current_dir(place.path(""))
            .stdin(Stdio::null())
            .output()
            .ok()?;
        let shown = String::from_utf8(output.stdout).unwrap();
        let lines = shown.split_inclusive('\n').map(|line| {
            let line = line.rsplit("\x1b[2K").next().unwrap_or_default();
            line.replace('\r', "")
        });
        Some(lines.collect())
    }

    /// `⠚ writing: 0 of 36 documents` stood before the first line.
    #[test]
    fn nothing_of_the_progress_is_left_on_a_terminal() {
        let place = Place::new();
        place.file("docs", copies(3)).file("gold", "the same text");
        for arguments in [
            "docs",
            "-s jaccard docs",
            "--count docs",
            "-f jsonl docs",
            "--top 2 docs",
            "cluster docs",
            "dedup docs",
            "dedup --dry-run docs",
            "sketch -k 2 docs",
            "rank --gold gold docs",
            "rank --gold gold --unsorted docs",
            "explain --best 1 -w 2 docs",
            "eval docs",
        ] {
            let flags = "-q --summary never";
            let expected = place.run(&format!("{arguments} {flags}")).stdout;
            assert!(!expected.is_empty(), "{arguments}");
            let Some(shown) = on_a_terminal(&place, &format!("{arguments} {flags}")) else {
                return;
            };
            // It is a table there, and in colours.
            if !arguments.starts_with("rank") && !arguments.starts_with("explain") {
                assert!(shown.starts_with(&expected), "{arguments}: {shown}");
            }
            for phase in ["reading", "preparing", "comparing", "writing", "⠚"] {
                assert!(!shown.contains(phase), "{arguments}: {shown}");
            }
        }
    }

    /// The message named a file that nobody had asked for.
    #[test]
    fn a_folder_that_is_not_there_is_told_by_the_name_that_was_typed() {
        let place = Place::new();
        place.file("docs", copies(2));
        let run = place.run("docs -o nodir/x.csv");
        assert_eq!(
            (run.status, run.stderr.as_str()),
            (
                2,
                "simdup: nodir/x.csv: cannot be written: No such file or directory (os error 2)\n"
            )
        );
    }

    #[test]
    fn what_cannot_be_printed_is_an_error() {
        let place = Place::new();
        place.file("docs", copies(2)).file("one", copies(1));
        for arguments in [
            "--help",
            "-h",
            "--version",
            "dedup --help",
            "help cluster",
            "man",
            "man dedup",
            "completions bash",
            "docs",
            "sketch docs",
            "cluster docs",
            "dedup docs",
        ] {
            for closed in [">/dev/full", ">&-"] {
                let (status, _, told) = shell(&place, &format!("\"$SIMDUP\" {arguments} {closed}"));
                assert_eq!(status, 2, "{arguments} {closed}: {told}");
                assert!(
                    told.contains("simdup: standard output: cannot be written: "),
                    "{arguments} {closed}: {told}"
                );
            }
            let (status, _, told) = shell(&place, &format!("\"$SIMDUP\" {arguments} >/dev/null"));
            assert_eq!((status, told.as_str()), (0, ""), "{arguments}");
        }
        // Nothing to print, nothing lost.
        let (status, _, told) = shell(&place, "\"$SIMDUP\" one >&-");
        assert_eq!((status, told.as_str()), (0, ""));
        let (_, printed, told) = shell(&place, "{ \"$SIMDUP\" --help; echo $? >&2; } | head -n 1");
        assert_eq!((printed.lines().count(), told.as_str()), (1, "0\n"));
    }

    fn names(place: &Place) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(place.path(""))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        names
    }

    /// Waits until the program has its handlers.
    fn wait_until_it_watches(child: &Child) {
        const TERM: u64 = 1 << 14;
        for _ in 0..1000 {
            let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
            let caught = u64::from_str_radix(caught.unwrap().trim(), 16).unwrap();
            if caught & TERM != 0 {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("no handler");
    }

    #[test]
    fn a_signal_leaves_no_file_and_the_process_dies_of_it() {
        let place = Place::new();
        place.file("docs", copies(2));
        let flags = "dedup -o out --removed removed --stats stats -";
        for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3)] {
            let mut child = place
                .signalled(flags)
                .stdin(Stdio::piped())
                .spawn()
                .unwrap();
            wait_until_it_watches(&child);
            thread::sleep(Duration::from_millis(50));
            let kill = format!("kill -{signal} {}", child.id());
            assert_eq!(shell(&place, &kill).0, 0);
            let status = child.wait().unwrap();
            assert_eq!((status.signal(), status.code()), (Some(number), None));
            // SIGQUIT may leave a core.
            let left = names(&place);
            let left: Vec<_> = left
                .iter()
                .filter(|name| !name.starts_with("core"))
                .collect();
            assert_eq!(left, ["docs"], "{signal}");
        }
        // Whatever ends it, where the file system has files without a name.
        let mut child = place.command(flags).stdin(Stdio::piped()).spawn().unwrap();
        wait_until_it_watches(&child);
        thread::sleep(Duration::from_millis(50));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(names(&place), ["docs"]);
    }

    #[test]
    fn a_hangup_that_was_ignored_stays_ignored() {
        let place = Place::new();
        let script = "trap '' HUP; (sleep 0.3; kill -HUP $$) & exec \"$SIMDUP\" -o out -";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .env("SIMDUP", env!("CARGO_BIN_EXE_simdup"))
            .current_dir(place.path(""))
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(800));
        drop(child.stdin.take());
        assert_eq!(child.wait().unwrap().code(), Some(0));
        assert_eq!(names(&place), ["out"]);
    }

    #[test]
    fn a_limit_on_file_size_is_reported_and_leaves_nothing() {
        let place = Place::new();
        place.file("docs", copies(20));
        for flags in [
            "sketch --hashes 1000 -o out docs",
            "sketch --hashes 1 -o out --stats stats docs docs",
            "dedup --annotate -o out --stats stats docs",
        ] {
            let (status, _, told) = shell(
                &place,
                &format!("ulimit -f 1; \"$SIMDUP\" -q {flags}")
                    .replace("-q sketch", "sketch -q")
                    .replace("-q dedup", "dedup -q"),
            );
            assert_eq!(status, 153, "{flags}: {told}");
            assert!(
                told.contains("File too large") && told.contains("ulimit -f"),
                "{told}"
            );
            assert_eq!(names(&place), ["docs"], "{flags}");
        }
    }

    /// One failed, so none is there.
    #[test]
    fn outputs_appear_together() {
        let place = Place::new();
        place.file("docs", copies(20));
        assert_eq!(
            place
                .run("dedup -q -o out --removed removed --stats /dev/full docs")
                .status,
            2
        );
        assert_eq!(
            place
                .run("dedup -q -o out --stats stats --removed /dev/full docs")
                .status,
            2
        );
        assert_eq!(place.run("-o /dev/full --stats stats docs").status, 2);
        assert_eq!(names(&place), ["docs"]);
        place
            .run("dedup -q -o out --removed removed --stats stats docs")
            .clean();
        assert_eq!(names(&place), ["docs", "out", "removed", "stats"]);
    }
}

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
        let office = [&b"PK\x03\x04"[..], &[0; 26], b"[Content_Types].xml"].concat();
        for (content, says) in [
            (&b"7z\xbc\xaf\x27\x1c\0\x04"[..], "a 7z archive; unpack it"),
            (
                b"Rar!\x1a\x07\x01\0\x33\x92\xb5\xe5\x0a\x01\x05\x06\0\x05\x01\x01\x80\x80\0",
                "a rar archive; unpack it",
            ),
            (&office, "a document of an office program (docx"),
            (&gzip(&office), "a document of an office program (docx"),
            (b"%PDF-1.4\n%\xc7\xec\n", "a PDF; take its text out"),
            (b"%!PS-Adobe-3.0\n%%Pages: 1\n", "PostScript; "),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image; "),
            (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG image; "),
            (b"GIF89a\x01\0\x01\0\x80", "a GIF image; "),
            (b"SQLite format 3\0\x10\0\x01", "an SQLite database; "),
            #[cfg(feature = "parquet")]
            (b"PAR1\x15\x04\x15\x10", "malformed Parquet: "),
            #[cfg(not(feature = "parquet"))]
            (
                b"PAR1\x15\x04\x15\x10",
                "Parquet, which this simdup was built without (feature `parquet`)",
            ),
            (b"ARROW1\0\0\xff\xff\xff\xff", "Arrow (Feather); "),
            (b"\x7fELF\x02\x01\x01\0", "an ELF program "),
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
            let is_archive = content.starts_with(b"PK") || content.starts_with(b"\x1f\x8b");
            assert!(
                is_archive || !asked.stderr.contains(says),
                "{}",
                asked.stderr
            );
        }
    }

    /// "impossible frame length 1178882085", which is `%PDF`.
    #[test]
    fn a_pdf_is_no_protobuf() {
        let start = b"%PDF-1.5\n%\xd0\xd4\xc5\xd8\n4 0 obj\n<<\n/Length 1520      \n/Filter \
                      /FlateDecode\n>>\nstream\n";
        let stream: Vec<u8> = (0..300_000_u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        let place = Place::new();
        place.file("a.pdf", [&start[..], &stream].concat());
        for arguments in ["a.pdf", "."] {
            place
                .run(arguments)
                .fails("a.pdf: a PDF; take its text out: `pdftotext FILE -`\n");
        }
    }

    /// `auto` passed over them, and who said `text` had status 2 of every repository with a picture.
    #[test]
    fn files_without_text_are_passed_over_where_all_are_said_to_be_text() {
        let text = "one two three four five six seven";
        let place = Place::new();
        place
            .file("d/a.txt", text)
            .file("d/b.json", text)
            .file("d/empty.txt", "")
            .file("d/picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
            .file(
                "d/program",
                [&b"\x7fELF\x02\x01\x01\0"[..], &[3; 200_000]].concat(),
            )
            .file("d/zeros", [0; 100]);
        let run = place.run("--input-format text d");
        assert_eq!(
            (run.status, run.stdout.as_str(), run.stderr.as_str()),
            (
                0,
                "d/a.txt d/b.json 1.0\n",
                "simdup: 3 files without text were passed over\n"
            )
        );
        // What is named is meant.
        let run = place.run("--input-format text d/zeros d/picture.png");
        assert!(!run.stderr.contains("passed over"), "{}", run.stderr);
    }

    /// They had no effect, and nobody said so.
    #[test]
    fn a_delimiter_or_an_encoding_of_nothing_is_told() {
        let place = Place::new();
        place
            .file("docs", line("a", "one two"))
            .file("t.csv", "id;text\n1;some words\n")
            .file("t.txt", "some words");
        for (arguments, says) in [
            ("--delimiter ; docs", "--delimiter: no CSV was read"),
            ("--delimiter ; t.txt docs", "--delimiter: no CSV was read"),
            (
                "--encoding windows-1251 docs",
                "--encoding: nothing was read that has one to choose",
            ),
            ("--delimiter ; t.csv docs", ""),
            ("--encoding windows-1251 t.csv", ""),
            ("--encoding windows-1251 t.txt docs", ""),
            ("-q --delimiter ; docs", ""),
        ] {
            let run = place.run(arguments);
            let told = run.stderr.lines().find(|line| line.contains(": --"));
            match says {
                "" => assert_eq!(told, None, "{arguments}"),
                says => assert!(
                    run.status == 0 && told.unwrap().contains(says),
                    "{arguments}"
                ),
            }
        }
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
            place.run(&format!("-q --stats stats {arguments}")).clean();
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
            "d/a\td/\u{fffd}FE\t1.0\nd/a\td/\u{fffd}FF\t1.0\nd/\u{fffd}FE\td/\u{fffd}FF\t1.0\n"
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

/// What those met who had nothing but the README and the help.
mod first_use {
    use crate::harness::{Place, four, line};

    const TEXT: &str = "one two three four five six seven eight nine ten";

    /// "No document was read": it waited for documents on standard input.
    #[test]
    fn two_files_are_explained_without_being_named_twice() {
        let place = Place::new();
        place
            .file("a.txt", TEXT)
            .file("b.txt", TEXT)
            .file("docs", four().concat());
        let run = place.run("explain a.txt b.txt").clean();
        assert!(run.starts_with("1 a.txt\n2 b.txt\n  jaccard 1.0"), "{run}");
        assert_eq!(run, place.run("explain a.txt b.txt a.txt b.txt").clean());
        // Ids that are none are looked for where they are said to be.
        let docs = four().concat();
        let piped = place.pipe("explain a d", docs).clean();
        assert_eq!(piped, place.run("explain a d docs").clean());
    }

    /// Everybody was of one group, nothing was printed, and that was all.
    #[test]
    fn one_group_of_all_is_told() {
        let place = Place::new();
        place
            .file("hand/in/ada/x.txt", TEXT)
            .file("hand/in/ben/x.txt", TEXT);
        let run = place.run("--group-by dir hand");
        assert_eq!((run.status, run.stdout.as_str()), (0, ""));
        run.says(
            "--group-by dir: all documents are of one group, and none were compared; dir:2 is a \
             folder further down\n",
        );
        assert_ne!(place.run("--group-by dir:2 hand").clean(), "");
        assert_eq!(place.run("--group-by dir -q hand").clean(), "");
        // One that is in no group is compared.
        place.file("hand/x.txt", TEXT);
        place.run("--group-by dir hand").clean();
    }

    /// Folders of one name below several FILEs were one group without a word, and the copies in
    /// them were missed.
    #[test]
    fn folders_of_one_name_below_several_files_are_told() {
        let place = Place::new();
        place
            .file("g/anna/src/a.txt", TEXT)
            .file("g/bob/src/b.txt", TEXT)
            .file("g/bob/c.txt", TEXT)
            .file("g/carl/src/x.txt", TEXT);
        let run = place.run("--group-by dir g/anna/ g/bob g/carl");
        assert_eq!(run.stdout.lines().count(), 3, "{}", run.stdout);
        run.says(
            "--group-by dir: the folder `src` in g/anna and in g/bob is one group, not compared with \
             itself; if g/anna and g/bob are different groups, name the folder above them, as in \
             `simdup --group-by dir g`\n",
        );
        run.says("--group-by dir: g/bob/c.txt is in no folder of its FILE, has no group, and was ");
        assert_eq!(place.run("--group-by dir g").clean().lines().count(), 5);
    }

    /// CSV and Parquet said which fields there are, JSON did not.
    #[test]
    fn a_record_without_text_says_which_fields_it_has() {
        let docs = "{\"url\":\"a\",\"title\":\"b\",\"body\":\"c\"}\n{}\n";
        let run = Place::new().pipe("--input-format jsonl", docs);
        run.fails(
            "-: record 1, byte 0: no text in the field `text`; the record has `body`, `title`, `url`; \
             --id-field and --text-field name the fields to read\n",
        );
        run.says("record 2, byte 35: no text in the field `text`; --id-field");
    }

    /// Whether it is an archive was looked up in it, and what was read for that was gone.
    #[cfg(unix)]
    #[test]
    fn a_pipe_that_is_named_is_read_from_its_start() {
        let place = Place::new();
        place.file("docs", four().concat());
        let expected = place.run("docs").clean();
        let program = env!("CARGO_BIN_EXE_simdup");
        for script in [
            format!("mkfifo pipe; cat docs > pipe & {program} pipe"),
            format!("cat docs | {program} /dev/stdin"),
            format!("mkfifo other; cat docs > other & {program} --glob '*' other"),
        ] {
            let output = std::process::Command::new("sh")
                .args(["-c", &script])
                .current_dir(place.path(""))
                .output()
                .unwrap();
            assert_eq!(
                String::from_utf8_lossy(&output.stdout),
                expected,
                "{script}"
            );
        }
    }

    /// "Is a directory."
    #[test]
    fn dedup_into_a_directory_names_the_flag_for_it() {
        let place = Place::new();
        place.file("docs", four().concat()).file("clean/old", "");
        place.run("dedup docs -o clean").fails(
            "--output clean: that is a directory; --output-dir clean writes a file for each",
        );
    }

    /// It said that --glob has no effect, and to leave it out.
    #[test]
    fn a_wrong_path_beside_a_glob_is_a_wrong_path() {
        let run = Place::new().run("--glob *.rs --exit-status nowhere");
        run.says("nowhere: cannot be read");
        assert_eq!(run.status, 3);
        assert!(!run.stderr.contains("--glob"), "{}", run.stderr);
    }

    #[test]
    fn a_baseline_that_is_not_there_says_how_it_is_made() {
        let place = Place::new();
        place.file("docs", four().concat());
        place.run("--baseline known.tsv docs").fails(
            "--baseline known.tsv: there is no such file; --write-baseline known.tsv makes it",
        );
        place.run("--write-baseline known.tsv -q docs");
        assert_eq!(place.run("--baseline known.tsv docs").clean(), "");
    }

    /// A job that names its folder in another way had all pairs as new ones.
    #[test]
    fn a_baseline_of_which_nothing_is_met_is_asked_about() {
        let place = Place::new();
        place.file("src/a.txt", TEXT).file("src/b.txt", TEXT);
        place.run("--write-baseline known.tsv src");
        let asked = "no pair of known.tsv was met: is the path written as it was then?\n";
        for folder in ["src", "./src", "././src"] {
            assert_eq!(
                place.run(&format!("--baseline known.tsv {folder}")).clean(),
                "",
                "{folder}"
            );
        }
        let whole = place.path("src");
        let run = place.run(&format!("--baseline known.tsv {}", whole.display()));
        run.says(asked);
        assert_eq!(run.stdout.lines().count(), 1);
        let run = place.run(&format!("-q --baseline known.tsv {}", whole.display()));
        assert_eq!(run.stderr, "");
        place.run("--write-baseline ./known.tsv -q ./src");
        assert_eq!(place.run("--baseline known.tsv src").clean(), "");
    }

    #[test]
    fn a_baseline_is_written_as_it_can_be_read() {
        let place = Place::new();
        place.file("docs", four().concat());
        for name in ["x.sarif", "x.json", "x.html.gz"] {
            place
                .run(&format!("--write-baseline {name} docs"))
                .fails("is not written here; name it .tsv, .csv, .jsonl or .txt\n")
                .says(&format!("--write-baseline {name}: "));
        }
        place
            .run("-o x.sarif --with lines docs")
            .fails("--with and the format that follows from --output do not go together");
    }

    /// All that was new passed, as nothing is similar to nothing.
    #[test]
    fn nothing_to_compare_with_is_told() {
        let place = Place::new();
        place.file("docs", four().concat()).file("none/.keep", "");
        let told = "--against none: there is no document to compare with\n";
        for command in ["", "-s jaccard", "dedup", "dedup --annotate"] {
            let run = place.run(&format!("{command} --against none docs"));
            run.says(told);
            assert_eq!(run.status, 0, "{command}");
            let run = place.run(&format!("{command} -q --exit-status --against none docs"));
            assert_eq!((run.status, run.stderr.as_str()), (3, ""), "{command}");
            // A collection that is the same is one.
            let run = place.run(&format!("{command} -q --exit-status --against docs docs"));
            assert_eq!((run.status, run.stderr.as_str()), (1, ""), "{command}");
        }
        place.run("index build index none");
        let run = place.run("-s jaccard --exit-status --against index docs");
        run.says("--against index: there is no document to compare with\n");
        assert_eq!(run.status, 3);
        place.file("begun/lock", "process 1 (simdup index build)\n");
        for command in ["-s jaccard", "dedup"] {
            place
                .run(&format!("{command} --against begun docs"))
                .fails("--against begun: this index is not finished; ");
        }
    }

    #[test]
    fn the_closing_line_tells_of_ids_met_before_and_of_the_best() {
        let place = Place::new();
        place
            .file("docs", four().concat() + &four()[..2].concat())
            .file("gold", TEXT);
        let run = place.run("--summary always docs");
        run.says("4 documents, 3 pairs · ")
            .says(" · 2 with an id met before · 0 skipped\n");
        place
            .run("--summary always --top 2 docs")
            .says("4 documents, the best 2 of 3 pairs · ");
        place
            .run("--summary always --top 3 docs")
            .says("4 documents, 3 pairs · ");
        place
            .run("dedup --dry-run docs")
            .says("2 of 4 documents would go, 2 would stay; 2 besides, with an id met before\n");
        place
            .run("rank --summary always --gold gold --top 2 docs")
            .says("4 documents, the best 2 scores above 0 · ");
        let run = place.run("--summary always --preset technosphere docs");
        run.says("scores are estimates, ±");
        assert!(!run.stderr.contains("jaccard"), "{}", run.stderr);
        for command in ["eval", "tune"] {
            place
                .run(&format!("{command} --summary always docs"))
                .says("4 documents · ");
        }
    }

    /// A line of another format stood in a file that was called JSON.
    #[test]
    fn a_name_of_another_format_is_refused() {
        let place = Place::new();
        place
            .file("docs", four().concat())
            .file("t.csv", "id,text\n1,some words\n2,others\n")
            .file("d/a.txt", TEXT);
        for (arguments, says) in [
            (
                "docs -o x.json",
                "--output x.json: .json is not written here; name it .jsonl, .csv, .tsv, .txt or \
                 .sarif\n",
            ),
            ("docs -o x.html", ".html is not written here; "),
            ("cluster docs -o x.json.gz", "name it .jsonl or .txt\n"),
            ("eval docs -o x.tsv", "name it .jsonl, .csv or .txt\n"),
            (
                "dedup --annotate docs -o x.csv",
                ".csv is not written here; ",
            ),
            (
                "dedup docs -o x.csv",
                "x.csv: the name says another format than that of the records, which are written \
                 as they came: JSONL; name it .jsonl\n",
            ),
            ("dedup docs -o x.warc.gz", "JSONL; name it .jsonl\n"),
            ("dedup t.csv -o x.jsonl", "CSV; name it .csv\n"),
            ("dedup d -o x.jsonl", "names of files; name it .txt\n"),
        ] {
            place.run(arguments).fails(says);
        }
        assert_eq!(
            std::fs::read_dir(place.path("")).unwrap().count(),
            3,
            "nothing is written"
        );
        for arguments in [
            "docs -f jsonl -o x.json",
            "docs -f sarif -o x.json",
            "docs -o x.ndjson",
            "--count docs -o x.json",
            "cluster docs -o x.ndjson",
            "dedup -q docs -o x.json",
            "dedup -q docs -o x.ndjson.gz",
            "dedup -q t.csv -o x.csv",
            "dedup -q d -o x.txt",
        ] {
            place.run(arguments).clean();
        }
        assert!(place.read("x.ndjson").starts_with("{\"keeper\""));
        place.run("eval docs -o x.csv").clean();
        let printed = place.run("eval docs -f csv").clean();
        assert_eq!(place.read("x.csv").lines().next(), printed.lines().next());
    }

    #[test]
    fn hidden_files_of_no_directory_are_refused() {
        let place = Place::new();
        place.file("docs", four().concat()).file("d/.a", TEXT);
        place
            .run("--hidden docs")
            .fails("--hidden is about the files of a directory or an archive, and none is named");
        place.run("-q --hidden d").clean();
    }

    /// Titles were found only if they were the same, and nobody said why.
    #[test]
    fn documents_shorter_than_a_shingle_are_told_in_the_summary() {
        let place = Place::new();
        let titles = line("1", "The sea wolf") + &line("2", "Sea wolf, the") + &line("3", TEXT);
        let run = place.pipe("--summary always", &titles);
        run.says(
            "2 of 3 documents are shorter than a shingle, and found only if they are the same; -w 1 \
             or -c 2 compares parts of them\n",
        );
        assert_eq!(run.stdout, "");
        let run = place.pipe("--summary always -s jaccard -w 1", &titles);
        assert_eq!(run.stdout, "1 2 1.0\n");
        assert!(!run.stderr.contains("shorter"), "{}", run.stderr);
    }

    #[test]
    fn a_table_on_a_pipe_is_told_how_it_is_read() {
        Place::new()
            .pipe("", "id,text\n1,some words\n2,others\n")
            .says("`lines` takes each line for one, `csv` each row of a table\n");
    }

    /// Text stood in a file that was called Parquet.
    #[test]
    fn a_format_that_is_not_written_is_refused_by_its_name() {
        let place = Place::new();
        place.file("docs", four().concat());
        for arguments in [
            "docs -o x.parquet",
            "dedup docs -o x.parquet",
            "docs -o x.xlsx",
        ] {
            place
                .run(arguments)
                .fails("is not written; name it .jsonl, or .csv for pairs\n");
        }
    }

    /// Precision 0, without a word.
    #[test]
    fn clusters_of_a_field_that_no_document_has_are_refused() {
        let place = Place::new();
        place.file("docs", four().concat());
        for sweep in ["", "--sweep shingles", "--sweep bands"] {
            place
                .run(&format!("eval {sweep} --truth-clusters topci docs"))
                .fails("--truth-clusters topci: no document has such a field");
        }
    }
}
