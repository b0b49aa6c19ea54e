use std::vec;
use std::vec::Vec;

use super::*;

/// One empty filter of each kind, for a thousand keys at 1 %.
fn every_kind() -> Vec<AnyFilter> {
    let window = WindowBloom::builder().keys(1_000).rate(0.01).window(3_600).generations(4).burst(4.0);
    vec![
        BloomFilter::with_rate(1_000, 0.01).unwrap().into(),
        ClassicBloom::with_rate(1_000, 0.01).unwrap().into(),
        ScalableBloom::with_rate(1_000, 0.01).unwrap().into(),
        CountingBloom::with_rate(1_000, 0.01).unwrap().into(),
        DualBloom::with_rate(1_000, 0.01).unwrap().into(),
        DLeftCounting::with_rate(1_000, 0.01).unwrap().into(),
        CuckooFilter::with_rate(1_000, 0.01).unwrap().into(),
        ScalableCuckoo::with_rate(1_000, 0.01).unwrap().into(),
        window.build().unwrap().into(),
    ]
}

fn digests(filter: &AnyFilter, keys: core::ops::Range<u32>) -> Vec<Digest> {
    keys.map(|key| filter.hash(&key)).collect()
}

#[test]
fn every_kind_keeps_its_keys_through_its_bytes() {
    for mut filter in every_kind() {
        let keys = digests(&filter, 0..500);
        let mut answers = vec![false; keys.len()];
        filter.insert_hashes(&keys, &mut answers).unwrap();
        assert!(answers.iter().filter(|new| **new).count() > 480, "{filter:?}");

        let again = AnyFilter::from_bytes(&filter.to_bytes().unwrap()).unwrap();
        assert_eq!(again.kind(), filter.kind());
        again.contains_hashes(&keys, &mut answers);
        assert!(answers.iter().all(|found| *found), "{filter:?}");
        assert_eq!(again.planned_rate(), 0.01);
        assert!(again.planned_keys() >= 1_000 && again.len_bytes() == filter.len_bytes());
        assert!((450..=550).contains(&again.estimated_len()), "{filter:?}: {}", again.estimated_len());
        assert!(again.expected_rate() < 0.01 && !again.is_over_plan() && again.fill_ratio() > 0.0);
        let wrong = digests(&again, 10_000..20_000).iter().filter(|key| again.contains_hash(**key)).count();
        assert!(wrong < 130, "{filter:?}: {wrong} of 10,000");
    }
}

#[test]
fn one_key_is_a_batch_of_one() {
    for mut filter in every_kind() {
        let mut other = filter.clone();
        for key in 0..300u32 {
            let mut new = [false];
            other.insert_hashes(&digests(&other, key..key + 1), &mut new).unwrap();
            assert_eq!(filter.insert(&key).unwrap(), new[0], "{filter:?}");
        }
        for key in 0..100u32 {
            let mut removed = [false];
            let outcome = other.remove_hashes(&digests(&other, key..key + 1), &mut removed);
            assert_eq!(filter.remove(&key), outcome.map(|()| removed[0]), "{filter:?}");
        }
        assert!(filter.to_bytes().unwrap() == other.to_bytes().unwrap(), "{filter:?}");
        assert_eq!(filter.count(&200u32), filter.count_hash(filter.hash(&200u32)));
    }
}

#[test]
fn a_clone_stays_when_its_original_is_cleared() {
    for mut filter in every_kind() {
        let empty = filter.to_bytes().unwrap();
        let keys = digests(&filter, 0..900);
        filter.insert_hashes(&keys, &mut vec![false; keys.len()]).unwrap();
        let kept = filter.clone();
        assert!(kept.to_bytes().unwrap() == filter.to_bytes().unwrap(), "{filter:?}");
        filter.clear();
        assert!(keys.iter().all(|key| kept.contains_hash(*key) && !filter.contains_hash(*key)), "{filter:?}");
        assert_eq!(filter.to_bytes().unwrap(), empty, "{filter:?}");
    }
}

