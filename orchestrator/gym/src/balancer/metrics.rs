//! The measurements of a balancer, in Prometheus' text format: sums, and those of each gym.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::header;
use prometheus::core::Collector;
use prometheus::{
    Encoder as _, Gauge, GaugeVec, Histogram, HistogramOpts, IntCounter, IntCounterVec, IntGauge,
    Opts, Registry, TEXT_FORMAT, TextEncoder,
};

use crate::balancer::Balancer;
use crate::balancer::server::State as ServerState;
use crate::protocol::BUCKETS;

const ERRORS: [&str; 5] = ["full", "no_server", "closing", "session_lost", "unanswered"];
const VALID: &str = "the names of the measurements are valid and differ";

/// The counters that are updated as events happen.
pub(crate) struct Counts {
    registry: Registry,
    steps: Histogram,
    sessions: IntCounter,
    lost: IntCounter,
    errors: IntCounterVec,
    waiting: IntGauge,
}

/// A client that waits for a session.
pub(crate) struct Wait(IntGauge);

impl Drop for Wait {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Counts {
    pub(crate) fn new() -> Counts {
        let counter = |name: &str, help: &str| IntCounter::new(name, help).expect(VALID);
        let steps = HistogramOpts::new(
            "sandbox_front_step_duration_seconds",
            "Time from a step to the start of its answer.",
        );
        let errors = Opts::new(
            "sandbox_front_errors_total",
            "Requests that the balancer answered with an error of its own.",
        );
        let build =
            Opts::new("sandbox_front_build_info", "The version of the program; the value is 1.")
                .const_label("version", env!("CARGO_PKG_VERSION"));
        let build = IntGauge::with_opts(build).expect(VALID);
        build.set(1);
        let counts = Counts {
            registry: Registry::new(),
            steps: Histogram::with_opts(steps.buckets(BUCKETS.to_vec())).expect(VALID),
            sessions: counter("sandbox_front_sessions_total", "Sessions that were begun."),
            lost: counter(
                "sandbox_front_sessions_lost_total",
                "Sessions that ended because their gym did not answer.",
            ),
            errors: IntCounterVec::new(errors, &["kind"]).expect(VALID),
            waiting: IntGauge::new(
                "sandbox_front_resets_waiting",
                "Resets that have no answer yet.",
            )
            .expect(VALID),
        };
        // A series has to begin at 0, or Prometheus sees no rise at the first error.
        for kind in ERRORS {
            counts.errors.with_label_values(&[kind]).reset();
        }
        add(&counts.registry, counts.steps.clone());
        add(&counts.registry, counts.sessions.clone());
        add(&counts.registry, counts.lost.clone());
        add(&counts.registry, counts.errors.clone());
        add(&counts.registry, counts.waiting.clone());
        add(&counts.registry, build);
        counts
    }

    pub(crate) fn step(&self, took: Duration) {
        self.steps.observe(took.as_secs_f64());
    }

    pub(crate) fn session(&self) {
        self.sessions.inc();
    }

    pub(crate) fn lose(&self) {
        self.lost.inc();
    }

    pub(crate) fn error(&self, kind: &str) {
        self.errors.with_label_values(&[kind]).inc();
    }

    pub(crate) fn wait(&self) -> Wait {
        self.waiting.inc();
        Wait(self.waiting.clone())
    }

    pub(crate) fn sessions(&self) -> u64 {
        self.sessions.get()
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost.get()
    }
}

fn add(registry: &Registry, one: impl Collector + 'static) {
    registry.register(Box::new(one)).expect(VALID);
}

pub(crate) async fn answer(State(balancer): State<Arc<Balancer>>) -> Response {
    let mut text = Vec::new();
    let families = [balancer.counts.registry.gather(), of_gyms(&balancer).gather()].concat();
    // Fails only for a family without a name or measurement, and there is none.
    let _ = TextEncoder::new().encode(&families, &mut text);
    ([(header::CONTENT_TYPE, TEXT_FORMAT)], text).into_response()
}

/// Returns the measurements of the last probes: by gym, and the sums over those that answer.
fn of_gyms(balancer: &Balancer) -> Registry {
    let registry = Registry::new();
    let by = |name: &str, help: &str, labels: &[&str]| {
        let family = GaugeVec::new(Opts::new(name, help), labels).expect(VALID);
        add(&registry, family.clone());
        family
    };
    let up = by("sandbox_front_server_up", "Whether a gym answers.", &["server"]);
    let places = by("sandbox_front_server_places", "Places of a gym.", &["server", "state"]);
    let open = by("sandbox_front_server_sessions_open", "Open sessions of a gym.", &["server"]);
    let all_places = by("sandbox_front_places", "Places of all gyms that answer.", &["state"]);
    let all_servers = by("sandbox_front_servers", "Gyms, by whether they answer.", &["state"]);
    let all_open =
        Gauge::new("sandbox_front_sessions_open", "Open sessions of all gyms.").expect(VALID);
    add(&registry, all_open.clone());
    let states = ["free", "taken"];
    for state in states {
        all_places.with_label_values(&[state]).set(0.0);
    }
    for state in ["up", "down"] {
        all_servers.with_label_values(&[state]).set(0.0);
    }
    for server in balancer.pool.all() {
        let (url, state) = (server.url.as_str(), server.state());
        let is_up = state.is_up();
        up.with_label_values(&[url]).set(f64::from(u8::from(is_up)));
        all_servers.with_label_values(&[if is_up { "up" } else { "down" }]).inc();
        // The figures of its last answer would look like those of now.
        if !is_up {
            continue;
        }
        let ServerState { report, in_use, .. } = state;
        let free = (report.places - in_use).max(0);
        for (state, count) in states.into_iter().zip([free as f64, in_use as f64]) {
            places.with_label_values(&[url, state]).set(count);
            all_places.with_label_values(&[state]).add(count);
        }
        open.with_label_values(&[url]).set(report.sessions as f64);
        all_open.add(report.sessions as f64);
    }
    registry
}
