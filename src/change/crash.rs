//! The moments at which a crash is played in tests. Outside of tests there is nothing here.

#[cfg(test)]
use std::cell::RefCell;

#[cfg(test)]
type Hook = Box<dyn FnMut(&str)>;

#[cfg(test)]
thread_local! {
    static HOOK: RefCell<Option<Hook>> = const { RefCell::new(None) };
}

/// Names a moment between two steps of a write.
#[cfg(not(test))]
pub(super) fn point(_moment: &str) {}

/// Names a moment between two steps of a write.
#[cfg(test)]
pub(super) fn point(moment: &str) {
    HOOK.with_borrow_mut(|hook| {
        if let Some(hook) = hook {
            hook(moment);
        }
    });
}

/// Calls `hook` at each moment while `work` is done.
#[cfg(test)]
pub(super) fn at_each<T>(hook: impl FnMut(&str) + 'static, work: impl FnOnce() -> T) -> T {
    HOOK.set(Some(Box::new(hook)));
    let done = work();
    HOOK.set(None);
    done
}
