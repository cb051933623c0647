//! Pages of help, the manual, completions; and what is said of a command that there is not.

use std::path::PathBuf;

use crate::harness::{Place, repository};

/// The pages, by the name of their file in `tests/help`.
const PAGES: [(&str, &str); 23] = [
    ("simdup", ""),
    ("sketch", "sketch"),
    ("cluster", "cluster"),
    ("dedup", "dedup"),
    ("rank", "rank"),
    ("index", "index"),
    ("index-build", "index build"),
    ("index-add", "index add"),
    ("index-remove", "index remove"),
    ("index-info", "index info"),
    ("index-check", "index check"),
    ("index-compact", "index compact"),
    ("index-export", "index export"),
    ("query", "query"),
    ("explain", "explain"),
    ("report", "report"),
    ("eval", "eval"),
    ("tune", "tune"),
    ("worker", "worker"),
    ("completions", "completions"),
    ("man", "man"),
    ("help", "help"),
    ("help-dedup", "help dedup"),
];

/// Every page that there is, with the file that has it.
fn pages() -> Vec<(PathBuf, String)> {
    let place = Place::new();
    let mut pages = vec![];
    for (name, command) in PAGES {
        for (flag, ending) in [("-h", "short"), ("--help", "long")] {
            // `help` takes no flags.
            let arguments = match (command.starts_with("help"), ending) {
                (true, "short") => continue,
                (true, _) => command.to_owned(),
                (false, _) => format!("{command} {flag}"),
            };
            let output = place
                .command(&arguments)
                .env("COLUMNS", "100")
                .output()
                .unwrap();
            assert!(output.status.success(), "{arguments}");
            let file = repository(&format!("tests/help/{name}.{ending}.txt"));
            pages.push((file, String::from_utf8(output.stdout).unwrap()));
        }
    }
    pages
}

/// `cargo test --features worker --test cli write_the_pages -- --ignored` takes them as they are now.
#[test]
fn the_pages_are_those_in_the_repository() {
    for (file, page) in pages() {
        let known = std::fs::read_to_string(&file).unwrap_or_default();
        let known = of_this_build(&known);
        assert!(page == known, "{}:\n{page}", file.display());
    }
}

/// A page of the repository, without the commands that this build has not.
fn of_this_build(page: &str) -> String {
    let is_listed = |line: &&str| cfg!(feature = "worker") || !line.starts_with("  worker ");
    page.split_inclusive('\n').filter(is_listed).collect()
}

/// Of a build that has all commands.
#[cfg(feature = "worker")]
#[test]
#[ignore = "writes tests/help anew"]
fn write_the_pages_of_help() {
    for (file, page) in pages() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, page).unwrap();
    }
}

#[test]
fn a_command_that_was_not_built_is_not_listed() {
    let place = Place::new();
    let has_worker = cfg!(feature = "worker");
    for page in ["--help", "help"] {
        let listed = place.run(page).clean().contains("\n  worker ");
        assert_eq!(listed, has_worker, "{page}");
    }
    let manual = place.run("man").clean();
    assert_eq!(manual.contains("SIMDUP WORKER"), has_worker);
    let refused = place.run("sketch --format x").stderr;
    assert_eq!(refused.contains("simdup worker"), has_worker, "{refused}");
    if !has_worker {
        place.run("worker plan").fails("built without its stages");
    }
}

/// Bash has `=` as a word of its own.
#[test]
#[cfg(unix)]
fn values_behind_an_equals_sign_are_completed() {
    let place = Place::new();
    place.file("completions", place.run("completions bash").clean());
    let complete = |words: &str| {
        let script = format!(
            "source completions; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _simdup simdup \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        let output = std::process::Command::new("bash")
            .args(["-c", &script])
            .current_dir(place.path(""))
            .output();
        output.map(|output| String::from_utf8(output.stdout).unwrap())
    };
    for (words, expected) in [
        ("simdup --format = s", "sarif\n"),
        ("simdup --format s", "sarif\n"),
        ("simdup cluster --format = j", "jsonl\n"),
        ("simdup --format =", "text tsv csv jsonl github sarif\n"),
        ("simdup clu", "cluster\n"),
    ] {
        // Where there is no bash, nobody uses it.
        if let Ok(completed) = complete(words) {
            assert_eq!(completed, expected, "{words}");
        }
    }
}

#[test]
fn short_pages_fit_a_screen_and_end_with_an_example() {
    const LINES_MAX: usize = 42;
    let place = Place::new();
    for (_, command) in PAGES {
        if command.starts_with("help") {
            continue;
        }
        let mut typed = place.command(&format!("{command} -h"));
        let page = typed.env("COLUMNS", "80").output().unwrap().stdout;
        let page = String::from_utf8(page).unwrap();
        assert!(page.lines().count() <= LINES_MAX, "{page}");
        let (_, flags) = page.split_once("\n\n").unwrap();
        let is_narrow = |line: &str| line.chars().count() <= 80 || line.contains("simdup ");
        assert!(flags.lines().all(is_narrow), "{page}");
        let long = place.run(&format!("{command} --help")).clean();
        if long.contains("Examples:\n") {
            let (_, example) = page.rsplit_once("\n\nExample:\n").unwrap();
            assert!(example.starts_with("  simdup"), "{page}");
        }
    }
}

#[test]
fn every_command_says_what_its_status_means() {
    let place = Place::new();
    for (_, command) in PAGES {
        // Of these, their own commands do.
        if command == "index" || command.starts_with("help") {
            continue;
        }
        let long = place.run(&format!("{command} --help")).clean();
        let (_, table) = long
            .split_once("\nExit status:\n  0  done")
            .unwrap_or_else(|| {
                panic!("{command}: {long}");
            });
        let has_flag = |flag: &str| long.contains(&format!("      {flag}\n"));
        assert_eq!(
            table.contains("\n  1  "),
            has_flag("--exit-status"),
            "{command}"
        );
        assert_eq!(
            table.contains("\n  3  "),
            has_flag("--exit-status"),
            "{command}"
        );
        assert_eq!(
            table.contains("unless --skip-ok"),
            has_flag("--skip-ok"),
            "{command}"
        );
    }
}

/// The commands that stand behind `simdup`, each in one word.
fn commands() -> impl Iterator<Item = &'static str> {
    let commands = PAGES.into_iter().map(|(_, command)| command);
    commands
        .filter(|command| !command.is_empty() && !command.contains(' ') && *command != "help")
        .filter(|command| cfg!(feature = "worker") || *command != "worker")
}

