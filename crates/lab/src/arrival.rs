//! How the rewards of an experiment arrive when M rounds are in progress at once: the mappings S(t) that a user can name.

use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use rand::RngExt;

use crate::stream::{ProblemFamily, Purpose, generator};
use crate::{Error, Feedback, Result};

/// How rewards arrive when M rounds are in progress at once.
///
/// ```
/// use manyhands_lab::experiment::Arrival;
/// let random: Arrival = "random:7".parse()?;
/// let known = random.feedback(3).mapping(9)?;
/// assert!((1..).zip(&known).all(|(t, &s)| s < t && t - s <= 3));
/// # Ok::<(), manyhands_lab::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrival {
    /// The paper's simple batch: M at a time.
    Batch,
    /// The paper's simple delay: each M rounds late.
    Delay,
    /// Each before the next choice, whatever M is: IGP-UCB and GP-TS.
    Sequential,
    /// The reward of round s is known from round s + d_s on, d_s uniform on 1, ..., M; S(t) counts the rewards that are
    /// known together with all earlier ones.
    Random {
        /// Of the d_s.
        seed: u64,
    },
    /// As a file says.
    Listed(ListedArrival),
}

/// S(1), S(2), ... from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedArrival {
    file: String,
    observed: Arc<[usize]>,
}

impl Arrival {
    /// S(t) for M workers.
    pub fn feedback(&self, workers: usize) -> Feedback {
        match self {
            Self::Batch => Feedback::Batch(workers),
            Self::Delay => Feedback::Delay(workers),
            Self::Sequential => Feedback::Sequential,
            &Self::Random { seed } => Feedback::Custom {
                workers,
                mapping: Box::new(move |t| known_by(t, workers, |s| delay(seed, workers, s))),
            },
            Self::Listed(listed) => Feedback::Listed { workers, observed: listed.observed.clone() },
        }
    }

    /// Its name in options, titles and summaries; of a file, the file's name.
    pub fn name(&self) -> String {
        match self {
            Self::Batch => "batch".to_string(),
            Self::Delay => "delay".to_string(),
            Self::Sequential => "sequential".to_string(),
            Self::Random { seed } => format!("random:{seed}"),
            Self::Listed(listed) => listed.file.clone(),
        }
    }

    /// Reads S(t) from a CSV file, a line per round: S(t) alone, or t and S(t). A header is allowed.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = fs::read(path)
            .map_err(|error| Error::CannotRead { path: path.to_path_buf(), reason: error.to_string() })?;
        let observed = parse(&bytes).map_err(|reason| Error::Mapping { path: path.to_path_buf(), reason })?;
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self::Listed(ListedArrival { file, observed: observed.into() }))
    }
}

impl fmt::Display for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl FromStr for Arrival {
    type Err = Error;

    /// A name as [`Arrival::name`] gives it, or the path of a file.
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "batch" => return Ok(Self::Batch),
            "delay" => return Ok(Self::Delay),
            "sequential" => return Ok(Self::Sequential),
            _ => {}
        }
        if let Some(seed) = text.strip_prefix("random:").and_then(|seed| seed.parse().ok()) {
            return Ok(Self::Random { seed });
        }
        if Path::new(text).extension().is_some() || Path::new(text).is_file() {
            return Self::read(text);
        }
        let allowed = "batch, delay, sequential, random:SEED (as in random:7) or a CSV file".to_string();
        Err(Error::Setting { setting: "feedback", allowed, value: format!("\"{text}\"") })
    }
}

/// d_s, the rounds that the reward of round s takes.
fn delay(seed: u64, workers: usize, s: usize) -> usize {
    generator(seed, Purpose::Duration, ProblemFamily::Every, s).random_range(1..=workers.max(1))
}

/// How many of the first rewards are all known when x_t is chosen: the reward of round s is from round s + delay(s) on, and
/// no delay is more than M.
fn known_by(t: usize, workers: usize, delay: impl Fn(usize) -> usize) -> usize {
    let surely = t.saturating_sub(workers);
    (surely + 1..t).take_while(|&s| s + delay(s) <= t).last().unwrap_or(surely)
}

