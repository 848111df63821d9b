//! The gold answers of `tasks/demo`, worked out again from the data behind the pages.

use std::collections::BTreeMap;

use camino::Utf8Path;
use http::StatusCode;
use origin::Web;
use origin::call::Call;
use origin::data::clock::Time;
use origin::data::fares::{self, Ticket};
use origin::data::homes::{self, Home, Sort};
use origin::data::{Variant, WEEKEND, World, cinema, places, rail};
use scoring::assistantbench::GoldAnswer;
use scoring::solution::OracleStep;
use scoring::{KeyNode, KeyNodes, Scorer, Step};
use tasks::{Suite, Task};

const SATURDAY: &str = WEEKEND[1].0;

fn suite() -> Suite {
    Suite::load(Utf8Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tasks/demo"))).unwrap()
}

fn only<T>(mut found: impl Iterator<Item = T>) -> T {
    let first = found.next().unwrap();
    assert!(found.next().is_none(), "more than one");
    first
}

fn home<'a>(world: &'a World, city: &str, rooms: u32, sort: Sort) -> &'a Home {
    homes::find(&world.homes, city, rooms, u32::MAX, sort)[0]
}

/// The answer to each question, by the id of its task.
fn answers(world: &World) -> BTreeMap<&'static str, String> {
    let mut answers = BTreeMap::new();

    let board = rail::board(&world.trains, "CAR");
    answers.insert(
        "cancelled-train",
        only(board.iter().filter(|row| row.status == "Cancelled")).train.clone(),
    );

    let ticket = Ticket { first: true, back: true, railcard: true };
    answers.insert("first-class-fare", fares::pounds(fares::pence("BRW", "EAS", ticket).unwrap()));

    let eleven = Time::parse("11:00").unwrap();
    let towards = rail::journeys(&world.trains, "BRW", "ALD");
    let journey =
        only(towards.iter().filter(|one| one.depart >= eleven && one.depart < eleven.plus(60)));
    let train = only(world.trains.iter().filter(|train| train.number == journey.legs[0].train));
    let quiet = only(train.coaches.iter().filter(|coach| coach.kind == "Quiet"));
    answers.insert("quiet-coach", quiet.free.to_string());

    let shown = |slug: &str| {
        world
            .screenings
            .iter()
            .any(|one| one.cinema == slug && one.film == "the-salt-road" && one.day == SATURDAY)
    };
    let showing: Vec<&str> =
        cinema::CINEMAS.iter().filter(|one| shown(one.slug)).map(|one| one.name).collect();
    answers.insert("salt-road-saturday", showing.join("\n"));

    let thriller = only(
        cinema::search(&world.films, "carla oduya")
            .into_iter()
            .filter(|film| film.genre == "Thriller"),
    );
    answers.insert(
        "audience-score",
        format!("{}.{}", thriller.audience_tenths / 10, thriller.audience_tenths % 10),
    );

    let station = cinema::cinema("harbour-picturehouse").unwrap().station;
    answers.insert(
        "after-the-film",
        rail::journeys(&world.trains, station, "BRW").last().unwrap().depart.to_string(),
    );

    let rain = |city: &str| {
        let forecast = only(world.forecasts.iter().filter(|one| one.city == city));
        only(forecast.days.iter().filter(|day| day.date == SATURDAY)).rain
    };
    let wettest = places::CITIES.iter().max_by_key(|city| rain(city.slug)).unwrap();
    let average = homes::average_price(&world.homes, wettest.slug);
    answers.insert(
        "wettest-saturday",
        format!(
            r#"{{"city": "{}", "chance of rain": {}, "average price": {average}}}"#,
            wettest.name,
            rain(wettest.slug)
        ),
    );

    let cheapest = homes::find(&world.homes, "aldport", 2, u32::MAX, Sort::Price);
    let lines = cheapest
        .iter()
        .take(2)
        .map(|home| format!(r#"{{"address": "{}", "price": {}}}"#, home.address, home.price));
    answers.insert("two-cheapest-homes", lines.collect::<Vec<_>>().join("\n"));

    let terraces = world
        .homes
        .iter()
        .filter(|home| home.city == "aldport" && home.extras.contains(&"roof terrace"));
    answers.insert("roof-terraces", terraces.count().to_string());

    let lakeside = home(world, "dunmere", 3, Sort::Price);
    let first = rail::board(&world.trains, "DUN")[0].time;
    answers.insert(
        "lakeside-commute",
        format!(
            r#"{{"address": "{}", "walk": {}, "first train": "{first}"}}"#,
            lakeside.address, lakeside.walk
        ),
    );
    answers
}

/// Where each errand ends, by the id of its task.
fn ends(world: &World) -> BTreeMap<&'static str, String> {
    let viewed = only(
        world
            .homes
            .iter()
            .filter(|home| home.address == "31 Ferry Square" && home.city == "brackwater"),
    );
    let journeys = rail::journeys(&world.trains, "BRW", "DUN");
    let booked = &world.trains[world.trains.len() - 2];
    let cheapest = home(world, "eastholm", 3, Sort::Price);
    BTreeMap::from([
        ("book-viewing", format!("https://www.hearthside.test/viewings/V-{}-0314-1130", viewed.id)),
        (
            "connecting-train",
            format!("https://www.aldria-rail.test/trains/{}", journeys[0].legs[1].slug),
        ),
        ("guest-booking", format!("https://www.aldria-rail.test/trains/{}", booked.slug)),
        (
            "saturday-programme",
            format!("https://www.cityscreen.test/cinemas/junction-electric?day={SATURDAY}"),
        ),
        ("cheapest-in-eastholm", format!("https://www.hearthside.test/homes/{}", cheapest.id)),
    ])
}

