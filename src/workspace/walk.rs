//! Walking the workspace under its ignore rules.
