//! Settings, resolved once from layers.
