//! Who was answered lately.

use mio::{Events, Token};

/// So many are remembered. If more clients than this take turns, one or the other always comes soon, and none of them is
/// kept waiting by a worker that has to wake up: the others keep it awake.
const REMEMBERED: usize = 8;

/// The last connections that were answered.
#[derive(Debug, Default)]
pub(super) struct Recent {
    tokens: [Option<Token>; REMEMBERED],
    next: usize,
}

impl Recent {
    /// Remembers those that events were about.
    pub(super) fn note(&mut self, events: &Events) {
        for event in events {
            self.note_one(event.token());
        }
    }

    /// Whether an event is about one of them.
    pub(super) fn is_among(&self, events: &Events) -> bool {
        events.iter().any(|event| self.tokens.contains(&Some(event.token())))
    }

    fn note_one(&mut self, token: Token) {
        if self.tokens.contains(&Some(token)) {
            return;
        }
        if let Some(oldest) = self.tokens.get_mut(self.next) {
            *oldest = Some(token);
        }
        self.next = (self.next + 1) % REMEMBERED;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten() {
        let mut recent = Recent::default();
        for number in [7, 7, 1, 2, 3, 4, 5, 6, 7, 8] {
            recent.note_one(Token(number));
        }
        for number in 1..=8 {
            assert!(recent.tokens.contains(&Some(Token(number))), "{number}");
        }
        recent.note_one(Token(9));
        assert!(!recent.tokens.contains(&Some(Token(7))));
    }
}
