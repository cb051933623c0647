//! The examples of README and docs: each command is run, and prints what they say.

use std::process::Command;

use crate::harness::repository;

/// The commands of all `console` blocks, each with the output below it.
fn examples(readme: &str) -> Vec<(String, String)> {
    let mut examples: Vec<(String, String)> = vec![];
    let mut in_block = false;
    for line in readme.lines() {
        if line.starts_with("```") {
            in_block = line == "```console";
        } else if in_block && let Some(command) = line.strip_prefix("$ ") {
            examples.push((command.to_owned(), String::new()));
        } else if in_block {
            let (_, output) = examples.last_mut().unwrap();
            output.push_str(line);
            output.push('\n');
        }
    }
    examples
}

#[cfg(unix)]
// They show what the default features read.
#[cfg_attr(
    not(all(feature = "article", feature = "parquet", feature = "tar")),
    ignore
)]
#[test]
fn the_examples_print_what_is_said() {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_simdup"));
    let path = format!(
        "{}:{}",
        program.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let pages = ["README.md", "docs/ci.md"].map(|page| {
        let page = std::fs::read_to_string(repository(page)).unwrap();
        examples(&page)
    });
    assert!(pages.iter().all(|examples| examples.len() >= 4));
    for (command, expected) in pages.into_iter().flatten() {
        // What it shows is what a user without a build would type.
        let command = command.replace("cargo run --release --", "simdup");
        let output = Command::new("sh")
            .args(["-c", &command])
            .current_dir(repository(""))
            .env("PATH", &path)
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(printed, expected, "{command}");
    }
}
