//! `mayhap hash`, as a user runs it.

mod run;

use run::{Directory, fails, mayhap};
use serde_json::Value;

/// Runs it and returns what it printed.
fn hash(arguments: &[&str], input: &[u8]) -> String {
    let output = mayhap(&[&["hash"], arguments].concat(), input);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// The digest of one key.
fn digest(arguments: &[&str]) -> u64 {
    let line = hash(arguments, b"");
    let digits = line.split("  ").next().expect("a line");
    u64::from_str_radix(digits, 16).expect("hexadecimal digits")
}

#[test]
fn digests_are_those_of_the_functions_authors() {
    // XXH3 and XXH64 of nothing, FNV-1a of "a", MurmurHash3 x86_32 of "" with seed 1: published test vectors.
    assert_eq!(hash(&["", "a"], b"").lines().next().unwrap(), "2d06800538d394c2  ");
    assert_eq!(digest(&["--function", "xxh64", ""]), 0xef46_db37_51d8_e999);
    assert_eq!(digest(&["--function", "fnv1a", "a"]), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(digest(&["--function", "murmur3-32", "--seed", "1", ""]) >> 32, 0x514e_28b7);
    // The first eight bytes of SHA-256 of "abc" are ba7816bf 8f01cfea.
    assert_eq!(digest(&["--function", "sha256", "abc"]).swap_bytes(), 0xba78_16bf_8f01_cfea);
}

#[test]
fn seeds_are_decimal_or_hexadecimal() {
    assert_eq!(digest(&["--seed", "42", "x"]), digest(&["--seed", "0x2a", "x"]));
    assert_ne!(digest(&["--seed", "42", "x"]), digest(&["x"]));
    fails(&["hash", "--seed", "many", "x"], b"", "`many` is not a seed");
}

#[test]
fn a_filter_takes_the_digest_after_its_finaliser() {
    assert_eq!(digest(&["--filter", "x"]), digest(&["x"]));
    let (plain, finished) =
        (digest(&["--function", "fnv1", "x"]), digest(&["--function", "fnv1", "--filter", "x"]));
    let mut mixed = plain;
    mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    assert_eq!(finished, mixed ^ (mixed >> 33));
}

#[test]
fn keys_come_from_arguments_files_and_pipes() {
    let directory = Directory::new("hash-inputs");
    let file = directory.file("keys", b"apple\npear\n");
    let expected = hash(&["apple", "pear"], b"never read");
    assert!(expected.ends_with("  pear\n"));
    assert_eq!(hash(&[], b"apple\npear\n"), expected);
    assert_eq!(hash(&["-"], b"apple\npear"), expected);
    assert_eq!(hash(&["-i", &file], b"never read"), expected);
    let nul = mayhap(&["hash", "-z"], b"apple\0pear\0");
    assert_eq!(nul.stdout, expected.replace('\n', "\0").into_bytes());
    let table = directory.file("fruit.csv", b"id,name\n1,apple\n2,pear\n");
    assert_eq!(hash(&["-i", &table, "-f", "name"], b""), expected);
    fails(&["hash", "-i", "absent"], b"", "no such file");
    fails(&["hash", "-i", &file, "apple"], b"", "cannot be used with");
}

#[test]
fn sip_hash_needs_its_key_and_others_have_none() {
    let directory = Directory::new("hash-keys");
    let key = directory.file("key", b"000102030405060708090a0b0c0d0e0f\n");
    let other = directory.file("other", b"100102030405060708090a0b0c0d0e0f\n");
    // SipHash-2-4 of nothing under this key, from its authors' table of test vectors.
    assert_eq!(digest(&["--function", "sip24", "--key-file", &key, ""]), 0x726f_db47_dd0e_0e31);
    assert_ne!(
        digest(&["--function", "sip13", "--key-file", &key, "x"]),
        digest(&["--function", "sip13", "--key-file", &other, "x"])
    );
    fails(&["hash", "--function", "sip13", "x"], b"", "sip13 needs a secret key");
    fails(&["hash", "--key-file", &key, "x"], b"", "xxh3 has no secret key");
    fails(&["hash", "--function", "sip13", "--key-file", "absent", "x"], b"", "no such file");
    fails(&["hash", "--function", "md6", "x"], b"", "invalid value 'md6'");
}

#[test]
fn json_is_one_object_for_each_key() {
    let output = mayhap(&["hash", "--json"], b"apple\n\xff\xfe\n");
    let lines: Vec<Value> = std::str::from_utf8(&output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["key"], "apple");
    assert_eq!(lines[0]["digest"], format!("{:016x}", digest(&["apple"])));
    assert_eq!(lines[1]["key_hex"], "fffe");
    assert_eq!(lines[1].get("key"), None);
}

#[test]
fn the_list_names_every_function() {
    let text = hash(&["--list"], b"");
    let functions: Vec<Value> = serde_json::from_str(&hash(&["--list", "--json"], b"")).unwrap();
    assert_eq!(functions.len() + 1, text.lines().count());
    for function in &functions {
        let name = function["function"].as_str().unwrap();
        assert!(text.lines().any(|line| line.starts_with(name)), "{name}");
        assert!(
            ["native", "native, keyed", "compatible", "cryptographic"]
                .contains(&function["for"].as_str().unwrap())
        );
    }
    let find = |name: &str| functions.iter().find(|function| function["function"] == name).unwrap();
    assert_eq!(
        (&find("xxh3")["function_id"], &find("sip24")["function_id"], &find("md5")["function_id"]),
        (&1.into(), &3.into(), &33.into())
    );
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
}

#[test]
fn the_comparison_tells_good_functions_from_weak_ones() {
    let report: Value = serde_json::from_str(&hash(&["--compare", "--json"], b"")).unwrap();
    let functions = report["functions"].as_array().unwrap();
    assert_eq!(functions.len(), 24);
    let figure = |name: &str, figure: &str| {
        let function = functions.iter().find(|function| function["function"] == name).unwrap();
        function[figure].as_f64().unwrap()
    };
    for function in functions {
        let speeds = function["speed"].as_array().unwrap();
        assert_eq!(speeds.len(), 3);
        assert!(speeds.iter().all(|speed| speed["ns"].as_f64().unwrap() > 0.0), "{function}");
    }
    for name in ["xxh3", "sip13", "xxh64", "murmur3-128", "sha256"] {
        assert!((figure(name, "flip_mean") - 0.5).abs() < 0.005, "{name}");
        assert!(figure(name, "flip_worst_bias") < 0.06, "{name}");
        assert!(figure(name, "chi_square_z_integers").abs() < 6.0, "{name}");
        assert!(figure(name, "chi_square_z_urls").abs() < 6.0, "{name}");
    }
    // FNV's highest bits hardly see the last bytes of a key.
    assert!(figure("fnv1", "flip_worst_bias") > 0.4);
}
