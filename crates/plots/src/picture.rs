//! A drawn picture, as SVG and as PNG.

use kuva::backend::png::PngBackend;
use kuva::backend::svg::SvgBackend;
use kuva::render::render::Scene;

use crate::{Error, Result, typeface};

/// A drawn picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// As SVG.
    pub svg: String,
    /// As PNG, two pixels to a unit.
    pub png: Vec<u8>,
    /// Characters that the PNG has boxes for, as its typeface lacks them.
    pub lacking: Vec<char>,
}

impl Picture {
    /// Draws a scene; `what` names it in errors.
    pub fn of(what: &str, scene: &Scene) -> Result<Self> {
        let png = PngBackend::new().with_scale(2.0).render_scene(scene);
        let png = png.map_err(|reason| Error::Rendering { what: what.to_string(), reason })?;
        let svg = renumbered(&SvgBackend::new().render_scene(scene));
        let lacking = typeface::lacking(&svg);
        Ok(Self { svg, png, lacking })
    }
}

/// kuva numbers clip paths across the process; here they are numbered within the picture, so that the same scene gives the
/// same bytes.
fn renumbered(svg: &str) -> String {
    const NAME: &str = "kuva-clip-";
    let mut known: Vec<&str> = Vec::new();
    let mut parts = svg.split(NAME);
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let (number, rest) = part.split_at(digits);
        let place = known.iter().position(|n| *n == number).unwrap_or_else(|| {
            known.push(number);
            known.len() - 1
        });
        text += &format!("{NAME}{place}{rest}");
    }
    text
}
