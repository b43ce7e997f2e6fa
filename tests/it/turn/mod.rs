//! Whole turns with a scripted model: the log they give, what is asked, what is written.

mod after_edit;
mod calls;
mod consent;
mod review;
mod stops;

use expect_test::Expect;

use crate::world::World;

/// Runs one turn of `world` and compares the log it gives.
#[track_caller]
fn check(world: &World, expected: &Expect) {
    expected.assert_eq(&world.log());
}
