//! The measurements of a gym, in Prometheus' text format.

use std::time::Duration;

use http::StatusCode;
use prometheus::{
    Encoder as _, Histogram, HistogramOpts, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts,
    Registry, TEXT_FORMAT, TextEncoder,
};

use super::memory;
use crate::protocol::{BUCKETS, PLACES, SESSIONS_OPEN};

/// The content type of the text format.
pub(super) const CONTENT_TYPE: &str = TEXT_FORMAT;
/// Error kinds; all are shown from the start, as Prometheus wants it.
const ERRORS: [&str; 5] = ["request", "forbidden", "session_ended", "episode", "unavailable"];
const VALID: &str = "the names of the measurements are valid and differ";

pub(super) struct Metrics {
    registry: Registry,
    steps: IntCounter,
    step_seconds: Histogram,
    resets: IntCounter,
    reset_seconds: Histogram,
    errors: IntCounterVec,
    places: IntGaugeVec,
    sessions: IntGauge,
    own_memory: IntGauge,
    memory: IntGauge,
}

/// The load of a gym at the time of a look.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) free: usize,
    pub(super) taken: usize,
    pub(super) sessions: usize,
}

impl Metrics {
    pub(super) fn new() -> Metrics {
        let registry = Registry::new();
        let counter = |name: &str, help: &str| IntCounter::new(name, help).expect(VALID);
        let gauge = |name: &str, help: &str| IntGauge::new(name, help).expect(VALID);
        let histogram = |name: &str, help: &str| {
            Histogram::with_opts(HistogramOpts::new(name, help).buckets(BUCKETS.to_vec()))
                .expect(VALID)
        };
        let metrics = Metrics {
            steps: counter(
                "sandbox_gym_steps_total",
                "Steps that were answered with an observation.",
            ),
            step_seconds: histogram(
                "sandbox_gym_step_duration_seconds",
                "Time from a step to its answer.",
            ),
            resets: counter(
                "sandbox_gym_resets_total",
                "Resets that were answered with an observation.",
            ),
            reset_seconds: histogram(
                "sandbox_gym_reset_duration_seconds",
                "Time from a reset to its answer, including the wait for a place.",
            ),
            errors: IntCounterVec::new(
                Opts::new("sandbox_gym_errors_total", "Requests that were answered with an error."),
                &["kind"],
            )
            .expect(VALID),
            places: IntGaugeVec::new(
                Opts::new(PLACES, "Places for parallel episodes."),
                &["state"],
            )
            .expect(VALID),
            sessions: gauge(SESSIONS_OPEN, "Sessions whose episode has not ended."),
            own_memory: gauge(
                "process_resident_memory_bytes",
                "Resident memory of the gym's own process.",
            ),
            memory: gauge(
                "sandbox_gym_resident_memory_bytes",
                "Resident memory of the gym's process, its browsers and its other programs; shared pages count for each.",
            ),
            registry,
        };
        let build =
            Opts::new("sandbox_gym_build_info", "The version of the program; the value is 1.")
                .const_label("version", env!("CARGO_PKG_VERSION"));
        let build = IntGauge::with_opts(build).expect(VALID);
        build.set(1);
        // A series has to begin at 0, or Prometheus sees no rise at the first error.
        for kind in ERRORS {
            metrics.errors.with_label_values(&[kind]).reset();
        }
        let all: [Box<dyn prometheus::core::Collector>; 10] = [
            Box::new(metrics.places.clone()),
            Box::new(metrics.sessions.clone()),
            Box::new(metrics.steps.clone()),
            Box::new(metrics.step_seconds.clone()),
            Box::new(metrics.resets.clone()),
            Box::new(metrics.reset_seconds.clone()),
            Box::new(metrics.errors.clone()),
            Box::new(metrics.own_memory.clone()),
            Box::new(metrics.memory.clone()),
            Box::new(build),
        ];
        for one in all {
            metrics.registry.register(one).expect(VALID);
        }
        metrics
    }

