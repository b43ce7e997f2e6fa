//! The one integration binary: each module plays whole behaviour through public doors.
#![allow(clippy::unwrap_used, clippy::expect_used)]
