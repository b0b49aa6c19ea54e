//! Footers made by hand, sound and hostile.

use super::*;
use crate::formats::parquet::{LogicalType, SplitBlockBloom, TimeUnit};
#[cfg(feature = "std")]
use std::io::Cursor;
use std::string::ToString as _;
use std::vec;

/// A struct in Thrift's compact encoding.
#[derive(Clone, Default)]
struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

impl Struct {
    fn field(mut self, id: u8, kind: u8, value: &[u8]) -> Self {
        self.bytes.push((id - self.last) << 4 | kind);
        self.bytes.extend(value);
        self.last = id;
        self
    }

    fn number(self, id: u8, kind: u8, value: u64) -> Self {
        self.field(id, kind, &varint(2 * value))
    }

    fn binary(self, id: u8, value: &[u8]) -> Self {
        self.field(id, 8, &[&varint(value.len() as u64), value].concat())
    }

    fn list(self, id: u8, kind: u8, elements: &[Vec<u8>]) -> Self {
        self.field(id, 9, &[vec![(elements.len() as u8) << 4 | kind], elements.concat()].concat())
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = vec![];
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn names(path: &[&str]) -> Vec<Vec<u8>> {
    path.iter().map(|name| [&varint(name.len() as u64), name.as_bytes()].concat()).collect()
}

/// `ColumnMetaData` of an INT64 column with statistics to be passed over.
fn column_metadata(path: &[&str], filter: Option<(u64, Option<u64>)>) -> Vec<u8> {
    let statistics = Struct::default().binary(1, b"max").number(3, 6, 0).field(7, 1, &[]).end();
    let mut metadata = Struct::default()
        .number(1, 5, 2)
        .list(2, 5, &[vec![0], vec![6]])
        .list(3, 8, &names(path))
        .number(5, 6, 1000)
        .field(12, 12, &statistics);
    if let Some((offset, length)) = filter {
        metadata = metadata.number(14, 6, offset);
        if let Some(length) = length {
            metadata = metadata.number(15, 5, length);
        }
    }
    metadata.end()
}

/// `SchemaElement` of a group with so many children.
fn group(children: u64) -> Vec<u8> {
    Struct::default().binary(4, b"schema").number(5, 5, children).end()
}

/// `SchemaElement` of an INT64 column.
fn int64() -> Struct {
    Struct::default().number(1, 5, 2).number(3, 5, 0).binary(4, b"name")
}

/// A file with these column chunks, all of INT64, in one row group.
fn file(data: &[u8], chunks: &[Vec<u8>]) -> Vec<u8> {
    let columns = std::iter::repeat_n(int64().end(), chunks.len());
    let schema: Vec<_> = [group(chunks.len() as u64)].into_iter().chain(columns).collect();
    file_with(data, &schema, chunks)
}

/// A file with this schema, and these column chunks in one row group.
fn file_with(data: &[u8], schema: &[Vec<u8>], chunks: &[Vec<u8>]) -> Vec<u8> {
    let row_group = Struct::default().list(1, 12, chunks).number(2, 6, 77).end();
    let metadata =
        Struct::default().number(1, 5, 2).list(2, 12, schema).number(3, 6, 9).list(4, 12, &[row_group]);
    let metadata = metadata.binary(6, b"by hand").end();
    let length = (metadata.len() as u32).to_le_bytes();
    [b"PAR1", data, &metadata, &length, b"PAR1"].concat()
}

fn filter() -> SplitBlockBloom {
    let mut filter = SplitBlockBloom::with_blocks(3).unwrap();
    filter.extend(0..20i64);
    filter
}

fn chunk(metadata: &[u8]) -> Vec<u8> {
    Struct::default().number(2, 6, 4).field(3, 12, metadata).end()
}

#[test]
fn filters_are_found_with_and_without_their_length() {
    let data = filter().to_bytes().unwrap();
    let length = data.len() as u64;
    for length in [None, Some(length)] {
        let columns = [
            chunk(&column_metadata(&["a", "list", "element"], Some((4, length)))),
            chunk(&column_metadata(&["b"], None)),
        ];
        let bytes = file(&data, &columns);
        let footer = ParquetFooter::from_file(&bytes).unwrap();
        assert_eq!((footer.columns().len(), footer.row_groups()), (2, 1));
        let found = footer.column("a.list.element").next().unwrap();
        assert_eq!(found.physical_type(), Some(PhysicalType::Int64));
        assert!(found.has_filter() && !found.is_encrypted());
        assert!(found.view_filter(&bytes).unwrap().unwrap() == filter());
        let without = footer.column("b").next().unwrap();
        assert!(!without.has_filter() && without.view_filter(&bytes).unwrap().is_none());
        assert_eq!(footer.column("c").count(), 0);
        #[cfg(feature = "std")]
        {
            let options = crate::ReadOptions::new();
            let mut stream = Cursor::new(&bytes);
            assert_eq!(ParquetFooter::read(&mut stream, &options).unwrap(), footer);
            assert!(found.read_filter(&mut stream, &options).unwrap().unwrap() == filter());
            assert!(without.read_filter(&mut stream, &options).unwrap().is_none());
            let limited = options.max_bytes(data.len() as u64 - 1);
            assert!(found.read_filter(&mut stream, &limited).is_err());
            assert!(ParquetFooter::read(&mut stream, &crate::ReadOptions::new().max_bytes(20)).is_err());
            let mut cut = Cursor::new(&bytes[..50]);
            assert!(found.read_filter(&mut cut, &crate::ReadOptions::new()).is_err());
        }
    }
}

/// The older annotation, the newer one, and both.
#[test]
fn the_schema_says_what_the_values_mean() {
    let nothing = || Struct::default().end();
    let union = |id, inner: &[u8]| Struct::default().field(id, 12, inner).end();
    let micros = Struct::default().field(1, 1, &[]).field(2, 12, &union(2, &nothing())).end();
    let decimal = Struct::default().number(1, 5, 2).number(2, 5, 9).end();
    let unsigned = Struct::default().field(1, 3, &[64]).field(2, 2, &[]).end();
    let with = |element: Struct, union: &[u8]| element.field(10, 12, union).end();
    let integer = |bits, is_signed| LogicalType::Integer { bits, is_signed };
    let cases = [
        (int64().end(), None),
        (int64().number(6, 5, 14).end(), Some(integer(64, false))),
        (int64().number(6, 5, 18).end(), Some(integer(64, true))),
        (int64().number(6, 5, 10).end(), Some(LogicalType::Timestamp(TimeUnit::Micros))),
        (
            int64().number(6, 5, 5).number(7, 5, 3).number(8, 5, 12).end(),
            Some(LogicalType::Decimal { precision: 12, scale: 3 }),
        ),
        (with(int64(), &union(5, &decimal)), Some(LogicalType::Decimal { precision: 9, scale: 2 })),
        (with(int64(), &union(8, &micros)), Some(LogicalType::Timestamp(TimeUnit::Micros))),
        (with(int64().number(6, 5, 14), &union(10, &unsigned)), Some(integer(64, false))),
        (with(int64(), &union(14, &nothing())), Some(LogicalType::Uuid)),
        // The newer one isn't known; the older one is, or isn't there.
        (
            with(int64().number(6, 5, 9), &union(9, &nothing())),
            Some(LogicalType::Timestamp(TimeUnit::Millis)),
        ),
        (with(int64(), &union(9, &nothing())), Some(LogicalType::Other(9))),
    ];
    for (element, expected) in cases {
        // A group before it, which is no column.
        let schema = [group(2), group(1), int64().end(), element];
        let columns = [chunk(&column_metadata(&["a", "b"], None)), chunk(&column_metadata(&["c"], None))];
        let bytes = file_with(&[], &schema, &columns);
        let footer = ParquetFooter::from_file(&bytes).unwrap();
        assert_eq!(footer.columns()[0].logical_type(), None);
        assert_eq!(footer.columns()[1].logical_type(), expected);
        // Too few columns, and one of another type.
        assert!(ParquetFooter::from_file(&file_with(&[], &schema[..3], &columns)).is_err());
        let bytes = Struct::default().number(1, 5, 6).end();
        let schema = [group(2), int64().end(), bytes];
        assert!(ParquetFooter::from_file(&file_with(&[], &schema, &columns)).is_err());
    }
    let no_unit = with(int64(), &union(8, &nothing()));
    let columns = [chunk(&column_metadata(&["a"], None))];
    assert!(ParquetFooter::from_file(&file_with(&[], &[group(1), no_unit], &columns)).is_err());
}

#[test]
fn encrypted_files_and_columns_are_refused_by_name() {
    let mut bytes = file(&[], &[]);
    let end = bytes.len();
    bytes[end - 1] = b'E';
    let error = ParquetFooter::from_file(&bytes).unwrap_err();
    assert!(matches!(error, FormatError::Encrypted { .. }) && error.to_string().contains("footer"));

    // With a key of its own, and metadata that only it opens.
    let key = Struct::default().list(1, 8, &names(&["secret", "name"])).binary(2, b"key").end();
    let with_key = Struct::default().field(2, 12, &key).end();
    let hidden = Struct::default().number(2, 6, 4).field(8, 12, &with_key).binary(9, b"opaque").end();
    // With the footer's key, and metadata in the open.
    let with_footer_key = Struct::default().field(1, 12, &Struct::default().end()).end();
    let open = column_metadata(&["open"], Some((4, None)));
    let open = Struct::default().field(3, 12, &open).field(8, 12, &with_footer_key).end();
    let bytes = file(&filter().to_bytes().unwrap(), &[hidden, open]);
    let footer = ParquetFooter::from_file(&bytes).unwrap();
    assert_eq!(footer.columns()[0].path(), "secret.name");
    assert_eq!(footer.columns()[0].physical_type(), None);
    assert_eq!(footer.columns()[1].path(), "open");
    for chunk in footer.columns() {
        assert!(chunk.is_encrypted());
        assert!(matches!(chunk.view_filter(&bytes), Err(FormatError::Encrypted { .. })));
    }
}

#[test]
fn places_that_cannot_be_are_refused() {
    let data = filter().to_bytes().unwrap();
    let length = data.len() as u64;
    let end = 4 + length;
    for place in [
        (end, None),
        (u64::MAX / 2, None),
        (4, Some(length + 1)),
        (4, Some(0)),
        (i64::MAX as u64, Some(100)),
        (4, Some(length - 1)),
        (3, Some(length)),
    ] {
        let bytes = file(&data, &[chunk(&column_metadata(&["a"], Some(place)))]);
        let footer = ParquetFooter::from_file(&bytes).unwrap();
        let chunk = &footer.columns()[0];
        assert!(chunk.view_filter(&bytes).is_err(), "{place:?}");
        #[cfg(feature = "std")]
        assert!(
            chunk.read_filter(&mut Cursor::new(&bytes), &crate::ReadOptions::new()).is_err(),
            "{place:?}"
        );
        assert!(chunk.view_filter(&[]).is_err(), "another file");
    }
    let elsewhere = column_metadata(&["a"], Some((4, None)));
    let elsewhere = Struct::default().binary(1, b"part-1.parquet").field(3, 12, &elsewhere).end();
    let bytes = file(&data, &[elsewhere]);
    assert!(ParquetFooter::from_file(&bytes).unwrap().columns()[0].view_filter(&bytes).is_err());
}

#[test]
fn what_is_no_parquet_file_is_refused() {
    let sound = file(&[], &[chunk(&column_metadata(&["a"], None))]);
    for length in 0..sound.len() {
        assert!(ParquetFooter::from_file(&sound[..length]).is_err());
    }
    // A footer longer than the file; no metadata; a negative offset; a path that isn't text; a type that isn't known.
    let mut long = sound.clone();
    let end = long.len();
    long[end - 5] = 0x7f;
    assert!(matches!(ParquetFooter::from_file(&long), Err(FormatError::Truncated { .. })));
    let bare = file(&[], &[Struct::default().number(2, 6, 4).end()]);
    assert!(matches!(ParquetFooter::from_file(&bare), Err(FormatError::BadField { field: "meta_data", .. })));
    let negative = Struct::default().field(14, 6, &[1]).end();
    assert!(ParquetFooter::from_file(&file(&[], &[chunk(&negative)])).is_err());
    let no_text = Struct::default().list(3, 8, &[vec![2, 0xff, 0xfe]]).end();
    assert!(ParquetFooter::from_file(&file(&[], &[chunk(&no_text)])).is_err());
    for incomplete in [Struct::default().end(), Struct::default().number(1, 5, 2).end()] {
        assert!(ParquetFooter::from_file(&file(&[], &[chunk(&incomplete)])).is_err());
    }
    let unknown = Struct::default().number(1, 5, 8).end();
    assert!(matches!(
        ParquetFooter::from_file(&file(&[], &[chunk(&unknown)])),
        Err(FormatError::Unknown { .. })
    ));
    let empty = file(&[], &[]);
    assert_eq!(ParquetFooter::from_file(&empty).unwrap().columns(), []);
}
