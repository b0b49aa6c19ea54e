//! Sizing of filters that grow by layers: which part of the promised rate each layer may use.

/// The rate of layer `layer` (the first is 0) of a filter that promises `rate` over all of its layers.
#[must_use]
pub fn layer_rate(rate: f64, layer: u32) -> f64 {
    rate * 0.15 * libm::pow(0.85, f64::from(layer))
}
