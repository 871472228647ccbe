//! `volee generate FAMILY …`: systems of any size, by family and parameters.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use volee::graphs::{FAMILIES, Family, explore, family};
use volee::render::graphs::generated;

use crate::args::BudgetArgs;
use crate::context::Context;
use crate::explicit::{self, Stop};
use crate::outcome::{Ended, Failure, Outcome};
use crate::progress::ProgressLine;

#[derive(Debug, Args)]
#[command(after_help = families_help())]
pub struct Generate {
    /// The family
    #[arg(value_name = "FAMILY")]
    family: String,

    /// Where it goes; the extension chooses the format, - is stdout
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,

    #[command(flatten)]
    parameters: Parameters,

    #[command(flatten)]
    budget: BudgetArgs,
}

macro_rules! parameters {
    ($($field:ident $name:literal;)*) => {
        /// The parameters of all families; each family knows some of them.
        #[derive(Debug, Args)]
        struct Parameters {
            $(#[arg(long, value_name = "N", help_heading = "Parameters", hide_short_help = true)]
            $field: Option<u64>,)*
        }

        impl Parameters {
            /// Those that were given.
            fn given(&self) -> Vec<(&'static str, u64)> {
                [$(($name, self.$field),)*].into_iter().filter_map(|(n, v)| v.map(|v| (n, v))).collect()
            }
        }
    };
}

parameters! {
    messages "messages";
    capacity "capacity";
    window "window";
    chunks "chunks";
    retries "retries";
    participants "participants";
    seats "seats";
    stations "stations";
    length "length";
    states "states";
    transitions "transitions";
    degree "degree";
    labels "labels";
    internal "internal";
    seed "seed";
}

fn families_help() -> String {
    let mut text = String::from("Families and their parameters:\n");
    for family in FAMILIES {
        let _ = writeln!(text, "  {:<15} {}", family.name, family.about);
        for p in family.parameters {
            let _ = writeln!(text, "      --{:<12} {} [default: {}]", p.name, p.about, p.default);
        }
    }
    text.push_str("\nExample:\n  volee generate abp --messages 256 --capacity 3 -o abp.aut");
    text
}

impl Generate {
    pub fn run(self, context: &Context) -> Ended {
        self.generate(context).or_else(|stop| stop.end("generate", &self.family, context))
    }

    fn generate(&self, context: &Context) -> Result<Outcome, Stop> {
        let Some(family) = family(&self.family) else {
            let known: Vec<&str> = FAMILIES.iter().map(|f| f.name).collect();
            return Err(Failure::new(format!("`{}` is not a family of systems", self.family))
                .with_help(format!("known are {}", known.join(", ")))
                .into());
        };
        let values = self.values(family)?;
        volee::graphs::Format::of(&self.output)?;
        let meter = self.budget.meter(context);
        let mut system = family.make(&values)?;
        let lts = explore(system.as_mut(), &meter, &mut ProgressLine::new(meter.budget().memory))?;
        explicit::write(&lts, &self.output, context)?;

        let spelled = |name: &str, value: u64| format!("--{name} {value}");
        Ok(generated(family, &values, &spelled, &lts, &self.output, &meter))
    }

    /// One value per parameter of the family.
    fn values(&self, family: &Family) -> Result<Vec<u64>, Failure> {
        let mut values = family.defaults();
        for (name, value) in self.parameters.given() {
            let Some(at) = family.parameters.iter().position(|p| p.name == name) else {
                let known: Vec<String> = family.parameters.iter().map(|p| format!("--{}", p.name)).collect();
                return Err(Failure::new(format!("the family `{}` has no parameter --{name}", family.name))
                    .with_help(format!("it has {}", known.join(", "))));
            };
            values[at] = value;
        }
        Ok(values)
    }
}
