//! What the CPU at hand can do beyond the least of its kind, and the calls from code that is compiled for the least into
//! code that is compiled for more.
//!
//! Such a call can't be inlined, so it belongs around a loop and not into it. Whatever is done behind it is written once:
//! a [`Work`] is compiled for each kind of CPU.

#![allow(unsafe_code)]

/// Something to be compiled for each kind of CPU.
///
/// A trait and not a closure: [`run`](Self::run) must be `#[inline(always)]`, and so must all that is to be compiled with
/// it. What is left out of line is compiled for the least of CPUs.
pub(crate) trait Work {
    type Output;
    fn run(self) -> Self::Output;
}

/// Does it with all that this CPU has.
#[inline(always)]
pub(crate) fn run<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = Avx2::detect() {
        return avx2.run(work);
    }
    work.run()
}

/// The proof that this CPU has AVX2, and the bit instructions that came with it (a longer multiplication, and rotations
/// into another register, which spare moves in the hash loop): there is no other way to make one than
/// [`detect`](Self::detect).
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx2 {
    /// Whether it has AVX-512 too: rotations and long multiplications of whole registers, with which integers are hashed
    /// several at a time.
    has_avx512: bool,
}

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// Whether the whole program is compiled for such CPUs.
    pub(crate) const COMPILED_FOR_IT: bool =
        cfg!(all(target_feature = "avx2", target_feature = "bmi1", target_feature = "bmi2"));

    pub(crate) fn detect() -> Option<Self> {
        #[cfg(feature = "std")]
        let has = std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2");
        #[cfg(not(feature = "std"))]
        let has = Self::COMPILED_FOR_IT;
        has.then(|| Self { has_avx512: has_avx512() })
    }

    /// The proof of AVX-512, if it has that.
    #[inline(always)]
    pub(crate) fn avx512(self) -> Option<Avx512> {
        self.has_avx512.then_some(Avx512(()))
    }

    /// The same without AVX-512, if it has that.
    #[cfg(test)]
    pub(crate) fn by_itself(self) -> Option<Self> {
        self.has_avx512.then_some(Self { has_avx512: false })
    }

    /// Does something with AVX2, and with AVX-512 if there is.
    #[inline(always)]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        match self.avx512() {
            Some(avx512) => avx512.run(work),
            None => self.run_without_avx512(work),
        }
    }

    /// Does something with AVX2 alone.
    #[inline(always)]
    pub(crate) fn run_without_avx512<W: Work>(self, work: W) -> W::Output {
        // SAFETY: `self` is the proof that the CPU has AVX2.
        unsafe { run_with_avx2(work) }
    }
}

/// The proof that this CPU has AVX-512 beside AVX2.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx512(());

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    /// Does something with AVX-512.
    #[inline(always)]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        // SAFETY: `self` is the proof that the CPU has AVX-512.
        unsafe { run_with_avx512(work) }
    }
}

#[cfg(target_arch = "x86_64")]
impl From<Avx512> for Avx2 {
    #[inline(always)]
    fn from(_: Avx512) -> Self {
        Self { has_avx512: true }
    }
}

/// Whether there is AVX-512 that is no slower than AVX2. The last feature isn't used: the CPUs that lack it have a lower
/// clock while wide registers are at work.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
fn has_avx512() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512dq")
        && std::arch::is_x86_feature_detected!("avx512vl")
        && std::arch::is_x86_feature_detected!("avx512vbmi2")
}

/// Whether the instructions that load each lane from a place of its own (`vpgatherqq` and its kin) take less time than as many
/// loads (decision 150). Not on Intel's CPUs whose microcode closes a leak through them: eight lanes in 29 cycles, on one of the
/// third generation, against 12 by single loads. The feature has nothing to do with it: of CPUs with AVX-512, Intel's without the
/// leak have it, and the others haven't.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
pub(crate) fn gathers_quickly() -> bool {
    std::arch::is_x86_feature_detected!("avx512fp16")
}

#[cfg(all(target_arch = "x86_64", not(feature = "std")))]
pub(crate) fn gathers_quickly() -> bool {
    cfg!(target_feature = "avx512fp16")
}

/// Nothing is compiled twice where the CPU is known beforehand.
#[cfg(all(target_arch = "x86_64", not(feature = "std")))]
fn has_avx512() -> bool {
    false
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
#[inline(never)]
fn run_with_avx2<W: Work>(work: W) -> W::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,avx512f,avx512bw,avx512dq,avx512vl")]
#[inline(never)]
fn run_with_avx512<W: Work>(work: W) -> W::Output {
    work.run()
}
