//! Pictures of a study: its values trial by trial and, where one or two numbers vary, what is known of them.

mod axis;
mod curve;
mod history;
mod map;
mod marks;
mod overview;
mod page;
mod shown;
mod variable;

#[cfg(test)]
mod tests;

use manyhands_core::Study;
pub use manyhands_lab::Picture;

use self::overview::Overview;
use self::page::{Page, Panel};
use self::variable::Variable;

/// Draws a study: the values of its trials, and the posterior over what varies if that is one number or two. The same study
/// gives the same bytes.
pub fn draw(study: &mut Study, name: &str) -> anyhow::Result<Picture> {
    let overview = Overview::of(study)?;
    let panels = [history::panel(&overview)].into_iter().chain(posterior(&overview)?).collect();
    let page = Page { title: name.to_string(), summary: overview.summary(), panels };
    Ok(Picture::of(name, &page.scene())?)
}

/// None where more varies, or something that is not a number, or a model that is to be learned has seen no value.
fn posterior(overview: &Overview<'_>) -> anyhow::Result<Vec<Panel>> {
    if overview.study.spec().learns() && overview.shown.is_none() {
        return Ok(vec![]);
    }
    match Variable::all(overview.study.spec().domain()).as_slice() {
        [one] => Ok(curve::panel(overview, one)?.into_iter().collect()),
        [x, y] => map::panels(overview, &[x.clone(), y.clone()]),
        _ => Ok(vec![]),
    }
}
