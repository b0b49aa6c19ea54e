//! The plot of costs against sizes.

use std::fmt::Write as _;

use super::Costs;
use crate::report;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 730.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 360.0;

/// Name, class and figure of each curve.
type Curve = (&'static str, &'static str, fn(&Costs) -> f64);

const CURVES: [Curve; 4] = [
    ("insert", "insert", |costs| costs.insert),
    ("present key", "hit", |costs| costs.hit),
    ("absent key", "miss", |costs| costs.miss),
    ("one random line, nothing else", "limit", |costs| costs.limit),
];

/// An SVG of its own, without script or font.
pub(super) fn draw(all: &[Costs], rate: f64) -> String {
    let most = all.iter().flat_map(|costs| CURVES.map(|(_, _, figure)| figure(costs))).fold(1.0, f64::max);
    let axes = Axes { all, most: (most / 10.0).ceil() * 10.0 };
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" aria-labelledby="title description">
<title id="title">What an operation costs, from 10 thousand to a billion keys</title>
<desc id="description">Nanoseconds of CPU time for a key, in batches, of a BloomFilter at {}; beside it reading one random line of an array as large.</desc>
<style>
svg {{ background: #fff; font: 12px sans-serif; }}
.grid {{ stroke: #ddd; }} .axis {{ stroke: #333; }} .border {{ stroke: #999; stroke-dasharray: 4 3; }}
polyline {{ fill: none; stroke-width: 2; }}
.insert {{ stroke: #b3541e; }} .hit {{ stroke: #1b6ca8; }} .miss {{ stroke: #2e8b57; }} .limit {{ stroke: #888; stroke-dasharray: 2 3; }}
</style>"##,
        report::percent(rate)
    );
    axes.frame(&mut svg);
    for (place, (name, class, figure)) in CURVES.iter().enumerate() {
        let points: Vec<String> = all
            .iter()
            .map(|costs| format!("{:.1},{:.1}", axes.x(costs.keys as f64), axes.y(figure(costs))))
            .collect();
        let _ = writeln!(svg, r#"<polyline class="{class}" points="{}"/>"#, points.join(" "));
        let x = LEFT + 10.0 + 165.0 * place as f64 - if place == 3 { 20.0 } else { 0.0 };
        let _ = writeln!(
            svg,
            r#"<line class="{class}" x1="{x}" y1="24" x2="{}" y2="24" stroke-width="2"/>"#,
            x + 24.0
        );
        text(&mut svg, "start", (x + 30.0, 28.0), name);
    }
    svg += "</svg>\n";
    svg
}

struct Axes<'a> {
    all: &'a [Costs],
    /// Nanoseconds at the top.
    most: f64,
}

impl Axes<'_> {
    /// Sizes on a logarithmic scale.
    fn x(&self, keys: f64) -> f64 {
        let edge = |costs: Option<&Costs>| costs.map_or(1.0, |costs| costs.keys as f64).log10();
        let (low, high) = (edge(self.all.first()), edge(self.all.last()));
        LEFT + (RIGHT - LEFT) * (keys.log10() - low) / (high - low).max(f64::MIN_POSITIVE)
    }

    fn y(&self, nanoseconds: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * nanoseconds / self.most
    }

    fn frame(&self, svg: &mut String) {
        let step = if self.most > 40.0 { 10.0 } else { 5.0 };
        let mut nanoseconds = 0.0;
        while nanoseconds <= self.most {
            let y = self.y(nanoseconds);
            line(svg, "grid", (LEFT, y), (RIGHT, y));
            text(svg, "end", (LEFT - 6.0, y + 4.0), &format!("{nanoseconds} ns"));
            nanoseconds += step;
        }
        for power in 4..=9 {
            let keys = 10_usize.pow(power);
            if self.all.last().is_some_and(|last| keys <= last.keys) {
                let x = self.x(keys as f64);
                line(svg, "axis", (x, BOTTOM), (x, BOTTOM + 4.0));
                let label = if power == 9 { String::from("1 B") } else { report::count(keys) };
                text(svg, "middle", (x, BOTTOM + 18.0), &label);
            }
        }
        // Where the filter has as many bits as a cache, or as 32 bits can count.
        let borders = [("512 KiB", 22.0), ("32 MiB", 28.0), ("2³² bits", 32.0)];
        for (name, log_bits) in borders {
            if let Some(keys) = self.keys_of(log_bits) {
                let x = self.x(keys);
                line(svg, "border", (x, TOP), (x, BOTTOM));
                text(svg, "middle", (x, BOTTOM + 36.0), name);
            }
        }
        line(svg, "axis", (LEFT, BOTTOM), (RIGHT, BOTTOM));
        line(svg, "axis", (LEFT, TOP), (LEFT, BOTTOM));
        text(svg, "end", (RIGHT, BOTTOM + 54.0), "keys; dashed: size of the filter");
    }

    /// The number of keys whose filter has so many bits, if it is within the plot.
    fn keys_of(&self, log_bits: f64) -> Option<f64> {
        let (first, last) = (self.all.first()?, self.all.last()?);
        let bits = 2f64.powf(log_bits);
        let keys = bits / (last.bits / last.keys as f64);
        (keys >= first.keys as f64 && keys <= last.keys as f64).then_some(keys)
    }
}

fn line(svg: &mut String, class: &str, from: (f64, f64), to: (f64, f64)) {
    let _ = writeln!(
        svg,
        r#"<line class="{class}" x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}"/>"#,
        from.0, from.1, to.0, to.1
    );
}

fn text(svg: &mut String, anchor: &str, at: (f64, f64), words: &str) {
    let _ = writeln!(svg, r#"<text text-anchor="{anchor}" x="{:.1}" y="{:.1}">{words}</text>"#, at.0, at.1);
}
