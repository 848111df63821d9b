//! Trains, the journeys they make possible, seats, and departure boards.

use serde::Serialize;

use super::clock::{Time, duration};
use super::places::{LINES, Line, STATIONS, Stop, station_name};
use super::seed::Seed;

/// Four times a day the trains of all lines leave, each line with its own offset and a few minutes
/// of scatter.
const DEPARTURES: [u16; 4] = [6 * 60 + 50, 10 * 60 + 40, 16 * 60 + 55, 20 * 60 + 50];

/// The least time to change trains, in minutes.
const CHANGE: u16 = 6;

/// A train of today.
#[derive(Debug, Clone, Serialize)]
pub struct Train {
    /// As printed: `IC 204`.
    pub number: String,
    /// As in URLs: `ic-204`.
    pub slug: String,
    /// The line it serves, by name in URLs.
    pub line: &'static str,
    /// Where it calls, first to last.
    pub calls: Vec<CallAt>,
    /// Its coaches, front to back.
    pub coaches: Vec<Coach>,
}

/// A call of a train at a station.
#[derive(Debug, Clone, Serialize)]
pub struct CallAt {
    /// The station.
    pub code: &'static str,
    /// Its name.
    pub station: &'static str,
    /// The arrival; none where the train starts.
    pub arrive: Option<Time>,
    /// The departure; none where it ends.
    pub depart: Option<Time>,
    /// The platform, known on the day.
    pub platform: u32,
    /// Kilometres from the start of its line.
    pub km: u32,
}

/// A coach and its seats.
#[derive(Debug, Clone, Serialize)]
pub struct Coach {
    /// A letter.
    pub letter: char,
    /// What it is: `Quiet`, `Family`, ...
    pub kind: &'static str,
    /// Seats in all.
    pub seats: u32,
    /// Seats free now.
    pub free: u32,
}

/// A way to get from one station to another.
#[derive(Debug, Clone, Serialize)]
pub struct Journey {
    /// Departure of the first train.
    pub depart: Time,
    /// Arrival of the last.
    pub arrive: Time,
    /// From departure to arrival.
    pub duration: String,
    /// The trains in order, with the places where one boards and leaves them.
    pub legs: Vec<Leg>,
}

/// One train of a journey.
#[derive(Debug, Clone, Serialize)]
pub struct Leg {
    /// The train.
    pub train: String,
    /// The train in URLs.
    pub slug: String,
    /// Where to board.
    pub from: &'static str,
    /// Where to get off.
    pub to: &'static str,
    /// When it leaves.
    pub depart: Time,
    /// When it arrives.
    pub arrive: Time,
}

/// A row of a departure board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Departure {
    /// Scheduled time.
    pub time: Time,
    /// The train.
    pub train: String,
    /// The train in URLs.
    pub slug: String,
    /// Where it goes.
    pub to: &'static str,
    /// The platform of today.
    pub platform: u32,
    /// `On time`, `Delayed 12 min` or `Cancelled`.
    pub status: String,
}

/// All trains of the day.
pub fn trains(seed: u64) -> Vec<Train> {
    LINES
        .iter()
        .flat_map(|line| [(line, false), (line, true)])
        .flat_map(|(line, back)| direction(seed, line, back))
        .collect()
}

fn direction(seed: u64, line: &'static Line, back: bool) -> Vec<Train> {
    let stops: Vec<Stop> = if back {
        let (_, minutes, km) = line.stops[line.stops.len() - 1];
        line.stops.iter().rev().map(|(code, at, far)| (*code, minutes - at, km - far)).collect()
    } else {
        line.stops.to_vec()
    };
    let mut numbered = Vec::new();
    for (nth, base) in (0u16..).zip(DEPARTURES) {
        // Odd numbers lead away from the first stop, even numbers back to it.
        let number = line.series * 100 + u32::from(nth) * 2 + if back { 2 } else { 1 };
        let mut draw = Seed::named(seed, &format!("train {number}"));
        let offset = if back { line.offsets.1 } else { line.offsets.0 };
        let start = Time(base.saturating_add_signed(offset)).plus(draw.between(0, 17) as u16);
        let number_text = format!("{} {number}", line.kind);
        numbered.push(Train {
            slug: number_text.to_lowercase().replace(' ', "-"),
            number: number_text,
            line: line.slug,
            calls: calls(&mut draw, start, &stops),
            coaches: coaches(&mut draw),
        });
    }
    numbered
}

