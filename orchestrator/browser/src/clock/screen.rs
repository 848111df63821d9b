//! The screen, and when a frame is drawn on it.
//!
//! Some events come with a frame: scroll events, intersections, requests for pictures that have
//! come into view. Chromium itself draws in real time. So a frame sometimes falls between two
//! scripts of one instant, and in the next run it does not. Its headless shell draws on command and
//! at no other time. Then every frame is part of [`Session::drain`](crate::Session), at the page's
//! own time.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::sync::oneshot::Receiver;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::cdp::connection::{CALL_TIMEOUT, Reply, SessionId};
use crate::cdp::tracker::{BrowserState, Page};
use crate::clock::liveness::LivenessWait;
use crate::clock::state::ClockState;
use crate::clock::virtual_time;
use crate::{Error, Session};

const SHOWN: &str = include_str!("shown.js");
const BEGIN_FRAME: &str = "HeadlessExperimental.beginFrame";
/// How long a frame may take to reach the screen. A page without frames is not waited for.
const FRAME_TIMEOUT: Duration = Duration::from_millis(500);
/// The difference between the times of two frames while the page's time stands still, in
/// milliseconds. They must differ, and the browser counts microseconds.
const FRAME_STEP_MS: f64 = 0.001;
/// Chromium rounds the time of a frame, counted from the beginning of the document's timeline, up
/// or down to this, by chance. In milliseconds.
const FRAME_RESOLUTION_MS: f64 = 0.1;
/// How much earlier than the page's time its frames begin. What Chromium reckons from a frame, in
/// steps of a sixtieth of a second, then does not depend on where the grid lies. In milliseconds.
const LEAD_MS: f64 = 0.5;
/// Keeps a time at its microsecond, whether that is cut off or rounded. In milliseconds.
const MICROSECOND_MARGIN_MS: f64 = 0.0003;
/// How often a frame is drawn for a command that needs one.
const REDRAW_INTERVAL: Duration = Duration::from_millis(20);

/// The times of frames, for a browser that draws on command.
///
/// A document's frames lie on the grid of [`FRAME_RESOLUTION_MS`] that begins with its timeline, so
/// that nothing is left for Chromium to round. None comes before the timeline, which may begin
/// within a step of the page's time. The first frames of two documents at one instant come after
/// each other, and all further frames of a document as long after the page's time as its first one.
#[derive(Debug, Default)]
pub(crate) struct FrameClock {
    /// The browser's ticks at 1970 of the page's clock, both in milliseconds.
    origin: f64,
    /// The time of the last frame, in ticks.
    last: f64,
    /// The start of the active document's timeline, in ticks. That is a real time if the browser
    /// itself has navigated to it.
    timeline: f64,
    /// How long after the page's time the document's frames come, in milliseconds.
    offset: f64,
    /// The session and the number of the document.
    document: Option<(SessionId, u64)>,
}

impl FrameClock {
    /// The ticks were at `ticks` when the clock showed `clock`.
    pub(crate) fn starting_at(ticks: f64, clock: f64) -> Self {
        Self { origin: ticks - clock, ..Self::default() }
    }

    /// Begins with a document's frames when the page's clock shows `clock`.
    fn begin(&mut self, document: (SessionId, u64), timeline: f64, clock: f64) {
        let earliest = (self.origin + clock - LEAD_MS).max(self.last + FRAME_STEP_MS).max(timeline);
        let steps = ((earliest - timeline) / FRAME_RESOLUTION_MS).ceil();
        self.offset = timeline + steps * FRAME_RESOLUTION_MS - self.origin - clock;
        self.timeline = timeline;
        self.document = Some(document);
    }

    fn next(&mut self, clock: f64) -> f64 {
        let steps =
            ((self.origin + clock + self.offset - self.timeline) / FRAME_RESOLUTION_MS).round();
        let time = self.timeline + steps * FRAME_RESOLUTION_MS + MICROSECOND_MARGIN_MS;
        self.last = time.max(self.last + FRAME_STEP_MS);
        self.last
    }
}

impl Session {
    /// Brings the page's present state to the screen, and reads the page's clock.
    pub(crate) async fn present_frame(&self, wait: LivenessWait<'_>) -> Result<(), Error> {
        if self.begin_frame_control() {
            let shown = match self.read_clock(wait).await? {
                HasBody::Yes => {
                    self.read_timeline(wait).await?;
                    self.draw_frame(wait).await?
                }
                // The browser would wait for the first contents of the document, and there are none
                // yet.
                HasBody::No => true,
            };
            if !shown {
                tracing::debug!("the page draws no frame");
            }
            return Ok(());
        }
        let Some(shown) = self.next_frame(wait.page).await? else { return Ok(()) };
        if !wait.answer(FRAME_TIMEOUT, shown).await? {
            tracing::debug!("the page draws no frame");
        }
        // The frame is on the screen only after the callback. This reply comes when it is.
        self.read_clock(wait).await?;
        Ok(())
    }

