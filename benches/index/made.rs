//! A tree made for measuring: many files of lines that look like source.

use std::fmt::Write as _;
use std::fs;

use tempfile::TempDir;

const FILES: usize = 20_000;
const LINES: usize = 300;

/// Makes a tree of some 200 MB.
pub(crate) fn tree() -> TempDir {
    let tree = tempfile::tempdir().unwrap();
    let mut state = 1_u64;
    let mut next = |end: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    for file in 0..FILES {
        let folder = tree.path().join(format!("part_{}/group_{}", file % 40, file % 400));
        fs::create_dir_all(&folder).unwrap();
        let mut text = String::new();
        for line in 0..LINES {
            let (name, other) = (next(50_000), next(2_000));
            let written = match next(12) {
                0 => writeln!(text, "EXPORT_SYMBOL_GPL(name_{name});"),
                1 => writeln!(text, "\t\treturn -EINVAL;"),
                2 => writeln!(text, "static int value_{other}_probe(struct device *device)"),
                3 => writeln!(text, "\tspin_lock_irq(&lock_{other});"),
                _ => writeln!(
                    text,
                    "\tif (call_{name}(value_{other}, {line}) < 0) goto out_{other};"
                ),
            };
            written.unwrap();
        }
        fs::write(folder.join(format!("file_{file}.c")), text).unwrap();
    }
    tree
}
