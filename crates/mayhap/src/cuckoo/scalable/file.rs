//! The growing cuckoo filter as a file of kind 8.

use alloc::vec::Vec;

use super::ScalableCuckoo;
use super::compact::Pass;
use super::layer::{Design, Layer, Settings};
#[cfg(feature = "std")]
use crate::bits::Mapped;
use crate::bits::{Blocks, Owned, View};
use crate::codec::{FormatError, Header, Kind, Section};
use crate::cuckoo::filter::{check_buckets, read_kicks, read_layout, read_len};
use crate::cuckoo::table::{Search, Table};
use crate::file::{self, Stored, file_methods, must_be_zero};
use crate::hash::KeyHasher;
use crate::sizing::layers::MAX_LAYERS;

/// All of a filter but its lines and its hasher.
pub(crate) struct Recipe {
    settings: Settings,
    max_kicks: u32,
    /// Each layer, and the fingerprints it holds.
    layers: Vec<(Design, u64)>,
}

/// The only recipe so far.
const RECIPE: u16 = 1;

/// Recipe 1. Parameters: the layout of the first layer; its number of buckets; the most kicks, with 2³² times the binary
/// logarithm of the expansion; the most layers. Limits of memory are not kept. Section parameters: the fingerprints in the
/// layer; the bits of each; the number it is made for; and two zeros.
impl Stored for ScalableCuckoo {
    type Recipe = Recipe;
    const KIND: Kind = Kind::SCALABLE_CUCKOO;

    fn recipe(header: &Header) -> Result<(Recipe, Vec<Section>), FormatError> {
        if header.recipe != RECIPE {
            let number = u64::from(header.recipe);
            return Err(FormatError::Unknown { what: "recipe of a scalable cuckoo filter", number });
        }
        let [layout, first_buckets, steps, max_layers] = header.parameters;
        check_buckets(first_buckets)?;
        let settings = Settings {
            keys: header.planned_keys,
            rate: header.planned_rate,
            layout: read_layout(layout)?,
            first_buckets,
            expansion_bits: read_expansion(steps >> 32)?,
            max_layers: read_layers(max_layers)?,
            max_bytes: None,
        };
        let (mut layers, mut sections, mut bits, mut total) =
            (Vec::new(), Vec::new(), layout >> 8 & 0xff, 0u64);
        for (number, section) in (0..settings.max_layers).zip(&header.sections) {
            let (design, len) = read_layer(&settings, number, section, &mut bits)?;
            total = total.saturating_add(len);
            sections.push(Section { parameters: section.parameters, ..file::section(design.lines())? });
            layers.push((design, len));
        }
        if header.inserted != Some(total) {
            let value = header.inserted.unwrap_or(u64::MAX);
            return Err(FormatError::BadField {
                field: "inserted count",
                value,
                must_be: "the sum over all layers",
            });
        }
        Ok((Recipe { settings, max_kicks: read_kicks(steps & 0xffff_ffff)?, layers }, sections))
    }

    fn after_reading(&mut self) -> Result<(), FormatError> {
        self.layers.iter().try_for_each(|layer| layer.table.check())
    }
}

fn read_expansion(bits: u64) -> Result<u32, FormatError> {
    let error =
        FormatError::BadField { field: "logarithm of the expansion", value: bits, must_be: "at most 63" };
    u32::try_from(bits).ok().filter(|bits| *bits < 64).ok_or(error)
}

fn read_layers(layers: u64) -> Result<u32, FormatError> {
    let error = FormatError::BadField { field: "most layers", value: layers, must_be: "1 to 1024" };
    u32::try_from(layers).ok().filter(|layers| (1..=MAX_LAYERS).contains(layers)).ok_or(error)
}

/// One layer, whose fingerprints are at least as long as those of the layer before it.
fn read_layer(
    settings: &Settings,
    number: u32,
    section: &Section,
    shortest: &mut u64,
) -> Result<(Design, u64), FormatError> {
    let [len, value, capacity, zeros @ ..] = section.parameters;
    for zero in zeros {
        must_be_zero("section parameters", zero)?;
    }
    let must_be = "at most 32, and not less than in the layer before";
    let bits = u32::try_from(value).ok().filter(|_| value >= *shortest);
    let layout = bits.and_then(|bits| settings.layout.with_bits(bits));
    let layout = layout.ok_or(FormatError::BadField { field: "fingerprint bits", value, must_be })?;
    *shortest = value;
    let places = settings.places(number, layout.fingerprint_bits());
    let error = FormatError::BadField {
        field: "layers",
        value: u64::from(number),
        must_be: "of at most 2^56 buckets",
    };
    let design = Design { layout, places: places.ok_or(error)?, capacity };
    let slots = design.places.buckets() * u64::from(layout.entries_per_bucket());
    if capacity > slots || (number == 0 && layout != settings.layout) {
        let must_be = "at most the number of places; and the first layer as the parameters say";
        return Err(FormatError::BadField { field: "capacity of a layer", value: capacity, must_be });
    }
    Ok((design, read_len(Some(len), slots)?))
}

impl<S: Blocks> ScalableCuckoo<S> {
    fn file_header(&self) -> Result<Header, FormatError> {
        let Settings { keys, rate, layout, first_buckets, expansion_bits, max_layers, .. } = self.settings;
        let mut sections = Vec::new();
        for layer in &self.layers {
            let bits = u64::from(layer.table.layout().fingerprint_bits());
            let parameters = [layer.table.len(), bits, layer.capacity, 0, 0];
            sections.push(Section { parameters, ..file::section(layer.table.lines().block_count())? });
        }
        let steps = u64::from(self.max_kicks()) | u64::from(expansion_bits) << 32;
        Ok(Header {
            recipe: RECIPE,
            parameters: [layout.id(), first_buckets, steps, u64::from(max_layers)],
            inserted: Some(self.len()),
            sections,
            ..file::header(Kind::SCALABLE_CUCKOO, &self.hasher, keys, rate)?
        })
    }

    fn bodies(&self) -> impl Iterator<Item = &S> {
        self.layers.iter().map(|layer| layer.table.lines())
    }

    fn from_file(recipe: Recipe, hasher: KeyHasher, bodies: Vec<S>) -> Result<Self, FormatError> {
        let Recipe { settings, max_kicks, layers } = recipe;
        let layers = layers.into_iter().zip(bodies).map(|((design, len), lines)| Layer {
            table: Table::from_parts(lines, design.layout, design.places, len),
            capacity: design.capacity,
        });
        let mut filter = Self::from_parts(layers.collect(), settings, hasher, Search::new(max_kicks));
        filter.pass = Pass::UNKNOWN;
        Ok(filter)
    }
}

file_methods!(ScalableCuckoo<Owned>, ScalableCuckoo<S>, ScalableCuckoo<View<'a>>, ScalableCuckoo<Mapped>);