    /// Counts a step that took this long.
    pub(super) fn step(&self, took: Duration) {
        self.steps.inc();
        self.step_seconds.observe(took.as_secs_f64());
    }

    /// Counts a reset that took this long.
    pub(super) fn reset(&self, took: Duration) {
        self.resets.inc();
        self.reset_seconds.observe(took.as_secs_f64());
    }

    /// Counts an answer if it is an error.
    pub(super) fn answer(&self, status: StatusCode) {
        let kind = match status {
            StatusCode::FORBIDDEN => "forbidden",
            StatusCode::GONE => "session_ended",
            StatusCode::SERVICE_UNAVAILABLE => "unavailable",
            status if status.is_client_error() => "request",
            status if status.is_server_error() => "episode",
            _ => return,
        };
        self.errors.with_label_values(&[kind]).inc();
    }

    /// All measurements as text. Reads the memory of processes, so it may block.
    pub(super) fn text(&self, load: Load) -> Vec<u8> {
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        self.places.with_label_values(&["free"]).set(count(load.free));
        self.places.with_label_values(&["taken"]).set(count(load.taken));
        self.sessions.set(count(load.sessions));
        let (own, all) = memory::resident();
        self.own_memory.set(i64::try_from(own).unwrap_or(i64::MAX));
        self.memory.set(i64::try_from(all).unwrap_or(i64::MAX));
        let mut text = Vec::new();
        // Fails only for a family without a name or measurement, and there is none.
        let _ = TextEncoder::new().encode(&self.registry.gather(), &mut text);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_a_kind_that_is_shown_from_the_start() {
        let metrics = Metrics::new();
        let load = Load { free: 1, taken: 2, sessions: 2 };
        let before = String::from_utf8_lossy(&metrics.text(load)).into_owned();
        for kind in ERRORS {
            assert!(
                before.contains(&format!("sandbox_gym_errors_total{{kind=\"{kind}\"}} 0\n")),
                "{before}"
            );
        }
        for code in [200, 400, 403, 404, 410, 413, 500, 502, 503] {
            metrics.answer(StatusCode::from_u16(code).expect("a status"));
        }
        let after = String::from_utf8_lossy(&metrics.text(load)).into_owned();
        let lines = |text: &str| {
            text.lines().filter(|line| line.starts_with("sandbox_gym_errors_total")).count()
        };
        assert_eq!((lines(&before), lines(&after)), (ERRORS.len(), ERRORS.len()), "{after}");
        for (kind, count) in ERRORS.iter().zip([3, 1, 1, 2, 1]) {
            assert!(
                after.contains(&format!("errors_total{{kind=\"{kind}\"}} {count}\n")),
                "{kind}: {after}"
            );
        }
    }

    #[test]
    fn durations_are_counted_in_the_bucket_of_their_seconds() {
        let metrics = Metrics::new();
        metrics.step(Duration::from_millis(30));
        metrics.step(Duration::from_secs(600));
        metrics.reset(Duration::from_millis(700));
        let text = String::from_utf8_lossy(&metrics.text(Load { free: 0, taken: 0, sessions: 0 }))
            .into_owned();
        for line in [
            "sandbox_gym_steps_total 2",
            "sandbox_gym_step_duration_seconds_bucket{le=\"0.025\"} 0",
            "sandbox_gym_step_duration_seconds_bucket{le=\"0.05\"} 1",
            "sandbox_gym_step_duration_seconds_bucket{le=\"+Inf\"} 2",
            "sandbox_gym_step_duration_seconds_sum 600.03",
            "sandbox_gym_resets_total 1",
            "sandbox_gym_reset_duration_seconds_bucket{le=\"1\"} 1",
            "# TYPE sandbox_gym_places gauge",
            concat!("sandbox_gym_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
        ] {
            assert!(text.lines().any(|own| own == line), "{line}: {text}");
        }
    }
}
