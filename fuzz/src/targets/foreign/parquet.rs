//! Parquet's filters and the footers that lead to them.

use mayhap::formats::parquet::{ParquetFooter, SplitBlockBloom};

use super::limited;
use crate::Target;

/// Its readers.
pub const TARGET: Target = Target {
    name: "parquet",
    about: "damaged split-block filters, and footers of Parquet files",
    run,
    seeds,
    largest_allocation: 4 << 20,
};

/// Takes the bytes for a filter with its header, and for a whole file.
fn run(data: &[u8]) {
    if let Ok(mut filter) = SplitBlockBloom::from_bytes_with(data, &limited()) {
        let view = SplitBlockBloom::view(data).expect("what can be read can be asked in place");
        assert_eq!(view.contains("key"), filter.contains("key"));
        let _ = (filter.estimated_fpp(), filter.fold_to_rate(0.01));
        filter.insert("key");
        assert!(filter.contains("key"));
        let bytes = filter.to_bytes().expect("a small filter");
        assert!(SplitBlockBloom::from_bytes(&bytes).is_ok_and(|again| again == filter));
    }
    if let Ok(footer) = ParquetFooter::from_file(data) {
        for column in footer.columns() {
            if let Ok(Some(filter)) = column.view_filter(data) {
                let _ = (filter.contains(&7i64), filter.contains("key"));
            }
        }
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let filled = |keys: u64| {
        let mut filter = SplitBlockBloom::with_rate(keys, 0.01).expect("a small filter");
        filter.extend(0..keys);
        filter.to_bytes().expect("a small filter")
    };
    let files: [&[u8]; 2] = [
        include_bytes!("../../../../testdata/golden/parquet_pyarrow.parquet"),
        include_bytes!("../../../../testdata/golden/parquet_rust.parquet"),
    ];
    [filled(1), filled(100)].into_iter().chain(files.map(<[u8]>::to_vec)).collect()
}
