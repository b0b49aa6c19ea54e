//! Measures the rate of false positives for 1 to 20 hashes per key in the same memory, and draws it.
//!
//! ```text
//! cargo run --release --example rate_against_hashes [FILE.svg]
//! ```
//!
//! Writes `docs/img/rate_against_hashes.svg`, the plot on the first page of `docs/maths.md`, and prints its numbers.
//! Keys and seeds are fixed, so that it comes out the same every time. Takes a few seconds.
//!
//! The filter measured here is the plainest there is, a bit array and double hashing, and shares nothing with the
//! library but the digests.

#![allow(clippy::cast_possible_truncation, reason = "everything here is small")]

use std::fmt::Write as _;
use std::path::PathBuf;

use mayhap::hash::KeyHasher;

/// Keys in each filter.
const KEYS: u64 = 100_000;
/// Bits for each key: m/n.
const BITS_PER_KEY: u64 = 10;
/// Absent keys asked for in each filter.
const QUESTIONS: u64 = 500_000;
/// Filters for each number of hashes, each with its own seed.
const FILTERS: u64 = 8;
/// The numbers of hashes.
const HASHES: std::ops::RangeInclusive<u32> = 1..=20;

fn main() -> std::io::Result<()> {
    let default = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/img/rate_against_hashes.svg");
    let path = std::env::args_os().nth(1).map_or(default, PathBuf::from);

    println!("| hashes | measured | 95 % interval | formula |\n|---|---|---|---|");
    let points: Vec<Point> = HASHES.map(measure).collect();
    for point in &points {
        let Point { hashes, rate, interval } = point;
        println!(
            "| {hashes} | {:.3} % | ± {:.3} % | {:.3} % |",
            rate * 100.0,
            interval * 100.0,
            formula(f64::from(*hashes)) * 100.0
        );
    }
    std::fs::write(path, draw(&points))
}

/// One measured rate.
struct Point {
    hashes: u32,
    rate: f64,
    /// Half the width of the 95 % interval, from the spread between filters.
    interval: f64,
}

/// The bits, and two hash functions to find positions with.
struct Bitmap {
    words: Vec<u64>,
    bits: u64,
    hashers: [KeyHasher; 2],
}

impl Bitmap {
    /// The first `hashes` positions of a key: x, x + d, x + 2d …, scaled from 64 bits to the size of the map.
    fn positions(&self, key: u64, hashes: u32) -> impl Iterator<Item = u64> + use<> {
        let [start, step] = self.hashers.each_ref().map(|hasher| hasher.digest(&key).get());
        let bits = u128::from(self.bits);
        (0..u64::from(hashes)).map(move |i| {
            let x = start.wrapping_add(i.wrapping_mul(step));
            ((u128::from(x) * bits) >> 64) as u64
        })
    }

    fn insert(&mut self, key: u64, hashes: u32) {
        for position in self.positions(key, hashes) {
            self.words[(position / 64) as usize] |= 1 << (position % 64);
        }
    }

    fn contains(&self, key: u64, hashes: u32) -> bool {
        self.positions(key, hashes)
            .all(|position| (self.words[(position / 64) as usize] >> (position % 64)) & 1 == 1)
    }
}

fn measure(hashes: u32) -> Point {
    let rates: Vec<f64> = (0..FILTERS)
        .map(|filter| {
            let bits = KEYS * BITS_PER_KEY;
            let mut bitmap = Bitmap {
                words: vec![0; bits.div_ceil(64) as usize],
                bits,
                hashers: [KeyHasher::xxh3(2 * filter), KeyHasher::xxh3(2 * filter + 1)],
            };
            (0..KEYS).for_each(|key| bitmap.insert(key, hashes));
            let wrong = (KEYS..KEYS + QUESTIONS).filter(|key| bitmap.contains(*key, hashes)).count();
            wrong as f64 / QUESTIONS as f64
        })
        .collect();
    let filters = FILTERS as f64;
    let rate = rates.iter().sum::<f64>() / filters;
    let variance = rates.iter().map(|r| (r - rate) * (r - rate)).sum::<f64>() / (filters - 1.0);
    // 2.36 is Student's factor for eight filters.
    Point { hashes, rate, interval: 2.36 * (variance / filters).sqrt() }
}

