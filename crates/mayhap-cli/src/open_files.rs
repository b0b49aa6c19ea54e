//! How many files, and with them connections, this process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Takes as many as the system lets it have without asking anybody, and tells how many that are; nothing if there is no
/// limit. What a process gets at first is 1024 on most systems, for the sake of old programs that can't count further.
pub(crate) fn allow_all() -> Option<u64> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Where it can't be done, what there was has to do.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    getrlimit(Resource::Nofile).current
}
