//! Everything that can be asked for and can't be had: each is an error that says what was wrong and what to
//! do about it. Nothing here panics, and the extremes that can be had work.

#![allow(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "a check that panics has failed, and results are made to be looked at"
)]

use mayhap::bloom::Shape;
use mayhap::codec::{FormatError, Header};
use mayhap::hash::{KeyHasher, SecretKey};
use mayhap::sizing::{BlockedPlan, ClassicPlan, MAX_BYTES, SizingError};
use mayhap::{
    Bitmap, BloomFilter, ClassicBloom, CountingBloom, CuckooFilter, DLeftCounting, DualBloom, Error, Growth,
    InsertError, MergeError, ReadOptions, ScalableBloom, ScalableCuckoo, WindowBloom,
};

/// A result, if it is an error of sizing.
fn sizing<T>(result: Result<T, Error>) -> Option<SizingError> {
    match result {
        Err(Error::Sizing(error)) => Some(error),
        _ => None,
    }
}

/// Every kind, made for keys and rate.
fn with_rate(keys: u64, rate: f64) -> Vec<(&'static str, Result<(), Error>)> {
    let growing = |growth| ScalableBloom::builder().keys(keys).rate(rate).growth(growth).build().map(drop);
    vec![
        ("BloomFilter", BloomFilter::with_rate(keys, rate).map(drop)),
        ("ClassicBloom", ClassicBloom::with_rate(keys, rate).map(drop)),
        ("CountingBloom", CountingBloom::with_rate(keys, rate).map(drop)),
        ("DualBloom", DualBloom::with_rate(keys, rate).map(drop)),
        ("ScalableBloom", ScalableBloom::with_rate(keys, rate).map(drop)),
        ("ScalableBloom that refuses", growing(Growth::Refuse)),
        ("ScalableBloom that saturates", growing(Growth::Saturate)),
        // By time: by count it has as many instants as keys, and fewer than generations is another mistake.
        ("WindowBloom", WindowBloom::builder().window(60).keys(keys).rate(rate).build().map(drop)),
        ("DLeftCounting", DLeftCounting::with_rate(keys, rate).map(drop)),
        ("CuckooFilter", CuckooFilter::with_rate(keys, rate).map(drop)),
        ("ScalableCuckoo", ScalableCuckoo::with_rate(keys, rate).map(drop)),
    ]
}

#[test]
fn no_keys() {
    for (kind, result) in with_rate(0, 0.01) {
        let error = sizing(result).unwrap();
        assert_eq!(error, SizingError::ZeroKeys, "{kind}");
        assert_eq!(error.to_string(), "a filter for 0 keys has no size; plan for at least 1 key");
    }
    let without_a_size = [
        sizing(BloomFilter::builder().rate(0.01).build()),
        sizing(CountingBloom::builder().build()),
        sizing(DualBloom::builder().removals(10).build()),
        sizing(ScalableBloom::builder().expansion(4).build()),
        sizing(WindowBloom::builder().window(60).build()),
        sizing(WindowBloom::builder().build()),
        sizing(DLeftCounting::builder().build()),
        sizing(CuckooFilter::builder().build()),
        sizing(ScalableCuckoo::builder().build()),
    ];
    for error in without_a_size {
        let message = error.unwrap().to_string();
        assert!(message.starts_with("nothing says how large"), "{message}");
        assert!(message.contains("give") && message.contains("number of keys"), "{message}");
    }
    assert_eq!(sizing(BloomFilter::builder().keys(0).bytes(1 << 20).build()), Some(SizingError::ZeroKeys));
    let error = sizing(DualBloom::builder().keys(100).removals(0).build()).unwrap();
    assert!(error.to_string().contains("0 removals"), "{error}");
}

