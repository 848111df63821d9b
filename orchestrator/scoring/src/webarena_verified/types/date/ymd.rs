//! The assignment of up to three numbers to the year, the month and the day.

use jiff::civil::Date as Day;

/// The numbers in the order of the text, with the places of those that are known.
#[derive(Debug, Default)]
pub(super) struct Ymd {
    values: Vec<i64>,
    year: Option<usize>,
    month: Option<usize>,
    day: Option<usize>,
    pub(super) century_specified: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Label {
    Unknown,
    Year,
    Month,
}

impl Ymd {
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Digits; three and more are a year.
    pub(super) fn push_text(&mut self, text: &str, label: Label) -> Option<()> {
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits {
            return None;
        }
        self.push_labelled(text.parse().unwrap_or(i64::MAX), label, text.len() > 2)
    }

    /// A number; above 100 it is a year.
    pub(super) fn push(&mut self, value: i64, has_fraction: bool, label: Label) -> Option<()> {
        self.push_labelled(value, label, value > 100 || (value == 100 && has_fraction))
    }

    fn push_labelled(&mut self, value: i64, label: Label, is_year: bool) -> Option<()> {
        self.century_specified |= is_year;
        let label = match (is_year, label) {
            (true, Label::Month) => return None,
            (true, _) => Label::Year,
            (false, label) => label,
        };
        let place = self.values.len();
        self.values.push(value);
        let known = match label {
            Label::Unknown => return Some(()),
            Label::Year => &mut self.year,
            Label::Month => &mut self.month,
        };
        match known {
            Some(_) => None,
            None => {
                *known = Some(place);
                Some(())
            }
        }
    }

    pub(super) fn could_be_day(&self, value: i64, has_fraction: bool) -> bool {
        let at = |place: Option<usize>| place.and_then(|place| self.values.get(place)).copied();
        let days = match (at(self.month), at(self.year)) {
            (None, _) => 31,
            (Some(month), None) => days_in(2000, month),
            (Some(month), Some(year)) => days_in(year, month),
        };
        self.day.is_none() && value >= 1 && (value < days || (value == days && !has_fraction))
    }

    /// Year, month and day, with the month before the day where both could be.
    pub(super) fn resolve(&self) -> Option<[Option<i64>; 3]> {
        let known = [self.year, self.month, self.day];
        let count = known.iter().flatten().count();
        let length = self.values.len();
        if (length == count && count > 0) || (length == 3 && count == 2) {
            return self.by_labels(known);
        }
        let v = &self.values;
        // As in `dateutil`'s `resolve_ymd`, a number above 31 can only be a year.
        Some(match (v.as_slice(), self.month) {
            ([], _) => [None, None, None],
            ([only], Some(_)) => [None, Some(*only), None],
            ([only], None) if *only > 31 => [Some(*only), None, None],
            ([only], None) => [None, None, Some(*only)],
            ([a, b], Some(place)) => {
                let (month, other) = if place == 0 { (*a, *b) } else { (*b, *a) };
                if other > 31 {
                    [Some(other), Some(month), None]
                } else {
                    [None, Some(month), Some(other)]
                }
            }
            ([a, b], None) if *a > 31 => [Some(*a), Some(*b), None],
            ([a, b], None) if *b > 31 => [Some(*b), Some(*a), None],
            ([a, b], None) => [None, Some(*a), Some(*b)],
            ([a, b, c], Some(0)) if *b > 31 => [Some(*b), Some(*a), Some(*c)],
            ([a, b, c], Some(0)) => [Some(*c), Some(*a), Some(*b)],
            ([a, b, c], Some(1)) if *a > 31 => [Some(*a), Some(*b), Some(*c)],
            ([a, b, c], Some(1)) => [Some(*c), Some(*b), Some(*a)],
            ([a, b, c], Some(_)) if *b > 31 => [Some(*b), Some(*c), Some(*a)],
            ([a, b, c], Some(_)) => [Some(*a), Some(*c), Some(*b)],
            ([a, b, c], None) if *a > 31 || self.year == Some(0) => [Some(*a), Some(*b), Some(*c)],
            ([a, b, c], None) if *a > 12 => [Some(*c), Some(*b), Some(*a)],
            ([a, b, c], None) => [Some(*c), Some(*a), Some(*b)],
            _ => return None,
        })
    }

    /// Two labels say what the third number is.
    fn by_labels(&self, mut known: [Option<usize>; 3]) -> Option<[Option<i64>; 3]> {
        if self.values.len() == 3 {
            let free = (0..3).find(|place| !known.contains(&Some(*place)));
            for label in &mut known {
                if label.is_none() {
                    *label = free;
                }
            }
        }
        Some(known.map(|place| place.and_then(|place| self.values.get(place)).copied()))
    }
}

/// Days of a month, in years of any number.
pub(super) fn days_in(year: i64, month: i64) -> i64 {
    let year = i16::try_from(2000 + year.rem_euclid(400)).unwrap_or(2000);
    let first = i8::try_from(month).ok().and_then(|month| Day::new(year, month, 1).ok());
    first.map_or(0, |first| i64::from(first.days_in_month()))
}
