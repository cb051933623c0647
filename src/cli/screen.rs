//! The terminal as the bar sees it: a little narrower than it is. A bar is drawn to the end of its
//! line, and the `^C` of who ends the run would stand in the next one, from where the bar could not
//! be taken away.

use std::io::{self, IsTerminal, Write};

use indicatif::TermLike;
use terminal_size::{Height, Width, terminal_size_of};

/// Columns that are left free.
const FREE: u16 = 4;

/// Standard error.
#[derive(Debug)]
pub(super) struct Screen;

impl Screen {
    /// Whether there is one on which something can be taken away again.
    pub(super) fn is_there() -> bool {
        let is_dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
        io::stderr().is_terminal() && !is_dumb
    }

    fn size() -> (u16, u16) {
        match terminal_size_of(io::stderr()) {
            Some((Width(width), Height(height))) => (width, height),
            None => (80, 24),
        }
    }

    fn write(text: &str) -> io::Result<()> {
        io::stderr().lock().write_all(text.as_bytes())
    }
}

impl TermLike for Screen {
    fn width(&self) -> u16 {
        Self::size().0.saturating_sub(FREE).max(1)
    }

    fn height(&self) -> u16 {
        Self::size().1
    }

    fn move_cursor_up(&self, lines: usize) -> io::Result<()> {
        moved(lines, 'A')
    }

    fn move_cursor_down(&self, lines: usize) -> io::Result<()> {
        moved(lines, 'B')
    }

    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        moved(columns, 'C')
    }

    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        moved(columns, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        Self::write(&format!("{text}\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        Self::write(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        Self::write("\r\x1b[2K")
    }

    fn flush(&self) -> io::Result<()> {
        io::stderr().lock().flush()
    }
}

fn moved(steps: usize, direction: char) -> io::Result<()> {
    match steps {
        0 => Ok(()),
        steps => Screen::write(&format!("\x1b[{steps}{direction}")),
    }
}
