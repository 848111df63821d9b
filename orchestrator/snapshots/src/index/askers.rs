//! The documents that asked for captures, and the tokens that these have issued.

use super::{IndexError, IndexHit, ReplaySet};
use crate::matching::{self, IssuedTokens, ReplayRequest};

/// The largest page of which the fields are read, in bytes.
const LARGEST: u64 = 4 << 20;

impl ReplaySet {
    /// The capture of the document that asked for a capture, as far as it is known: the last one
    /// before it at the address that it names. What the recorder asked for was shown to nobody.
    ///
    /// # Errors
    /// When the disk or the server does not give it.
    pub fn asked_by(&self, hit: IndexHit) -> Result<Option<IndexHit>, IndexError> {
        let failures = self.failures();
        let capture = self.capture(hit)?;
        let headers = match self.request_headers(hit, &capture) {
            Err(error) if self.failures() != failures => return Err(error),
            headers => headers.ok().flatten(),
        };
        let Some(url) = headers.as_ref().and_then(|headers| headers.get_str("Referer")) else {
            return Ok(None);
        };
        let all = self.exact(&matching::exact(&ReplayRequest::bare("GET", url)))?;
        let place = |other: &IndexHit| (other.at_millis, other.capture);
        let before = all.into_iter().rev();
        for other in before.filter(|other| other.member == hit.member && place(other) < place(&hit))
        {
            let page = self.capture(other)?;
            if !page.asked_again && page.visit == capture.visit {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }

    /// The tokens that a capture of a page has issued; none if it is no page or cannot be read.
    ///
    /// # Errors
    /// When the disk or the server does not give it.
    pub fn issued_by(&self, page: IndexHit) -> Result<IssuedTokens, IndexError> {
        let failures = self.failures();
        let document = match self.document(page, LARGEST) {
            Err(error) if self.failures() != failures => return Err(error),
            document => document.ok().flatten(),
        };
        let Some(document) = document else { return Ok(IssuedTokens::default()) };
        let (_, url) = self.request_line(page, &self.capture(page)?)?;
        let fields = html_scan::hidden_fields(&document.media_type, &document.bytes);
        Ok(IssuedTokens::of(&url, fields))
    }

    /// The tokens of the page that asked for a capture.
    ///
    /// # Errors
    /// When the disk or the server does not give it.
    pub fn issued_to(&self, hit: IndexHit) -> Result<IssuedTokens, IndexError> {
        self.asked_by(hit)?.map_or_else(|| Ok(IssuedTokens::default()), |page| self.issued_by(page))
    }
}
