//! What can be done with a model, as people read it and as machines do.

use std::fmt::Write as _;

use serde_json::{Value, json};
use volee_report::{Answer, ErrorEntry, Palette};

use super::Outcome;
use crate::advise::{Advice, Need, Use};

/// Obstacles of one engine that are shown to people; machines get all.
const SHOWN: usize = 3;

/// The commands by which a model is used in a way, in the words of whoever shows them.
pub type Commands<'a> = &'a dyn Fn(&Use) -> Vec<String>;

/// Everything, way by way.
pub fn advised(advice: &Advice, commands: Commands<'_>, palette: Palette) -> Outcome {
    let mut answer = Answer::new("advise").about(&advice.model, "all");
    answer.add("language", advice.language);
    answer.add("uses", value(advice, commands));
    let mut text =
        format!("{} ({}): what can be done with it\n", palette.strong(&advice.model), advice.language);
    for one in &advice.uses {
        let _ = writeln!(text, "\n{}", heading(one, palette));
        tell(one, commands, palette, &mut text);
    }
    Outcome::new(answer, text)
}

/// Which other engines there are, in a few lines: beside the answers of one.
pub fn others(advice: &Advice, commands: Commands<'_>, palette: Palette) -> String {
    let mut text = format!("{}\n", palette.strong("other engines:"));
    for one in advice.uses.iter().filter(|u| matches!(u.way, "families" | "channels" | "counters")) {
        let line = match one.obstacles.first() {
            None => commands(one).join(", or "),
            Some(first) => {
                let help = first.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
                format!("not for this model: {first}{help}")
            }
        };
        let _ = writeln!(text, "  {:<9} {}", one.way, line);
    }
    text
}

/// The same for machines.
pub fn value(advice: &Advice, commands: Commands<'_>) -> Value {
    advice.uses.iter().map(|one| of_use(one, commands(one))).collect()
}

fn heading(one: &Use, palette: Palette) -> String {
    let word = match one.fits() {
        true => palette.good(format!("{:<5}", "fits")),
        false => palette.bad(format!("{:<5}", "not")),
    };
    format!("{word} {}: {}", palette.strong(one.way), one.purpose)
}

fn tell(one: &Use, commands: Commands<'_>, palette: Palette, text: &mut String) {
    for wrong in one.obstacles.iter().take(SHOWN) {
        let _ = writeln!(text, "      {wrong}");
        if let Some(help) = &wrong.help {
            let _ = writeln!(text, "      {} {help}", palette.faint("to change that:"));
        }
    }
    if one.obstacles.len() > SHOWN {
        let _ = writeln!(text, "      … and {} more", one.obstacles.len() - SHOWN);
    }
    if !one.fits() {
        return;
    }
    if !one.answers.is_empty() {
        let kinds: Vec<&str> = one.answers.iter().map(|kind| kind.word()).collect();
        let _ = writeln!(text, "      answers: {}", kinds.join(", "));
    }
    for (claim, decided) in &one.claims {
        if let Err(why) = decided {
            let _ = writeln!(text, "      not `{claim}`: {why}");
        }
    }
    one.remarks.iter().for_each(|remark| {
        let _ = writeln!(text, "      {remark}");
    });
    for command in commands(one) {
        let _ = writeln!(text, "      {}", palette.name(&command));
    }
}

fn of_use(one: &Use, commands: Vec<String>) -> Value {
    let claims = one.claims.iter().map(|(claim, decided)| {
        json!({ "question": claim.to_string(), "decided": decided.is_ok(), "reason": decided.clone().err() })
    });
    let obstacles: Vec<ErrorEntry> = one.obstacles.iter().map(ErrorEntry::from).collect();
    let for_any: Vec<&String> = one
        .needs
        .iter()
        .filter_map(|need| match need {
            Need::ForAny(name, _) => Some(name),
            Need::Channels(_) => None,
        })
        .collect();
    let channels: Vec<&String> = one
        .needs
        .iter()
        .flat_map(|need| match need {
            Need::Channels(names) => names.as_slice(),
            Need::ForAny(..) => &[],
        })
        .collect();
    json!({
        "way": one.way,
        "purpose": one.purpose,
        "fits": one.fits(),
        "answers": one.answers.iter().map(|kind| kind.word()).collect::<Vec<_>>(),
        "claims": claims.collect::<Vec<_>>(),
        "any_number_of": for_any,
        "channels": channels,
        "obstacles": obstacles,
        "remarks": one.remarks,
        "commands": commands,
    })
}
