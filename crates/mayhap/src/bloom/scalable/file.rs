//! The growing filter as a file of kind 3: a section for each layer, the first and smallest first.

use alloc::vec::Vec;

use super::builder::{Growth, Settings};
use super::layer::Layer;
use super::{BloomFilter, ScalableBloom};
#[cfg(feature = "std")]
use crate::bits::Mapped;
use crate::bits::{BLOCK_BYTES, Blocks, Owned, View};
use crate::bloom::shape::Shape;
use crate::codec::{FormatError, Header, Kind, Section};
use crate::file::{self, Stored, file_methods, must_be_zero};
use crate::hash::KeyHasher;
use crate::plan::Plan;
use crate::sizing::lowest_rate;

/// Layers are filters of kind 1.
const LAYERS_OF_BLOCKS: u16 = 1;

/// All of the filter but blocks and hasher.
pub(crate) struct Recipe {
    settings: Settings,
    layers: Vec<LayerRecipe>,
}

struct LayerRecipe {
    shape: Shape,
    plan: Plan,
    inserted: u64,
}

/// Recipe number 1. Parameters: expansion, what happens when full, the most bytes, and the ratio between the rates of
/// layers, or 0. Planned keys are those of the first layer; inserted is the sum over the layers.
impl Stored for ScalableBloom {
    type Recipe = Recipe;
    const KIND: Kind = Kind::SCALABLE_BLOOM;

    fn recipe(header: &Header) -> Result<(Recipe, Vec<Section>), FormatError> {
        if header.recipe != LAYERS_OF_BLOCKS {
            let number = u64::from(header.recipe);
            return Err(FormatError::Unknown { what: "recipe of a scalable Bloom filter", number });
        }
        let settings = settings(header)?;
        let mut layers = Vec::new();
        let mut sections = Vec::new();
        let (mut inserted, mut bytes) = (Some(0_u64), Some(0_u64));
        let last = header.sections.len().saturating_sub(1);
        for (number, section) in header.sections.iter().enumerate() {
            let layer = layer(&settings, number, number == last, section)?;
            sections.push(Section {
                parameters: layer.parameters(),
                ..file::section(section.length / BLOCK_BYTES as u64)?
            });
            inserted = inserted.and_then(|sum| sum.checked_add(layer.inserted));
            bytes = bytes.and_then(|sum| sum.checked_add(section.length));
            layers.push(layer);
        }
        if inserted.is_none() || header.inserted != inserted {
            let value = header.inserted.unwrap_or(u64::MAX);
            return Err(FormatError::BadField {
                field: "inserted count",
                value,
                must_be: "the sum over all layers",
            });
        }
        if bytes.is_none_or(|bytes| bytes > settings.max_bytes) {
            let must_be = "at least the bytes of all layers";
            return Err(FormatError::BadField { field: "most bytes", value: settings.max_bytes, must_be });
        }
        Ok((Recipe { settings, layers }, sections))
    }

    /// Each key that was counted set at least one bit, and at most as many as its shape has. A body that says
    /// otherwise belongs to other counts, by which the filter would grow too late.
    fn after_reading(&mut self) -> Result<(), FormatError> {
        for layer in self.oldest_first() {
            let bits = layer.filter.bits_set();
            let most = layer.inserted.saturating_mul(u64::from(layer.filter.shape().hashes()));
            if bits < layer.inserted || bits > most {
                let must_be = "so many keys as can have set the bits of the layer";
                let value = layer.inserted;
                return Err(FormatError::BadField { field: "keys of a layer", value, must_be });
            }
        }
        Ok(())
    }
}

fn settings(header: &Header) -> Result<Settings, FormatError> {
    let [expansion, growth, max_bytes, tightening] = header.parameters;
    let tightening = match tightening {
        0 => None,
        bits => Some(tightening_of(bits)?),
    };
    let (keys, rate) = (header.planned_keys, header.planned_rate);
    let growth = Growth::from_id(growth)
        .ok_or(FormatError::Unknown { what: "way to go on when the filter is full", number: growth })?;
    match u32::try_from(expansion) {
        Ok(expansion) if expansion > 0 => {
            Ok(Settings { keys, rate, expansion, tightening, growth, max_bytes })
        }
        _ => {
            let must_be = "above 0 and below 2^32";
            Err(FormatError::BadField { field: "expansion", value: expansion, must_be })
        }
    }
}

fn tightening_of(bits: u64) -> Result<f64, FormatError> {
    let ratio = f64::from_bits(bits);
    let must_be = "0, or a fraction between 0 and 1";
    let is_one = ratio > 0.0 && ratio < 1.0;
    is_one.then_some(ratio).ok_or(FormatError::BadField { field: "tightening ratio", value: bits, must_be })
}

