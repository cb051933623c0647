//! Pages made from the definition of the command line: completions and the manual.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use super::args::{self, Cli};
use super::{Failure, Outcome, standard_output};

pub(super) fn print_completions(shell: Shell) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::shown(), "simdup", &mut script);
    match shell {
        Shell::Bash => print(with_values(&String::from_utf8_lossy(&script)).as_bytes()),
        _ => print(&script),
    }
}

/// The script for bash, which takes the `=` of `--flag=value` for a word of its own: so the flag is
/// not the word before the value, but the one before that.
fn with_values(script: &str) -> String {
    const BEFORE: &str = "    prev=\"$3\"\n";
    const MENDED: &str = "    prev=\"$3\"
    if [[ \"${cur}\" == \"=\" ]]; then
        cur=\"\"
    elif [[ \"${prev}\" == \"=\" && \"${COMP_CWORD}\" -ge 2 ]]; then
        prev=\"${COMP_WORDS[COMP_CWORD-2]}\"
    fi
";
    script.replacen(BEFORE, MENDED, 1)
}

/// The page of a command, or the main page with a section for each.
pub(super) fn print_manual(name: Option<&str>) -> Result<Outcome, Failure> {
    let mut command = Cli::shown();
    command.build();
    let page = match name {
        None => whole_manual(&command),
        Some(name) => {
            let Some(command) = command.find_subcommand(name) else {
                return Err(Failure::Usage(format!(
                    "no such command: {name}{}; `simdup --help` lists them",
                    args::nearest_command(name)
                        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
                )));
            };
            whole_manual(command)
        }
    };
    print(&page.map_err(|error| Failure::write("-", error))?)
}

/// A page for each command, named as `man` looks for it.
pub(super) fn write_manual(dir: &Path) -> Result<Outcome, Failure> {
    let mut command = Cli::shown();
    command.build();
    let written = fs::create_dir_all(dir).and_then(|()| write_pages(&command, dir));
    written.map_err(|error| Failure::write(&dir.to_string_lossy(), error))?;
    Ok(Outcome::Done)
}

fn write_pages(command: &Command, dir: &Path) -> io::Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    fs::write(dir.join(format!("{name}.1")), page_of(command)?)?;
    let subs = command.get_subcommands();
    // Help for help says nothing.
    subs.filter(|sub| sub.get_name() != "help" && !sub.is_hide_set())
        .try_for_each(|sub| write_pages(sub, dir))
}

fn page_of(command: &Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}

/// The page of a command with a section for each of its own.
fn whole_manual(command: &Command) -> io::Result<Vec<u8>> {
    let mut manual = page_of(command)?;
    let name = command.get_display_name().unwrap_or(command.get_name());
    add_sections(&name.to_uppercase().replace('-', " "), command, &mut manual)?;
    Ok(manual)
}

/// Adds a section for each command of a command, and for theirs.
fn add_sections(name: &str, command: &Command, manual: &mut Vec<u8>) -> io::Result<()> {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        let name = format!("{name} {}", sub.get_name().to_uppercase());
        let man = Man::new(sub.clone());
        let mut section = Vec::new();
        man.render_synopsis_section(&mut section)?;
        man.render_description_section(&mut section)?;
        man.render_options_section(&mut section)?;
        if sub.get_after_long_help().is_some() {
            man.render_extra_section(&mut section)?;
        }
        writeln!(manual, ".SH \"{name}\"")?;
        // What are sections of a page of its own are parts of this one.
        for line in String::from_utf8_lossy(&section).lines() {
            match line.strip_prefix(".SH ") {
                Some(title) => writeln!(manual, ".SS {title}")?,
                None => writeln!(manual, "{line}")?,
            }
        }
        // Help for help says nothing.
        if sub.get_name() != "help" {
            add_sections(&name, sub, manual)?;
        }
    }
    Ok(())
}

/// The help or the version that clap made, in colours where they are seen.
pub(super) fn print_help(page: &clap::Error) -> Result<Outcome, Failure> {
    if standard_output::is_closed() {
        return print(page.to_string().as_bytes());
    }
    page.print()
        .and_then(|()| io::stdout().flush())
        .map_err(|error| Failure::write("-", error))?;
    Ok(Outcome::Done)
}

pub(super) fn print(bytes: &[u8]) -> Result<Outcome, Failure> {
    let mut output = standard_output::open();
    output
        .write_all(bytes)
        .and_then(|()| output.flush())
        .map_err(|error| Failure::write("-", error))?;
    Ok(Outcome::Done)
}
