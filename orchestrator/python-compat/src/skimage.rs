//! `skimage.metrics.structural_similarity` of two grey pictures of eight bits, with its defaults.

/// Each pixel is looked at with those around it, in a square so wide.
const WINDOW: usize = 7;

/// The sums over a window of two pictures' values, their squares and their products.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    x: i64,
    y: i64,
    xx: i64,
    yy: i64,
    xy: i64,
}

impl Sums {
    /// With a pair of values that comes in, or goes out where `sign` is -1.
    fn add(&mut self, x: u8, y: u8, sign: i64) {
        let (x, y) = (i64::from(x), i64::from(y));
        self.x += sign * x;
        self.y += sign * y;
        self.xx += sign * x * x;
        self.yy += sign * y * y;
        self.xy += sign * x * y;
    }

    fn add_all(&mut self, other: &Sums, sign: i64) {
        self.x += sign * other.x;
        self.y += sign * other.y;
        self.xx += sign * other.xx;
        self.yy += sign * other.yy;
        self.xy += sign * other.xy;
    }

    /// How alike the two are here, at most 1.
    fn likeness(&self) -> f64 {
        const PIXELS: f64 = (WINDOW * WINDOW) as f64;
        /// Of the covariance of a sample.
        const NORM: f64 = PIXELS / (PIXELS - 1.0);
        const C1: f64 = (0.01 * 255.0) * (0.01 * 255.0);
        const C2: f64 = (0.03 * 255.0) * (0.03 * 255.0);
        let mean = |sum: i64| sum as f64 / PIXELS;
        let (x, y) = (mean(self.x), mean(self.y));
        let x_variance = NORM * (mean(self.xx) - x * x);
        let y_variance = NORM * (mean(self.yy) - y * y);
        let covariance = NORM * (mean(self.xy) - x * y);
        (2.0 * x * y + C1) * (2.0 * covariance + C2)
            / ((x * x + y * y + C1) * (x_variance + y_variance + C2))
    }
}

/// The mean likeness over all windows that lie within the pictures, which are as wide as `width`
/// and equally high; nothing where they are too small for one, and the original raises
/// `ValueError`.
pub fn structural_similarity(one: &[u8], other: &[u8], width: usize) -> Option<f64> {
    let height = one.len().checked_div(width)?;
    if width < WINDOW || height < WINDOW || one.len() != other.len() {
        return None;
    }
    let mut columns = vec![Sums::default(); width];
    let add_row = |columns: &mut [Sums], row: usize, sign: i64| {
        let (start, end) = (row * width, (row + 1) * width);
        for ((sums, x), y) in columns.iter_mut().zip(&one[start..end]).zip(&other[start..end]) {
            sums.add(*x, *y, sign);
        }
    };
    let mut total = 0.0;
    for row in 0..height {
        add_row(&mut columns, row, 1);
        if row + 1 < WINDOW {
            continue;
        }
        let mut window = Sums::default();
        columns[..WINDOW - 1].iter().for_each(|sums| window.add_all(sums, 1));
        for (entering, leaving) in columns[WINDOW - 1..].iter().zip(&columns) {
            window.add_all(entering, 1);
            total += window.likeness();
            window.add_all(leaving, -1);
        }
        add_row(&mut columns, row + 1 - WINDOW, -1);
    }
    Some(total / ((width - WINDOW + 1) * (height - WINDOW + 1)) as f64)
}
