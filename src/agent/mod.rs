//! The loop: next step, ask, perform.

use tokio_util::sync::CancellationToken;

use crate::approval::Approver;
use crate::event::EventSink;

/// The front end as the loop sees it.
#[derive(Clone, Copy)]
pub struct Frontend<'a> {
    pub events: &'a dyn EventSink,
    pub approver: &'a dyn Approver,
    pub cancel: &'a CancellationToken,
}
