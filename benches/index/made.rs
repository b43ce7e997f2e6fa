//! A tree made for measuring: many files of lines that look like source.

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
            text.push_str(&match next(12) {
                0 => format!("EXPORT_SYMBOL_GPL(name_{name});\n"),
                1 => "\t\treturn -EINVAL;\n".to_owned(),
                2 => format!("static int value_{other}_probe(struct device *device)\n"),
                3 => format!("\tspin_lock_irq(&lock_{other});\n"),
                _ => format!("\tif (call_{name}(value_{other}, {line}) < 0) goto out_{other};\n"),
            });
        }
        fs::write(folder.join(format!("file_{file}.c")), text).unwrap();
    }
    tree
}
