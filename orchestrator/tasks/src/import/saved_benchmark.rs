//! Benchmarks whose saved attempts are scored by their tasks alone, without a world.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::warcbench::{self, Recording};
use super::webarena::{published, webarena};
use super::{
    Import, ImportError, assistantbench, fanoutqa, mind2web_live, visualwebarena, webchorearena,
};

/// Whose tasks they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SavedBenchmark {
    /// AssistantBench.
    AssistantBench,
    /// FanOutQA.
    FanOutQa,
    /// Mind2Web-Live.
    Mind2WebLive,
    /// VisualWebArena.
    VisualWebArena,
    /// WARC-Bench.
    WarcBench,
    /// WebArena.
    WebArena,
    /// WebChoreArena.
    WebChoreArena,
}

impl SavedBenchmark {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            SavedBenchmark::AssistantBench => "assistantbench",
            SavedBenchmark::FanOutQa => "fanoutqa",
            SavedBenchmark::Mind2WebLive => "mind2web-live",
            SavedBenchmark::VisualWebArena => "visualwebarena",
            SavedBenchmark::WarcBench => "warcbench",
            SavedBenchmark::WebArena => "webarena",
            SavedBenchmark::WebChoreArena => "webchorearena",
        }
    }

    /// Reads its tasks from the text of this file.
    ///
    /// # Errors
    /// When the text is not what the benchmark publishes.
    pub fn read(self, text: &str, file: &Utf8Path) -> Result<Import, ImportError> {
        match self {
            SavedBenchmark::AssistantBench => assistantbench(text),
            SavedBenchmark::FanOutQa => fanoutqa(text),
            SavedBenchmark::Mind2WebLive => mind2web_live(text),
            SavedBenchmark::VisualWebArena => {
                visualwebarena::visualwebarena(text, &visualwebarena::published())
            }
            SavedBenchmark::WarcBench => {
                // Nobody looks at pages, so it makes no difference whether recordings are there.
                let nowhere =
                    Recording { path: Utf8PathBuf::new(), began: jiff::Timestamp::UNIX_EPOCH };
                let kinds = BTreeMap::new();
                warcbench::warcbench(text, warcbench::split(file), &kinds, &mut |_| {
                    Ok(nowhere.clone())
                })
            }
            SavedBenchmark::WebArena => webarena(text, &published()),
            SavedBenchmark::WebChoreArena => webchorearena(text, &published()),
        }
    }
}