#[test]
fn rates_that_are_none() {
    for rate in [0.0, -0.0, 1.0, 1.5, -0.01, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let bytes = [
            ("with_bytes", BloomFilter::with_bytes(1 << 20, rate).map(drop)),
            ("shape", BloomFilter::builder().keys(10).rate(rate).shape(Shape::Four).build().map(drop)),
        ];
        for (kind, result) in with_rate(10, rate).into_iter().chain(bytes) {
            let error = sizing(result).unwrap();
            assert!(matches!(error, SizingError::RateOutOfRange { .. }), "{kind}, {rate}: {error}");
            let message = error.to_string();
            assert!(message.contains(&format!("{rate}")) && message.contains("between 0 and 1"), "{message}");
        }
    }
}

/// With keys and bytes given, a rate is a limit; one that is none must not be taken for "no limit".
#[test]
fn a_rate_that_is_none_beside_keys_and_bytes() {
    for rate in [0.0, 1.0, 2.0, -1.0, f64::NAN, f64::INFINITY] {
        let result = BloomFilter::builder().keys(1_000).bytes(1 << 20).rate(rate).build();
        assert!(matches!(sizing(result), Some(SizingError::RateOutOfRange { .. })), "{rate}");
    }
}

#[test]
fn rates_beyond_a_64_bit_digest() {
    for (keys, rate) in [(1, 1e-300), (1, f64::MIN_POSITIVE), (1_000_000_000, 1e-12), (1 << 62, 0.5)] {
        for (kind, result) in with_rate(keys, rate) {
            let error = sizing(result).unwrap();
            let (is_digest, is_fingerprint) = (
                matches!(error, SizingError::RateTooLow { .. }),
                matches!(error, SizingError::RateOutOfReach { .. }),
            );
            assert!(
                is_digest || is_fingerprint && kind.contains("Cuckoo"),
                "{kind}, {keys}, {rate}: {error}"
            );
            let message = error.to_string();
            assert!(is_fingerprint || keys == 1 || message.contains("fewer keys"), "{kind}: {message}");
            // The message names a rate that can be had, and its digits are no lower.
            if let Some((_, rest)) = message.split_once("ask for ") {
                assert!(message.contains(&format!("a rate of {rate:e}")), "{kind}: {message}");
                let lowest = rest.split(' ').next().unwrap().parse().unwrap();
                let again = with_rate(keys, lowest).into_iter().find(|(other, _)| *other == kind).unwrap().1;
                assert!(
                    !matches!(again, Err(Error::Sizing(_))),
                    "{kind}, {keys}: {message}, and then {again:?}"
                );
            }
        }
    }
}

#[test]
fn keys_beyond_counting() {
    for (keys, rate) in [(u64::MAX, 0.01), (u64::MAX, 0.999), (1 << 61, 0.6), (1 << 60, 0.9)] {
        for (kind, result) in with_rate(keys, rate) {
            let error = result.unwrap_err();
            let refused = matches!(
                error,
                Error::Sizing(SizingError::RateTooLow { .. } | SizingError::TooLarge { .. })
                    | Error::Alloc(_)
            );
            assert!(refused, "{kind}, {keys}: {error:?}");
            assert!(error.to_string().contains("fewer keys"), "{kind}, {keys}: {error}");
        }
    }
}

/// A plan that can be counted and not be had: an error of allocation, not an abort.
#[test]
fn memory_that_there_is_not() {
    for (kind, result) in with_rate(1 << 50, 0.01) {
        // It would have to grow a hundredfold, which 64-bit digests don't.
        if kind == "ScalableCuckoo" {
            assert!(matches!(sizing(result), Some(SizingError::RateOutOfReach { .. })));
            continue;
        }
        let error = result.unwrap_err();
        let refused = matches!(error, Error::Alloc(_) | Error::Insert(InsertError::Alloc(_)));
        assert!(refused, "{kind}: {error:?}");
        assert!(error.to_string().contains("could not allocate"), "{error}");
    }
    assert!(matches!(BloomFilter::with_bytes(MAX_BYTES, 0.01), Err(Error::Alloc(_))));
    assert!(matches!(ClassicBloom::with_bits(MAX_BYTES * 8, 7), Err(Error::Alloc(_))));
}

