//! `mayhap dedup`: each line once.
//!
//! ```text
//! arguments   what the command is told
//! seen        the filter of what was seen: ever, or lately
//! sieve       the loop: split, hash, ask, write
//! time        when a record was
//! loss        how many lines were probably mistaken
//! state       the file that goes on tomorrow
//! interrupt   what a signal does to it
//! summary     what is said at the end
//! ```

mod arguments;
mod interrupt;
mod loss;
mod seen;
mod sieve;
mod state;
mod summary;
mod time;

use std::io::{self, BufWriter, Stdout};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use mayhap::hash::KeyHasher;

use crate::failure::{Answer, Failure, print, print_of, say};
use crate::keys::{Batch, Inputs, KeyReader, LineEnds, OneTable};
use crate::numbers::{format_count, format_duration, format_rate, format_size};
use crate::progress::Progress;
pub(crate) use arguments::Arguments;
use loss::Loss;
use seen::{Plan, Seen};
use sieve::{Clock, Sieve, Wanted};
use state::State;
use summary::Summary;

/// Output is written in pieces of this size, unless the input comes in smaller ones.
const WRITE_SIZE: usize = 1 << 20;

/// How often a new line may be taken for a repeat, if nobody says.
const DEFAULT_RATE: f64 = 1e-6;

/// What the filter may take, if nobody says.
const DEFAULT_MEMORY: u64 = 64 << 20;

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let inputs = Inputs::check(&arguments.files)?;
    if arguments.wanted() != Wanted::Count {
        inputs.refuse_own_output()?;
    }
    let mut options = arguments.keys.clone();
    options.line_ends.get_or_insert(LineEnds::Keep);
    options.time.clone_from(&arguments.time);
    let mut reader = KeyReader::new(&inputs, &options)?;
    let job = Job::new(arguments, &inputs)?;
    let has_state = job.state.is_some();

    // A signal takes the job between two batches, and with it the right to go on.
    let job = Mutex::new(Some(job));
    let hold = || job.lock().unwrap_or_else(PoisonError::into_inner);
    // Held to the end, so that a signal in the middle of it waits.
    let finish = || hold().take().map(Job::finish);
    let mut work = || {
        let mut batch = Batch::default();
        while reader.next(&mut batch)? {
            let mut held = hold();
            match held.as_mut().map(|job| job.pass(&batch)) {
                Some(Ok(())) => {}
                Some(Err(failure)) => {
                    // What has failed no signal may finish.
                    *held = None;
                    return Err(failure);
                }
                None => return Ok(Answer::Yes),
            }
        }
        finish().unwrap_or(Ok(Answer::Yes))
    };
    if !has_state {
        return work();
    }
    let stop = || match finish() {
        Some(Err(Failure::Message(message))) => {
            say(&format!("mayhap: {message}"));
            Err(2)
        }
        _ => Ok(()),
    };
    let outcome = interrupt::stopping_on_signals(work, stop);
    if matches!(outcome, Err(Failure::OutputClosed)) && !arguments.quiet.quiet {
        say("mayhap: the reader of the output left early; the state is as it was");
    }
    outcome
}

/// What one run carries along.
struct Job<'a> {
    arguments: &'a Arguments,
    start: Instant,
    sieve: Sieve<BufWriter<Stdout>>,
    state: Option<State>,
    progress: Progress,
    input_bytes: u64,
    table: OneTable,
    /// What was warned of.
    warning: Option<String>,
}

impl<'a> Job<'a> {
    fn new(arguments: &'a Arguments, inputs: &Inputs) -> Result<Self, Failure> {
        let start = Instant::now();
        let hasher = arguments.unlock.secret_key()?.map_or_else(KeyHasher::default, KeyHasher::sip13);
        let plan = Plan {
            lines: arguments.lines,
            rate: arguments.rate.unwrap_or(DEFAULT_RATE),
            memory: arguments.memory.unwrap_or(DEFAULT_MEMORY),
            window: arguments.window,
            hasher,
            // What comes tomorrow nobody knows.
            most_lines: match (arguments.lines, &arguments.state) {
                (None, None) => inputs.most_lines(arguments.keys.line_end()),
                _ => None,
            },
        };
        let (state, kept) = match &arguments.state {
            None => (None, None),
            Some(path) => {
                let (state, kept) = State::open(path, &arguments.unlock)?;
                (Some(state), kept)
            }
        };
        let is_empty = kept.is_none();
        let seen = match (kept, &state) {
            (Some(kept), Some(state)) => {
                agree(&kept, arguments, &plan).map_err(|reason| disagreement(&state.name(), &reason))?;
                kept
            }
            _ => plan.build()?,
        };
        let loss = Loss::new(&seen, seen.planned_rate(), is_empty);
        let clock = match &arguments.time {
            Some(_) => Clock::Column { newest: 0, late_lines: 0 },
            None => Clock::Wall,
        };
        // Standard output is line-buffered underneath, which pieces of this size pass by.
        let output = BufWriter::with_capacity(WRITE_SIZE, io::stdout());
        let sieve = Sieve::new(seen, loss, arguments.wanted(), clock, output);
        let is_watched = !arguments.quiet.quiet && !arguments.json;
        let progress = match arguments.wanted() {
            Wanted::Count => Progress::beside_nothing(inputs.total_bytes(), is_watched),
            _ => Progress::new(inputs.total_bytes(), is_watched),
        };
        Ok(Self {
            arguments,
            start,
            sieve,
            state,
            progress,
            input_bytes: 0,
            table: OneTable::default(),
            warning: None,
        })
    }

