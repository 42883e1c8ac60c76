//! `holdfast replay`: what this program makes of an access history written down as a
//! case, so that anyone can hold it against another implementation.

use std::io::Read;
use std::path::{Path, PathBuf};

use minca_access::case::{Case, CaseError, Difference, differences};
use minca_record::json::{self, Object, Value};

use crate::pretty_json::{compact, pretty};

/// The largest case that is read, in bytes: some 100,000 events. What is read takes a
/// few times as much memory.
const MOST_BYTES: u64 = 64 << 20;

/// Where a case comes from, and what is wanted of it.
#[derive(Clone, Debug, clap::Args)]
pub struct ReplayArgs {
    /// File with the case, in the format of tests/vectors/access; `-` is standard input
    #[arg(value_name = "CASE")]
    pub case: PathBuf,

    /// Print on one line
    #[arg(long)]
    pub compact: bool,

    /// Print nothing, but where the replay comes to something else than the case's own
    /// `expect`; fails if it does. What only informs (`why`, `by`, `rests`) isn't compared
    #[arg(long, conflicts_with = "compact")]
    pub check: bool,
}

/// Why a case can't be replayed, or comes to something else than it expects.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// It can't be read.
    #[error("the case can't be read: {0}")]
    Io(#[from] std::io::Error),
    /// What is wrong with what was named.
    #[error("{file}: {why}")]
    In {
        /// The file, or `-`.
        file: String,
        /// What is wrong with it.
        why: Box<ReplayError>,
    },
    /// It is too long.
    #[error("expected a case of at most {MOST_BYTES} bytes, and there are more")]
    TooLong,
    /// It is no JSON.
    #[error("expected a case as JSON: {0}")]
    NoJson(#[from] json::ReadError),
    /// It is no case.
    #[error(transparent)]
    NoCase(#[from] CaseError),
    /// There is nothing to compare with.
    #[error("expect: expected an object to compare with, and there is nothing")]
    NoExpectation,
    /// Something else came than was expected.
    #[error("{}", words(.0))]
    Differs(Vec<Difference>),
}

fn words(differences: &[Difference]) -> String {
    let mut words = format!(
        "the replay differs from what the case expects in {} {}",
        differences.len(),
        if differences.len() == 1 {
            "place"
        } else {
            "places"
        }
    );
    for difference in differences {
        words.push_str(&format!("\n  {difference}"));
    }
    words
}

/// Reads the case, replays it, and says what is to be printed.
///
/// # Errors
/// [`ReplayError`]; with `--check`, [`ReplayError::Differs`] where what came isn't what
/// the case expects.
pub fn run(args: &ReplayArgs) -> Result<String, ReplayError> {
    printed(args).map_err(|why| match why {
        // It names places of the case, and more than one.
        ReplayError::Differs(_) => why,
        why => ReplayError::In {
            file: args.case.display().to_string(),
            why: Box::new(why),
        },
    })
}

fn printed(args: &ReplayArgs) -> Result<String, ReplayError> {
    let bytes = read(&args.case)?;
    if args.check {
        check(&bytes)?;
        return Ok(String::new());
    }
    let outcome = Value::from(replay(&bytes)?);
    Ok(match args.compact {
        true => compact(&outcome),
        false => pretty(&outcome),
    })
}

/// What a replay of the case comes to, as cases have it as `expect`.
///
/// # Errors
/// What makes the bytes no case.
pub fn replay(bytes: &[u8]) -> Result<Object, ReplayError> {
    Ok(case(bytes)?.outcome())
}

/// Holds a replay of the case against what the case expects.
///
/// # Errors
/// What makes the bytes no case, or [`ReplayError::Differs`].
pub fn check(bytes: &[u8]) -> Result<(), ReplayError> {
    let case = case(bytes)?;
    let expected = case.expect.as_ref().ok_or(ReplayError::NoExpectation)?;
    let differences = differences(expected, &case.outcome());
    match differences.is_empty() {
        true => Ok(()),
        false => Err(ReplayError::Differs(differences)),
    }
}

fn case(bytes: &[u8]) -> Result<Case, ReplayError> {
    Ok(Case::read(json::read(bytes, json::MESSAGE_DEPTH)?)?)
}

fn read(path: &Path) -> Result<Vec<u8>, ReplayError> {
    if path.as_os_str() == "-" {
        return read_all(std::io::stdin().lock());
    }
    read_all(std::fs::File::open(path)?)
}

fn read_all(from: impl Read) -> Result<Vec<u8>, ReplayError> {
    let mut bytes = Vec::new();
    from.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MOST_BYTES {
        true => Err(ReplayError::TooLong),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_a_case_may_have() {
        let endless = std::io::repeat(b' ');
        assert!(matches!(read_all(endless), Err(ReplayError::TooLong)));
        let longest = std::io::repeat(b' ').take(MOST_BYTES);
        assert_eq!(read_all(longest).unwrap().len() as u64, MOST_BYTES);
    }
}