#[test]
fn bytes_that_hold_nothing() {
    for bytes in [0, 1, 63] {
        let error = sizing(BloomFilter::with_bytes(bytes, 0.01)).unwrap();
        assert!(
            matches!(error, SizingError::TooSmall { bytes: got, needed: 64 } if got == bytes),
            "{bytes}: {error}"
        );
        assert!(error.to_string().contains("at least 64 bytes"), "{error}");
    }
    // A block of this shape is too small for the rate; the message must name a size that will do.
    let four = |bytes| BloomFilter::builder().shape(Shape::Four).bytes(bytes).rate(1e-12).build();
    let Some(SizingError::TooSmall { needed, .. }) = sizing(four(64)) else {
        panic!("one key at 1e-12 with four bits in one block");
    };
    assert!(four(needed).is_ok(), "{needed} bytes should do");
    for shape in Shape::ALL {
        let Some(SizingError::TooSmall { needed, .. }) =
            sizing(BloomFilter::builder().shape(shape).bytes(1).rate(0.01).build())
        else {
            panic!("{shape:?}: one byte");
        };
        assert!(
            BloomFilter::builder().shape(shape).bytes(needed).rate(0.01).build().is_ok(),
            "{shape:?}, {needed}"
        );
    }
    assert!(matches!(
        sizing(BloomFilter::builder().keys(10_000_000).bytes(64).build()),
        Some(SizingError::TooSmall { .. })
    ));
}

/// Who gives as many bytes as the refusal names gets a filter, and with a line less another refusal.
#[test]
fn bytes_that_are_named_are_enough_and_no_more() {
    type WithBytes = fn(u64, f64) -> Result<(), Error>;
    let kinds: [(&str, WithBytes); 4] = [
        ("BloomFilter", |bytes, rate| BloomFilter::with_bytes(bytes, rate).map(drop)),
        ("ClassicBloom", |bytes, rate| ClassicBloom::with_bytes(bytes, rate).map(drop)),
        ("CountingBloom", |bytes, rate| CountingBloom::with_bytes(bytes, rate).map(drop)),
        ("CuckooFilter", |bytes, rate| CuckooFilter::with_bytes(bytes, rate).map(drop)),
    ];
    for (kind, with_bytes) in kinds {
        for rate in [0.9, 0.1, 0.01, 1e-6, 1e-9, 2e-11, 1e-12, 1e-15] {
            for bytes in [0, 1, 7, 63, 64, 100] {
                let context = format!("{kind}, {bytes} bytes at {rate}");
                let Some(SizingError::TooSmall { bytes: got, needed }) = sizing(with_bytes(bytes, rate))
                else {
                    continue;
                };
                assert_eq!(got, bytes, "{context}");
                assert!(with_bytes(needed, rate).is_ok(), "{context}: {needed} were named");
                assert!(with_bytes(needed - 64, rate).is_err(), "{context}: {needed} were named");
            }
            assert!(with_bytes(0, rate).is_err(), "{kind} at {rate}");
        }
    }
}

#[test]
fn bytes_beyond_counting() {
    for bytes in [MAX_BYTES + 1, u64::MAX] {
        for result in
            [BloomFilter::with_bytes(bytes, 0.01), BloomFilter::builder().keys(5).bytes(bytes).build()]
        {
            let error = sizing(result).unwrap();
            assert_eq!(error, SizingError::TooLarge { bytes, limit: MAX_BYTES }, "{bytes}");
        }
    }
}

