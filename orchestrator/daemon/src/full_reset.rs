//! The full-reset protocol of WebArena (`WA_FULL_RESET`), with which BrowserGym resets all sites.
//! `GET /reset` starts a reset (200), or reports that one is running (418). `GET /status` responds
//! `Ready for duty!` when none is running.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use futures_util::future;
use http::StatusCode;

use crate::site_router::SiteRouter;

#[derive(Clone)]
struct ResetState {
    router: Arc<SiteRouter>,
    under_way: Arc<AtomicBool>,
}

pub(crate) fn router(router: Arc<SiteRouter>) -> Router {
    Router::new()
        .route("/reset", get(reset))
        .route("/status", get(status))
        .with_state(ResetState { router, under_way: Arc::default() })
}

async fn reset(
    State(ResetState { router, under_way }): State<ResetState>,
) -> (StatusCode, &'static str) {
    if under_way.swap(true, Ordering::SeqCst) {
        return (StatusCode::IM_A_TEAPOT, "A reset is under way.");
    }
    tokio::spawn(async move {
        let names: Vec<String> =
            router.group.sites().iter().map(|site| site.name.clone()).collect();
        let all = names.iter().map(|name| {
            let router = &router;
            async move {
                if let Err(error) = router.reset(name).await {
                    tracing::warn!(site = name, %error, "a site was not reset");
                }
            }
        });
        future::join_all(all).await;
        under_way.store(false, Ordering::SeqCst);
    });
    (StatusCode::OK, "A reset has begun.")
}

async fn status(State(ResetState { under_way, .. }): State<ResetState>) -> &'static str {
    if under_way.load(Ordering::SeqCst) { "Resetting." } else { "Ready for duty!" }
}
