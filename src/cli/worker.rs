//! `simdup worker`: a stage for an engine.

use super::args::{Flag, WorkerArgs};
use super::{Failure, Outcome};

#[cfg(not(feature = "worker"))]
pub(super) fn run(_: &WorkerArgs, _: &[Flag]) -> Result<Outcome, Failure> {
    Err(Failure::Usage(
        "this simdup was built without its stages for engines (feature `worker`): build it with \
         `cargo build --release --features worker`, or install the Python package"
            .into(),
    ))
}

#[cfg(feature = "worker")]
pub(super) fn run(args: &WorkerArgs, typed: &[Flag]) -> Result<Outcome, Failure> {
    use std::io;

    use simdup::inside::{Stage, run_stage};
    use simdup::{Inputs, Quiet};

    let version = env!("CARGO_PKG_VERSION");
    if let Some(expected) = &args.worker.expect_version
        && expected != version
    {
        return Err(Failure::Usage(format!(
            "this is simdup {version}, and {expected} is expected: all machines need the same version"
        )));
    }
    let task = args.task(typed)?;
    let stage = args.stage();
    let inputs = match stage {
        Stage::Plan => {
            if args.similar.input.files.is_empty() && args.similar.input.files_from.is_none() {
                return Err(Failure::Usage("plan: name the files to read".into()));
            }
            args.similar.inputs()?
        }
        _ => Inputs {
            templates: args.similar.templates(),
            ..Inputs::default()
        },
    };
    end_with_parent();
    let input = io::BufReader::with_capacity(1 << 18, io::stdin().lock());
    let output = io::BufWriter::with_capacity(1 << 18, io::stdout());
    run_stage(stage, &task, inputs, input, output, &Quiet)?;
    Ok(Outcome::Done)
}

/// Ends the process when the one that started it is gone: an engine that gives up a task ends
/// that, and nobody would read what this one writes.
#[cfg(all(feature = "worker", unix))]
fn end_with_parent() {
    use std::os::unix::process::parent_id;
    use std::time::Duration;

    const LOOK_EVERY: Duration = Duration::from_millis(200);
    let parent = parent_id();
    std::thread::spawn(move || {
        while parent_id() == parent {
            std::thread::sleep(LOOK_EVERY);
        }
        std::process::exit(2);
    });
}

#[cfg(all(feature = "worker", not(unix)))]
fn end_with_parent() {}