#[test]
fn limits() {
    let plan = BloomFilter::builder().keys(1_000_000).rate(0.01).plan().unwrap();
    let builder = || BloomFilter::builder().keys(1_000_000).rate(0.01);
    assert!(builder().max_bytes(plan.bytes()).build().is_ok());
    let error = sizing(builder().max_bytes(plan.bytes() - 1).build()).unwrap();
    assert_eq!(error, SizingError::TooLarge { bytes: plan.bytes(), limit: plan.bytes() - 1 });
    assert!(error.to_string().contains("raise the limit"), "{error}");
    // Before anything is allocated: this would fail otherwise.
    let error = sizing(BloomFilter::builder().keys(1 << 50).rate(0.01).max_bytes(1 << 30).build()).unwrap();
    assert!(matches!(error, SizingError::TooLarge { limit: 0x4000_0000, .. }), "{error}");

    let plan = ClassicPlan::for_rate(1_000_000, 0.01).unwrap();
    assert!(plan.within(plan.bytes()).is_ok());
    assert!(matches!(plan.within(plan.bytes() - 1), Err(SizingError::TooLarge { .. })));

    // Keys, bytes and rate together: the bytes are the limit.
    let error = sizing(BloomFilter::builder().keys(1_000_000).bytes(1_000_000).rate(0.001).build()).unwrap();
    let SizingError::TooLarge { bytes, limit: 1_000_000 } = error else { panic!("{error}") };
    let filter = BloomFilter::builder().keys(1_000_000).bytes(bytes).rate(0.001).build().unwrap();
    assert!(filter.planned_rate() <= 0.001, "{bytes} bytes were said to do");
    // The same with a shape that needs more than the best one.
    for shape in Shape::ALL {
        let builder = || BloomFilter::builder().keys(100_000).rate(1e-4).shape(shape);
        let error = sizing(builder().bytes(100_000).build()).unwrap();
        let SizingError::TooLarge { bytes, limit: 100_000 } = error else { panic!("{shape:?}: {error}") };
        assert!(builder().bytes(bytes).build().is_ok(), "{shape:?}: {bytes} bytes were said to do");
    }
}

#[test]
fn classic_bits_and_hashes() {
    for hashes in [0, 65, u32::MAX] {
        let error = sizing(ClassicBloom::with_bits(1_000, hashes)).unwrap();
        assert_eq!(error, SizingError::HashesOutOfRange { got: hashes });
        assert!(error.to_string().contains("1 to 64"), "{error}");
    }
    for (bits, hashes) in [(0, 1), (1, 1), (1, 64), (5, 64)] {
        let error = sizing(ClassicBloom::with_bits(bits, hashes)).unwrap();
        assert!(matches!(error, SizingError::TooSmall { .. }), "{bits} bits, {hashes} hashes: {error}");
    }
    assert!(matches!(sizing(ClassicBloom::with_bits(u64::MAX, 7)), Some(SizingError::TooLarge { .. })));
}

#[test]
fn plans_from_parts_that_do_not_fit() {
    assert!(BlockedPlan::from_parts(Shape::Eight, 0, 10, 0.01).is_err());
    assert!(BlockedPlan::from_parts(Shape::SixteenTwoLines, 3, 10, 0.01).is_err());
    assert!(BlockedPlan::from_parts(Shape::Eight, u64::MAX, 10, 0.01).is_err());
    assert!(BlockedPlan::from_parts(Shape::Eight, 10, 0, 0.01).is_err());
    assert!(BlockedPlan::from_parts(Shape::Eight, 10, 10, f64::NAN).is_err());
    assert!(ClassicPlan::from_parts(10, 0.01, 0, 7).is_err());
    assert!(ClassicPlan::from_parts(10, 0.01, 100, 0).is_err());
    assert!(ClassicPlan::from_parts(0, 0.01, 100, 7).is_err());
    assert!(ClassicPlan::from_parts(10, 1.0, 100, 7).is_err());
    assert!(ClassicPlan::from_parts(10, 0.01, u64::MAX, 7).is_err());
}

