//! Rules of the code that the compiler cannot check.
