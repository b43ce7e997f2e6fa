//! The only module that starts child processes: `command` (bash), `service` (long-lived pipes), `interactive` (an editor); confinement, limits, output capture.