    fn pass(&mut self, batch: &Batch) -> Result<(), Failure> {
        if self.sieve.wanted() != Wanted::Count
            && let Some(header) = self.table.header(batch)?
        {
            self.sieve.write_header(header)?;
        }
        self.sieve.pass(batch)?;
        if batch.is_drained() {
            self.sieve.flush()?;
        }
        self.input_bytes += batch.read_bytes();
        let sieve = &self.sieve;
        self.progress.advance(batch.read_bytes(), || {
            format!("{} lines, {} new", format_count(sieve.lines()), format_count(sieve.new_lines()))
        });
        if self.sieve.is_over_rate() && self.warning.is_none() {
            self.warn();
        }
        Ok(())
    }

    /// All lines have passed: the state is saved once they are out.
    fn finish(mut self) -> Result<Answer, Failure> {
        self.sieve.flush()?;
        self.progress.finish();
        let mut summary =
            Summary::new(&mut self.sieve, self.input_bytes, self.start.elapsed(), self.warning.take());
        let is_counted = self.sieve.wanted() == Wanted::Count;
        if is_counted && !self.arguments.json {
            print(&format!("{}\n", summary.repeats()))?;
        }
        if let Some(state) = &self.state {
            state.save(self.sieve.seen())?;
            summary = summary.with_state(state.name(), &self.sieve);
        }
        match (self.arguments.json, self.arguments.quiet.quiet) {
            // The count is in it, and the count is the result.
            (true, _) if is_counted => {
                print_of(self.arguments.state.as_deref(), &format!("{}\n", summary.json()))?;
            }
            (true, _) => self.progress.say(&summary.json()),
            (false, false) => self.progress.say(&summary.text()),
            (false, true) => {}
        }
        Ok(Answer::Yes)
    }

    fn warn(&mut self) {
        let advice = match (&self.state, self.arguments.lines) {
            (Some(_), _) => "a new state with a larger -n",
            (None, Some(_)) => "a larger -n",
            (None, None) => "-n with the number of different lines, or a larger --memory,",
        };
        let message = format!(
            "more different lines than the filter was made for: after {} of them a new line is taken for a repeat at a \
             rate above {}, and rising; {advice} keeps it below",
            format_count(self.sieve.new_lines()),
            format_rate(self.sieve.seen().planned_rate()),
        );
        // At once, and also for programs: who feeds lines for days would see it in the summary too late.
        if !self.arguments.quiet.quiet {
            self.progress.say(&format!("mayhap: warning: {message}"));
        }
        self.warning = Some(message);
    }
}

/// Whether a state is what this run asks for; else what it is, and what was asked.
fn agree(kept: &Seen, arguments: &Arguments, plan: &Plan) -> Result<(), String> {
    let window = |window: Option<u64>| match window {
        Some(window) => format!("with --window {}", format_duration(window)),
        None => "without --window".to_owned(),
    };
    if kept.window() != arguments.window {
        return Err(format!("{}, not {}", window(kept.window()), window(arguments.window)));
    }
    if let Some(rate) = arguments.rate.filter(|rate| *rate != kept.planned_rate()) {
        return Err(format!("for -p {}, not {}", format_rate(kept.planned_rate()), format_rate(rate)));
    }
    if let Some(lines) = arguments.lines.filter(|lines| *lines != kept.planned_lines()) {
        return Err(format!("for -n {}, not {lines}", kept.planned_lines()));
    }
    let made = kept.len_bytes();
    if let Some(memory) = arguments.memory.filter(|_| !plan.bytes().is_ok_and(|bytes| bytes == made)) {
        return Err(format!("with {} of memory, not {}", format_size(made), format_size(memory)));
    }
    Ok(())
}

fn disagreement(path: &str, reason: &str) -> Failure {
    Failure::Message(format!(
        "the state {path} was made {reason}; say the same to go on with it, or name another file to begin anew"
    ))
}
