//! A filter as it comes out of another system's file, before anybody has said what its keys are.

use mayhap::formats::{ForeignFilter, KeyForm};

use crate::failure::Failure;

/// A filter, and what its file says of the keys.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) filter: ForeignFilter,
    pub(super) keys: Keys,
}

/// What the keys are, as far as the file tells.
#[derive(Debug)]
pub(super) struct Keys {
    /// Their form; or why what people write isn't what was hashed, and what to do.
    pub(super) form: Result<KeyForm, String>,
    /// What else somebody who asks should know.
    pub(super) meaning: Option<String>,
    /// What the file says that they are, if it says so.
    pub(super) stored: Option<Stored>,
}

/// Keys of which the file tells how they are stored.
#[derive(Debug)]
pub(super) struct Stored {
    /// "the column price is DOUBLE".
    pub(super) says: String,
    /// The forms that can make such bytes of what people write.
    pub(super) forms: Vec<KeyForm>,
}

impl From<ForeignFilter> for Loaded {
    /// A filter whose file says nothing: its keys are taken for text.
    fn from(filter: ForeignFilter) -> Self {
        Self { filter, keys: Keys::from(KeyForm::Text) }
    }
}

impl From<KeyForm> for Keys {
    fn from(form: KeyForm) -> Self {
        Self { form: Ok(form), meaning: None, stored: None }
    }
}

impl Keys {
    /// Keys of this form, of which people must know more to write them.
    pub(super) fn meaning(form: KeyForm, meaning: String) -> Self {
        Self { meaning: Some(meaning), ..Self::from(form) }
    }

    /// The same keys, with what the file says of them.
    pub(super) fn stored_as(self, stored: Option<Stored>) -> Self {
        Self { stored, ..self }
    }

    /// Refuses a form that never makes the bytes that are stored: every answer would be no.
    pub(super) fn refuse_contradiction(&self, given: KeyForm) -> Result<(), Failure> {
        let Some(stored) = self.stored.as_ref().filter(|stored| !stored.forms.contains(&given)) else {
            return Ok(());
        };
        let possible: Vec<&str> = stored.forms.iter().map(|form| form.name()).collect();
        Err(Failure::Message(format!(
            "{}, which --key-type {} contradicts: every answer would be no; {}give one of: {}",
            stored.says,
            given.name(),
            if self.form.is_ok() { "leave it out, or " } else { "" },
            possible.join(", ")
        )))
    }

    /// Keys that can't be asked for until somebody names a form.
    pub(super) fn unclear(why: String) -> Self {
        Self { form: Err(why), meaning: None, stored: None }
    }
}
