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
        __m128i, _mm_cmpeq_epi16, _mm_cvtsi64_si128, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi16,
        _mm_unpacklo_epi16,
    };

    use super::super::buckets::{Found, NOWHERE, Survey};

    /// Both buckets.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Lanes {
        first: u64,
        second: u64,
    }

    impl Lanes {
        #[inline(always)]
        pub(in super::super) fn new(first: u64, second: u64) -> Option<Self> {
            Some(Self { first, second })
        }

        /// The lanes of the first bucket, and after them those of the second.
        #[inline(always)]
        fn in_a_row(self) -> __m128i {
            // SAFETY: it needs SSE2, which every x86-64 CPU has; so below.
            unsafe { _mm_set_epi64x(self.second.cast_signed(), self.first.cast_signed()) }
        }

        /// The lanes of both, by turns.
        #[inline(always)]
        fn by_turns(self) -> __m128i {
            let [first, second] = [self.first, self.second];
            // SAFETY: as above.
            unsafe {
                let [first, second] = [first, second].map(|bucket| _mm_cvtsi64_si128(bucket.cast_signed()));
                _mm_unpacklo_epi16(first, second)
            }
        }

        /// Whether they have the fingerprint.
        #[inline(always)]
        pub(in super::super) fn have(self, fingerprint: u32) -> bool {
            equal(self.in_a_row(), fingerprint) != 0
        }

        /// Where the fingerprint is: in the first bucket, if it is in both.
        #[inline(always)]
        pub(in super::super) fn find(self, fingerprint: u32) -> Found {
            let there = equal(self.in_a_row(), fingerprint);
            let from = there.trailing_zeros() % 8 * 8;
            Found { is_first: there & 0xff != 0, from: if there == 0 { NOWHERE } else { from } }
        }

        /// What an insert has to know of them. By turns, the lowest lane that is free is in the bucket that is emptier, and one
        /// search finds both.
        #[inline(always)]
        pub(in super::super) fn survey(self, fingerprint: u32) -> Survey {
            let lanes = self.by_turns();
            let free = equal(lanes, 0);
            let bit = free.trailing_zeros();
            let free = Found { is_first: bit & 2 == 0, from: if free == 0 { NOWHERE } else { bit / 4 * 16 } };
            Survey { is_there: equal(lanes, fingerprint) != 0, free }
        }
    }

    /// Two bits for each lane that holds the number.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "a fingerprint has 16 bits")]
    fn equal(lanes: __m128i, number: u32) -> u32 {
        // SAFETY: as above.
        unsafe {
            let wanted = _mm_set1_epi16((number as u16).cast_signed());
            _mm_movemask_epi8(_mm_cmpeq_epi16(lanes, wanted)).cast_unsigned()
        }
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
