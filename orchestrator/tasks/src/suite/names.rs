//! Names that a browser looks up in lists of its own. One that it does not find it passes over
//! without a word, and pages run in UTC, or format in English; so they are looked up here, when a
//! suite is read.

use suggestions::nearest;

/// Time zones of the IANA database that ICU does not know.
const NO_ZONES: [&str; 1] = ["localtime"];

/// The languages that Chromium has formats for, by what its
/// `Intl.DateTimeFormat.supportedLocalesOf` says of each code, and their other codes.
const LANGUAGES: &str = "af ak am ar az bg bn bs ca cs da de el en es et fa fi fil fr gu he hi hr hu id in it iw ja kk kn ko lt lv ml mo mr ms \
    nb nl no pa pl pt ro ru sh sk sl sr sv sw ta te th tl tr uk ur uz vi zh";

/// The regions that CLDR has a name for, as Chromium's `Intl.DisplayNames` tells them, without
/// those that are not in use.
const REGIONS: &str = "AC AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW \
    BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CP CR CU CV CW CX CY CZ DE DG DJ DK DM DO DZ EA EC EE EG EH ER ES ET EU FI FJ FK FM FO FR \
    GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU IC ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI \
    KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE \
    NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO \
    SR SS ST SV SX SY SZ TA TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM \
    ZW";

/// An IANA time zone name, spelt as in the database.
pub(super) fn timezone(text: &str) -> Result<String, String> {
    let database = jiff::tz::TimeZoneDatabase::bundled();
    let names: Vec<String> = database
        .available()
        .map(|name| name.as_str().to_owned())
        .filter(|name| !NO_ZONES.contains(&name.as_str()))
        .collect();
    if names.iter().any(|name| name == text) {
        return Ok(text.to_owned());
    }
    let near = nearest(text, names.iter().map(String::as_str)).map(str::to_owned);
    Err(format!("`{text}` is no time zone of the IANA database; {}", advice(near, "Europe/London")))
}

/// A language tag of BCP 47 whose language and region Chromium knows: `de`, `zh-Hant-TW`,
/// `en-GB-u-hc-h23`.
pub(super) fn locale(text: &str) -> Result<String, String> {
    let mut parts = text.split('-').peekable();
    let language = parts.next().unwrap_or_default();
    let known = languages().any(|known| known == language);
    let script = parts
        .next_if(|part| part.len() == 4 && part.bytes().all(|byte| byte.is_ascii_alphabetic()));
    let region = parts.next_if(|part| part.len() == 2 || is_number(part, 3));
    let spelt = script.is_none_or(|script| {
        script.bytes().enumerate().all(|(i, byte)| byte.is_ascii_uppercase() == (i == 0))
    });
    let placed =
        region.is_none_or(|region| is_number(region, 3) || regions().any(|known| known == region));
    if known && spelt && placed && is_ending(parts) {
        return Ok(text.to_owned());
    }
    let advice = advice(nearest_locale(text), "en-US");
    Err(format!("`{text}` is no language tag (BCP 47) that Chromium knows; {advice}"))
}

/// The name that a browser gives itself in a header field.
pub(super) fn user_agent(text: &str) -> Result<String, String> {
    if !text.trim().is_empty() && text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "{text:?} is no name that a browser can give itself: it takes printable ASCII characters"
    ))
}

/// Variants, and extensions of a letter each: what may follow the region.
fn is_ending<'a>(parts: impl Iterator<Item = &'a str>) -> bool {
    let mut extension = false;
    let mut waiting = false;
    for part in parts {
        if !part.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return false;
        }
        let variant =
            (5..=8).contains(&part.len()) || part.len() == 4 && part.as_bytes()[0].is_ascii_digit();
        match part.len() {
            1 if waiting => return false,
            1 => (extension, waiting) = (true, true),
            2..=8 if extension => waiting = false,
            _ if variant => {}
            _ => return false,
        }
    }
    !waiting
}

fn is_number(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn languages() -> impl Iterator<Item = &'static str> {
    LANGUAGES.split_ascii_whitespace()
}

fn regions() -> impl Iterator<Item = &'static str> {
    REGIONS.split_ascii_whitespace()
}

/// Proposes a value: the name that was meant, or one that shows the form.
fn advice(near: Option<String>, example: &str) -> String {
    match near {
        Some(near) => format!("the nearest is `{near}`"),
        None => format!("write one such as `{example}`"),
    }
}

/// The tag of the nearest language, with the region where that is known.
fn nearest_locale(text: &str) -> Option<String> {
    let mut parts = text.split(['-', '_']);
    let language = nearest(parts.next().unwrap_or_default(), languages())?;
    let named = |known: &&str| parts.clone().any(|part| part.eq_ignore_ascii_case(known));
    Some(match regions().find(named) {
        Some(region) => format!("{language}-{region}"),
        None => language.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_zone_is_one_of_the_database() {
        for name in
            ["UTC", "Europe/London", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "US/Pacific"]
        {
            assert_eq!(timezone(name).as_deref(), Ok(name));
        }
        for (wrong, near) in
            [("Europe/Londn", "Europe/London"), ("europe/berlin", "Europe/Berlin"), ("utc", "UTC")]
        {
            let said = timezone(wrong).unwrap_err();
            assert!(said.ends_with(&format!("the nearest is `{near}`")), "{said}");
        }
        for far in ["", "Middle Earth", "MEZ+1"] {
            let said = timezone(far).unwrap_err();
            assert!(said.ends_with("write one such as `Europe/London`"), "{said}");
        }
    }

    #[test]
    fn a_locale_is_well_formed_and_known() {
        for tag in [
            "en",
            "en-US",
            "zh-Hant-TW",
            "sr-Latn",
            "es-419",
            "de-DE-1996",
            "en-GB-u-hc-h23",
            "fil-PH",
        ] {
            assert_eq!(locale(tag).as_deref(), Ok(tag));
        }
        for (wrong, near) in [
            ("xx-invalid-locale", "en-US"),
            ("en_US", "en-US"),
            ("EN-us", "en-US"),
            ("en-UX", "en"),
            ("english", "en-US"),
            ("en-US-x", "en-US"),
            ("dee-DE", "de-DE"),
        ] {
            let said = locale(wrong).unwrap_err();
            assert!(
                said.contains(&format!("`{wrong}`")) && said.ends_with(&format!("`{near}`")),
                "{said}"
            );
        }
    }
}
