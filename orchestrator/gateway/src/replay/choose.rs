//! Chooses the capture that a request gets, and notes what the episode was given and has done.

use std::sync::Arc;

use http::{HeaderMap, Method, header};
use hyper::body::Bytes;
use snapshots::Timestamp;
use snapshots::index::{Effect, IndexError, IndexHit, is_static_type};
use url::Url;

use super::asker::{self, Asker, SAME_REDIRECT};
use super::find::MatchedCaptures;
use super::negotiation::{self, Choice, Negotiation};
use super::settings::CaptureState;
use super::states::{Differs, Site, Standing};
use super::stored::{StoredError, StoredResponse};
use super::{Replay, StatePolicy, partial};
use crate::{Answer, Episode, GivenCapture, RequestHead, SiteState};

/// The capture that a request gets.
pub(super) struct Chosen {
    pub(super) hit: IndexHit,
    /// The ledger label if it was recorded for other headers.
    pub(super) rule: Option<&'static str>,
    /// How its state differs from that of the episode.
    pub(super) differs: Option<Differs>,
}

/// Of how many captures it is examined who asked for them. What is polled more often was polled by
/// pages.
const MOST_ASKED: usize = 256;

/// What a response is to the state of a site.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentKind {
    /// A page, from which more is asked for.
    Document,
    /// A script or a style, from which more is asked for, a picture, a font, a film: the same in
    /// every state.
    Static,
    /// Anything else.
    Data,
}

impl ContentKind {
    /// By the response's media type. Many servers have none for fonts, so what a browser asks for
    /// as one is one.
    pub(crate) fn of(head: &RequestHead, headers: &HeaderMap) -> ContentKind {
        let name = headers
            .get(header::CONTENT_TYPE)
            .and_then(|name| name.to_str().ok())
            .unwrap_or_default();
        let is_font = head.header("sec-fetch-dest") == Some("font");
        match () {
            () if is_font => ContentKind::Static,
            () if name.to_ascii_lowercase().contains("html") => ContentKind::Document,
            () if is_static_type(name) => ContentKind::Static,
            () => ContentKind::Data,
        }
    }
}

/// An answer with what is to be said of its state.
pub(super) fn labelled(answer: Answer, differs: Option<Differs>) -> Answer {
    match differs {
        Some(Differs { missing, extra }) => {
            Answer::OtherState { missing, extra, of: Box::new(answer) }
        }
        None => answer,
    }
}

impl Replay {
    /// The capture that a request gets: by its headers, then by the state of the site, then by the
    /// document that asks.
    pub(super) fn choose(
        &self,
        found: &MatchedCaptures,
        head: &RequestHead,
        episode: &Episode,
        advances: bool,
    ) -> Result<Chosen, StoredError> {
        let hits = &found.whole;
        let negotiated = self.negotiated(hits, &head.headers)?;
        let rule = negotiated.as_ref().and_then(|choice| choice.rule);
        let members = negotiated.map_or_else(|| (0..hits.len()).collect(), |choice| choice.members);
        let (members, differs) = match self.options.states {
            StatePolicy::Order => (self.asked_by_pages(hits, members)?, None),
            _ => {
                let Site { name, history } = self.states.site(&self.set, &head.host)?;
                let standing = match history.is_empty() {
                    true => None,
                    false => episode.standing(&name),
                };
                match standing {
                    Some(standing) => {
                        let own = members.iter().map(|member| hits[*member]).collect();
                        let chosen =
                            self.states.choose(&self.set, &history, &standing, (members, own))?;
                        (chosen.members, chosen.differs)
                    }
                    None => (members, None),
                }
            }
        };
        let asker = match self.options.states {
            StatePolicy::Order => Asker::Unknown,
            _ => episode.documents().lock().asker(head),
        };
        let followed = match advances {
            true => self.followed(head, (hits, &members), episode)?,
            false => None,
        };
        let member = match followed {
            Some(place) => {
                episode.documents().lock().note_followed(hits[place]);
                place
            }
            None => {
                // What is shown once was seen by whoever followed the redirect.
                let others = episode.documents().lock().without_followed(hits, &members);
                let members = others.as_ref().unwrap_or(&members);
                let request = (&found.key, asker, advances);
                asker::pick(&self.set, &self.askers, (hits, members), request, episode)?
            }
        };
        Ok(Chosen { hit: hits[member], rule, differs })
    }

