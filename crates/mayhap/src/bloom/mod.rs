//! Bloom filters.

mod shape;

pub use shape::Shape;
