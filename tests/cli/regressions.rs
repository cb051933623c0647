//! Defects that were found and mended, each under its name.

mod command_line {
    use crate::harness::{Place, line};

    #[test]
    fn a_share_that_is_no_number_is_refused() {
        for share in ["€%", "1€%", "%", "é.5%"] {
            let run = Place::new().run(&format!("--score jaccard --ignore-common {share}"));
            assert_eq!(run.status, 2, "{share}");
            assert!(run.stderr.contains("a share such as 5%"), "{}", run.stderr);
        }
    }

    /// `a b` and `a%20b` printed the same.
    #[test]
    fn text_tells_apart_what_is_encoded_and_what_was() {
        let docs = ["a b", "a%20b", "50%"].map(|id| line(id, "the same text"));
        let place = Place::new();
        assert_eq!(
            place.pipe("", docs.concat()).clean(),
            "a%20b a%2520b 1.0\na%20b 50% 1.0\na%2520b 50% 1.0\n"
        );
        assert_eq!(
            place.pipe("cluster", docs.concat()).clean(),
            "a%20b a%2520b 50%\n"
        );
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
        let run = place.run("nothing.jsonl");
        assert!(run.stderr.contains("cannot be read"), "{}", run.stderr);
    }

    /// Numbers as `3,212.3118/s`, and a bar that stood at its end for half the run.
    #[test]
    fn progress_has_whole_numbers_and_a_phase_of_comparing() {
        let docs: String = (0..2000)
            .map(|n| line(&n.to_string(), "some text"))
            .collect();
        let run = Place::new().pipe("dedup --progress always -o /dev/null", docs);
        assert_eq!(run.status, 0);
        assert!(run.stderr.contains("simdup: comparing\n"), "{}", run.stderr);
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
    fn a_signal_leaves_no_file_and_its_number() {
        let place = Place::new();
        place.file("docs", copies(2));
        let flags = "dedup -o out --removed removed --stats stats -";
        for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3)] {
            let mut child = place.command(flags).stdin(Stdio::piped()).spawn().unwrap();
            wait_until_it_watches(&child);
            thread::sleep(Duration::from_millis(50));
            let kill = format!("kill -{signal} {}", child.id());
            assert_eq!(shell(&place, &kill).0, 0);
            assert_eq!(child.wait().unwrap().code(), Some(128 + number), "{signal}");
            assert_eq!(names(&place), ["docs"], "{signal}");
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