fn calls(draw: &mut Seed, start: Time, stops: &[Stop]) -> Vec<CallAt> {
    let last = stops.len() - 1;
    let mut calls = Vec::new();
    for (nth, (code, minutes, km)) in stops.iter().enumerate() {
        let platforms = STATIONS
            .iter()
            .find(|station| station.code == *code)
            .map_or(1, |station| station.platforms);
        let at = start.plus(*minutes);
        calls.push(CallAt {
            code,
            station: station_name(code),
            arrive: (nth > 0).then_some(at),
            depart: (nth < last).then_some(if nth == 0 { at } else { at.plus(2) }),
            platform: draw.between(1, platforms),
            km: *km,
        });
    }
    calls
}

fn coaches(draw: &mut Seed) -> Vec<Coach> {
    let kinds = [
        ('A', "First", 36),
        ('B', "Quiet", 64),
        ('C', "Standard", 80),
        ('D', "Standard", 80),
        ('E', "Bicycles and family", 48),
    ];
    kinds
        .map(|(letter, kind, seats)| Coach {
            letter,
            kind,
            seats,
            free: draw.between(2, seats * 3 / 4),
        })
        .into()
}

impl Train {
    /// The calls at two stations when the train runs from the first to the second.
    pub fn between(&self, from: &str, to: &str) -> Option<(&CallAt, &CallAt)> {
        let board = self.calls.iter().position(|call| call.code == from)?;
        let leave = self.calls.iter().position(|call| call.code == to)?;
        (board < leave).then(|| (&self.calls[board], &self.calls[leave]))
    }

    fn leg(&self, from: &str, to: &str) -> Option<Leg> {
        let (board, leave) = self.between(from, to)?;
        let (number, slug) = (self.number.clone(), self.slug.clone());
        Some(Leg {
            train: number,
            slug,
            from: board.station,
            to: leave.station,
            depart: board.depart?,
            arrive: leave.arrive?,
        })
    }
}

/// Journeys direct or with one change, by departure; a journey that leaves no later and arrives no
/// earlier than another is left out.
pub fn journeys(trains: &[Train], from: &str, to: &str) -> Vec<Journey> {
    let mut found: Vec<Vec<Leg>> =
        trains.iter().filter_map(|train| train.leg(from, to)).map(|leg| vec![leg]).collect();
    if found.is_empty() && from != to {
        for first in trains {
            for change in first.calls.iter().map(|call| call.code) {
                let Some(one) = first.leg(from, change) else { continue };
                let onward = trains.iter().filter_map(|second| second.leg(change, to));
                let next = onward
                    .filter(|two| two.depart >= one.arrive.plus(CHANGE))
                    .min_by_key(|two| two.arrive);
                found.extend(next.map(|two| vec![one, two]));
            }
        }
    }
    let mut journeys: Vec<Journey> = found.into_iter().filter_map(journey).collect();
    journeys.sort_by_key(|journey| (journey.depart, journey.arrive));
    let beaten = |one: &Journey| {
        journeys.iter().any(|two| two.depart > one.depart && two.arrive <= one.arrive)
    };
    let mut kept: Vec<Journey> =
        journeys.iter().filter(|journey| !beaten(journey)).cloned().collect();
    kept.dedup_by_key(|journey| journey.depart);
    kept
}

fn journey(legs: Vec<Leg>) -> Option<Journey> {
    let (depart, arrive) = (legs.first()?.depart, legs.last()?.arrive);
    Some(Journey { depart, arrive, duration: duration(arrive.since(depart)), legs })
}

/// The departures of a station, with what the day brought: one train cancelled, some late.
pub fn board(trains: &[Train], code: &str) -> Vec<Departure> {
    let mut rows: Vec<Departure> = trains
        .iter()
        .filter_map(|train| {
            let call = train.calls.iter().find(|call| call.code == code)?;
            Some(Departure {
                time: call.depart?,
                train: train.number.clone(),
                slug: train.slug.clone(),
                to: train.calls.last()?.station,
                platform: call.platform,
                status: "On time".to_owned(),
            })
        })
        .collect();
    rows.sort_by_key(|row| (row.time, row.train.clone()));
    let mut draw = Seed::named(rows.iter().map(|row| u64::from(row.time.0)).sum(), code);
    let cancelled = draw.between(1, rows.len().saturating_sub(2).max(1) as u32) as usize;
    for (nth, row) in rows.iter_mut().enumerate() {
        if nth == cancelled {
            row.status = "Cancelled".to_owned();
        } else if draw.between(0, 3) == 0 {
            row.status = format!("Delayed {} min", draw.between(4, 19));
        }
    }
    rows
}
