//! Collects the files from which a run is played, for `inputs.json`.

use agents::AgentSpec;
use camino::Utf8PathBuf;
use results::{FORMAT, JudgeSettings, PlaySettings, RunInputs, TimeLimits, millis};
use tasks::Suite;

use crate::{Limits, Options};

/// Returns the inputs of a run that begins now.
pub(crate) fn of(suite: &Suite, agent: &AgentSpec, options: &Options) -> RunInputs {
    let here =
        std::env::current_dir().ok().and_then(|folder| Utf8PathBuf::from_path_buf(folder).ok());
    let judge = &options.judge;
    let models = agent.models().into_iter().chain([judge]);
    let cassette = models.filter_map(|model| model.cassette.as_ref()).next();
    RunInputs {
        format: FORMAT,
        folder: here.unwrap_or_default(),
        suite: suite.path(),
        cassette: cassette.map(|cassette| cassette.path().to_owned()),
        settings: PlaySettings {
            max_steps: options.max_steps,
            limits: time_limits(&options.limits),
            judge: judge
                .name
                .clone()
                .map(|name| JudgeSettings { name, sampling: judge.sampling.clone() }),
        },
    }
}

/// Returns the time limits, if they are not the default.
fn time_limits(limits: &Limits) -> Option<TimeLimits> {
    let in_millis = |limits: &Limits| TimeLimits {
        episode_ms: millis(limits.episode),
        answer_ms: millis(limits.answer),
        step_ms: millis(limits.step),
    };
    let of = in_millis(limits);
    (of != in_millis(&Limits::default())).then_some(of)
}
