//! Forecasts by city.

use serde::Serialize;

use super::places::CITIES;
use super::seed::Seed;
use super::{TODAY, WEEKEND};

/// The forecast of a city.
#[derive(Debug, Clone, Serialize)]
pub struct Forecast {
    /// The city, as in URLs.
    pub city: &'static str,
    /// Today and the weekend.
    pub days: Vec<Day>,
}

/// The forecast of a day.
#[derive(Debug, Clone, Serialize)]
pub struct Day {
    /// `YYYY-MM-DD`.
    pub date: &'static str,
    /// In words.
    pub sky: &'static str,
    /// Degrees Celsius at noon.
    pub high: u32,
    /// Chance of rain in per cent; no two cities share one on the same day.
    pub rain: u32,
}

/// All forecasts.
pub fn forecasts(seed: u64) -> Vec<Forecast> {
    let dates = [TODAY, WEEKEND[0].0, WEEKEND[1].0, WEEKEND[2].0];
    let mut forecasts: Vec<Forecast> =
        CITIES.iter().map(|city| Forecast { city: city.slug, days: Vec::new() }).collect();
    for date in dates {
        let mut draw = Seed::named(seed, &format!("weather {date}"));
        let mut chances: Vec<u32> = (0..=95).step_by(5).collect();
        draw.shuffle(&mut chances);
        for (forecast, rain) in forecasts.iter_mut().zip(chances) {
            let sky = match rain {
                0..=15 => "Sunny",
                20..=40 => "Fair",
                45..=65 => "Cloudy",
                70..=80 => "Showers",
                _ => "Rain",
            };
            forecast.days.push(Day { date, sky, high: draw.between(6, 15), rain });
        }
    }
    forecasts
}
