//! IGP-BUCB with five workers on a noisy function of one parameter: ask five, run them, tell, repeat; then the best point,
//! how far from the optimum it can still be, and a picture.
//!
//! `cargo run --release --example quickstart [-- PICTURE.svg]`

use std::error::Error;

use kuva::backend::svg::SvgBackend;
use kuva::plot::{BandPlot, LinePlot, ScatterPlot};
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::render::render_multiple;
use manyhands_core::gp::{Grid, Kernel, Prior};
use manyhands_core::{Domain, Rule, Spec, Strategy, Study, TrialState};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Normal};

const WORKERS: usize = 5;
const NOISE: f64 = 0.01;

/// The expensive black box, without its noise.
fn black_box(x: f64) -> f64 {
    (3.0 * x).sin() + 0.5 * (9.0 * x).cos() - 0.3 * x
}

fn main() -> Result<(), Box<dyn Error>> {
    let domain = Domain::Grid(Grid::even(&[(0.0, 1.0, 200)])?);
    let prior = Prior::new(Kernel::squared_exponential(&[0.2])?, 0.0, NOISE)?;
    let strategy = Strategy { max_pending: Some(WORKERS), ..Strategy::new(Rule::IgpBucb, 3.0) };
    let mut study = Study::new(Spec::new(domain, prior, strategy)?)?;

    let noise = Normal::new(0.0, NOISE.sqrt())?;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for batch in 1..=8 {
        let suggestions = study.ask(WORKERS)?;
        for s in &suggestions {
            study.tell(s.trial, black_box(s.point[0]) + noise.sample(&mut rng))?;
        }
        let certificate = study.certificate()?;
        println!("after batch {batch}: within {:.3} of the optimum", certificate.regret_bound);
    }
    // A ninth batch is under way when the picture is taken.
    study.ask(WORKERS)?;

    let best = study.best()?;
    println!(
        "best point: trial {}, x = {:.3}, told {:.3}, mean {:.3}",
        best.trial, best.point[0], best.value, best.mean
    );
    println!("{}", study.certificate()?);
    let elsewhere = || std::env::temp_dir().join("manyhands-quickstart.svg");
    let file = std::env::args().nth(1).map_or_else(elsewhere, Into::into);
    std::fs::write(&file, picture(&study)?)?;
    println!("picture: {}", file.display());
    Ok(())
}

/// The band, the truth, what was observed and what is pending.
fn picture(study: &Study) -> Result<String, Box<dyn Error>> {
    let xs: Vec<f64> = (0..=400).map(|i| f64::from(i) / 400.0).collect();
    let there = study.predict(&xs.iter().map(|&x| vec![x]).collect::<Vec<_>>())?;
    let lower = there.iter().map(|p| p.lower).collect::<Vec<_>>();
    let upper = there.iter().map(|p| p.upper).collect::<Vec<_>>();
    let band = BandPlot::new(xs.clone(), lower.clone(), upper).with_color("#0072B2").with_opacity(0.2);
    let curve = |ys: Vec<f64>| LinePlot::new().with_data(xs.iter().copied().zip(ys)).with_stroke_width(2.0);
    let mean = curve(there.iter().map(|p| p.mean).collect()).with_color("#0072B2").with_legend("mean and 90 % band");
    let truth = curve(xs.iter().map(|&x| black_box(x)).collect()).with_color("#555555").with_dashed();
    let points = |state: TrialState| {
        let trials = study.trials().iter().filter(move |trial| trial.state() == state);
        trials
            .map(|trial| Ok((study.point(trial.number())?[0], trial.value())))
            .collect::<manyhands_core::Result<Vec<_>>>()
    };
    let observed = points(TrialState::Observed)?.into_iter().filter_map(|(x, value)| Some((x, value?))).collect();
    let floor = lower.iter().copied().fold(f64::INFINITY, f64::min);
    let pending = points(TrialState::Pending)?.into_iter().map(|(x, _)| (x, floor)).collect();
    let dots = |data: Vec<(f64, f64)>| ScatterPlot::new().with_data(data).with_size(4.0);
    let plots = vec![
        Plot::Band(band),
        Plot::Line(truth.with_legend("black box")),
        Plot::Line(mean),
        Plot::Scatter(dots(observed).with_color("#D55E00").with_legend("observed")),
        Plot::Scatter(dots(pending).with_color("#009E73").with_legend("pending (x only)")),
    ];
    let layout = Layout::auto_from_plots(&plots).with_x_label("x").with_y_label("value");
    Ok(SvgBackend.render_scene(&render_multiple(plots, layout)))
}
