//! temporary
use crate::{Points, Result, View};
/// temporary
#[derive(Debug, Clone)]
pub struct Screen { candidates: Points, means: Vec<f64>, variances: Vec<f64> }
impl Screen {
    /// temporary
    pub fn new(view: View<'_>, candidates: Points) -> Result<Self> {
        let mut s = Self { means: vec![], variances: vec![], candidates };
        s.append(view)?;
        Ok(s)
    }
    /// temporary
    pub fn append(&mut self, view: View<'_>) -> Result<()> {
        self.means.clear(); self.variances.clear();
        for c in self.candidates.iter() { let m = view.posterior().predict(c)?; self.means.push(m.mean); self.variances.push(m.sd*m.sd); }
        Ok(())
    }
    /// temporary
    pub fn means(&self) -> &[f64] { &self.means }
    /// temporary
    pub fn variances(&self) -> &[f64] { &self.variances }
    /// temporary
    pub fn candidates(&self) -> &Points { &self.candidates }
}
