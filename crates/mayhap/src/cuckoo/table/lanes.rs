//! Two buckets of four 16-bit fingerprints in one register, which every x86-64 CPU has (SSE2).
//!
//! Elsewhere there are none: whoever asks for them gets nothing, and looks at each bucket by itself.

#[cfg(not(target_arch = "x86_64"))]
pub(super) use nowhere::Lanes;
#[cfg(target_arch = "x86_64")]
pub(super) use sse2::Lanes;

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod sse2 {
    use core::arch::x86_64::{
        __m128i, _mm_cmpeq_epi16, _mm_cvtsi64_si128, _mm_movemask_epi8, _mm_set1_epi16, _mm_unpacklo_epi16,
    };

    use super::super::buckets::{Found, NOWHERE, Survey};

    /// The lanes of both buckets, by turns. So the lowest of all lanes that are free is in the bucket that is emptier, and one
    /// search finds both.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Lanes(__m128i);

    impl Lanes {
        #[inline(always)]
        pub(in super::super) fn new(first: u64, second: u64) -> Option<Self> {
            // SAFETY: they need SSE2, which every x86-64 CPU has; so below.
            unsafe {
                let [first, second] = [first, second].map(|bucket| _mm_cvtsi64_si128(bucket.cast_signed()));
                Some(Self(_mm_unpacklo_epi16(first, second)))
            }
        }

        /// Two bits for each lane that holds the number.
        #[inline(always)]
        #[allow(clippy::cast_possible_truncation, reason = "a fingerprint has 16 bits")]
        fn equal_to(self, number: u32) -> u32 {
            // SAFETY: as above.
            unsafe {
                let wanted = _mm_set1_epi16((number as u16).cast_signed());
                _mm_movemask_epi8(_mm_cmpeq_epi16(self.0, wanted)).cast_unsigned()
            }
        }

        /// Whether they have the fingerprint.
        #[inline(always)]
        pub(in super::super) fn have(self, fingerprint: u32) -> bool {
            self.equal_to(fingerprint) != 0
        }

        /// Where the fingerprint is: in the first bucket, if it is in both.
        #[inline(always)]
        pub(in super::super) fn find(self, fingerprint: u32) -> Found {
            let equal = self.equal_to(fingerprint);
            let in_first = equal & OF_THE_FIRST;
            lowest(if in_first == 0 { equal } else { in_first })
        }

        /// What an insert has to know of them.
        #[inline(always)]
        pub(in super::super) fn survey(self, fingerprint: u32) -> Survey {
            Survey { is_there: self.have(fingerprint), free: lowest(self.equal_to(0)) }
        }
    }

    /// The bits of the first bucket's lanes.
    const OF_THE_FIRST: u32 = 0x3333;

    /// The lowest of the lanes that have their two bits set.
    #[inline(always)]
    fn lowest(lanes: u32) -> Found {
        let bit = lanes.trailing_zeros();
        Found { is_first: bit & 2 == 0, from: if lanes == 0 { NOWHERE } else { bit / 4 * 16 } }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod nowhere {
    use super::super::buckets::{Found, Survey};

    /// There is none.
    #[derive(Clone, Copy)]
    pub(in super::super) enum Lanes {}

    impl Lanes {
        #[inline(always)]
        pub(in super::super) fn new(_first: u64, _second: u64) -> Option<Self> {
            None
        }

        pub(in super::super) fn have(self, _fingerprint: u32) -> bool {
            match self {}
        }

        pub(in super::super) fn find(self, _number: u32) -> Found {
            match self {}
        }

        pub(in super::super) fn survey(self, _fingerprint: u32) -> Survey {
            match self {}
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::super::buckets::{NOWHERE, Survey};
    use super::*;
    use proptest::prelude::*;

    /// Lane by lane.
    fn place(bucket: [u16; 4], number: u16) -> u32 {
        bucket.iter().position(|lane| *lane == number).map_or(NOWHERE, |lane| 16 * lane as u32)
    }

    fn bucket(lanes: [u16; 4]) -> u64 {
        lanes.iter().rev().fold(0, |bucket, lane| bucket << 16 | u64::from(*lane))
    }

    /// Few numbers, so that many lanes are equal and many are empty; and lanes one of which differs in a bit from another.
    fn lane() -> impl Strategy<Value = u16> {
        prop_oneof![Just(0), 1u16..4, Just(0x8000), Just(0xffff), any::<u16>()]
    }

    proptest! {
        #[test]
        fn all_lanes_at_once_are_each_by_itself(
            first: [u16; 4], second: [u16; 4], chosen in prop::array::uniform9(lane()), few: bool,
        ) {
            let [a, b, c, d, e, f, g, h, fingerprint] = chosen;
            let (first, second) = if few { ([a, b, c, d], [e, f, g, h]) } else { (first, second) };
            let fingerprint = fingerprint.max(1);
            let lanes = Lanes::new(bucket(first), bucket(second)).unwrap();
            let [in_first, in_second] = [first, second].map(|bucket| place(bucket, fingerprint));
            let is_there = in_first != NOWHERE || in_second != NOWHERE;
            prop_assert_eq!(lanes.have(fingerprint.into()), is_there);
            let found = lanes.find(fingerprint.into());
            prop_assert_eq!(found.from, if in_first == NOWHERE { in_second } else { in_first });
            prop_assert!(!is_there || found.is_first == (in_first != NOWHERE));
            let survey = Survey::new(is_there, place(first, 0), place(second, 0));
            prop_assert_eq!(lanes.survey(fingerprint.into()), survey);
        }
    }
}