    /// The visible part of the active page as a PNG file.
    pub async fn screenshot(&mut self) -> Result<Vec<u8>, Error> {
        let page = self.tracker.lock().active()?;
        self.screenshot_of(&page).await
    }

    /// The visible part of a page as a PNG file.
    pub(crate) async fn screenshot_of(&self, page: &Page) -> Result<Vec<u8>, Error> {
        let format = png_format();
        if !self.begin_frame_control() {
            return self.capture(page, format).await;
        }
        match self.shown(page).await {
            Shown::Nothing => return self.blank(),
            Shown::Popup => return self.capture(page, format).await,
            Shown::Page => {}
        }
        let shot = self.frame_after_last(page, json!({ "screenshot": &format })).await?;
        match png(&shot, BEGIN_FRAME, "screenshotData") {
            // A page that is too busy to draw, as with WebGL, has no picture in its frame.
            Err(Error::Shape { .. }) => self.capture(page, format).await,
            picture => picture,
        }
    }

    /// Draws the frame of a screenshot without the picture. Only a page that is too busy to draw,
    /// as with WebGL, gets fewer frames than for the picture. Where frames are Chromium's own, or
    /// a popup is open, the picture is taken and dropped.
    pub(crate) async fn draw_without_picture(&self, page: &Page) -> Result<(), Error> {
        if !self.begin_frame_control() {
            return self.capture(page, png_format()).await.map(drop);
        }
        match self.shown(page).await {
            Shown::Nothing => Ok(()),
            Shown::Popup => self.capture(page, png_format()).await.map(drop),
            Shown::Page => self.frame_after_last(page, json!({})).await.map(drop),
        }
    }

    /// Draws a frame once the last one is on the screen. Otherwise a picture that is asked for
    /// could be that of another frame.
    async fn frame_after_last(&self, page: &Page, mut params: Value) -> Result<Value, Error> {
        let is_drawn = |state: &BrowserState| {
            (!state.part::<ClockState>().drawing.contains(&page.session)).then_some(())
        };
        let condition = |_: &BrowserState| "the last frame to reach the screen".to_owned();
        self.tracker.wait_for(CALL_TIMEOUT, condition, is_drawn).await?;
        params["frameTimeTicks"] = json!(self.frame_time());
        self.cdp().call(Some(&page.session), BEGIN_FRAME, params).await
    }

    /// Returns the part of a page that the browser shows.
    pub(crate) async fn shown(&self, page: &Page) -> Shown {
        let shown = self.evaluate_isolated(page, &page.target, SHOWN, CALL_TIMEOUT).await;
        match shown.as_ref().ok().and_then(Value::as_str) {
            Some("nothing") => Shown::Nothing,
            Some("page") => Shown::Page,
            _ => Shown::Popup,
        }
    }

    /// Returns the picture of a document without contents, as a PNG file. The browser would wait
    /// for its first contents.
    pub(crate) fn blank(&self) -> Result<Vec<u8>, Error> {
        let (width, height) = self.launch.device.viewport;
        let (width, height) = (width as usize, height as usize);
        lodepng::encode24(&vec![lodepng::RGB::new(255u8, 255, 255); width * height], width, height)
            .map_err(|_| Error::Shape { method: BEGIN_FRAME, field: "a PNG file" })
    }

    /// A PNG file of a page, and of the browser's popups on top of it, such as the list of a
    /// `<select>` or the calendar of a date. Such a popup is copied in the frame after that of the
    /// page. So the frame itself cannot deliver the picture: it would wait for the next one for
    /// ever.
    pub(crate) async fn capture(&self, page: &Page, params: Value) -> Result<Vec<u8>, Error> {
        const METHOD: &str = "Page.captureScreenshot";
        // Chromium itself draws only the tab in front, and a page may have opened this one behind.
        if !self.begin_frame_control() && self.tracker.lock().pages.len() > 1 {
            self.cdp().call(Some(&page.session), "Page.bringToFront", json!({})).await?;
        }
        let shot = self.cdp().call(Some(&page.session), METHOD, params);
        let shot = if self.begin_frame_control() {
            self.while_copying(page, shot).await
        } else {
            shot.await
        }?;
        png(&shot, METHOD, "data")
    }

