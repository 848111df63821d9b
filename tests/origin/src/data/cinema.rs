//! Films, cinemas, screenings and ratings.

use serde::Serialize;

use super::WEEKEND;
use super::clock::Time;
use super::fares::pounds;
use super::seed::Seed;

/// A film in the cinemas.
#[derive(Debug, Clone, Serialize)]
pub struct Film {
    /// The film in URLs.
    pub slug: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Who directed it.
    pub director: &'static str,
    /// What kind of film.
    pub genre: &'static str,
    /// Minutes.
    pub minutes: u16,
    /// From what age.
    pub age: u32,
    /// What it is about.
    pub story: &'static str,
    /// Whether its music can be heard on its page.
    pub music: bool,
    /// Audience score out of ten, in tenths; no two films share one.
    pub audience_tenths: u32,
    /// Share of favourable reviews, in per cent.
    pub critics: u32,
    /// How many rated it.
    pub votes: u32,
}

/// A cinema.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Cinema {
    /// The cinema in URLs.
    pub slug: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its city.
    pub city: &'static str,
    /// Its street address.
    pub address: &'static str,
    /// Its nearest station.
    pub station: &'static str,
    /// Minutes on foot from there.
    pub walk: u32,
    /// Number of screens.
    pub screens: u32,
    /// What to know about it.
    pub about: &'static str,
}

/// A screening.
#[derive(Debug, Clone, Serialize)]
pub struct Screening {
    /// The cinema, as in URLs.
    pub cinema: &'static str,
    /// The film, as in URLs.
    pub film: &'static str,
    /// The day, `YYYY-MM-DD`.
    pub day: &'static str,
    /// When it starts.
    pub time: Time,
    /// Which screen.
    pub screen: u32,
    /// The price of a ticket in pounds.
    pub price: String,
    /// `subtitled`, `original version` or nothing.
    pub note: &'static str,
}

macro_rules! films {
    ($($slug:literal $title:literal $director:literal $genre:literal $minutes:literal $age:literal $story:literal)*) => {
        [$(($slug, $title, $director, $genre, $minutes, $age, $story)),*]
    };
}

