//! Whole turns with a scripted model: the log they give, what is asked, what is written.
