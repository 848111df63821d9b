//! Guesses which values are volatile from their format, without learned rules: time stamps and
//! random tokens.
//!
//! This is the weakest of the normalised rules. It applies only if everything else is equal,
//! including names and orders of magnitude. Nothing is guessed that may say what is asked for: no
//! identifier, address, key, plain number, and no time that a person chose. Only what a page itself
//! has put into a hidden field may be an identifier, as no person chooses that.
//!
//! - a *time stamp* is a number of seconds, milliseconds, microseconds, minutes or five minutes, or
//!   an ISO 8601 time with seconds. The recorded one must be within ten minutes of the time of
//!   recording, and the requested one as far from the present of the page that asks;
//! - a *random token* is a fraction with as many digits as `Math.random()` has, or a mix of letters
//!   and digits under a name that has a whole word for chance (`nonce`, `csrf`, `salt`, ...);
//! - an *issued token* is the value of a hidden field that was another one in another capture of
//!   the page, see [`IssuedTokens`](super::IssuedTokens);
//! - beside a time stamp, a UUID or another long token is of the visit under a name that says so
//!   (`sessionId`, `trace_id`, ...).

use std::ops::RangeInclusive;

use super::issued::may_be_token;
use super::leaves::{Leaf, leaves};
use super::{ReplayRequest, query};
use crate::Timestamp;

/// The ledger label of a time stamp.
pub const TIME_STAMP: &str = "time-stamp";
/// The ledger label of a random token.
pub const RANDOM_TOKEN: &str = "random-token";

/// The ledger label of a token that a page has issued.
pub const ISSUED_TOKEN: &str = "issued-token";

/// Whether a requested and a recorded value are the token that two captures of a page have issued.
pub type Issued<'a> = &'a dyn Fn(&str, &str) -> bool;

/// Where no page is known that may have issued a token.
pub fn issued_by_none(_: &str, _: &str) -> bool {
    false
}

/// The maximum distance of a recorded time stamp from the time of recording, in milliseconds.
const NEAR: i64 = 10 * 60 * 1000;

/// How far the distances of a time stamp from its present may be from each other, in milliseconds,
/// besides its unit.
const TOLERANCE: i64 = 2 * 60 * 1000;

/// Words that name chance, besides cache busters (`rules`). Numbers and short texts under such a
/// name are somebody's choice.
const RANDOM_WORDS: &[&str] = &[
    "authenticity",
    "cachekey",
    "csrf",
    "jsessionid",
    "nonce",
    "phpsessid",
    "salt",
    "sess",
    "sessid",
    "uniq",
    "wpnonce",
    "xsrf",
];
/// Words that name a visit, alone or before `id`.
const VISIT_WORDS: &[&str] =
    &["correlation", "pageview", "request", "session", "si", "span", "trace", "visit", "visitor"];
/// The fewest characters of a token under a name of chance, and of one that identifies a visit.
const MIN_TOKEN: usize = 8;
const MIN_VISIT_TOKEN: usize = 16;
/// The fewest digits of a fraction under any other name. Amounts and places have fewer.
const MIN_FRACTION: usize = 15;

