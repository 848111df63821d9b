//! Bodies that compress about as well as real ones.

use std::fmt::Write;

use super::random::Random;

const SYLLABLES: [&str; 24] = [
    "al", "ber", "cor", "dan", "el", "far", "gan", "hol", "in", "jor", "kel", "lum", "mar", "nor",
    "op", "per", "quin", "ros", "sta", "tur", "ul", "ven", "wes", "yor",
];

/// Two syllables and a number: a vocabulary of some thousand words.
fn word(random: &mut Random, out: &mut String) {
    for _ in 0..2 {
        out.push_str(SYLLABLES[random.below(24) as usize]);
    }
    let tail = random.below(12);
    if tail > 8 {
        let _ = write!(out, "{tail}");
    }
}

fn words(random: &mut Random, count: u32, out: &mut String) {
    for at in 0..count {
        if at > 0 {
            out.push(' ');
        }
        word(random, out);
    }
}

pub(super) fn html(random: &mut Random, number: u32, length: usize) -> Vec<u8> {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><title>Page {number}</title></head>\n<body>\n"
    );
    while page.len() < length {
        let _ = write!(page, "<section class=\"card\" id=\"s{}\"><h2>", random.below(1_000_000));
        words(random, 4, &mut page);
        page.push_str("</h2><p>");
        let count = 20 + random.below(40);
        words(random, count, &mut page);
        let _ = write!(page, "</p><a href=\"/pages/{}/index.html\">", random.below(2000));
        words(random, 2, &mut page);
        page.push_str("</a></section>\n");
    }
    page.push_str("</body></html>\n");
    page.into_bytes()
}

pub(super) fn script(random: &mut Random, length: usize) -> Vec<u8> {
    let mut script = String::from("\"use strict\";\n");
    while script.len() < length {
        script.push_str("function ");
        word(random, &mut script);
        let _ = write!(script, "(a,b){{const c={},d=\"", random.below(1_000_000));
        words(random, 3, &mut script);
        script.push_str("\";if(a.");
        word(random, &mut script);
        let _ = write!(
            script,
            "===c){{return b.map(e=>e+d.length*{})}}return this.",
            random.below(1000)
        );
        word(random, &mut script);
        script.push_str("(a)}\n");
    }
    script.into_bytes()
}

pub(super) fn json(random: &mut Random, number: u32, length: usize) -> Vec<u8> {
    let mut json = format!("{{\"id\":{number},\"items\":[");
    let mut first = true;
    while json.len() + 2 < length {
        json.push_str(if first { "{\"name\":\"" } else { ",{\"name\":\"" });
        first = false;
        words(random, 2, &mut json);
        let _ = write!(json, "\",\"price\":{}.{:02}}}", random.below(900), random.below(100));
    }
    json.push_str("]}");
    json.into_bytes()
}
