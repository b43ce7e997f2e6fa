//! Every tool as the model meets it: its description, its errors, its promises of order.
