//! Content codings: gzip, deflate, br and zstd, decoded up to a limit.

use std::io::{self, BufRead, BufReader, Read};

use super::HttpError;

/// The maximum number of stacked codings. Only an attacker sends more.
const MAX_CODINGS: usize = 4;
/// The maximum zstd window, as a power of two (128 MiB; browsers allow 8 MiB).
const ZSTD_WINDOW_LOG: u32 = 27;

/// Decodes `body`, whose `Content-Encoding` value is `encodings`. Fails if the decoded bytes exceed
/// `limit`, however small the coded form is.
pub fn decode_content<R: Read + Send>(
    encodings: &str,
    body: R,
    limit: u64,
) -> Result<Vec<u8>, HttpError> {
    let mut out = Vec::new();
    let decoded = decoder(encodings, body)?.take(limit.saturating_add(1)).read_to_end(&mut out);
    if out.len() as u64 > limit {
        return Err(HttpError::TooLarge { limit });
    }
    decoded.map_err(|e| HttpError::BadCoding {
        coding: encodings.trim().to_owned(),
        reason: e.to_string(),
    })?;
    Ok(out)
}

/// A stream that decodes `body`. The caller limits how much is read from it.
pub fn decoder<'a, R: Read + Send + 'a>(
    encodings: &str,
    body: R,
) -> Result<Box<dyn Read + Send + 'a>, HttpError> {
    let names: Vec<&str> =
        encodings.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    if names.len() > MAX_CODINGS {
        return Err(HttpError::UnknownCoding(encodings.chars().take(80).collect()));
    }
    let mut stream: Box<dyn Read + Send + 'a> = Box::new(body);
    // Codings are listed in the order of application, so they are removed from the last.
    for name in names.into_iter().rev() {
        stream = match name.to_ascii_lowercase().as_str() {
            "identity" | "none" | "utf-8" => stream,
            "gzip" | "x-gzip" => {
                Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::new(stream)))
            }
            "deflate" => deflate(BufReader::new(stream)),
            "br" => Box::new(brotli::Decompressor::new(stream, 8 << 10)),
            "zstd" => Box::new(Zstd { start: Some(stream), decoder: None }),
            _ => return Err(HttpError::UnknownCoding(name.chars().take(80).collect())),
        };
    }
    Ok(stream)
}

/// `deflate` means zlib, but many old servers sent raw deflate.
fn deflate<'a, R: BufRead + Send + 'a>(mut reader: R) -> Box<dyn Read + Send + 'a> {
    let start = reader.fill_buf().unwrap_or_default();
    let zlib = start.len() >= 2
        && start[0] & 0x0f == 8
        && u16::from_be_bytes([start[0], start[1]]).is_multiple_of(31);
    if zlib {
        Box::new(flate2::bufread::ZlibDecoder::new(reader))
    } else {
        Box::new(flate2::bufread::DeflateDecoder::new(reader))
    }
}

/// Creates the decoder on the first read, so that its errors are read errors.
struct Zstd<'a> {
    start: Option<Box<dyn Read + Send + 'a>>,
    decoder: Option<zstd::Decoder<'static, BufReader<Box<dyn Read + Send + 'a>>>>,
}

impl Read for Zstd<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if let Some(inner) = self.start.take() {
            let mut decoder = zstd::Decoder::new(inner)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG)?;
            self.decoder = Some(decoder);
        }
        self.decoder.as_mut().map_or(Ok(0), |decoder| decoder.read(buf))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use proptest::prelude::*;

    use super::*;

    fn encode(name: &str, bytes: &[u8]) -> Vec<u8> {
        match name {
            "gzip" => {
                let mut w = flate2::write::GzEncoder::new(Vec::new(), Compression::fast());
                w.write_all(bytes).unwrap();
                w.finish().unwrap()
            }
            "deflate" => {
                let mut w = flate2::write::ZlibEncoder::new(Vec::new(), Compression::fast());
                w.write_all(bytes).unwrap();
                w.finish().unwrap()
            }
            "raw" => {
                let mut w = flate2::write::DeflateEncoder::new(Vec::new(), Compression::fast());
                w.write_all(bytes).unwrap();
                w.finish().unwrap()
            }
            "zstd" => zstd::encode_all(bytes, 1).unwrap(),
            "br" => {
                let mut out = Vec::new();
                brotli::BrotliCompress(
                    &mut &bytes[..],
                    &mut out,
                    &brotli::enc::BrotliEncoderParams { quality: 3, ..Default::default() },
                )
                .unwrap();
                out
            }
            _ => bytes.to_vec(),
        }
    }

    #[test]
    fn every_coding_and_a_stack() {
        let text = b"the same words, the same words, the same words";
        for (coding, header) in [
            ("gzip", "x-gzip"),
            ("deflate", "deflate"),
            ("raw", "deflate"),
            ("zstd", "ZSTD"),
            ("br", "br"),
            ("", ""),
        ] {
            assert_eq!(
                decode_content(header, &encode(coding, text)[..], 100).unwrap(),
                text,
                "{coding}"
            );
        }
        let both = encode("gzip", &encode("br", text));
        assert_eq!(decode_content("br, gzip", &both[..], 100).unwrap(), text);
        assert!(matches!(
            decode_content("rot13", &text[..], 100),
            Err(HttpError::UnknownCoding(_))
        ));
        assert!(decode_content("gzip,gzip,gzip,gzip,gzip", &text[..], 100).is_err());
    }

    #[test]
    fn a_bomb_is_defused() {
        let zeros = vec![0_u8; 20 << 20];
        for coding in ["gzip", "deflate", "zstd", "br"] {
            let bomb = encode(coding, &zeros);
            assert_eq!(
                decode_content(coding, &bomb[..], 1 << 20),
                Err(HttpError::TooLarge { limit: 1 << 20 }),
                "{coding}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            for coding in ["gzip", "deflate", "zstd", "br"] {
                let _ = decode_content(coding, &bytes[..], 1 << 16);
            }
        }
    }
}