type Billed = (&'static str, &'static str, &'static str, &'static str, u16, u32, &'static str);

#[rustfmt::skip]
const FILMS: [Billed; 12] = films! {
    "the-salt-road" "The Salt Road" "Imre Valdane" "Drama" 128 12 "Two sisters walk their late father's smuggling route from the coast to the border, and find who informed on him."
    "paper-lanterns" "Paper Lanterns" "Sook-ja Merrin" "Romance" 104 6 "A lantern maker and a fire inspector keep missing each other for one whole winter."
    "nine-minutes-to-dawn" "Nine Minutes to Dawn" "Carla Oduya" "Thriller" 97 16 "A night-shift signaller sees the same train pass twice."
    "the-beekeepers-trial" "The Beekeeper's Trial" "Tomas Ferrier" "Drama" 141 12 "A village sues an old man for the honey his bees took from the manor gardens."
    "orbit-of-small-things" "Orbit of Small Things" "Lene Askvold" "Science fiction" 119 6 "The last repairwoman of a space station writes letters to the people whose satellites she mends."
    "captain-marmalade" "Captain Marmalade" "Priya Tolland" "Animation" 88 0 "A ship's cat takes command when the crew comes down with hiccups."
    "low-tide" "Low Tide" "Imre Valdane" "Crime" 112 16 "A harbour diver finds a car that was reported stolen tomorrow."
    "the-quiet-orchestra" "The Quiet Orchestra" "Anouk Delmar" "Documentary" 93 0 "A year with forty players who rehearse without ever sounding a note."
    "winter-parliament" "Winter Parliament" "Jonas Quill" "Comedy" 101 6 "Snowed in for a week, a cabinet has to cook for itself."
    "the-cartographer" "The Cartographer" "Ines Mbeki" "Adventure" 134 12 "She draws the island before anybody has found it."
    "a-hundred-umbrellas" "A Hundred Umbrellas" "Sook-ja Merrin" "Comedy" 95 0 "The lost property office of a railway holds its yearly sale."
    "glasshouse" "Glasshouse" "Carla Oduya" "Horror" 106 18 "The botanist's new orchid only grows when it is watched."
};

/// All cinemas.
#[rustfmt::skip]
pub const CINEMAS: [Cinema; 6] = [
    Cinema { slug: "lantern", name: "The Lantern", city: "Aldport", address: "4 Chandler Row", station: "ALD", walk: 9, screens: 4, about: "Art house with a bar on the roof." },
    Cinema { slug: "harbour-picturehouse", name: "Harbour Picturehouse", city: "Aldport", address: "88 Quayside", station: "KEL", walk: 14, screens: 7, about: "The biggest screen in the country, in a former grain store." },
    Cinema { slug: "regent", name: "Regent", city: "Brackwater", address: "1 Ferry Square", station: "BRW", walk: 4, screens: 3, about: "Red plush since 1931." },
    Cinema { slug: "millstone", name: "Millstone", city: "Dunmere", address: "23 Weir Lane", station: "DUN", walk: 12, screens: 2, about: "Two rooms in the old flour mill, the wheel still turns." },
    Cinema { slug: "orrery", name: "The Orrery", city: "Eastholm", address: "7 Observatory Walk", station: "EAS", walk: 17, screens: 5, about: "Run by the university film society." },
    Cinema { slug: "junction-electric", name: "Junction Electric", city: "Carrow", address: "2 Station Parade", station: "CAR", walk: 2, screens: 2, about: "Between two trains, at matinee prices." },
];

/// All films with this world's ratings.
pub fn films(seed: u64) -> Vec<Film> {
    let mut draw = Seed::named(seed, "ratings");
    let mut scores: Vec<u32> = (58..=92).step_by(2).collect();
    draw.shuffle(&mut scores);
    let rated = FILMS.iter().zip(scores).enumerate();
    rated
        .map(|(nth, ((slug, title, director, genre, minutes, age, story), audience_tenths))| Film {
            slug,
            title,
            director,
            genre,
            minutes: *minutes,
            age: *age,
            story,
            music: nth % 4 == 0,
            audience_tenths,
            critics: draw.between(41, 98),
            votes: draw.between(180, 4_900),
        })
        .collect()
}

/// All screenings of the weekend.
pub fn screenings(seed: u64) -> Vec<Screening> {
    let slots = [14 * 60 + 15, 16 * 60 + 40, 18 * 60 + 30, 20 * 60 + 20, 22 * 60 + 5];
    let mut screenings = Vec::new();
    for cinema in &CINEMAS {
        let mut draw = Seed::named(seed, cinema.slug);
        let mut bill: Vec<&Billed> = FILMS.iter().collect();
        draw.shuffle(&mut bill);
        bill.truncate(4 + cinema.screens as usize / 3);
        for (day, _) in WEEKEND {
            for slot in slots {
                let film = draw.pick(&bill).0;
                let evening = slot >= 18 * 60;
                screenings.push(Screening {
                    cinema: cinema.slug,
                    film,
                    day,
                    time: Time(slot + draw.between(0, 5) as u16 * 5),
                    screen: draw.between(1, cinema.screens),
                    price: pounds(650 + draw.between(0, 5) * 50 + if evening { 250 } else { 0 }),
                    note: draw.pick::<&str>(&["", "", "subtitled", "original version"]),
                });
            }
        }
    }
    screenings
}

/// The cinema with a name in URLs.
pub fn cinema(slug: &str) -> Option<&'static Cinema> {
    CINEMAS.iter().find(|cinema| cinema.slug == slug)
}

/// Films whose title, director, genre or story holds every word of a query, in any case.
pub fn search<'a>(films: &'a [Film], query: &str) -> Vec<&'a Film> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let holds = |film: &&Film| {
        let text = format!("{} {} {} {}", film.title, film.director, film.genre, film.story)
            .to_lowercase();
        !words.is_empty() && words.iter().all(|word| text.contains(word.as_str()))
    };
    films.iter().filter(holds).collect()
}
