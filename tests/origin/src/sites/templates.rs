//! Page templates, compiled in and parsed once.

use minijinja::Environment;
use minijinja::value::Serde;

use crate::Error;

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../templates/", $name)))),*]
    };
}

const SOURCES: [(&str, &str); 39] = sources![
    "rail/layout.html",
    "rail/home.html",
    "rail/stations.html",
    "rail/station.html",
    "rail/live.html",
    "rail/journeys.html",
    "rail/train.html",
    "rail/lines.html",
    "rail/line.html",
    "rail/fares.html",
    "rail/quote.html",
    "rail/help.html",
    "rail/topic.html",
    "rail/trips.html",
    "rail/missing.html",
    "cinema/layout.html",
    "cinema/home.html",
    "cinema/films.html",
    "cinema/film.html",
    "cinema/cinemas.html",
    "cinema/cinema.html",
    "cinema/visit.html",
    "cinema/search.html",
    "cinema/text.html",
    "homes/layout.html",
    "homes/form.html",
    "homes/home.html",
    "homes/results.html",
    "homes/listing.html",
    "homes/booked.html",
    "homes/agents.html",
    "homes/agent.html",
    "homes/guides.html",
    "homes/guide.html",
    "homes/missing.html",
    "support/widget.html",
    "support/authorize.html",
    "support/determinism.html",
    "support/frame.html",
];

#[derive(Debug)]
pub(super) struct Templates(Environment<'static>);

impl Templates {
    /// Parses all templates; `notice` is shown at the top of every page unless empty.
    pub(super) fn new(notice: &'static str) -> Result<Templates, Error> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
        environment.add_global("notice", notice);
        for (name, source) in SOURCES {
            environment.add_template(name, source)?;
        }
        Ok(Templates(environment))
    }

    pub(super) fn render(
        &self,
        name: &str,
        values: serde_json::Value,
    ) -> Result<String, minijinja::Error> {
        self.0.get_template(name)?.render(Serde(values))
    }
}
