//! `manyhands reproduce`: every experiment of the paper, its figure, its numbers, and a verdict on each observation.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use manyhands_core::{Hallucination, Information};
use manyhands_lab::experiment::Arrival;
use manyhands_lab::{Extra, Panel, ReproductionPlan, ReproductionRequest, Settings, leftovers, prepare};

use crate::integer::integer_in;
use crate::output::print_as_is;
use crate::progress::TerminalProgress;
use crate::stderr::say;

const EXAMPLES: &str = "\
Examples:
  manyhands reproduce                                    panels a to f; g and h too if their data is available
  manyhands reproduce --data ~/sensors                   all eight
  manyhands reproduce --panels a,c-e --information greedy
  manyhands reproduce --panels none --extra workers      one further figure and nothing else
  manyhands reproduce --panels none --extra bounds       the theorems' regret bounds beside the measured regret
  manyhands reproduce --panels a,b --feedback random:7   rewards arrive out of step, each after 1 to M rounds
  manyhands reproduce --panels a --feedback delays.csv   S(1), S(2), ... from a file
  manyhands reproduce --panels field                     a synthetic sensor field, which needs no data

Panels: (a, c) RKHS functions of the squared exponential kernel and (b, d) of the Matern kernel, in batches (a, b) and
with delays (c, d); (e) Cosines, (f) Rosenbrock; (g) temperature and (h) light sensors.

Further figures: workers (what M workers cost and save), hallucination (the factor xi and whether bands hold), width (a
factor on the multiplier), initialization (T_init picks of largest variance), bayesian (GP-BUCB with its Bayesian width),
certificate (its bound and the truth), bounds (Theorems 1 and 2 beside the regret), discretization (GP-BTS on the growing
D_t of [0, 1], for at most 100 rounds), rules (every rule in pairs, with 5 and 20 workers, in batches and with delays: some
10 minutes).

Feedback: when x_t is chosen the rewards of rounds 1 to S(t) are known. A file has a line per round, S(t) alone or t and
S(t) with a comma between, and a header if you like. S never falls, S(t) < t, and t - S(t) is at most M (--workers). The
figures `workers` and `rules` keep their own M and arrivals.

Data: g reads intel_lab/intel_temp_1min.csv.gz, h reads cmu_light_sensor/light_train_lux.csv and light_test_lux.csv, in
the folder given by --data. docs/reproduction.md says where the public originals are and how the files look.

The same options give the same files, byte for byte, on any number of threads (RAYON_NUM_THREADS).";

const HOW_TO_GET_DATA: &str = "\
hint: give the folder of the sensor files with --data; docs/reproduction.md says where the public originals are and how
the files look. `--panels field` runs a synthetic sensor field instead.";

/// Run the experiments of "On Batch Bayesian Optimization": figure, numbers and a verdict on each observation.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Which panels: letters from a to h or ranges of them (a,c-f), field, all or none
    #[arg(long, value_name = "LIST", default_value = "all", value_parser = panels, help_heading = "What")]
    panels: List<Panel>,
    /// Further figures: workers, hallucination, width, initialization, bayesian, certificate, bounds, discretization, rules;
    /// all of them if none is named
    #[arg(long, value_name = "LIST", num_args = 0..=1, default_missing_value = "all",
        value_parser = extras, help_heading = "What")]
    extra: Option<List<Extra>>,
    /// The folder to write to; files of the same names are replaced
    #[arg(long, value_name = "DIR", default_value = "reproduction", help_heading = "What")]
    out: PathBuf,
    /// The folder that holds the sensor files of g and h [default: $MANYHANDS_DATA]
    #[arg(long, value_name = "DIR", help_heading = "What")]
    data: Option<PathBuf>,
    /// S(t), how rewards arrive: batch, delay, sequential, random:SEED or a CSV file [default: delay in c and d, else batch]
    #[arg(long, value_name = "KIND", help_heading = "What")]
    feedback: Option<Arrival>,
    /// Print the summary as JSON
    #[arg(long, help_heading = "What")]
    json: bool,
    #[command(flatten)]
    constants: Constants,
}