/// S(1), S(2), ... of a file's lines.
fn parse(bytes: &[u8]) -> std::result::Result<Vec<usize>, String> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).trim(csv::Trim::All).from_reader(bytes);
    let mut observed = Vec::new();
    for (i, record) in reader.records().enumerate() {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let cells: Vec<&str> = record.iter().collect();
        if i == 0 && cells.iter().all(|cell| cell.parse::<f64>().is_err()) {
            continue;
        }
        let t = observed.len() + 1;
        let count = |cell: &str| {
            cell.parse().map_err(|_| format!("line {line}: S({t}) must be an integer from 0, got \"{cell}\""))
        };
        observed.push(match cells[..] {
            [known] => count(known)?,
            [round, known] if round.parse() == Ok(t) => count(known)?,
            [round, _] => return Err(format!("line {line}: its round must be {t}, got \"{round}\"")),
            _ => return Err(format!("line {line} must hold S(t), or t and S(t), got {} cells", cells.len())),
        });
    }
    if observed.is_empty() { Err("it has no rounds".to_string()) } else { Ok(observed) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Delays 1, 3, 1, 2 under M = 3: rewards 1 to 4 are known from rounds 2, 5, 4 and 6 on, so that the second holds the
    /// third back.
    #[test]
    fn a_reward_counts_once_all_earlier_ones_are_known() {
        let delays = [1, 3, 1, 2, 1, 1];
        let known: Vec<usize> = (1..=7).map(|t| known_by(t, 3, |s| delays[s - 1])).collect();
        assert_eq!(known, [0, 1, 1, 1, 3, 5, 6]);
    }

    /// Every S(t) by the definition, from all rewards so far.
    #[test]
    fn random_arrivals_are_the_definition_by_brute_force() {
        for (seed, workers) in [(1, 1), (2, 4), (3, 9)] {
            let known = Arrival::Random { seed }.feedback(workers).mapping(200).unwrap();
            for (t, &observed) in (1usize..).zip(&known) {
                let is_known = |s: &usize| s + delay(seed, workers, *s) <= t;
                assert_eq!(observed, (1..t).take_while(is_known).count(), "seed {seed}, M = {workers}, t = {t}");
            }
        }
        // All delays from 1 to M come up, about equally often: 3,000 of 4 kinds, 750 each, standard deviation 24.
        for rounds in 1..=4 {
            let count = (0..3_000).filter(|&s| delay(5, 4, s) == rounds).count();
            assert!(count.abs_diff(750) < 120, "{count} delays of {rounds}");
        }
    }

    #[test]
    fn files_hold_one_column_or_two_with_a_header_or_without() {
        for text in
            ["0\n0\n1\n3\n", "S\n0\n0\n1\n3", "t, S(t)\n1,0\n2, 0\n3,1\n4,3\n", "1,0\r\n2,0\r\n\r\n3,1\r\n4,3\r\n"]
        {
            assert_eq!(parse(text.as_bytes()), Ok(vec![0, 0, 1, 3]), "{text}");
        }
        for (text, told) in [
            ("S\n0\nx\n", "line 3: S(2) must be an integer from 0, got \"x\""),
            ("0\n-1\n", "line 2: S(2) must be an integer from 0, got \"-1\""),
            ("0\n0.5\n", "line 2: S(2) must be an integer from 0, got \"0.5\""),
            ("1,0\n3,0\n", "line 2: its round must be 2, got \"3\""),
            ("1,0,0\n", "line 1 must hold S(t), or t and S(t), got 3 cells"),
            ("t,S\n", "it has no rounds"),
            ("", "it has no rounds"),
        ] {
            assert_eq!(parse(text.as_bytes()), Err(told.to_string()), "{text}");
        }
    }

    #[test]
    fn names_are_read_back_and_others_are_refused_with_what_is_allowed() {
        for arrival in [Arrival::Batch, Arrival::Delay, Arrival::Sequential, Arrival::Random { seed: 7 }] {
            assert_eq!(arrival.name().parse(), Ok(arrival));
        }
        for text in ["late", "random", "random:x", "random:-1", ""] {
            let told = text.parse::<Arrival>().unwrap_err().to_string();
            assert!(
                told.contains("batch, delay, sequential, random:SEED") && told.contains(&format!("{text:?}")),
                "{told}"
            );
        }
        let told = "no-such-file.csv".parse::<Arrival>().unwrap_err().to_string();
        assert!(told.starts_with("cannot read no-such-file.csv"), "{told}");
    }
}
