//! Windows in files.

use std::vec::Vec;

use super::roomy;
use crate::codec::{File, FormatError, Header, Writer};
use crate::{Error, WindowBloom};

fn by_time() -> WindowBloom {
    let mut filter = WindowBloom::builder()
        .window(37)
        .generations(3)
        .keys(300)
        .rate(0.001)
        .burst(2.0)
        .seed(4)
        .build()
        .unwrap();
    for key in 0..150u64 {
        filter.insert_at(&key, key);
    }
    filter
}

fn by_count() -> WindowBloom {
    let mut filter = WindowBloom::by_count(101, 3, 0.01).unwrap();
    filter.extend(0..1_000u64);
    filter
}

#[test]
fn they_round_trip_and_go_on_where_they_were() {
    for mut filter in [by_time(), by_count(), roomy(20, 4), WindowBloom::with_rate(9, 0.01).unwrap()] {
        let bytes = filter.to_bytes().unwrap();
        let mut again = WindowBloom::from_bytes(&bytes).unwrap();
        assert!(again == filter && again.to_bytes().unwrap() == bytes);
        assert_eq!(
            (again.planned_keys(), again.planned_rate(), again.planned_slot_keys()),
            (filter.planned_keys(), filter.planned_rate(), filter.planned_slot_keys())
        );
        assert_eq!((again.inserted(), again.slot_end()), (filter.inserted(), filter.slot_end()));
        assert_eq!(again.newest().planned_rate(), filter.newest().planned_rate());
        for key in 0..400u64 {
            let now = 140 + key;
            assert_eq!(again.contains_at(&key, now), filter.contains_at(&key, now));
            assert_eq!(again.insert_at(&key, now), filter.insert_at(&key, now));
        }
        assert!(again == filter);
        // Where in the ring the newest one stands is nobody's business.
        assert_eq!(again.to_bytes().unwrap(), filter.to_bytes().unwrap());
    }
}

