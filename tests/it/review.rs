//! What a person sees of a change and decides with keys.