fn last_answer(task: &Task) -> &str {
    match task.oracle.last() {
        Some(OracleStep::Answer(answer)) => answer,
        other => panic!("{}: ends with {other:?}", task.id),
    }
}

fn scored(scorer: &Scorer, steps: &[Step<'_>]) -> f64 {
    let mut state = scorer.start();
    for step in steps {
        state.observe(step);
    }
    state.score().unwrap().value
}

#[test]
fn every_gold_answer_follows_from_the_data() {
    let world = World::new(Variant::Original);
    let suite = suite();
    let mut expected = answers(&world);
    for task in &suite.tasks {
        let Scorer::AssistantBench(GoldAnswer { gold }) = &task.scorer else { continue };
        // This one asks about the browser and not about the data.
        if task.id == "clock-time-zone" {
            assert_eq!(*gold, suite.world.timezone);
            assert_eq!(last_answer(task), gold);
            continue;
        }
        let answer = expected
            .remove(task.id.as_str())
            .unwrap_or_else(|| panic!("{}: no answer worked out", task.id));
        assert_eq!(*gold, answer, "{}", task.id);
        let step = Step { answer: Some(last_answer(task)), ..Step::default() };
        assert_eq!(scored(&task.scorer, &[step]), 1.0, "{}", task.id);
    }
    assert!(expected.is_empty(), "answers without a task: {expected:?}");
}

#[test]
fn every_errand_ends_where_the_data_says() {
    let world = World::new(Variant::Original);
    let web = Web::new(Variant::Original).unwrap();
    let mut expected = ends(&world);
    for task in suite().tasks {
        let Scorer::Mind2WebLive(KeyNodes { nodes }) = &task.scorer else { continue };
        let end = expected
            .remove(task.id.as_str())
            .unwrap_or_else(|| panic!("{}: no end worked out", task.id));
        let reached = scored(&task.scorer, &[Step { url: &end, ..Step::default() }]);
        assert!(reached > 0.0, "{}: {end} reaches no key node", task.id);
        assert_eq!(web.answer(&Call::get(&end).unwrap()).status, StatusCode::OK, "{end}");
        assert!(nodes.len() >= 2, "{}", task.id);
        assert!(
            matches!(nodes.last(), Some(KeyNode::UrlExactlyMatch(_))),
            "{}: ends with a key node of its own",
            task.id
        );
        last_answer(&task);
    }
    assert!(expected.is_empty(), "ends without a task: {expected:?}");
}

/// What changes on the live web changes the answers; a replay must not notice.
#[test]
fn the_changed_variant_gives_other_answers() {
    let (original, changed) =
        (answers(&World::new(Variant::Original)), World::new(Variant::Changed));
    let same = |id: &str, answer: &str| original[id] == answer;
    let board = rail::board(&changed.trains, "CAR");
    let cancelled = board.iter().find(|row| row.status == "Cancelled").unwrap();
    assert!(!same("cancelled-train", &cancelled.train));
    let cheapest = home(&changed, "dunmere", 3, Sort::Price);
    assert!(!original["lakeside-commute"].contains(&cheapest.address));
}

/// The suite is what it promises to be: enough of each family, solved in a few steps, with nothing
/// for an idle agent.
#[test]
fn the_suite_is_mixed_and_pays_nothing_for_idling() {
    let suite = suite();
    let questions =
        suite.tasks.iter().filter(|task| matches!(task.scorer, Scorer::AssistantBench(_))).count();
    assert!(questions >= 7 && suite.tasks.len() - questions >= 5);
    for task in &suite.tasks {
        assert!((3..=10).contains(&task.oracle.len()), "{}: {} steps", task.id, task.oracle.len());
        let start = task.start_url.as_deref().unwrap();
        assert!(task.max_steps as usize > task.oracle.len(), "{}", task.id);
        let idle = scored(&task.scorer, &[Step { url: start, ..Step::default() }]);
        assert_eq!(idle, 0.0, "{} pays for doing nothing", task.id);
    }
}
