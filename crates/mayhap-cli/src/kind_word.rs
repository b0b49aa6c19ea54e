//! Kinds as programs read them.

use mayhap::codec::Kind;

/// The word that `build --kind` takes, which is also the kind in everything that is printed as JSON. A filter of another
/// system has no such word: it is `foreign`, and its format says whose.
pub(crate) fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::BLOCKED_BLOOM => "bloom",
        Kind::CLASSIC_BLOOM => "classic",
        Kind::SCALABLE_BLOOM => "scalable",
        Kind::COUNTING_BLOOM => "counting",
        Kind::DUAL_BLOOM => "dual",
        Kind::D_LEFT_COUNTING => "d-left",
        Kind::CUCKOO => "cuckoo",
        Kind::SCALABLE_CUCKOO => "scalable-cuckoo",
        Kind::WINDOW_BLOOM => "window",
        Kind::BITMAP => "bitmap",
        Kind::FOREIGN => "foreign",
        _ => "unknown",
    }
}