    /// Waits for a picture. Chromium redraws the page for it, learns from the page that this is
    /// done, and copies the screen with the next frame.
    async fn while_copying<T>(&self, page: &Page, picture: impl Future<Output = T>) -> T {
        tokio::pin!(picture);
        let two_frames = async {
            for _ in 0..2 {
                self.begin_frame(page);
                let condition = |_: &BrowserState| "a frame to reach the screen".to_owned();
                let is_drawn = |state: &BrowserState| {
                    (!state.part::<ClockState>().drawing.contains(&page.session)).then_some(())
                };
                let _ = self.tracker.wait_for(FRAME_TIMEOUT, condition, is_drawn).await;
                let question = json!({ "expression": "0" });
                let _ = self.cdp().call(Some(&page.session), "Runtime.evaluate", question).await;
            }
        };
        tokio::select! {
            biased;
            answer = &mut picture => return answer,
            () = two_frames => {}
        }
        match timeout(REDRAW_INTERVAL, &mut picture).await {
            Ok(answer) => answer,
            Err(_) => self.while_drawing(page, picture).await,
        }
    }

    /// Waits for a reply that needs frames to be drawn.
    pub(crate) async fn while_drawing<T>(&self, page: &Page, input: impl Future<Output = T>) -> T {
        tokio::pin!(input);
        let mut frames = interval(REDRAW_INTERVAL);
        frames.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                answer = &mut input => return answer,
                _ = frames.tick() => self.begin_frame(page),
            }
        }
    }

    /// Draws a frame. Returns false if it has not reached the screen in time.
    async fn draw_frame(&self, wait: LivenessWait<'_>) -> Result<bool, Error> {
        let session = &wait.page.session;
        let condition = |_: &BrowserState| "a frame to reach the screen".to_owned();
        let is_drawn = |state: &BrowserState| !state.part::<ClockState>().drawing.contains(session);
        // The last frame must be on the screen first.
        if !wait.until(FRAME_TIMEOUT, condition, is_drawn).await? {
            return Ok(false);
        }
        self.begin_frame(wait.page);
        wait.until(FRAME_TIMEOUT, condition, is_drawn).await
    }

    /// Has the browser draw a frame, unless it is drawing one.
    fn begin_frame(&self, page: &Page) {
        if !self.tracker.lock().part_mut::<ClockState>().drawing.insert(page.session.clone()) {
            return;
        }
        let params = json!({ "frameTimeTicks": self.frame_time() });
        let is_drawn = self.cdp().send(Some(&page.session), BEGIN_FRAME, params);
        let (tracker, session) = (Arc::clone(&self.tracker), page.session.clone());
        tokio::spawn(async move {
            // The result does not matter: the browser is ready for the next one.
            let _ = is_drawn.await;
            tracker.lock().part_mut::<ClockState>().drawing.remove(&session);
            tracker.notify();
        });
    }

    fn frame_time(&self) -> f64 {
        let clock = self.shown_clock();
        self.tracker.lock().part_mut::<ClockState>().frame_clock.next(clock)
    }

    /// The time that scripts see, in milliseconds since 1970.
    fn shown_clock(&self) -> f64 {
        let clock = self.tracker.lock().page_clock;
        self.determinism.map_or(clock, |determinism| virtual_time::script_time(determinism, clock))
    }

    /// Requests the callback of the next frame that the browser draws by itself.
    async fn next_frame(&self, page: &Page) -> Result<Option<Receiver<Reply>>, Error> {
        // A document without a body shows nothing yet. Reading the timeline moves it: by itself it
        // follows the frames of the screen, whose times are real and far behind.
        const SHOW: &str = "document.timeline.currentTime, document.body && new Promise(shown => requestAnimationFrame(() => shown()))";
        let isolated_world = match self.isolated_world(page, &page.target).await {
            Ok(isolated_world) => isolated_world,
            // The document has just been replaced.
            Err(Error::Refused { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let params =
            json!({ "expression": SHOW, "contextId": isolated_world, "awaitPromise": true });
        Ok(Some(self.cdp().send(Some(&page.session), "Runtime.evaluate", params)))
    }

    /// Finds out where the timeline of a new document begins.
    async fn read_timeline(&self, wait: LivenessWait<'_>) -> Result<(), Error> {
        const METHOD: &str = "Performance.getMetrics";
        let session = &wait.page.session;
        let document = (SessionId::clone(session), self.tracker.lock().document_count);
        if self.tracker.lock().part::<ClockState>().frame_clock.document.as_ref() == Some(&document)
        {
            return Ok(());
        }
        // A reply to `getMetrics` overtakes other commands, so the first one is awaited.
        let metrics = async {
            let limit = wait.limit.remaining();
            self.cdp().call_within(Some(session), "Performance.enable", json!({}), limit).await?;
            self.cdp().call_within(Some(session), METHOD, json!({}), limit).await
        };
        let metrics = match metrics.await {
            Ok(metrics) => metrics,
            // The page has just gone away.
            Err(Error::Refused { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        drop(self.cdp().send(Some(session), "Performance.disable", json!({})));
        let all = metrics.get("metrics").and_then(Value::as_array).into_iter().flatten();
        let start = all
            .filter(|metric| metric.get("name").is_some_and(|name| name == "NavigationStart"))
            .find_map(|metric| metric.get("value").and_then(Value::as_f64))
            .ok_or(Error::Shape { method: METHOD, field: "NavigationStart" })?;
        let clock = self.shown_clock();
        self.tracker.lock().part_mut::<ClockState>().frame_clock.begin(
            document,
            start * 1000.0,
            clock,
        );
        Ok(())
    }

    pub(super) async fn read_clock(&self, wait: LivenessWait<'_>) -> Result<HasBody, Error> {
        const READ_CLOCK: &str = "[Date.now(), !!document.body]";
        let page = wait.page;
        let without_document = self.has_no_document(page).await?;
        let read =
            || self.evaluate_isolated(page, &page.target, READ_CLOCK, wait.limit.remaining());
        let mut reply = read().await;
        let now = |reply: &Value| reply.get(0).and_then(Value::as_f64);
        let shown = reply.as_ref().ok().and_then(now);
        if shown.is_some_and(|now| self.tracker.lock().is_far(now)) {
            // It has just come into a process of its own, whose clock is not stopped yet.
            let clock = self.tracker.lock().page_clock;
            virtual_time::stop(self.cdp(), &page.session, clock);
            reply = read().await;
        }
        match reply {
            Ok(reply) => {
                if let Some(now) = now(&reply) {
                    self.tracker.lock().set_clock(now)?;
                }
                let body = !without_document && reply.get(1) == Some(&Value::Bool(true));
                Ok(if body { HasBody::Yes } else { HasBody::No })
            }
            Err(Error::Refused { .. }) => Ok(HasBody::No),
            Err(error) => Err(error),
        }
    }
}

/// The format in which screenshots are requested.
fn png_format() -> Value {
    json!({ "format": "png", "optimizeForSpeed": true })
}

/// The picture in a reply.
fn png(answer: &Value, method: &'static str, field: &'static str) -> Result<Vec<u8>, Error> {
    let shape = Error::Shape { method, field };
    let Some(data) = answer.get(field).and_then(Value::as_str) else { return Err(shape) };
    STANDARD.decode(data).map_err(|_| shape)
}

/// The part of a page that the browser shows, as far as scripts can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The document has no contents yet.
    Nothing,
    Page,
    /// There may be a popup on top of it, such as the list of a `<select>`.
    Popup,
}

/// Whether a document has something to show.
pub(super) enum HasBody {
    Yes,
    No,
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: f64 = 1_772_355_600_000.0;

    /// The time of the next frame in microseconds, as the browser cuts it off.
    #[expect(clippy::cast_possible_truncation, reason = "the times of a test are short")]
    fn next(clock: &mut FrameClock, shown: f64) -> i64 {
        (clock.next(shown) * 1000.0) as i64
    }

    #[test]
    fn the_frames_of_a_document_lie_on_its_grid_and_in_their_order() {
        let mut clock = FrameClock::starting_at(5_000_000.123, START);
        clock.begin(("session".into(), 1), 4_999_871.037, START);
        let first = next(&mut clock, START);
        assert_eq!((first - 4_999_871_037) % 100, 0);
        assert!((400..=500).contains(&(5_000_000_123 - first)), "{first}");
        let again = next(&mut clock, START);
        assert!((1..10).contains(&(again - first)), "{again}");
        // Another document at the same instant.
        clock.begin(("session".into(), 2), 4_999_990.611, START);
        let second = next(&mut clock, START);
        assert_eq!((second - 4_999_990_611) % 100, 0);
        assert!((1..=200).contains(&(second - again)), "{second}");
        // All frames of it come as long after the page's time as the first one.
        assert_eq!(next(&mut clock, START + 3700.0) - second, 3_700_000);
        assert_eq!(next(&mut clock, START + 9900.0) - second, 9_900_000);
        // One that begins within a step.
        clock.begin(("session".into(), 3), 5_010_020.123, START + 10_000.0);
        assert_eq!(next(&mut clock, START + 10_000.0), 5_010_020_123);
        assert_eq!(next(&mut clock, START + 10_100.0), 5_010_120_123);
    }
}
