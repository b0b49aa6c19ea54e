//! One manual page.
//!
//! Names, options and descriptions are rendered by `clap_mangen`. The text behind the options is ours: it would run the
//! lines of the examples together.

use clap::Command;
use clap_mangen::Man;

/// The page of a command, in roff.
pub(super) fn page(command: &Command) -> String {
    let version = concat!("mayhap ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).title(name(command)).source(version).manual("mayhap");
    let mut roff = Vec::new();
    // Into memory: nothing here can fail.
    let _ = man
        .render_title(&mut roff)
        .and_then(|()| man.render_name_section(&mut roff))
        .and_then(|()| man.render_synopsis_section(&mut roff))
        .and_then(|()| man.render_description_section(&mut roff))
        .and_then(|()| man.render_options_section(&mut roff));
    if command.has_subcommands() {
        let _ = man.render_subcommands_section(&mut roff);
    }
    let mut text = String::from_utf8_lossy(&roff).into_owned();
    if let Some(after) = command.get_after_help() {
        text += &sections(&after.to_string());
    }
    if name(command) != "mayhap" {
        text += ".SH SEE ALSO\n\\fBmayhap\\fR(1)\n";
    }
    text
}

/// The name of the page: `mayhap`, `mayhap-build`.
pub(super) fn name(command: &Command) -> String {
    command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned()
}

/// Examples, notes and exit codes, a section each.
fn sections(after_help: &str) -> String {
    let mut text = String::new();
    let mut has_notes = false;
    for paragraph in after_help.split("\n\n") {
        if let Some(examples) = paragraph.strip_prefix("Examples:\n") {
            text += &format!(".SH EXAMPLES\n.nf\n{}\n.fi\n", escaped(examples));
        } else if let Some(codes) = paragraph.strip_prefix("Exit codes:") {
            text += &format!(".SH EXIT STATUS\n{}\n", escaped(codes.trim()));
        } else {
            text += if has_notes { ".PP\n" } else { ".SH NOTES\n" };
            has_notes = true;
            let is_table = paragraph.lines().any(|line| line.starts_with("  "));
            text += &if is_table {
                format!(".nf\n{}\n.fi\n", escaped(paragraph))
            } else {
                escaped(paragraph) + "\n"
            };
        }
    }
    text
}

/// Text that roff prints as it is.
fn escaped(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        // A point or an apostrophe at the beginning would be a request.
        if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_be_taken_for_requests() {
        assert_eq!(escaped(".SH x\n'a\\n\na-b"), "\\&.SH x\n\\&'a\\en\na\\-b");
    }

    #[test]
    fn examples_keep_their_lines() {
        let text =
            sections("Examples:\n  a -n 1\n  b\n\nSome note.\n\n  x  1\n  y  2\n\nExit codes: 0 fine.");
        assert_eq!(
            text,
            ".SH EXAMPLES\n.nf\n  a \\-n 1\n  b\n.fi\n.SH NOTES\nSome note.\n.PP\n.nf\n  x  1\n  y  2\n.fi\n\
             .SH EXIT STATUS\n0 fine.\n"
        );
    }
}
