//! Parquet: a power of two of bytes for each row group, and a limit.

use mayhap::formats::parquet::SplitBlockBloom;

use super::{Offer, Wish};
use crate::numbers::{format_rate, format_size};

/// What parquet-java gives a filter at most, unless it is told otherwise.
const JAVA_MAX_BYTES: u64 = 1 << 20;

/// Bits of a key, whatever the rate.
const HASHES: u32 = 8;

pub(super) fn offers(Wish { keys, rate }: Wish) -> (Vec<Offer>, Vec<String>) {
    let bytes = SplitBlockBloom::optimal_bytes(keys, rate);
    let offer = |name: &str, calls, bytes| Offer {
        name: name.to_owned(),
        calls,
        bytes,
        hashes: HASHES,
        rate: SplitBlockBloom::planned_rate(keys, bytes),
    };
    let mut java = vec![
        "parquet.bloom.filter.enabled#column=true".to_owned(),
        format!("parquet.bloom.filter.expected.ndv#column={keys}"),
        format!("parquet.bloom.filter.fpp#column={rate}"),
    ];
    let mut remarks = Vec::new();
    let mut limited = Vec::new();
    if bytes > JAVA_MAX_BYTES {
        limited.push(offer("parquet-java without max.bytes", Vec::new(), JAVA_MAX_BYTES));
        java.push(format!("parquet.bloom.filter.max.bytes={bytes}"));
        remarks.push(format!(
            "parquet-java stops at {} unless parquet.bloom.filter.max.bytes says more; it doesn't say so.",
            format_size(JAVA_MAX_BYTES)
        ));
    }
    let mut offers = vec![
        offer("parquet-java", java, bytes),
        offer(
            "pyarrow 24",
            vec![format!(
                "pq.write_table(table, path, bloom_filter_options={{\"column\": {{\"ndv\": {keys}, \"fpp\": {rate}}}}})"
            )],
            bytes,
        ),
        offer(
            "Rust's parquet 60",
            vec![
                "WriterProperties::builder()".to_owned(),
                format!("    .set_column_bloom_filter_fpp(\"column\".into(), {rate})"),
                format!("    .set_column_bloom_filter_max_ndv(\"column\".into(), {keys})"),
            ],
            bytes,
        ),
    ];
    offers.append(&mut limited);
    remarks.push(
        "Each row group has a filter of its own for each column: the number of keys is that of distinct values in one row \
         group. The bytes are a power of two."
            .to_owned(),
    );
    let got = SplitBlockBloom::planned_rate(keys, bytes);
    if bytes == SplitBlockBloom::MAX_BYTES && got > rate * 2.0 {
        remarks.push(format!(
            "{} is the most there can be, however many values come: these would have a rate of {}. Smaller row groups help.",
            format_size(bytes),
            format_rate(got)
        ));
    } else if got > rate {
        remarks.push(
            "The formula takes the bits to lie anywhere. They lie in blocks, so the rate can be above the one asked for."
                .to_owned(),
        );
    }
    remarks.push(
        "From version 60 on the Rust crate folds a filter before it is written: fewer values than planned take less."
            .to_owned(),
    );
    (offers, remarks)
}
