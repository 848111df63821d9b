//! Content encoding as servers negotiate it: the server's favourite among what the client accepts.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

/// A content encoding the demo web speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// gzip
    Gzip,
    /// Brotli
    Brotli,
    /// Zstandard
    Zstd,
}

impl Encoding {
    /// The token in `Accept-Encoding` and `Content-Encoding`.
    pub fn token(self) -> &'static str {
        match self {
            Encoding::Gzip => "gzip",
            Encoding::Brotli => "br",
            Encoding::Zstd => "zstd",
        }
    }

    /// Encodes a body.
    pub fn encode(self, body: &[u8]) -> std::io::Result<Vec<u8>> {
        match self {
            Encoding::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
                encoder.write_all(body)?;
                encoder.finish()
            }
            Encoding::Brotli => {
                let mut encoded = Vec::new();
                let params = brotli::enc::BrotliEncoderParams {
                    quality: 9,
                    lgwin: 18,
                    ..Default::default()
                };
                brotli::BrotliCompress(&mut &body[..], &mut encoded, &params)?;
                Ok(encoded)
            }
            Encoding::Zstd => zstd::bulk::compress(body, 15),
        }
    }
}

/// The first of `favourites` that `accept` (the value of `Accept-Encoding`) does not rule out.
pub fn negotiate(accept: Option<&str>, favourites: &[Encoding]) -> Option<Encoding> {
    let accept = accept?;
    favourites.iter().copied().find(|encoding| {
        quality(accept, encoding.token())
            .or_else(|| quality(accept, "*"))
            .is_some_and(|quality| quality > 0.0)
    })
}

/// The weight that `accept` gives to a token; 1 when it gives none.
fn quality(accept: &str, token: &str) -> Option<f32> {
    accept.split(',').find_map(|item| {
        let mut parts = item.split(';').map(str::trim);
        if !parts.next()?.eq_ignore_ascii_case(token) {
            return None;
        }
        let weight = parts.find_map(|part| part.strip_prefix("q="));
        Some(weight.map_or(1.0, |weight| weight.parse().unwrap_or(0.0)))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::io::Read;

    use super::*;

    const ALL: [Encoding; 3] = [Encoding::Brotli, Encoding::Zstd, Encoding::Gzip];

    #[test]
    fn the_servers_favourite_wins_among_what_is_accepted() {
        let check = |accept, expect| assert_eq!(negotiate(accept, &ALL), expect, "{accept:?}");
        check(Some("gzip, deflate, br, zstd"), Some(Encoding::Brotli));
        check(Some("gzip, br;q=0"), Some(Encoding::Gzip));
        check(Some("*"), Some(Encoding::Brotli));
        check(Some("ZSTD;q=0.5"), Some(Encoding::Zstd));
        check(Some("identity"), None);
        check(Some("br;q=nonsense"), None);
        check(None, None);
    }

    #[test]
    fn every_encoding_comes_back_as_it_was() {
        let body = "the quick brown fox ".repeat(200);
        let mut gunzipped = String::new();
        flate2::read::GzDecoder::new(&Encoding::Gzip.encode(body.as_bytes()).unwrap()[..])
            .read_to_string(&mut gunzipped)
            .unwrap();
        assert_eq!(gunzipped, body);
        let mut unbrotlied = Vec::new();
        brotli::BrotliDecompress(
            &mut &Encoding::Brotli.encode(body.as_bytes()).unwrap()[..],
            &mut unbrotlied,
        )
        .unwrap();
        assert_eq!(unbrotlied, body.as_bytes());
        let unzstded =
            zstd::bulk::decompress(&Encoding::Zstd.encode(body.as_bytes()).unwrap(), 1 << 20)
                .unwrap();
        assert_eq!(unzstded, body.as_bytes());
    }
}
