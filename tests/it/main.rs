//! The one integration binary: each module plays whole behaviour through public doors.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod changes;
mod cli;
mod commands;
mod index;
mod model_settings;
mod provider;
mod providers;
mod review;
mod safety;
mod screen;
mod secure;
mod sessions;
mod sweep;
mod tidy;
mod tools;
mod turn;
mod wire;
mod wire_server;
mod workspace_files;
mod world;