/// The rules by which `request`, made within `now_millis` of its page, matches `recorded`, which
/// was recorded at `at_millis`, both since 1970; `None` if they are different requests. Empty if
/// nothing differs.
pub fn guess(
    (request, now_millis): (&ReplayRequest<'_>, &RangeInclusive<i64>),
    (recorded, at_millis): (&ReplayRequest<'_>, i64),
    is_issued: Issued<'_>,
) -> Option<Vec<&'static str>> {
    let is_time_stamp = |requested: &str, recorded: &str| {
        is_time_stamp((requested, now_millis), (recorded, at_millis))
    };
    let urls = [super::normalised_url(request.url), super::normalised_url(recorded.url)];
    let paths = [query::split(&urls[0]).0, query::split(&urls[1]).0];
    if request.method != recorded.method {
        return None;
    }
    let mut rules = Vec::new();
    let [a, b]: [Vec<&str>; 2] = paths.map(|path| path.split('/').collect());
    // The first three parts are the scheme, nothing and the host: a guess stays on one host.
    if a.len() != b.len() || a.iter().take(3).ne(b.iter().take(3)) {
        return None;
    }
    for (requested, recorded) in a.iter().zip(&b).filter(|(a, b)| a != b) {
        is_time_stamp(requested, recorded).then(|| rules.push(TIME_STAMP))?;
    }
    let sorted = |request| {
        let mut values: Vec<Leaf> = leaves(request);
        values.sort_by(|a, b| (a.place, &a.name).cmp(&(b.place, &b.name)));
        values
    };
    let (a, b) = (sorted(request), sorted(recorded));
    if a.len() != b.len() {
        return None;
    }
    // A request with the time in it is made anew for each visit, so it may carry ids of the visit.
    let clocked = a.iter().zip(&b).any(|(requested, recorded)| {
        requested.value != recorded.value
            && is_time_stamp(requested.value.trim_matches('"'), recorded.value.trim_matches('"'))
    });
    for (requested, recorded) in a.iter().zip(&b) {
        if (requested.place, &requested.name) != (recorded.place, &recorded.name) {
            return None;
        }
        if requested.value == recorded.value {
            continue;
        }
        let (value, other) = (requested.value.trim_matches('"'), recorded.value.trim_matches('"'));
        if is_time_stamp(value, other) {
            rules.push(TIME_STAMP);
        } else if is_issued(value, other) {
            rules.push(ISSUED_TOKEN);
        } else if is_random(&requested.name, value, other)
            || (clocked && is_of_visit(&requested.name, value, other))
        {
            rules.push(RANDOM_TOKEN);
        } else {
            return None;
        }
    }
    rules.sort_unstable();
    rules.dedup();
    Some(rules)
}

/// Whether a request contains anything that looks like a time stamp or a random token. Otherwise a
/// search is pointless.
pub fn may_guess(request: &ReplayRequest<'_>) -> bool {
    let url = super::normalised_url(request.url);
    let is_time = |text: &str| time(text).is_some();
    query::split(&url).0.split('/').skip(3).any(is_time)
        || leaves(request).iter().any(|leaf| {
            let value = leaf.value.trim_matches('"');
            is_time(value) || may_be_token(value) || is_random(&leaf.name, value, value)
        })
}

/// Whether both are times in the same notation, the recorded one close to the time of recording,
/// and each as far from its present as the other. With each comes its present.
fn is_time_stamp(
    (requested, now): (&str, &RangeInclusive<i64>),
    (recorded, at): (&str, i64),
) -> bool {
    let (Some(requested), Some(recorded)) = (time(requested), time(recorded)) else { return false };
    let distance = recorded.millis.saturating_sub(at);
    let (present, tolerance) =
        (requested.millis.saturating_sub(distance), TOLERANCE + recorded.unit);
    requested.digits == recorded.digits
        && distance.saturating_abs() <= NEAR
        && now.start().saturating_sub(tolerance) <= present
        && present <= now.end().saturating_add(tolerance)
}

/// A time in one of the notations of time stamps.
struct Time {
    /// How many digits it has; 0 for a text.
    digits: usize,
    /// Milliseconds since 1970.
    millis: i64,
    /// Its unit, in milliseconds.
    unit: i64,
}

fn time(value: &str) -> Option<Time> {
    let (whole, fraction) = value.split_once('.').unwrap_or((value, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !whole.is_empty() && digits(whole) && digits(fraction) {
        let number: i64 = whole.parse().ok()?;
        let (millis, unit) = match whole.len() {
            7 => (number.checked_mul(300_000)?, 300_000),
            8 => (number.checked_mul(60_000)?, 60_000),
            10 => (number.checked_mul(1000)?, 1000),
            13 => (number, 1),
            16 => (number / 1000, 1),
            _ => return None,
        };
        return Some(Time { digits: whole.len(), millis, unit });
    }
    // A person may choose a day or a minute; seconds come from a clock.
    let iso =
        value.len() >= 19 && value.as_bytes()[10] == b'T' && value.matches([':', '%']).count() >= 2;
    let plain = value.replace("%3A", ":").replace("%2B", "+");
    let time = iso.then(|| Timestamp::parse(&plain).ok()).flatten()?;
    Some(Time { digits: 0, millis: time.as_millis(), unit: 1000 })
}

fn is_random(name: &str, requested: &str, recorded: &str) -> bool {
    let is_named = has_word(name, RANDOM_WORDS);
    let least = if is_named { MIN_TOKEN } else { MIN_FRACTION };
    let fraction = |value: &str| {
        let digits = value.strip_prefix("0.");
        digits.is_some_and(|digits| {
            digits.len() >= least && digits.bytes().all(|b| b.is_ascii_digit())
        })
    };
    let is_token = |value| is_token(value, MIN_TOKEN);
    let is_alike = requested.len().abs_diff(recorded.len()) <= 4;
    fraction(requested) && fraction(recorded)
        || is_named && is_alike && is_token(requested) && is_token(recorded)
}

/// Whether both identify a visit, under the name of one.
fn is_of_visit(name: &str, requested: &str, recorded: &str) -> bool {
    let words = words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let is_named = match words[..] {
        [word] | [word, "id"] | [.., word, "id"] => VISIT_WORDS.contains(&word),
        _ => false,
    };
    let is_uuid =
        |value: &str| value.get(..36).is_some_and(|start| uuid::Uuid::try_parse(start).is_ok());
    let is_long = |value| is_uuid(value) || is_token(value, MIN_VISIT_TOKEN);
    is_named && requested.len() == recorded.len() && is_long(requested) && is_long(recorded)
}

/// Whether a value mixes letters and digits, and has at least so many.
fn is_token(value: &str, least: usize) -> bool {
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    (least..=128).contains(&value.len())
        && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        // An address of a chain of blocks.
        && !value.starts_with("0x")
}

fn has_word(name: &str, known: &[&str]) -> bool {
    words(name).iter().any(|word| known.contains(&word.as_str()))
}

/// The words of a name, in lower case: `sessionId`, `session_id` and `SESSIONId` have two. Of a
/// path in JSON, those of the last name.
fn words(name: &str) -> Vec<String> {
    let name = name.rsplit('.').next().unwrap_or(name);
    let mut spaced = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_last_capital =
            letters.peek().is_some_and(char::is_ascii_lowercase) && before.is_ascii_uppercase();
        if letter.is_ascii_uppercase() && (before.is_ascii_lowercase() || is_last_capital) {
            spaced.push(' ');
        }
        spaced.push(if letter.is_ascii_alphabetic() { letter.to_ascii_lowercase() } else { ' ' });
        before = letter;
    }
    spaced.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time of recording, and of asking.
    const AT: i64 = 1_767_225_600_000;
    const NOW: RangeInclusive<i64> = AT + 120_000..=AT + 123_000;

    fn guessed(requested: &str, recorded: &str) -> Option<Vec<&'static str>> {
        let [requested, recorded] =
            [requested, recorded].map(|url| ReplayRequest::bare("GET", url));
        guess((&requested, &NOW), (&recorded, AT), &issued_by_none)
    }

    fn guessed_at(requested: &str, recorded: &str) -> Option<Vec<&'static str>> {
        guessed(&format!("https://a.test/{requested}"), &format!("https://a.test/{recorded}"))
    }

    #[test]
    fn clocks_and_chance_are_passed_over() {
        for (requested, recorded, rule) in [
            ("x?t=1767225723456", "x?t=1767225600456", TIME_STAMP),
            ("x?t=1767225723", "x?t=1767225600", TIME_STAMP),
            ("x?t=1767225723.25", "x?t=1767225600.125", TIME_STAMP),
            // An hour ahead, each of its own present.
            ("x?until=1767225923", "x?until=1767225800", TIME_STAMP),
            ("poll/1767225723456?a=1", "poll/1767225600456?a=1", TIME_STAMP),
            ("x?at=2026-01-01T00:02:03.5Z", "x?at=2026-01-01T00:00:07.5Z", TIME_STAMP),
            ("x?t=29453763", "x?t=29453760", TIME_STAMP),
            ("x?t=5890753", "x?t=5890752", TIME_STAMP),
            ("x?cachekey=0.84423748", "x?cachekey=0.12345678901", RANDOM_TOKEN),
            ("x?k=0.8442374812345678", "x?k=0.12345678901234567", RANDOM_TOKEN),
        ] {
            assert_eq!(guessed_at(requested, recorded), Some(vec![rule]), "{requested}");
        }
    }

    #[test]
    fn a_uuid_beside_a_time_stamp_is_of_the_visit() {
        let url = |name: &str, uuid: char, time: u32| {
            format!("x?{name}={uuid}c4a1f0e-5b7d-4e0a-9d0c-1f2e3d4c5b6a-su44qh&t={time}")
        };
        let both = Some(vec![RANDOM_TOKEN, TIME_STAMP]);
        assert_eq!(guessed_at(&url("si", '8', 5_890_753), &url("si", '9', 5_890_752)), both);
        assert_eq!(guessed_at(&url("si", '8', 5_890_752), &url("si", '9', 5_890_752)), None);
        assert_eq!(
            guessed_at(&url("item_id", '8', 5_890_753), &url("item_id", '9', 5_890_752)),
            None
        );
    }

    #[test]
    fn what_somebody_chose_is_not() {
        for (requested, recorded) in [
            // Not the time of recording, but the day of a timetable.
            ("x?t=1767312000000", "x?t=1767484800000"),
            // Recorded for now, and asked for tomorrow, for the last hour, and for then.
            ("x?from=1767312123456", "x?from=1767225600456"),
            ("x?from=1767222123", "x?from=1767225600"),
            ("x?from=1767225400", "x?from=1767225601"),
            ("x?at=2026-01-02T00:02:03Z", "x?at=2026-01-01T00:00:07Z"),
            ("x?t=17672257", "x?t=17672256"),
            ("x?day=2026-01-02", "x?day=2026-01-01"),
            ("x?v=dQw4w9WgXcQ", "x?v=aQw4w9WgXc1"),
            ("x?amount=0.01000000", "x?amount=0.02500000"),
            ("x?lon=0.1277583012", "x?lon=0.1377583012"),
            // A talk of a conference.
            ("x?sessionId=1713377218393001rGOJ", "x?sessionId=1713377218393002rGOJ"),
            ("x?t=1767225723456&page=2", "x?t=1767225600456&page=1"),
            ("x?t=1767225723456", "x?t=1767225600456&page=1"),
            ("y?t=1767225723456", "x?t=1767225600456"),
        ] {
            assert_eq!(guessed_at(requested, recorded), None, "{requested}");
        }
        assert_eq!(
            guessed("https://b.test/x?t=1767225723456", "https://a.test/x?t=1767225600456"),
            None
        );
    }

    /// What tells one thing from another, in the notations in which it is written.
    const THINGS: [(&str, &str); 9] = [
        ("10009999", "10002345"),
        ("9876543210987654321", "1234567890123456789"),
        ("1a2b3c4d-2222-4333-8444-5e5f5a5b5c5d", "8c4a1f0e-5b7d-4e0a-9d0c-1f2e3d4c5b6a"),
        (
            "0xdac17f958d2ee523a2206206994597c13d831ec7",
            "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48",
        ),
        (
            "EPjFWdD5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
            "So11111111111111111111111111111111111111112a",
        ),
        ("aaaad081884c7d659a2feaa0c55ad015a3bf4f1b", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"),
        ("B08N5WRWNW", "B07XJ8C8F5"),
        ("blue-shoe-42", "grey-shoe-41"),
        ("MTIzNDU2Nzg5", "OTg3NjU0MzIx"),
    ];

    /// Names under which sites ask for one thing or another. Most contain a word of chance.
    const NAMES: &str = "accountId accountNumber actorId address agentId agreementId airlineCode airportCode \
        albumId algorithm ancestor answerId apartmentId appid areaCode articleId artistId \
        asin assessmentId assetId attachmentId auctionId authorId bandId barcode \
        baseCurrency batchId bbox billId blockHash bloggerId boardId bondId bookId branchId \
        brand brandId bucket buildId callId campaignId cardId cartId caseId categoryId \
        centreId channelId chapterId chatId checkpoint cid circuitId cityId claimId classId \
        clientId cluster code coin coinId collectionId colour commentId commit commune \
        companyId component connectionId constituencyId consultantId contentId \
        contractAddress conversationId country county couponCode courseId courtId crewId \
        cuisine currency cursor customerId datasetId dateRange deal debtorId departmentId \
        destinationId deviceId dietId digest districtId divisionId doc docId docket \
        documentId domain donorId draftId driverId editionId email employeeId entityId \
        episodeId eventId expressId facilityId feedId fileId fingerprint flightId folderId \
        formId gameId geohash grandPrixId groupId guid handle hash hotelId id imageId \
        impressionist instanceId inventoryId invoiceId isbn issueId item_id itemId jobId key \
        keyword lang lessonId listId listing_id locale locationId lotId market matchId \
        meetingId memberId messageId mint model movieId nodeId noteId obsession offerId \
        orderId orgId pageId parent partNumber patientId permalink personId photoId placeId \
        playerId playlistId podcastId policyId portfolioId possession postId presses \
        processId productId profession profileId projectId promo propertyId q query \
        questionId r raceId randstadId recipeId ref regionId repo reservationId resourceId \
        reviewId revision roomId route salternId scanId schoolId screenId seasonId seatId \
        seedlingId sellerId seriesId sha sha256Hash shopId siteId sku slot slug songId \
        sourceId spaceId sponsorId station statusId stock storeId storyId studentId subject \
        symbol tagId taskId teamId tenantId term themeId threadId ticketId token \
        token_address tokenAddress tokenId topicId tournamentId tracerId trackId \
        trackingNumber tractorId transactionHash treeId tripId tx txHash u ucid uniqlo \
        uniqueName unit unitId url user userId username uuid v variantId vehicleId vendorId \
        venueId version video videoId viewId villageId visitorsBureau voucher walletId \
        warehouseId wikiId wordId workspaceId z zip zoneId";

    #[test]
    fn names_and_values_that_say_what_is_asked_for_are_never_chance() {
        let names: Vec<&str> = NAMES.split_whitespace().collect();
        assert!(names.len() * THINGS.len() > 2000, "{}", names.len());
        for name in names {
            for (requested, recorded) in THINGS {
                let of = |value| format!("api/{name}?{name}={value}&t={}", AT);
                assert_eq!(guessed_at(&of(requested), &of(recorded)), None, "{name}={requested}");
                // Nor beside a time that is one.
                let of = |value, time: i64| format!("api?{name}={value}&t={time}");
                assert_eq!(
                    guessed_at(&of(requested, *NOW.end()), &of(recorded, AT)),
                    None,
                    "{name}={requested}"
                );
                let body = |value: &str| format!("{{\"query\":{{\"{name}\":\"{value}\"}}}}");
                let (requested, recorded) = (body(requested), body(recorded));
                let post = |body| ReplayRequest {
                    method: "POST",
                    url: "https://a.test/graphql",
                    content_type: Some("application/json"),
                    body: crate::matching::Payload::Bytes(body),
                };
                let [requested, recorded] =
                    [&requested, &recorded].map(|body| post(body.as_bytes()));
                let said = guess((&requested, &NOW), (&recorded, AT), &issued_by_none);
                assert_eq!(said, None, "{name}");
            }
        }
    }

    #[test]
    fn names_of_chance_are_passed_over_with_the_form_of_a_nonce() {
        let names = "nonce _wpnonce csrf csrfToken csrf_token CSRFToken xsrf-token X-XSRF-TOKEN authenticity_token \
            salt cachekey PHPSESSID JSESSIONID sessid";
        for name in names.split_whitespace() {
            let of = |value: &str| format!("x?{name}={value}");
            let said = guessed_at(&of("a8f3k2m9x1q7w5e3"), &of("zz13k2m9x1q7w5e9"));
            assert_eq!(said, Some(vec![RANDOM_TOKEN]), "{name}");
            // A number may be anything.
            assert_eq!(guessed_at(&of("20260777"), &of("20260001")), None, "{name}");
        }
    }

    #[test]
    fn names_of_visits_are_passed_over_beside_a_time() {
        let names = "sessionId session_id session traceId trace-id spanId correlationId X-Correlation-Id requestId \
            request_id visitId visitorId pageviewId meta.requestId";
        for name in names.split_whitespace() {
            let of = |value: &str, time: i64| format!("x?{name}={value}&t={time}");
            let (requested, recorded) = ("a8f3k2m9x1q7w5e3", "zz13k2m9x1q7w5e9");
            let said = guessed_at(&of(requested, *NOW.end()), &of(recorded, AT));
            assert_eq!(said, Some(vec![RANDOM_TOKEN, TIME_STAMP]), "{name}");
            assert_eq!(guessed_at(&of(requested, AT), &of(recorded, AT)), None, "{name}");
        }
    }

    /// The names above a value in JSON say nothing of it.
    #[test]
    fn the_last_name_of_a_path_counts() {
        for path in ["session.id", "request.id", "nonce.documentNumber", "csrf.user"] {
            let of = |value: &str| format!("x?{path}={value}&t={AT}");
            assert_eq!(
                guessed_at(&of("a8f3k2m9x1q7w5e3"), &of("zz13k2m9x1q7w5e9")),
                None,
                "{path}"
            );
        }
    }
}
