//! The files that are written: opened, and kept apart.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use simdup::write::Output;

use super::args::OutputArgs;
use super::{Failure, interrupt};

/// Whether two paths lead to the same file, which need not be there yet.
pub(super) fn same_file(one: &Path, two: &Path) -> bool {
    let whole = |path: &Path| {
        fs::canonicalize(path).ok().or_else(|| {
            let folder = match path.parent() {
                Some(folder) if !folder.as_os_str().is_empty() => folder,
                _ => Path::new("."),
            };
            Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
        })
    };
    one == two || whole(one).is_some_and(|one| whole(two) == Some(one))
}

impl OutputArgs {
    /// Where results go, and its name.
    pub(super) fn open(&self) -> Result<(Output, String), Failure> {
        let same = |(output, stats): (&PathBuf, &PathBuf)| {
            output.as_os_str() != "-" && same_file(output, stats)
        };
        if self
            .output
            .as_ref()
            .zip(self.stats.as_ref())
            .is_some_and(same)
        {
            return Err(Failure::Usage(
                "--output and --stats name the same file: one would replace the other".into(),
            ));
        }
        open_output(self.output.as_deref())
    }
}

/// The file of that name, or standard output, and its name.
pub(super) fn open_output(path: Option<&Path>) -> Result<(Output, String), Failure> {
    match path {
        Some(path) if path.as_os_str() != "-" => {
            let name = path.display().to_string();
            Output::create(path)
                .inspect(|output| interrupt::remove_on_interrupt(output.temporary_path()))
                .map(|output| (output, name.clone()))
                .map_err(|error| Failure::write(&name, error))
        }
        _ => Ok((Output::Stream(Box::new(io::stdout())), "-".into())),
    }
}