#[cfg(feature = "std")]
#[test]
fn a_mapped_window_answers_as_the_read_one() {
    let filter = by_time();
    let directory = std::env::temp_dir().join(std::format!("mayhap-window-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("window.mayhap");
    filter.save(&path, crate::codec::Existing::Refuse).unwrap();
    let mapped = WindowBloom::<crate::bits::Mapped>::map(&path).unwrap();
    assert!(mapped == filter);
    for now in [0, 149, 160, 180, 190, 1_000] {
        for key in 0..200u64 {
            assert_eq!(mapped.contains_at(&key, now), filter.contains_at(&key, now));
        }
    }
    assert_eq!(mapped.to_bytes().unwrap(), filter.to_bytes().unwrap());
    std::fs::remove_dir_all(&directory).unwrap();
}

/// The file with its header changed, and its bodies as they were (or zeros, where they have another length).
fn rewritten(bytes: &[u8], change: &dyn Fn(&mut Header)) -> Result<Vec<u8>, FormatError> {
    let file = File::parse(bytes)?;
    let mut header = file.header().clone();
    change(&mut header);
    let mut writer = Writer::to_vec(&header)?;
    for (index, section) in header.sections.iter().enumerate() {
        let mut body = file.section(index).unwrap_or(&[]).to_vec();
        body.resize(usize::try_from(section.length).unwrap(), 0);
        writer.write_body(&body)?;
    }
    writer.finish()
}

#[test]
fn contradictions_are_refused() {
    type Change = &'static dyn Fn(&mut Header);
    fn check(filter: &WindowBloom, changes: &[Change]) {
        let bytes = filter.to_bytes().unwrap();
        assert!(WindowBloom::from_bytes(&rewritten(&bytes, &|_| ()).unwrap()).is_ok());
        for (number, change) in changes.iter().enumerate() {
            if let Ok(bytes) = rewritten(&bytes, change) {
                let refused = WindowBloom::from_bytes(&bytes);
                assert!(matches!(refused, Err(Error::Format(_))), "change {number}: {refused:?}");
            }
        }
    }
    let either: &[Change] = &[
        &|header| header.recipe = 0,
        &|header| header.recipe = 9,
        &|header| header.parameters[0] = 0,
        &|header| header.parameters[0] += 1,
        &|header| header.parameters[0] = u64::MAX,
        &|header| header.parameters[1] = 0,
        &|header| header.parameters[1] = 2,
        &|header| header.parameters[2] = 0,
        &|header| header.parameters[2] = 2,
        &|header| header.parameters[2] = 4,
        &|header| header.parameters[2] = 65,
        &|header| header.parameters[2] += 1 << 32,
        &|header| header.parameters[3] = 0,
        &|header| header.parameters[3] = u64::MAX,
        &|header| header.planned_keys = 0,
        &|header| header.planned_keys = u64::MAX,
        &|header| header.planned_rate = f64::NAN,
        &|header| header.sections.clear(),
        &|header| header.sections.truncate(3),
        &|header| header.sections.push(header.sections[0].clone()),
        &|header| header.sections.reverse(),
        &|header| header.sections[1].parameters[0] += 1,
        &|header| header.sections[2].parameters[1] = 1,
        &|header| header.sections[3].parameters[4] = 1,
        &|header| header.sections[3].length += 64,
        &|header| header.sections[0].role = 2,
        // No instant has this slot.
        &|header| {
            for (age, section) in header.sections.iter_mut().enumerate() {
                section.parameters[0] = u64::MAX - age as u64;
            }
        },
        // Before instant 0 there were no keys.
        &|header| {
            header.inserted = header.inserted.map(|_| 1);
            for section in &mut header.sections {
                section.parameters[0] = 0;
            }
        },
    ];
    check(&by_time(), either);
    check(&by_count(), either);
    check(&by_time(), &[&|header| header.inserted = Some(7), &|header| header.parameters[3] = 99]);
    check(
        &by_count(),
        &[
            &|header| header.inserted = Some(7),
            &|header| header.inserted = Some(u64::MAX - 1),
            &|header| header.parameters[1] = 102,
            &|header| header.parameters[3] += 1,
        ],
    );
    let blocked = by_time().newest().to_bytes().unwrap();
    assert!(matches!(WindowBloom::from_bytes(&blocked), Err(Error::Format(FormatError::WrongKind { .. }))));
}

/// A file may have fewer blocks than its plan needs. What a generation was planned for is in its header, and is the
/// same for all of them, so it stays as it is.
#[test]
fn a_merge_leaves_the_plan_alone() {
    let few_blocks = rewritten(&roomy(1_000, 4).to_bytes().unwrap(), &|header| {
        header.planned_keys = 100_000;
        header.parameters[0] = 2;
        header.parameters[3] = 25_000;
        for section in &mut header.sections {
            section.length = 128;
        }
    });
    let mut filter = WindowBloom::from_bytes(&few_blocks.unwrap()).unwrap();
    filter.insert_at("apple", 5);
    let mut other = filter.empty_like().unwrap();
    other.insert_at("pear", 700);
    for _ in 0..2 {
        filter.merge(&other).unwrap();
        assert_eq!(filter.planned_slot_keys(), 25_000);
        assert!(filter.generation_filters().all(|generation| generation.planned_keys() == 25_000));
        let again = WindowBloom::from_bytes(&filter.to_bytes().unwrap()).unwrap();
        assert!(again == filter && again.contains_at("apple", 700) && again.contains_at("pear", 700));
    }
}

/// A map isn't looked at when it is made, so it is when it is merged.
#[cfg(feature = "std")]
#[test]
fn a_map_with_keys_from_before_instant_0_is_not_merged() {
    let path = std::env::temp_dir().join(std::format!("mayhap-window-old-{}", std::process::id()));
    let mut filter = roomy(1_000, 4);
    filter.insert_at("apple", 600);
    // The same bits, and a clock that says that it is still the first slot.
    let early = rewritten(&filter.to_bytes().unwrap(), &|header| {
        for section in &mut header.sections {
            section.parameters[0] = 0;
        }
    });
    // The newest generation is that of instant 0, and may have keys.
    std::fs::write(&path, early.unwrap()).unwrap();
    let newest = WindowBloom::<crate::bits::Mapped>::map(&path).unwrap();
    let mut merged = roomy(1_000, 4);
    merged.merge(&newest).unwrap();
    assert!(merged.contains_at("apple", 0));

    filter.insert_at("pear", 900);
    let early = rewritten(&filter.to_bytes().unwrap(), &|header| {
        for section in &mut header.sections {
            section.parameters[0] = 0;
        }
    });
    std::fs::write(&path, early.unwrap()).unwrap();
    assert!(WindowBloom::open(&path).is_err(), "one that is read is looked at");
    let older = WindowBloom::<crate::bits::Mapped>::map(&path).unwrap();
    for now in [0, 300, 5_000] {
        let mut filter = roomy(1_000, 4);
        filter.insert_at("plum", now);
        let before = filter.to_bytes().unwrap();
        let error = filter.merge(&older).unwrap_err();
        assert!(std::format!("{error}").contains("older than instant 0"), "{error}");
        assert_eq!(filter.to_bytes().unwrap(), before, "nothing is changed");
    }
    std::fs::remove_file(&path).unwrap();
}

/// A header can say any time and any count: going on from there neither panics nor loops.
#[test]
fn the_last_instants_are_instants_like_others() {
    let mut filter = roomy(8, 4);
    filter.insert_at("apple", u64::MAX);
    let mut filter = WindowBloom::from_bytes(&filter.to_bytes().unwrap()).unwrap();
    assert!(filter.contains_at("apple", 0) && filter.contains_at("apple", u64::MAX));
    assert!(!filter.insert_at("apple", 5) && filter.slot_end() == u64::MAX);

    // The last number that a file has for counts: from there on they stay as they are.
    let last = u64::MAX - 1;
    for keys in [4, 20, 1_000] {
        let count = WindowBloom::by_count(keys, 4, 0.01).unwrap();
        for before in [last - 3, last - 1, last] {
            let slot = u64::try_from(u128::from(before - 1) * 4 / u128::from(keys)).unwrap();
            let bytes = rewritten(&count.to_bytes().unwrap(), &|header| {
                header.inserted = Some(before);
                for (age, section) in header.sections.iter_mut().enumerate() {
                    section.parameters[0] = slot - age as u64;
                }
            });
            let mut count = WindowBloom::from_bytes(&bytes.unwrap()).unwrap();
            for key in 0..5u64 {
                count.insert(&key);
                let again = WindowBloom::from_bytes(&count.to_bytes().unwrap()).unwrap();
                assert!(again == count && again.contains(&key), "{keys} keys, {before} and {key} more");
            }
            count.extend(0..100u64);
            assert!(count.contains(&99u64) && count.inserted() == Some(last));
            assert!(WindowBloom::from_bytes(&count.to_bytes().unwrap()).unwrap() == count);
        }
    }
}
