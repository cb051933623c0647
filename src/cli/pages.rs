//! Pages made from the definition of the command line: completions and the manual.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use super::args::Cli;
use super::{Failure, Outcome, standard_output};

pub(super) fn print_completions(shell: Shell) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "simdup", &mut script);
    print(&script)
}

/// The main page, then a part for each command.
pub(super) fn print_man_page() -> Result<Outcome, Failure> {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    let written = clap_mangen::Man::new(command.clone())
        .render(&mut page)
        .and_then(|()| {
            command
                .get_subcommands()
                .filter(|sub| sub.get_name() == "sketch")
                .try_for_each(|sub| {
                    let man = clap_mangen::Man::new(sub.clone());
                    writeln!(page, ".SH \"SIMDUP {}\"", sub.get_name().to_uppercase())?;
                    man.render_description_section(&mut page)?;
                    man.render_options_section(&mut page)?;
                    man.render_extra_section(&mut page)
                })
        });
    written.map_err(|error| Failure::write("-", error))?;
    print(&page)
}

/// The help or the version that clap made, in colours where they are seen.
pub(super) fn print_help(page: &clap::Error) -> Result<Outcome, Failure> {
    if standard_output::is_closed() {
        return print(page.to_string().as_bytes());
    }
    page.print()
        .and_then(|()| std::io::stdout().flush())
        .map_err(|error| Failure::write("-", error))?;
    Ok(Outcome::Done)
}

fn print(bytes: &[u8]) -> Result<Outcome, Failure> {
    let mut output = standard_output::open();
    output
        .write_all(bytes)
        .and_then(|()| output.flush())
        .map_err(|error| Failure::write("-", error))?;
    Ok(Outcome::Done)
}
