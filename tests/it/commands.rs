//! Commands: output, time limits, processes, clipping, cleaning, the read-only list.