/// The layer that a section describes: shape, keys it was made for, keys it has taken, rate, and a zero.
fn layer(
    settings: &Settings,
    number: usize,
    is_last: bool,
    section: &Section,
) -> Result<LayerRecipe, FormatError> {
    let [shape, keys, inserted, rate, rest] = section.parameters;
    let bad = |field, value, must_be| Err(FormatError::BadField { field, value, must_be });
    must_be_zero("section parameters", rest)?;
    let shape = u16::try_from(shape)
        .ok()
        .and_then(Shape::from_id)
        .ok_or(FormatError::Unknown { what: "shape of a block", number: shape })?;
    if !(section.length / BLOCK_BYTES as u64).is_multiple_of(shape.lines()) {
        return bad("length of a section", section.length, "of an even number of blocks for two lines");
    }
    if number > 0 && settings.growth != Growth::Grow {
        return bad("sections", number as u64 + 1, "1 for a filter that doesn't grow");
    }
    let expected = settings.plan().ok().and_then(|plan| plan.layer_keys(u32::try_from(number).ok()?));
    if expected != Some(keys) {
        return bad(
            "planned keys of a layer",
            keys,
            "the keys of the first, times the expansion for each layer between",
        );
    }
    if inserted > keys && settings.growth != Growth::Saturate {
        return bad("keys of a layer", inserted, "no more than it was made for");
    }
    if inserted < keys && !is_last {
        return bad("keys of a layer", inserted, "all it was made for, if there is a newer layer");
    }
    let rate = f64::from_bits(rate);
    // Above the promise only where no digest could give less: such layers are refused now, and stand in older files.
    // The factor is for the keys offered to a layer and not counted.
    let highest = settings.rate.max(2.0 * lowest_rate(keys));
    if !(rate > 0.0 && rate < 1.0 && rate <= highest) {
        return bad("rate of a layer", rate.to_bits(), "above 0, and no higher than that of the filter");
    }
    Ok(LayerRecipe { shape, plan: Plan { keys, rate }, inserted })
}

impl LayerRecipe {
    fn parameters(&self) -> [u64; 5] {
        [u64::from(self.shape.id()), self.plan.keys, self.inserted, self.plan.rate.to_bits(), 0]
    }
}

/// The header of a filter, from its layers: each a filter, the new keys it was made for, and those it has taken.
pub(super) fn header<'a, S: Blocks + 'a>(
    settings: &Settings,
    hasher: &KeyHasher,
    layers: impl Iterator<Item = (&'a BloomFilter<S>, u64, u64)>,
) -> Result<Header, FormatError> {
    let Settings { keys, rate, expansion, tightening, growth, max_bytes } = *settings;
    let mut sections = Vec::new();
    let mut all_inserted = 0_u64;
    for (filter, planned, inserted) in layers {
        let plan = Plan { keys: planned, rate: filter.planned_rate() };
        let recipe = LayerRecipe { shape: filter.shape(), plan, inserted };
        sections.push(Section { parameters: recipe.parameters(), ..file::section(filter.block_count())? });
        all_inserted = all_inserted.saturating_add(inserted);
    }
    Ok(Header {
        recipe: LAYERS_OF_BLOCKS,
        parameters: [u64::from(expansion), growth.id(), max_bytes, tightening.map_or(0, f64::to_bits)],
        inserted: Some(all_inserted),
        sections,
        ..file::header(Kind::SCALABLE_BLOOM, hasher, keys, rate)?
    })
}

impl<S: Blocks> ScalableBloom<S> {
    fn file_header(&self) -> Result<Header, FormatError> {
        let layers = self.oldest_first().map(|layer| (&layer.filter, layer.planned, layer.inserted));
        header(&self.settings, &self.hasher, layers)
    }

    fn bodies(&self) -> impl Iterator<Item = &S> {
        self.oldest_first().map(|layer| layer.filter.storage())
    }

    fn from_file(recipe: Recipe, hasher: KeyHasher, bodies: Vec<S>) -> Result<Self, FormatError> {
        let mut layers = recipe
            .layers
            .into_iter()
            .zip(bodies)
            .map(|(LayerRecipe { shape, plan, inserted }, blocks)| Layer {
                filter: BloomFilter::of_blocks(blocks, hasher.clone(), shape, plan),
                planned: plan.keys,
                inserted,
            })
            .collect::<Vec<_>>();
        let newest = layers.pop().ok_or(FormatError::BadField {
            field: "sections",
            value: 0,
            must_be: "one for each layer, and at least one",
        })?;
        Ok(Self { older: layers, newest, settings: recipe.settings, hasher, coming: None })
    }
}

file_methods!(ScalableBloom<Owned>, ScalableBloom<S>, ScalableBloom<View<'a>>, ScalableBloom<Mapped>);
