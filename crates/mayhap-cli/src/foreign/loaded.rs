//! A filter as it comes out of another system's file, before anybody has said what its keys are.

use mayhap::formats::{ForeignFilter, KeyForm};

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
}

impl From<ForeignFilter> for Loaded {
    /// A filter whose file says nothing: its keys are taken for text.
    fn from(filter: ForeignFilter) -> Self {
        Self { filter, keys: Keys::from(KeyForm::Text) }
    }
}

impl From<KeyForm> for Keys {
    fn from(form: KeyForm) -> Self {
        Self { form: Ok(form), meaning: None }
    }
}

impl Keys {
    /// Keys of this form, of which people must know more to write them.
    pub(super) fn meaning(form: KeyForm, meaning: String) -> Self {
        Self { form: Ok(form), meaning: Some(meaning) }
    }

    /// Keys that can't be asked for until somebody names a form.
    pub(super) fn unclear(why: String) -> Self {
        Self { form: Err(why), meaning: None }
    }
}