#[test]
fn a_kind_removes_and_counts_or_says_that_it_cannot() {
    for mut filter in every_kind() {
        let keys = digests(&filter, 0..2);
        filter.insert_hashes(&keys, &mut [false; 2]).unwrap();
        let mut removed = [false; 1];
        let outcome = filter.remove_hashes(&keys[..1], &mut removed);
        assert_eq!(outcome.is_ok(), filter.can_remove());
        assert_eq!(removed[0], filter.can_remove());
        assert_eq!(filter.contains_hash(keys[0]), !filter.can_remove());
        assert!(filter.contains_hash(keys[1]));
        if let Some(count) = filter.count_hash(keys[1]) {
            assert_eq!((count, filter.count_hash(keys[0])), (1, Some(0)));
        }
        if let Err(error) = outcome {
            assert!(std::format!("{error}").ends_with("can't remove keys"), "{error}");
        }
    }
}

#[test]
fn keys_that_a_dual_filter_refuses_are_not_new() {
    let mut filter = AnyFilter::from(DualBloom::with_rate(100, 0.001).unwrap());
    let keys = digests(&filter, 0..5);
    filter.insert_hashes(&keys[2..3], &mut [false]).unwrap();
    filter.remove_hashes(&keys[2..3], &mut [false]).unwrap();
    let mut new = [true; 5];
    assert_eq!(filter.insert_hashes(&keys, &mut new), Err(InsertError::Removed));
    assert_eq!(new, [true, true, false, false, false]);
}

#[test]
fn every_kind_that_can_t_says_why_as_far_as_it_is_so() {
    for mut filter in every_kind() {
        let (kind, other) = (filter.kind(), AnyFilter::from_bytes(&filter.to_bytes().unwrap()).unwrap());
        for error in [filter.merge(&other).err(), filter.fold(1).err()].into_iter().flatten() {
            let message = std::format!("{error}");
            assert!(message.starts_with(&std::format!("a {kind} can't be ")), "{message}");
            assert!(message.ends_with("build another filter from the keys"), "{message}");
            let reason = match kind {
                Kind::SCALABLE_BLOOM | Kind::SCALABLE_CUCKOO => "rates",
                Kind::CUCKOO | Kind::D_LEFT_COUNTING => "fit",
                _ => "",
            };
            assert!(message.contains("folded") || message.contains(reason), "{message}");
        }
    }
}

