//! `mayhap hash`: digests of keys, and how good the functions are.

mod compare;
mod function;
mod quality;
mod speed;

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::json;

use crate::failure::{Answer, Failure, print};
use crate::filter_file::Unlock;
use crate::json_bytes;
use crate::keys::{Batch, Inputs, KeyOptions, KeyReader};
use function::{Function, Hasher};

/// Output is written in pieces of this size, unless the input comes in smaller ones.
const WRITE_SIZE: usize = 1 << 16;

/// Print the digests of keys, or compare the hash functions
///
/// Keys are given as arguments, or come from files (-i) or standard input, one on each line. Each is printed behind its
/// 64 bits in hexadecimal digits. These are what the function itself answers, so they can be compared with other
/// programs; --filter prints what a filter takes, which for other functions than xxh3 and SipHash passes a finaliser first.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Keys; `-` is standard input, which is also read when neither a key nor a file is given
    #[arg(value_name = "KEY", conflicts_with = "input")]
    given: Vec<String>,

    /// Read keys from this file; can be given more than once
    #[arg(short, long, value_name = "FILE")]
    input: Vec<PathBuf>,

    /// The function
    #[arg(long, value_name = "NAME", default_value = "xxh3", hide_possible_values = true,
          value_parser = PossibleValuesParser::new(function::names()))]
    function: String,

    /// The seed: a number, or 0x and hexadecimal digits. SipHash has a secret key instead (--key-file)
    #[arg(long, value_name = "NUMBER", value_parser = parse_seed, default_value = "0")]
    seed: u64,

    /// Print the digest that a filter takes
    #[arg(long)]
    filter: bool,

    #[command(flatten)]
    unlock: Unlock,

    /// Name all functions, and what they are for
    #[arg(long, conflicts_with_all = ["given", "input", "compare", "filter"])]
    list: bool,

    /// Measure speed, avalanche and evenness of all functions, in some seconds
    #[arg(long, conflicts_with_all = ["given", "input"])]
    compare: bool,

    /// Write JSON: an object for each key, or one for all functions
    #[arg(long)]
    json: bool,

    // Last, because its heading is that of all options that follow.
    #[command(flatten)]
    keys: KeyOptions,
}

const EXAMPLES: &str = "\
Examples:
  mayhap hash apple pear                        digests by xxh3, the filters' own function
  mayhap hash --function murmur3-128 apple      by another
  mayhap hash -i urls.txt | sort | uniq -w 16 -d   do two lines have the same digest?
  mayhap hash --function sip13 --key-file key -i users.txt
  mayhap hash --list                            which functions are there?
  mayhap hash --compare                         which are fast, and which are good?

A digest is printed as a number, its highest digit first. Of cryptographic functions it is the first eight bytes, read \
as a little-endian number; of functions of 32 bits the answer stands in the upper half, and a second one in the lower.

Exit codes: 0 success, 2 error.";

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let key = arguments.unlock.secret_key()?;
    if arguments.list {
        print(&list(arguments.json))?;
        return Ok(Answer::Yes);
    }
    if arguments.compare {
        compare::run(arguments.seed, key.as_ref(), arguments.filter, arguments.json)?;
        return Ok(Answer::Yes);
    }
    let function = Function::from_name(&arguments.function);
    let hasher = Hasher::new(function, arguments.seed, key, arguments.filter)?;
    let writer =
        Writer { hasher, as_json: arguments.json, terminator: if arguments.keys.null { 0 } else { b'\n' } };
    let mut output = BufWriter::with_capacity(WRITE_SIZE, io::stdout().lock());
    let is_stdin = arguments.given.iter().all(|key| key == "-");
    if is_stdin {
        hash_input(arguments, &writer, &mut output)?;
    } else {
        for key in &arguments.given {
            writer.write(key.as_bytes(), &mut output)?;
        }
    }
    output.flush().map_err(|error| Failure::from_output(&error))?;
    Ok(Answer::Yes)
}

fn hash_input(arguments: &Arguments, writer: &Writer, output: &mut impl Write) -> Result<(), Failure> {
    let inputs = Inputs::check(&arguments.input)?;
    inputs.refuse_own_output()?;
    let mut reader = KeyReader::new(&inputs, &arguments.keys)?;
    let mut batch = Batch::default();
    while reader.next(&mut batch)? {
        batch.for_each(|key, _| writer.write(key, output))?;
        if batch.is_drained() {
            output.flush().map_err(|error| Failure::from_output(&error))?;
        }
    }
    Ok(())
}

/// How a digest is written.
struct Writer {
    hasher: Hasher,
    as_json: bool,
    terminator: u8,
}

impl Writer {
    fn write(&self, key: &[u8], output: &mut impl Write) -> Result<(), Failure> {
        let digest = self.hasher.hash(key);
        let written = if self.as_json {
            let (name, key) = json_bytes::field("key", key);
            writeln!(output, "{}", json!({(name): key, "digest": format!("{digest:016x}")}))
        } else {
            write!(output, "{digest:016x}  ")
                .and_then(|()| output.write_all(key))
                .and_then(|()| output.write_all(&[self.terminator]))
        };
        written.map_err(|error| Failure::from_output(&error))
    }
}

fn list(as_json: bool) -> String {
    let all = Function::all();
    if as_json {
        let functions: Vec<_> = all
            .iter()
            .map(|function| {
                json!({
                    "function": function.name(),
                    "function_id": function.id(),
                    "for": function.purpose().name(),
                    "about": function.about(),
                })
            })
            .collect();
        return format!("{:#}\n", json!(functions));
    }
    let mut rows = vec![["function", "id", "for", ""].map(str::to_owned)];
    rows.extend(all.iter().map(|function| {
        let id = function.id().to_string();
        [function.name().to_owned(), id, function.purpose().name().to_owned(), function.about().to_owned()]
    }));
    // Words stand to the left, where a table of numbers has its columns to the right.
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let (name, id, purpose) = (width(0), width(1), width(2));
    let line = |row: &[String; 4]| {
        format!("{:<name$}  {:>id$}  {:<purpose$}  {}", row[0], row[1], row[2], row[3]).trim_end().to_owned()
            + "\n"
    };
    rows.iter().map(line).collect()
}

fn parse_seed(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("`{text}` is not a seed; write a number below 2^64, such as 42 or 0x2a"))
}
