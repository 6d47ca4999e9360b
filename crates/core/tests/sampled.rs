//! Which domains the rules that sample can choose from, by their size.

use manyhands_core::Study;
use manyhands_core::file::{Draft, FileError, StudyFile};

fn finish(text: &str, files: &[String]) -> Result<StudyFile, FileError> {
    Draft::parse(text)?.finish(&files.iter().map(|file| file.clone().into_bytes()).collect::<Vec<_>>())
}

#[test]
fn rules_that_sample_search_what_they_cannot_hold_and_refuse_a_pool_of_that_size() {
    let rows = |count: usize| (0..count).fold("x,y\n".to_string(), |rows, i| rows + &format!("{i},{}\n", i * 7 % 1000));
    for rule in ["asy-ts", "gp-bts"] {
        let more = if rule == "gp-bts" { "\nmultiplier = 1.0" } else { "" };
        let pool = format!("name = \"a\"\n[candidates]\nfile = \"pool.csv\"\n[strategy]\nname = \"{rule}\"{more}\n");
        assert!(finish(&pool, &[rows(4_096)]).unwrap().spec.is_finite());
        let refused = finish(&pool, &[rows(4_097)]).unwrap_err();
        assert_eq!(refused.message, format!("{rule} chooses from at most 4096 candidates, got 4097"));
        assert_eq!((refused.line, refused.hint.unwrap().contains("gp-ucb")), (5, true));
        // With a choice there is no structure.
        let space = |levels: usize| {
            format!(
                "name = \"a\"\n[space]\nx = {{ int = [1, {levels}] }}\nc = {{ choice = [\"a\", \"b\"] }}\n[strategy]\nname = \
                 \"{rule}\"{more}\ndesign = 1\n"
            )
        };
        for (levels, is_finite) in [(2_048, true), (2_049, false), (8_000, false)] {
            let spec = finish(&space(levels), &[]).unwrap().spec;
            assert_eq!(spec.is_finite(), is_finite, "{rule}, {levels}");
            if !is_finite {
                let mut study = Study::new(spec).unwrap();
                study.ask(1).unwrap();
                study.tell(0, 0.3).unwrap();
                study.ask(2).unwrap();
                Study::verify(study.spec(), study.events()).unwrap();
            }
        }
    }
}
