//! Long random sequences of `BF.*` and `CF.*` in redisbloom layout, against a model of RedisBloom: the same replies in
//! both protocols, and the same bytes in every dump. Each sequence is determined by its number, which a failure tells.

mod memory;
mod model;
mod play;

use play::Play;

#[test]
fn bloom_filters_are_those_of_redisbloom() {
    let shapes = [
        "0.01 1",
        "0.1 1 EXPANSION 1",
        "0.01 3 EXPANSION 4",
        "0.001 20",
        "0.2 7 EXPANSION 1",
        "0.9 10 EXPANSION 2",
        "0.25 64 EXPANSION 300",
        "0.05 40 NONSCALING",
        "0.4 5 EXPANSION 0",
        "0.000001 33 EXPANSION 2",
        "0.01 500",
    ];
    for (number, shape) in shapes.iter().cycle().take(132).enumerate() {
        let mut play = Play::new(number as u64, &format!("BF.RESERVE {{}} {shape}"));
        play.choose_defaults();
        for step in 0..250 {
            play.bloom_step();
            play.after(step);
        }
        play.compare_dumps();
    }
}

#[test]
fn cuckoo_filters_are_those_of_redisbloom() {
    let mut shapes = Vec::new();
    for bucket_size in [1, 2, 4] {
        for expansion in [0, 1, 2, 4] {
            for capacity in [2, 5, 16, 100] {
                let capacity = capacity * bucket_size;
                let iterations = [1, 5, 20, 500][(capacity + expansion) % 4];
                shapes.push(format!(
                    "{capacity} BUCKETSIZE {bucket_size} MAXITERATIONS {iterations} EXPANSION {expansion}"
                ));
            }
        }
    }
    shapes.push("10 BUCKETSIZE 3 EXPANSION 3".to_owned());
    shapes.push("600 BUCKETSIZE 255".to_owned());
    for (number, shape) in shapes.iter().cycle().take(150).enumerate() {
        let mut play = Play::new(1_000_000 + number as u64, &format!("CF.RESERVE {{}} {shape}"));
        play.choose_defaults();
        for step in 0..300 {
            play.cuckoo_step();
            play.after(step);
        }
        play.compare_dumps();
    }
}

#[test]
fn both_kinds_on_the_same_keys() {
    for number in 2_000_000..2_000_040 {
        let mut play = Play::new(number, "CF.RESERVE {} 20 BUCKETSIZE 2 EXPANSION 1");
        play.choose_defaults();
        for step in 0..200 {
            if play.below(2) == 0 {
                play.bloom_step();
            } else {
                play.cuckoo_step();
            }
            play.after(step);
        }
        play.compare_dumps();
    }
}