#[test]
fn kinds_merge_with_their_own_if_at_all() {
    for (index, mut filter) in every_kind().into_iter().enumerate() {
        for (other_index, mut other) in every_kind().into_iter().enumerate() {
            let key = digests(&other, 7..8);
            other.insert_hashes(&key, &mut [false]).unwrap();
            match filter.merge(&other) {
                Ok(()) => assert!(index == other_index && filter.contains_hash(key[0])),
                Err(MergeError::Kinds { .. }) => assert_ne!(index, other_index),
                Err(MergeError::Unsupported(_)) => assert_eq!(index, other_index),
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn kinds_fold_if_they_can() {
    for mut filter in every_kind() {
        let keys = digests(&filter, 0..10);
        filter.insert_hashes(&keys, &mut [false; 10]).unwrap();
        let before = filter.len_bytes();
        match filter.fold_to_rate(0.01) {
            Ok(factor) => {
                assert!(filter.len_bytes() <= before && (factor == 1 || filter.len_bytes() < before));
                assert!(keys.iter().all(|key| filter.contains_hash(*key)));
            }
            Err(error) => {
                assert!(matches!(error, MergeError::Unsupported(_)));
                assert_eq!(filter.fold(2), Err(error));
                assert_eq!(filter.len_bytes(), before);
            }
        }
    }
}

#[cfg(feature = "std")]
#[test]
fn files_of_every_kind_open_and_map() {
    use crate::codec::Existing;
    use std::fs;

    let directory = std::env::temp_dir().join(std::format!("mayhap-any-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join("filter.mayhap");
    for mut filter in every_kind() {
        let keys = digests(&filter, 0..100);
        filter.insert_hashes(&keys, &mut [false; 100]).unwrap();
        filter.save(&path, Existing::Replace).unwrap();
        let bytes = filter.to_bytes().unwrap();
        assert_eq!(fs::read(&path).unwrap(), bytes);
        let (opened, mapped) = (AnyFilter::open(&path).unwrap(), MappedAnyFilter::map(&path).unwrap());
        assert_eq!((opened.kind(), mapped.kind()), (filter.kind(), filter.kind()));
        assert!(keys.iter().all(|key| opened.contains_hash(*key) && mapped.contains_hash(*key)));
        assert_eq!((opened.to_bytes().unwrap(), mapped.to_bytes().unwrap()), (bytes.clone(), bytes));
    }
    #[cfg(feature = "bitmap")]
    {
        crate::Bitmap::dense(100).unwrap().save(&path, Existing::Replace).unwrap();
        for error in [AnyFilter::open(&path).unwrap_err(), MappedAnyFilter::map(&path).unwrap_err()] {
            assert!(std::format!("{error}").contains("bitmap"), "{error}");
        }
    }
    fs::write(&path, b"not a filter").unwrap();
    let error = AnyFilter::open(&path).unwrap_err();
    assert!(std::format!("{error}").contains("filter.mayhap"), "{error}");
    fs::remove_dir_all(&directory).unwrap();
}

/// A pipe can be read once, and its writer waits for a reader only once.
#[cfg(all(feature = "std", unix))]
#[test]
fn a_filter_comes_through_a_pipe() {
    use std::fs;
    use std::sync::mpsc;
    use std::time::Duration;

    let directory = std::env::temp_dir().join(std::format!("mayhap-pipe-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    for mut filter in every_kind() {
        let keys = digests(&filter, 0..100);
        filter.insert_hashes(&keys, &mut [false; 100]).unwrap();
        let bytes = filter.to_bytes().unwrap();
        let (send, receive) = mpsc::channel();
        let (read, write, written) = (path.clone(), path.clone(), bytes.clone());
        std::thread::spawn(move || fs::write(write, written));
        // On a thread of its own, because who opens a pipe that nobody writes waits for ever.
        std::thread::spawn(move || send.send(AnyFilter::open(read)).is_ok());
        let opened = receive.recv_timeout(Duration::from_secs(60)).unwrap().unwrap();
        assert_eq!(opened.to_bytes().unwrap(), bytes);
    }
    fs::remove_dir_all(&directory).unwrap();
}

/// The file with its header changed, and a body for each section that was added.
fn rewritten(filter: &AnyFilter, change: impl Fn(&mut crate::codec::Header)) -> Vec<u8> {
    let bytes = filter.to_bytes().unwrap();
    let file = File::parse(&bytes).unwrap();
    let mut header = file.header().clone();
    change(&mut header);
    let mut writer = crate::codec::Writer::to_vec(&header).unwrap();
    for (index, section) in header.sections.iter().enumerate() {
        let added = vec![0; usize::try_from(section.length).unwrap()];
        writer.write_body(file.section(index).unwrap_or(&added)).unwrap();
    }
    writer.finish().unwrap()
}

/// What docs/formats.md says of readers of this version.
#[test]
fn extra_fields_are_read_over_and_other_sections_are_refused() {
    use crate::codec::{ExtraField, Header, Section};

    for filter in every_kind() {
        for tag in [0x0100, 0x4100] {
            let noted = rewritten(&filter, |header| header.extra.push(ExtraField::new(tag, *b"note")));
            let read = AnyFilter::from_bytes(&noted).unwrap();
            let again = read.to_bytes().unwrap();
            assert!(Header::parse(&again).unwrap().extra.is_empty(), "{filter:?}");
            assert_eq!(again, filter.to_bytes().unwrap());
        }
        for skippable in [false, true] {
            let section = Section { skippable, ..Section::new(77, 64) };
            let longer = rewritten(&filter, |header| header.sections.push(section.clone()));
            assert!(AnyFilter::from_bytes(&longer).is_err(), "{filter:?}");
        }
    }
}

#[cfg(feature = "std")]
#[test]
fn errors_of_a_files_body_name_the_file() {
    let mut filter = AnyFilter::from(CountingBloom::with_rate(100, 0.01).unwrap());
    filter.insert("apple").unwrap();
    let path = std::env::temp_dir().join(std::format!("mayhap-miscounted-any-{}", std::process::id()));
    std::fs::write(&path, rewritten(&filter, |header| header.inserted = Some(7))).unwrap();
    for error in [CountingBloom::open(&path).map(drop), AnyFilter::open(&path).map(drop)] {
        let error = error.unwrap_err();
        assert!(matches!(error, Error::File(_)), "{error:?}");
        let message = std::format!("{error}");
        assert!(message.contains("mayhap-miscounted-any") && message.contains("inserted count"), "{message}");
    }
    std::fs::remove_file(&path).unwrap();
}