    /// The place of the capture that followed the redirect by which this request is made, if it is
    /// made by one.
    fn followed(
        &self,
        head: &RequestHead,
        (hits, members): (&[IndexHit], &[usize]),
        episode: &Episode,
    ) -> Result<Option<usize>, IndexError> {
        let redirects = episode.documents().lock().follow(head);
        for redirect in redirects {
            let place = asker::followed(&self.set, hits, redirect)?;
            if let Some(place) = place.filter(|place| members.contains(place)) {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// The captures for which the recorder did not ask by itself, if there are some: in the order
    /// in which pages asked.
    fn asked_by_pages(
        &self,
        hits: &[IndexHit],
        members: Vec<usize>,
    ) -> Result<Vec<usize>, IndexError> {
        if members.len() < 2 || members.len() > MOST_ASKED {
            return Ok(members);
        }
        let mut asked = Vec::new();
        for member in &members {
            if !self.set.capture(hits[*member])?.asked_again {
                asked.push(*member);
            }
        }
        Ok(if asked.is_empty() { members } else { asked })
    }

    /// For each recorded part, whether it is of the version that the document that asks has.
    pub(super) fn version(
        &self,
        found: &MatchedCaptures,
        parts: &[(u64, Arc<StoredResponse>)],
        head: &RequestHead,
        episode: &Episode,
    ) -> Result<Vec<bool>, IndexError> {
        let versions = partial::versions(parts);
        let mut firsts = versions.clone();
        firsts.dedup();
        firsts.sort_unstable();
        firsts.dedup();
        let asker = match self.options.states {
            StatePolicy::Order => Asker::Unknown,
            _ => episode.documents().lock().asker(head),
        };
        let request = (&found.key, asker, false);
        let wanted =
            asker::pick(&self.set, &self.askers, (&found.parts, &firsts), request, episode)?;
        Ok(versions.into_iter().map(|version| version == wanted).collect())
    }

    /// The captures that a request with these headers may get; `None` if it may get all of them.
    fn negotiated(
        &self,
        hits: &[IndexHit],
        headers: &HeaderMap,
    ) -> Result<Option<Choice>, IndexError> {
        if hits.len() == 1 {
            return Ok(None);
        }
        Ok(self.negotiation(hits)?.map(|negotiation| negotiation.choose(headers)))
    }

    /// The ledger label of the only capture of a request, if it was recorded for other headers.
    pub(super) fn rule_of_one(
        &self,
        hit: IndexHit,
        stored: &StoredResponse,
        headers: &HeaderMap,
    ) -> Result<Option<&'static str>, IndexError> {
        if !negotiation::may_differ(headers, &stored.headers) {
            return Ok(None);
        }
        Ok(self.negotiation(&[hit])?.and_then(|negotiation| negotiation.choose(headers).rule))
    }

    /// The state of its site in which something was captured.
    fn state_of(&self, hit: IndexHit) -> Result<CaptureState, IndexError> {
        let capture = self.set.capture(hit)?;
        let (_, url) = self.set.request_line(hit, &capture)?;
        let host = url::Url::parse(&url).ok().and_then(|url| url.host_str().map(str::to_owned));
        let Site { history, .. } = self.states.site(&self.set, &host.unwrap_or_default())?;
        Ok((hit.member, capture.visit, self.set.writes_before(&history, hit)?.to_vec()))
    }

    fn negotiation(&self, hits: &[IndexHit]) -> Result<Option<Arc<Negotiation>>, IndexError> {
        let captures = negotiation::key(hits);
        let known = match self.negotiations.get(&captures) {
            Some(known) => known,
            None => {
                let read =
                    Negotiation::read(&self.set, hits, &|hit| self.state_of(hit))?.map(Arc::new);
                self.negotiations.put(captures, read.clone());
                read
            }
        };
        Ok(known)
    }

    /// What the ledger says of a capture: when it was recorded, and in which state of its site.
    pub(super) fn given_capture(
        &self,
        hit: IndexHit,
        head: &RequestHead,
        kind: ContentKind,
    ) -> Result<GivenCapture, IndexError> {
        let at = Timestamp::from_millis(hit.at_millis as i64);
        let mut given = GivenCapture { at, archive: hit.member, number: hit.capture, state: None };
        if self.options.states == StatePolicy::Order || kind == ContentKind::Static {
            return Ok(given);
        }
        let Site { history, .. } = self.states.site(&self.set, &head.host)?;
        if !history.is_empty() {
            let before = self.set.writes_before(&history, hit)?;
            let last = before.last().and_then(|number| history.name_of(*number));
            given.state = Some(SiteState { writes: before.len(), last });
        }
        Ok(given)
    }

    /// Notes what an episode was given: a document to ask from, and a write that it has made.
    pub(super) fn keep(
        &self,
        head: &RequestHead,
        hit: IndexHit,
        kind: ContentKind,
        (location, same): (Option<&str>, &[IndexHit]),
        episode: &Episode,
    ) -> Result<(), StoredError> {
        if self.options.states == StatePolicy::Order {
            return Ok(());
        }
        let target = location.and_then(|location| Url::parse(&head.url).ok()?.join(location).ok());
        if let Some(target) = target.filter(|_| hit.status == 0 || (300..400).contains(&hit.status))
        {
            let others = same.iter().filter(|other| **other != hit).take(SAME_REDIRECT);
            let hits = [hit].into_iter().chain(others.copied()).collect();
            episode.documents().lock().redirect(head, target.as_str(), hits);
        }
        if kind != ContentKind::Data && hit.status < 300 {
            episode.documents().lock().give(&head.url, hit, kind == ContentKind::Document);
        }
        let Site { name, history } = self.states.site(&self.set, &head.host)?;
        let write = history.write_of(hit);
        // Static content is the same in all states, so it does not say in which one a site is.
        if history.is_empty() || kind == ContentKind::Static && write.is_none() {
            return Ok(());
        }
        let first = Standing::at(self.set.writes_before(&history, hit)?);
        episode.stand(&name, first, |standing| standing.made.extend(write));
        Ok(())
    }

    /// Notes that an episode has made a write that was not recorded, so that no state is the right
    /// one from now on.
    pub(super) fn keep_missed(&self, head: &RequestHead, body: &Bytes, episode: &Episode) {
        let by_rule = self.set.changing_parts().is_write(head.method.as_str(), &head.url);
        let effect = head.effect(body);
        let is_read = by_rule != Some(true) && matches!(effect, Effect::Read(_));
        if is_read || self.options.states != StatePolicy::Nearest {
            return;
        }
        // It cannot be read now, and was read when the pages before it were given.
        let site = self.states.site(&self.set, &head.host);
        let Some(site) = site.ok().filter(|site| !site.history.is_empty()) else { return };
        let is_write = by_rule.unwrap_or_else(|| match effect {
            Effect::Write(_) => true,
            _ => head.method == Method::GET && site.history.acts(&head.url),
        });
        if is_write {
            let name = format!("{} {}", head.method, head.url);
            let first = Standing::default();
            episode.stand(&site.name, first, |standing| standing.make_unknown(name));
        }
    }
}