#[test]
fn filters_that_do_not_fit_together() {
    let build =
        |shape, seed| BloomFilter::builder().keys(1_000).rate(0.01).shape(shape).seed(seed).build().unwrap();
    let mut ours = build(Shape::Eight, 1);
    ours.insert("a key");
    let before = ours.clone();

    let error = ours.merge(&build(Shape::Four, 1)).unwrap_err();
    assert_eq!(error, MergeError::Shapes { ours: Shape::Eight, theirs: Shape::Four });
    assert!(error.to_string().contains("shapes differ (Eight and Four)"), "{error}");
    let error = ours.merge(&build(Shape::Eight, 2)).unwrap_err();
    assert_eq!(error, MergeError::Hashers);
    assert!(error.to_string().contains("same hash function, seed and secret key"), "{error}");
    let other = BloomFilter::builder().bytes(64 * 17).rate(0.01).shape(Shape::Eight).seed(1).build().unwrap();
    let error = ours.merge(&other).unwrap_err();
    assert_eq!(error, MergeError::Sizes { ours: ours.block_count(), theirs: 17 });
    assert!(error.to_string().contains("multiples of one another"), "{error}");
    assert!(ours.intersect(&build(Shape::Four, 1)).is_err() && ours.intersect(&other).is_err());
    for factor in [0, 1_000_003, u64::MAX] {
        let error = ours.fold(factor).unwrap_err();
        assert_eq!(error, MergeError::Factor { factor, size: ours.block_count() });
        assert!(error.to_string().contains("must divide"), "{error}");
    }
    assert!(ours == before, "refused, and changed all the same");

    let mut ours = ClassicBloom::with_bits(1_000, 7).unwrap();
    let error = ours.merge(&ClassicBloom::with_bits(1_000, 6).unwrap()).unwrap_err();
    assert_eq!(error, MergeError::Hashes { ours: 7, theirs: 6 });
    assert!(error.to_string().contains("same number"), "{error}");
    let error = ours.merge(&ClassicBloom::with_bits(1_001, 7).unwrap()).unwrap_err();
    assert_eq!(error, MergeError::Sizes { ours: 1_000, theirs: 1_001 });
    let keyed = KeyHasher::sip13(SecretKey::new([1; 16]));
    let plan = ClassicPlan::from_parts(100, 0.01, 1_000, 7).unwrap();
    assert_eq!(ours.merge(&ClassicBloom::with_plan(plan, keyed).unwrap()), Err(MergeError::Hashers));
}

/// Folding to a rate that is none does nothing, or is refused; and what it leaves can be saved and read.
#[test]
fn folding_to_a_rate_that_is_none() {
    for rate in [0.0, -1.0, 1.0, 2.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for keys in [0u64, 100] {
            let mut blocked = BloomFilter::with_rate(10_000, 0.01).unwrap();
            blocked.extend(0..keys);
            let _ = blocked.fold_to_rate(rate);
            let bytes =
                blocked.to_bytes().unwrap_or_else(|error| panic!("{keys} keys, folded to {rate}: {error}"));
            let again = BloomFilter::from_bytes(&bytes);
            assert!(
                again.is_ok_and(|again| again == blocked),
                "{keys} keys, folded to {rate}: can't be read"
            );

            let mut classic = ClassicBloom::with_rate(10_000, 0.01).unwrap();
            classic.extend(0..keys);
            let _ = classic.fold_to_rate(rate);
            let bytes =
                classic.to_bytes().unwrap_or_else(|error| panic!("{keys} keys, folded to {rate}: {error}"));
            let again = ClassicBloom::from_bytes(&bytes);
            assert!(
                again.is_ok_and(|again| again == classic),
                "{keys} keys, folded to {rate}: can't be read"
            );
        }
    }
}

