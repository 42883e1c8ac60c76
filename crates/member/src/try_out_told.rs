//! `holdfast try`, told to people: a line for each step and a bar while records are written.

use std::io::Write;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::try_out::{Progress, Report};

/// Objects of the bucket that are named; of the rest only how many there are.
const OBJECTS_NAMED: usize = 6;

/// Tells what happens, to `out`. The bar goes to standard error, where that is a terminal.
pub struct Teller<'a> {
    out: &'a mut (dyn Write + Send),
    bar: ProgressBar,
}

impl<'a> Teller<'a> {
    /// A teller with a bar on standard error.
    pub fn new(out: &'a mut (dyn Write + Send)) -> Teller<'a> {
        Teller::with_bar_on(out, ProgressDrawTarget::stderr())
    }

    /// A teller with its bar somewhere, or nowhere.
    pub fn with_bar_on(out: &'a mut (dyn Write + Send), bar: ProgressDrawTarget) -> Teller<'a> {
        let bar = ProgressBar::with_draw_target(None, bar);
        let style = ProgressStyle::with_template("  {bar:40} {pos}/{len} stored");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Teller { out, bar }
    }

    /// Tells what just happened.
    ///
    /// # Errors
    /// Where `out` takes no more.
    pub fn tell(&mut self, progress: &Progress) -> std::io::Result<()> {
        let out = &mut self.out;
        match progress {
            Progress::Founded { space, account } => {
                writeln!(out, "A new account founded a private space.")?;
                writeln!(out, "  account  {account}")?;
                writeln!(out, "  space    {space}")
            }
            Progress::Carried => {
                writeln!(
                    out,
                    "The host carries it, without its key: it reads nothing of it."
                )
            }
            Progress::Connected { device: 1, node } => {
                writeln!(
                    out,
                    "A first device connected, and the host proved who it is."
                )?;
                writeln!(out, "  host     {node}")
            }
            Progress::Connected { .. } => {
                writeln!(out, "A second device of the same account connected.")
            }
            Progress::Wrote { stored, of, .. } => {
                self.bar.set_length(*of as u64);
                self.bar.set_position(*stored as u64);
                if stored < of {
                    return Ok(());
                }
                self.bar.finish_and_clear();
                writeln!(
                    out,
                    "It wrote {of} sealed records, and the host stored every one."
                )
            }
            Progress::FirstDeviceGone => {
                writeln!(
                    out,
                    "The first device is gone, with everything that was on it."
                )
            }
            Progress::SecondDeviceRead { records } => {
                writeln!(out, "It has all {records} records, and opens them.")
            }
            Progress::ChangedAndDeleted { records } => writeln!(
                out,
                "It changed one record and deleted another; the host stored both. {records} left."
            ),
            Progress::Bucket(objects) if objects.is_empty() => {
                writeln!(
                    out,
                    "The bucket is still empty: it follows the database a little later."
                )
            }
            Progress::Bucket(objects) => {
                writeln!(out, "The bucket, from which all of it can be rebuilt:")?;
                for object in objects.iter().take(OBJECTS_NAMED) {
                    writeln!(out, "  {:>9}  {}", object.bytes, object.key)?;
                }
                match objects.len().saturating_sub(OBJECTS_NAMED) {
                    0 => Ok(()),
                    more => writeln!(out, "  and {more} more"),
                }
            }
        }
    }

    /// Tells how it ended.
    ///
    /// # Errors
    /// Where `out` takes no more.
    pub fn tell_end(&mut self, report: &Report) -> std::io::Result<()> {
        let (records, versions) = (report.records, report.versions);
        let seconds = report.took.as_secs_f64();
        writeln!(
            self.out,
            "Done in {seconds:.1} s: {records} records, {versions} versions."
        )
    }
}