/// (1 - e^(-kn/m))^k, for any real k.
fn formula(k: f64) -> f64 {
    (1.0 - (-k / BITS_PER_KEY as f64).exp()).powf(k)
}

/// Where the formula has its minimum.
fn best() -> f64 {
    BITS_PER_KEY as f64 * std::f64::consts::LN_2
}

/// A rectangle of the picture with its own axes.
struct Axes {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    hashes: (f64, f64),
    /// Rates in per cent.
    rates: (f64, f64),
}

impl Axes {
    fn x(&self, hashes: f64) -> f64 {
        self.left + self.width * (hashes - self.hashes.0) / (self.hashes.1 - self.hashes.0)
    }

    fn y(&self, rate: f64) -> f64 {
        self.top + self.height * (1.0 - (rate * 100.0 - self.rates.0) / (self.rates.1 - self.rates.0))
    }

    fn shows(&self, hashes: f64, rate: f64) -> bool {
        (self.hashes.0..=self.hashes.1).contains(&hashes)
            && (self.rates.0..=self.rates.1).contains(&(rate * 100.0))
    }

    fn bottom(&self) -> f64 {
        self.top + self.height
    }

    fn right(&self) -> f64 {
        self.left + self.width
    }

    /// Frame, grid, the line at the best number of hashes, the formula, and the measured points.
    fn draw(&self, svg: &mut String, every_hash: u32, every_rate: f64, decimals: usize, points: &[Point]) {
        let (left, top, right, bottom) = (self.left, self.top, self.right(), self.bottom());
        let steps = ((self.rates.1 - self.rates.0) / every_rate).round() as u32;
        for step in 0..=steps {
            let rate = self.rates.0 + f64::from(step) * every_rate;
            let y = self.y(rate / 100.0);
            line(svg, "grid", (left, y), (right, y));
            text(svg, "end", (left - 6.0, y + 4.0), &format!("{rate:.decimals$} %"));
        }
        for hashes in HASHES.filter(|hashes| hashes % every_hash == 0 || *hashes == 1) {
            if f64::from(hashes) >= self.hashes.0 && f64::from(hashes) <= self.hashes.1 {
                let x = self.x(f64::from(hashes));
                line(svg, "axis", (x, bottom), (x, bottom + 4.0));
                text(svg, "middle", (x, bottom + 18.0), &hashes.to_string());
            }
        }
        line(svg, "best", (self.x(best()), top), (self.x(best()), bottom));
        line(svg, "axis", (left, bottom), (right, bottom));
        line(svg, "axis", (left, top), (left, bottom));

        let curve: Vec<String> = (0..=480)
            .map(|i| 1.0 + 19.0 * f64::from(i) / 480.0)
            .filter(|k| self.shows(*k, formula(*k)))
            .map(|k| format!("{:.1},{:.1}", self.x(k), self.y(formula(k))))
            .collect();
        let _ = writeln!(svg, r#"<polyline class="formula" points="{}"/>"#, curve.join(" "));
        for point in points {
            let hashes = f64::from(point.hashes);
            if !self.shows(hashes, point.rate) {
                continue;
            }
            let (x, low, high) =
                (self.x(hashes), self.y(point.rate - point.interval), self.y(point.rate + point.interval));
            line(svg, "error", (x, low), (x, high));
            line(svg, "error", (x - 4.0, low), (x + 4.0, low));
            line(svg, "error", (x - 4.0, high), (x + 4.0, high));
            let _ =
                writeln!(svg, r#"<circle class="point" cx="{x:.1}" cy="{:.1}" r="3"/>"#, self.y(point.rate));
        }
    }
}

fn draw(points: &[Point]) -> String {
    let (width, height) = (760.0, 460.0);
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-labelledby="title description">
<title id="title">Rate of false positives against the number of hashes</title>
<desc id="description">Measured in filters of {BITS_PER_KEY} bits per key with 1 to 20 hashes: 9.5 % with one hash, lowest at 7 hashes with 0.82 %, and rising again to 5.4 % with 20. The points lie on the curve of the formula.</desc>
<style>
  .paper {{ fill: #ffffff; }}
  .inset {{ fill: #ffffff; stroke: #d0d7de; }}
  .grid {{ stroke: #d8dee4; stroke-width: 1; }}
  .axis {{ stroke: #24292f; stroke-width: 1; }}
  .best {{ stroke: #24292f; stroke-width: 1.2; stroke-dasharray: 5 4; }}
  .formula {{ fill: none; stroke: #0b63c5; stroke-width: 1.8; }}
  .error {{ stroke: #b3261e; stroke-width: 1.4; }}
  .point {{ fill: #b3261e; }}
  text {{ fill: #24292f; font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }}
  .strong {{ font-weight: 600; }}
  @media (prefers-color-scheme: dark) {{
    .paper {{ fill: #0d1117; }}
    .inset {{ fill: #0d1117; stroke: #3d444d; }}
    .grid {{ stroke: #2a313a; }}
    .axis, .best {{ stroke: #e6edf3; }}
    .formula {{ stroke: #6cb6ff; }}
    .error {{ stroke: #ff9a8d; }}
    .point {{ fill: #ff9a8d; }}
    text {{ fill: #e6edf3; }}
  }}
</style>
<rect class="paper" width="{width}" height="{height}" rx="6"/>"#
    );

    let all =
        Axes { left: 74.0, top: 44.0, width: 664.0, height: 352.0, hashes: (0.0, 20.5), rates: (0.0, 10.0) };
    all.draw(&mut svg, 1, 1.0, 0, points);
    titled(
        &mut svg,
        "strong",
        "start",
        (74.0, 26.0),
        "Rate of false positives against hashes per key, at 10 bits per key",
    );
    titled(&mut svg, "", "middle", (all.left + all.width / 2.0, all.bottom() + 42.0), "hashes per key (k)");
    let _ = writeln!(
        svg,
        r#"<text text-anchor="middle" transform="translate(20 {:.1}) rotate(-90)">rate of false positives</text>"#,
        all.top + all.height / 2.0
    );
    titled(&mut svg, "", "start", (all.x(best()) + 7.0, all.top + 14.0), "(m/n) ln 2 = 6.93");

    // The bottom of the valley, where the intervals can be seen.
    let _ = writeln!(svg, r#"<rect class="inset" x="326" y="76" width="290" height="170" rx="4"/>"#);
    let valley =
        Axes { left: 392.0, top: 92.0, width: 210.0, height: 112.0, hashes: (4.5, 9.5), rates: (0.8, 1.0) };
    valley.draw(&mut svg, 1, 0.05, 2, points);
    titled(
        &mut svg,
        "",
        "middle",
        (valley.left + valley.width / 2.0, valley.bottom() + 34.0),
        "the valley, enlarged",
    );

    // The legend.
    let (x, y) = (all.x(11.6), all.y(0.0035));
    line(&mut svg, "formula", (x, y - 22.0), (x + 26.0, y - 22.0));
    titled(&mut svg, "", "start", (x + 34.0, y - 18.0), "(1 − e^(−kn/m))^k");
    line(&mut svg, "error", (x + 13.0, y - 7.0), (x + 13.0, y + 7.0));
    line(&mut svg, "error", (x + 9.0, y - 7.0), (x + 17.0, y - 7.0));
    line(&mut svg, "error", (x + 9.0, y + 7.0), (x + 17.0, y + 7.0));
    let _ = writeln!(svg, r#"<circle class="point" cx="{:.1}" cy="{y:.1}" r="3"/>"#, x + 13.0);
    titled(&mut svg, "", "start", (x + 34.0, y + 4.0), "measured, with 95 % interval");

    svg.push_str("</svg>\n");
    svg
}

fn line(svg: &mut String, class: &str, from: (f64, f64), to: (f64, f64)) {
    let _ = writeln!(
        svg,
        r#"<line class="{class}" x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}"/>"#,
        from.0, from.1, to.0, to.1
    );
}

fn text(svg: &mut String, anchor: &str, at: (f64, f64), what: &str) {
    titled(svg, "", anchor, at, what);
}

fn titled(svg: &mut String, class: &str, anchor: &str, at: (f64, f64), what: &str) {
    let _ = writeln!(
        svg,
        r#"<text class="{class}" text-anchor="{anchor}" x="{:.1}" y="{:.1}">{what}</text>"#,
        at.0, at.1
    );
}