#[test]
fn help_is_a_command_too() {
    let place = Place::new();
    assert_eq!(place.run("help").clean(), place.run("--help").clean());
    for command in commands() {
        assert_eq!(
            place.run(&format!("help {command}")).clean(),
            place.run(&format!("{command} --help")).clean()
        );
    }
}

#[test]
fn the_manual_has_all_commands() {
    let place = Place::new();
    let manual = place.run("man").clean();
    for command in commands() {
        let title = format!(".SH \"SIMDUP {}\"\n", command.to_uppercase());
        assert!(manual.contains(&title), "{title}");
        let page = place.run(&format!("man {command}")).clean();
        assert!(page.contains(&format!("simdup\\-{command}")), "{page}");
    }
    assert!(
        place
            .run("man index")
            .clean()
            .contains(".SH \"SIMDUP INDEX ADD\"\n")
    );
    assert!(manual.contains(".SH \"SIMDUP INDEX ADD\"\n"));
    for flag in ["removed", "annotate", "pairs", "gold", "outlinks"] {
        assert!(manual.contains(&format!("\\-\\-{flag}")), "{flag}");
    }
    assert!(place.run("man dedup").clean().contains("\\-\\-removed"));
    place.run("man dedpu").fails("did you mean `dedup`?");
}

#[test]
fn the_manual_is_written_a_page_a_command() {
    let place = Place::new();
    assert_eq!(place.run("man --dir share/man1").clean(), "");
    let page = place.read("share/man1/simdup.1");
    assert!(page.contains(".TH simdup 1"), "{page}");
    for (_, command) in PAGES
        .into_iter()
        .filter(|(_, command)| !command.starts_with("help"))
        .filter(|(_, command)| cfg!(feature = "worker") || *command != "worker")
    {
        let name = format!("simdup {command}").trim_end().replace(' ', "-");
        let page = place.read(&format!("share/man1/{name}.1"));
        assert!(page.contains(".SH OPTIONS"), "{name}");
    }
    place.file("file", "");
    place.run("man --dir file").fails("file");
    place.run("man --dir x dedup").fails("cannot be used with");
}

#[test]
fn help_and_manual_have_all_flags() {
    let place = Place::new();
    let help = place.run("--help").clean();
    let manual = place.run("man").clean();
    for flag in [
        "input-format",
        "id-field",
        "text-field",
        "group-by",
        "files-from",
        "template",
        "min-words",
        "max-words",
        "shingle-words",
        "shingle-chars",
        "shingle-code",
        "keep-names",
        "items",
        "step",
        "wrap",
        "keep-case",
        "stopwords",
        "threshold",
        "hashes",
        "seed",
        "preset",
        "format",
        "output",
        "stats",
        "exit-status",
        "progress",
        "quiet",
        "threads",
        "strict",
        "score",
        "recall",
        "bands",
        "rows",
        "against",
        "ignore-common",
        "min-shared",
        "memory",
        "temp-dir",
        "sort",
        "top",
        "digits",
        "count",
        "with",
        "baseline",
        "write-baseline",
        "summary",
        "config",
        "print-config",
        "skip-ok",
    ] {
        assert!(help.contains(&format!("--{flag}")), "{flag}");
        assert!(manual.contains(&flag.replace('-', "\\-")), "{flag}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(
            place
                .run(&format!("completions {shell}"))
                .clean()
                .contains("shingle-words")
        );
    }
    assert!(place.run("--version").clean().starts_with("simdup "));
}
