//! The composition root: builds the parts from settings, picks the front end, exit codes.