/// The least and the most that can be asked for.
#[test]
fn extremes_that_work() {
    for (keys, rate) in
        [(1, 0.3), (1, 0.999), (1, 1e-9), (1, 1e-15), (10, 0.999), (1_000, 1e-9), (100_000, 1e-12)]
    {
        let mut blocked = BloomFilter::with_rate(keys, rate).unwrap();
        let mut classic = ClassicBloom::with_rate(keys, rate).unwrap();
        blocked.extend(0..keys);
        classic.extend(0..keys);
        assert!(
            (0..keys).all(|key| blocked.contains(&key) && classic.contains(&key)),
            "{keys} keys at {rate:e}"
        );
        if rate < 1e-8 {
            let wrong =
                (0..1_000_000u64).filter(|key| blocked.contains(&!key) || classic.contains(&!key)).count();
            assert_eq!(
                wrong, 0,
                "{keys} keys at {rate:e}: a million questions should give no false positive"
            );
        }
        // Whatever can be made can be saved, and read again.
        assert!(
            BloomFilter::from_bytes(&blocked.to_bytes().unwrap()).unwrap() == blocked,
            "{keys} keys at {rate:e}"
        );
        assert!(
            ClassicBloom::from_bytes(&classic.to_bytes().unwrap()).unwrap() == classic,
            "{keys} keys at {rate:e}"
        );
    }
    for (bits, hashes) in [(2, 1), (3, 1), (64, 1), (93, 64), (512, 64), (513, 7)] {
        let mut filter = ClassicBloom::with_bits(bits, hashes).unwrap();
        assert_eq!((filter.bits(), filter.hashes()), (bits, hashes));
        assert!(filter.insert("a key") && filter.contains("a key"));
        assert!(ClassicBloom::from_bytes(&filter.to_bytes().unwrap()).unwrap() == filter, "{bits}, {hashes}");
    }
    let mut smallest = BloomFilter::with_bytes(64, 0.01).unwrap();
    assert!(smallest.insert("a key") && smallest.contains("a key"));
}

/// The slices of a batch must be of one length: that is a mistake of the program, and panics.
#[test]
fn batches_of_unequal_lengths_panic() {
    let filter = BloomFilter::with_rate(10, 0.01).unwrap();
    let classic = ClassicBloom::with_rate(10, 0.01).unwrap();
    let panics = |run: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err();
    assert!(panics(&|| filter.contains_each(&["a", "b"], &mut [false])));
    assert!(panics(&|| filter.contains_hashes(&[filter.hash("a")], &mut [])));
    assert!(panics(&|| filter.clone().insert_each(&["a"], &mut [false; 2])));
    assert!(panics(&|| filter.clone().insert_hashes(&[], &mut [false])));
    assert!(panics(&|| classic.contains_each(&["a", "b"], &mut [false])));
    assert!(panics(&|| classic.contains_hashes(&[classic.hash("a")], &mut [])));
    assert!(panics(&|| classic.clone().insert_each(&["a"], &mut [false; 2])));
    assert!(panics(&|| classic.clone().insert_hashes(&[], &mut [false])));
    let shared = filter.into_shared();
    assert!(panics(&|| shared.insert_each(&["a"], &mut [false; 2])));
    assert!(panics(&|| shared.insert_hashes(&[], &mut [false])));
}

/// A stream that announces more than there is memory for: an error of the stream, which gives no advice on planning.
#[test]
fn a_filter_that_is_too_large_to_be_read() {
    let mut header =
        Header::parse(&BloomFilter::with_rate(1_000, 0.01).unwrap().to_bytes().unwrap()).unwrap();
    header.parameters[0] = 1 << 50;
    header.sections[0].length = 1 << 56;
    let filter = BloomFilter::read_from(&header.to_bytes().unwrap()[..], &ReadOptions::new()).map(drop);

    let mut header = Header::parse(&Bitmap::dense(1_000).unwrap().to_bytes().unwrap()).unwrap();
    header.parameters[0] = (1 << 59) - 1;
    header.sections[0].length = 1 << 56;
    let bitmap = Bitmap::read_from(&header.to_bytes().unwrap()[..], &ReadOptions::new()).map(drop);

    for result in [filter, bitmap] {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Format(FormatError::OutOfMemory { .. })), "{error:?}");
        assert!(error.to_string().contains("map the one that is read"), "{error}");
    }
}
