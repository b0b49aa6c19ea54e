//! The rules by which the recorded cases name their keys.

use serde_json::Value;

use crate::case::{Case, hex};

pub(crate) const FILES: &[(&str, crate::Check)] = &[("keygen_vectors", generator)];

/// The keys of a rule, in order.
#[derive(Clone, Debug)]
pub(crate) enum Keys {
    Bytes(Vec<Vec<u8>>),
    /// UTF-16 code units: not every one of them is text, some have lone surrogates.
    Text(Vec<Vec<u16>>),
    Integers(Vec<i64>),
    Doubles(Vec<f64>),
}

impl Keys {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Bytes(keys) => keys.len(),
            Self::Text(keys) => keys.len(),
            Self::Integers(keys) => keys.len(),
            Self::Doubles(keys) => keys.len(),
        }
    }

    /// Keys that are bytes.
    pub(crate) fn bytes(self) -> Vec<Vec<u8>> {
        match self {
            Self::Bytes(keys) => keys,
            other => panic!("bytes expected, not {other:?}"),
        }
    }
}

/// UTF-16 as UTF-8, the way Java does it: a lone surrogate becomes one `?`.
pub(crate) fn java_utf8(units: &[u16]) -> Vec<u8> {
    char::decode_utf16(units.iter().copied()).map(|unit| unit.unwrap_or('?')).collect::<String>().into_bytes()
}

pub(crate) struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn length(&mut self, rule: &Rule<'_>) -> u64 {
        let (shortest, longest) = (rule.number("minlen"), rule.number("maxlen"));
        shortest + self.next() % (longest - shortest + 1)
    }

    fn bytes(&mut self, rule: &Rule<'_>) -> Vec<u8> {
        let length = self.length(rule) as usize;
        let mut bytes: Vec<u8> = (0..length.div_ceil(8)).flat_map(|_| self.next().to_le_bytes()).collect();
        bytes.truncate(length);
        bytes
    }

    fn text(&mut self, rule: &Rule<'_>) -> Vec<u16> {
        const CHARACTERS: [char; 16] = [
            'a',
            'b',
            'z',
            '0',
            ' ',
            '/',
            '\u{e9}',
            '\u{df}',
            '\u{3a9}',
            '\u{436}',
            '\u{6f22}',
            '\u{5b57}',
            '\u{20ac}',
            '\u{1f600}',
            '\u{1d4b3}',
            '\u{7f}',
        ];
        let length = self.length(rule);
        let text: String = (0..length).map(|_| CHARACTERS[self.next() as usize % 16]).collect();
        text.encode_utf16().collect()
    }
}

struct Rule<'a>(&'a Value);

impl<'a> Rule<'a> {
    fn number(&self, name: &str) -> u64 {
        self.0[name].as_u64().unwrap_or_else(|| panic!("the rule has no number {name}: {}", self.0))
    }

    fn integer(&self, name: &str) -> i64 {
        self.0[name].as_i64().unwrap_or_else(|| panic!("the rule has no integer {name}: {}", self.0))
    }

    fn text(&self, name: &str) -> &'a str {
        self.0[name].as_str().unwrap_or_else(|| panic!("the rule has no text {name}: {}", self.0))
    }

    fn listed<T>(&self, key: impl Fn(&'a str) -> T) -> Vec<T> {
        let keys = self.0["keys"].as_array().unwrap_or_else(|| panic!("the rule lists no keys: {}", self.0));
        keys.iter().map(|value| key(value.as_str().expect("keys are listed as text"))).collect()
    }

    fn each<T>(&self, key: impl FnMut(u64) -> T) -> Vec<T> {
        (0..self.number("count")).map(key).collect()
    }

    fn numbered(&self, i: u64) -> String {
        format!("{}{}", self.text("prefix"), self.number("start") + i)
    }

    fn stepped(&self, i: u64) -> i64 {
        self.integer("start").wrapping_add((i as i64).wrapping_mul(self.integer("step")))
    }

    fn random(&self) -> SplitMix64 {
        SplitMix64(self.number("seed"))
    }
}

pub(crate) fn keys_of(rule: &Value) -> Keys {
    let rule = Rule(rule);
    match rule.text("rule") {
        "seq_ascii" => Keys::Bytes(rule.each(|i| rule.numbered(i).into_bytes())),
        "seq_text" => Keys::Text(rule.each(|i| rule.numbered(i).encode_utf16().collect())),
        "seq_u32le" => Keys::Bytes(rule.each(|i| (rule.stepped(i) as u32).to_le_bytes().to_vec())),
        "seq_i64" => Keys::Integers(rule.each(|i| rule.stepped(i))),
        "seq_i32" => Keys::Integers(rule.each(|i| i64::from(rule.stepped(i) as i32))),
        "sm_i64" => {
            let mut random = rule.random();
            Keys::Integers(rule.each(|_| random.next() as i64))
        }
        "sm_i32" => {
            let mut random = rule.random();
            Keys::Integers(rule.each(|_| i64::from(random.next() as i32)))
        }
        "sm_bytes" => {
            let mut random = rule.random();
            Keys::Bytes(rule.each(|_| random.bytes(&rule)))
        }
        "sm_high" => {
            let mut random = rule.random();
            Keys::Bytes(rule.each(|_| random.bytes(&rule).iter().map(|byte| byte | 0x80).collect()))
        }
        "sm_text" => {
            let mut random = rule.random();
            Keys::Text(rule.each(|_| random.text(&rule)))
        }
        "list_hex" => Keys::Bytes(rule.listed(hex)),
        "list_int" => Keys::Integers(rule.listed(|key| key.parse().unwrap())),
        "list_text" => Keys::Text(rule.listed(|key| key.encode_utf16().collect())),
        "list_utf16be_hex" => Keys::Text(rule.listed(utf16)),
        "list_f64bits" => {
            Keys::Doubles(rule.listed(|key| f64::from_bits(u64::from_str_radix(key, 16).unwrap())))
        }
        unknown => panic!("{unknown} is no rule for keys that is known here"),
    }
}

fn utf16(text: &str) -> Vec<u16> {
    hex(text).chunks_exact(2).map(|unit| u16::from_be_bytes([unit[0], unit[1]])).collect()
}

/// The generator itself: the first keys of a rule.
fn generator(case: &mut Case) {
    let keys = case.keys("rule");
    let expected = case.value("expected").as_array().unwrap();
    assert_eq!(keys.len(), expected.len());
    for (i, expected) in expected.iter().enumerate() {
        let text = |name: &str| expected[name].as_str().unwrap_or_else(|| panic!("no {name} in {expected}"));
        match &keys {
            Keys::Bytes(keys) => assert_eq!(keys[i], hex(text("hex"))),
            Keys::Text(keys) => {
                assert_eq!(keys[i], utf16(text("utf16be_hex")));
                assert_eq!(String::from_utf16(&keys[i]).unwrap(), text("text"));
            }
            Keys::Integers(keys) => assert_eq!(keys[i].to_string(), text("int")),
            Keys::Doubles(keys) => assert_eq!(format!("{:016x}", keys[i].to_bits()), text("f64bits")),
        }
    }
}
