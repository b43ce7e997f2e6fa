//! What must hold against a hostile repository and a gullible model.

mod gate;
