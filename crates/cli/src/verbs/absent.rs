//! Verbs that this program was built without: whatever their arguments, they are refused with the feature's name.

use anyhow::Result;
use clap::Args;

use crate::refusal::Usage;

/// Not part of this build.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct Options {
    /// Anything
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<String>,
}

/// Names the feature.
pub fn refuse(feature: &str) -> Result<()> {
    Err(Usage::without_feature(feature).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verb_without_its_feature_is_refused_whatever_its_arguments() {
        #[cfg(not(feature = "plots"))]
        assert_eq!(crate::main(["manyhands", "plot", "study.toml", "-o", "a.svg", "--json"]), crate::exit::BAD_INPUT);
        #[cfg(not(feature = "lab"))]
        assert_eq!(crate::main(["manyhands", "bench", "--help"]), crate::exit::BAD_INPUT);
        assert!(refuse("lab").is_err_and(|error| error.to_string().contains("\"lab\"")));
    }
}