/// The constants of the paper's section 5.
#[derive(Debug, Args)]
#[command(next_help_heading = "Constants", allow_negative_numbers = true)]
struct Constants {
    /// gamma: realised, greedy, greedy-upper, closed-form (ln t for sensors) or log
    #[arg(long, value_name = "KIND", default_value_t = Settings::default().information)]
    information: Information,
    /// xi: a number from 1, realised, exact, a-priori, worst-case, or off
    #[arg(long, value_name = "KIND", default_value_t = Settings::default().hallucination)]
    hallucination: Hallucination,
    /// A factor on every multiplier; 1 is the theory
    #[arg(long, value_name = "NUMBER", default_value_t = Settings::default().width)]
    width: f64,
    /// M, the size of a batch or the length of a delay
    #[arg(long, value_name = "M", default_value_t = Settings::default().workers, value_parser = integer_in::<usize>(0..))]
    workers: usize,
    /// T, the number of rounds
    #[arg(long, value_name = "T", default_value_t = Settings::default().horizon, value_parser = integer_in::<usize>(0..))]
    horizon: usize,
    /// Functions (noise seeds in e and f, test rows in g and h) of a panel
    #[arg(long, value_name = "N", default_value_t = Settings::default().functions, value_parser = integer_in::<usize>(0..))]
    functions: usize,
    /// For everything random
    #[arg(long, value_name = "SEED", default_value_t = Settings::default().seed, value_parser = integer_in::<u64>(0..))]
    seed: u64,
    /// The probability with which bounds may fail
    #[arg(long, value_name = "DELTA", default_value_t = Settings::default().delta)]
    delta: f64,
    /// lambda = R^2 of panels a to f, a variance; sensors have 5 % of the average variance
    #[arg(long, value_name = "LAMBDA", default_value_t = Settings::default().noise)]
    noise: f64,
}

/// A list given in one option; to clap a plain `Vec` is an option that may be repeated.
type List<T> = std::sync::Arc<[T]>;

fn panels(text: &str) -> manyhands_lab::Result<List<Panel>> {
    Panel::list(text).map(List::from)
}

fn extras(text: &str) -> manyhands_lab::Result<List<Extra>> {
    Extra::list(text).map(List::from)
}

impl Options {
    fn request(&self) -> ReproductionRequest {
        let &Constants { information, hallucination, width, workers, horizon, functions, seed, delta, noise } =
            &self.constants;
        ReproductionRequest {
            settings: Settings { seed, functions, horizon, workers, delta, noise, width, information, hallucination },
            panels: self.panels.to_vec(),
            extras: self.extra.as_deref().unwrap_or_default().to_vec(),
            data: self.data.clone().or_else(data_of_environment),
            arrival: self.feedback.clone(),
        }
    }
}

fn data_of_environment() -> Option<PathBuf> {
    std::env::var_os("MANYHANDS_DATA").filter(|folder| !folder.is_empty()).map(PathBuf::from)
}

/// Plays the experiments, writes the files, and prints what was found.
pub fn run(options: &Options) -> Result<()> {
    if let Some(folder) = options.data.as_ref().filter(|folder| !folder.is_dir()) {
        let reason = "there is no such folder".to_string();
        bail!(manyhands_lab::Error::CannotRead { path: folder.clone(), reason });
    }
    let plan = ReproductionPlan::new(&options.request())?;
    for missing in plan.missing() {
        say(&format!("skipped: {missing}"));
    }
    if !plan.missing().is_empty() {
        say(HOW_TO_GET_DATA);
    }
    if plan.runs() == 0 {
        bail!(manyhands_lab::Error::NothingToRun);
    }
    prepare(&options.out)?;
    let progress = TerminalProgress::on_terminal("reproduce", plan.runs());
    let reproduction = plan.run(&|| progress.advance(1))?;
    drop(progress);
    let files = reproduction.write(&options.out)?;
    let text = if options.json { format!("{:#}\n", reproduction.summary()) } else { reproduction.to_text() };
    print_as_is(&text)?;
    say(&format!("wrote {} files to {}; begin with report.md", files.len(), options.out.display()));
    for file in leftovers(&options.out, &files) {
        say(&format!("note: {} is from an earlier run", file.display()));
    }
    Ok(())
}
