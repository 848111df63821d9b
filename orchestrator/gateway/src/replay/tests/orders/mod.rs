//! Small sites are used in random orders, live and from a recording in which each of their actions
//! was done in one order. What is shown has to be the same, or the ledger has to say that it may
//! not be.

mod browser;
mod sites;

use browser::{Browser, RecordedVisit, Server};
use sites::{Action, SITES, SmallSite};

use super::*;
use crate::Visit;

/// How many orders of how many actions are tried, of each site.
const ORDERS: u64 = 50;
const ACTIONS: u64 = 8;
const RECORDED_ACTIONS: u64 = 14;

/// A small generator of numbers, the same on every machine (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % limit
    }
}

/// What came of the orders of one site.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    steps: u32,
    equal: u32,
    /// Of the equal ones, those of which the ledger says that they may not be.
    doubted: u32,
    labelled: u32,
    silent: u32,
}

/// How a site is recorded, and given back.
#[derive(Clone, Copy)]
struct Trial {
    states: StatePolicy,
    /// For the orders that are tried.
    seed: u64,
    /// In a random order of actions, and not by its oracle.
    random: bool,
    /// What was seen is asked again after each write.
    asks_again: bool,
}

/// Records a site.
fn record(site: &SmallSite, trial: Trial) -> World {
    let world = World::new();
    let visit = trial.asks_again.then(|| Arc::new(Visit::new(24)));
    let recorded = Some(RecordedVisit { world: &world, visit });
    let mut browser = Browser::new(Server::Live { site: (site.new)(), recorded });
    browser.enter("/");
    match trial.random {
        false => site.oracle.iter().for_each(|name| (action(site, name).act)(&mut browser)),
        true => {
            let mut numbers = Numbers(trial.seed);
            (0..RECORDED_ACTIONS)
                .for_each(|_| (offered(site, &browser, &mut numbers).act)(&mut browser));
        }
    }
    browser.end();
    world
}

/// One of the actions that a page offers.
fn offered<'a>(site: &'a SmallSite, browser: &Browser<'_>, numbers: &mut Numbers) -> &'a Action {
    let all: Vec<&Action> =
        site.actions.iter().filter(|action| browser.offers(action.needs)).collect();
    all[numbers.below(all.len() as u64) as usize]
}

fn action<'a>(site: &'a SmallSite, name: &str) -> &'a Action {
    site.actions.iter().find(|action| action.name == name).unwrap()
}

/// Plays random orders. With states, nothing may be wrong that is not said to be.
fn play(site: &SmallSite, trial: Trial) -> Tally {
    let world = record(site, trial);
    let Trial { states, seed, .. } = trial;
    let replay = world.replay(ReplayOptions { states, ..ReplayOptions::default() });
    let mut tally = Tally::default();
    for order in 0..ORDERS {
        let mut numbers = Numbers(seed << 32 | order);
        let mut live = Browser::new(Server::Live { site: (site.new)(), recorded: None });
        let mut recorded = Browser::new(Server::Recorded {
            replay: &replay,
            episode: Box::new(at(RECORDED * 1000)),
        });
        let mut done = Vec::new();
        live.enter("/");
        recorded.enter("/");
        for _ in 0..ACTIONS {
            let action = offered(site, &live, &mut numbers);
            done.push(action.name);
            (action.act)(&mut live);
            let was_doubted = recorded.doubts;
            (action.act)(&mut recorded);
            tally.steps += 1;
            let is_labelled = recorded.doubts > was_doubted;
            if live.text() == recorded.text() {
                tally.equal += 1;
                tally.doubted += u32::from(recorded.doubts > was_doubted);
                continue;
            }
            assert!(
                is_labelled || states == StatePolicy::Order,
                "{}: after {done:?} the site shows {:?} and the recording {:?}, and nothing says so",
                site.name,
                live.text(),
                recorded.text()
            );
            tally.labelled += u32::from(is_labelled);
            tally.silent += u32::from(!is_labelled);
            // The two are at different places now.
            break;
        }
    }
    tally
}

fn sum(trial: Trial) -> Tally {
    // What changes by itself and was asked for less often says nothing of it.
    let sites = SITES.iter().filter(|site| !trial.random || site.name != "job");
    sites.fold(Tally::default(), |sum, site| {
        let tally = play(site, trial);
        println!("{:12} {tally:?}", site.name);
        Tally {
            steps: sum.steps + tally.steps,
            equal: sum.equal + tally.equal,
            doubted: sum.doubted + tally.doubted,
            labelled: sum.labelled + tally.labelled,
            silent: sum.silent + tally.silent,
        }
    })
}

#[test]
fn sites_are_the_same_in_any_order_or_it_is_said() {
    let by_states =
        Trial { states: StatePolicy::Nearest, seed: 7, random: false, asks_again: false };
    let with_states = sum(by_states);
    let asked_again = sum(Trial { asks_again: true, ..by_states });
    let by_turns = sum(Trial { states: StatePolicy::Order, ..by_states });
    println!(
        "with states  {with_states:?}\nasked again  {asked_again:?}\nby turns     {by_turns:?}"
    );
    assert!(with_states.equal * 100 >= with_states.steps * 90 && with_states.silent == 0);
    assert!(asked_again.equal * 100 >= asked_again.steps * 90 && asked_again.silent == 0);
    assert!(by_turns.silent > 100, "the sites do not show what states are for");
}

#[test]
fn what_was_recorded_at_random_is_not_wrong_in_silence_either() {
    for seed in 0..std::env::var("SEEDS").map_or(3, |seeds| seeds.parse().unwrap()) {
        let trial = Trial { states: StatePolicy::Nearest, seed, random: true, asks_again: false };
        println!("{seed} {:?}", sum(trial));
        println!("{seed} asked again {:?}", sum(Trial { asks_again: true, ..trial }));
    }
}
