//! The provider over the wire, against a small server that can stall, split and cut a stream.
