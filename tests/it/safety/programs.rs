//! What Snick itself starts is never a program of the workspace, wherever PATH leads.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::World;

#[test]
fn no_shell_is_taken_from_the_workspace() {
    let world = World::new();
    for folder in ["ws/bin", "out/added"] {
        for name in ["bash", "sh", "bwrap", "git"] {
            let file = format!("{folder}/{name}");
            world.write(&file, "#!/bin/sh\necho planted >> $HOME/planted\nexec /bin/bash \"$@\"\n");
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(world.path(&file), mode).unwrap();
        }
    }
    // By a link to the folder, by one of the program, and by a link in the workspace that leads out.
    symlink(world.path("ws/bin"), world.path("out/folder")).unwrap();
    world.write("out/file/x", "");
    symlink(world.path("ws/bin/bash"), world.path("out/file/bash")).unwrap();
    world.write("ws/through/x", "");
    symlink("/bin/bash", world.path("ws/through/bash")).unwrap();
    world.write("out/by/x", "");
    symlink(world.path("ws/through/bash"), world.path("out/by/bash")).unwrap();
    let added = world.path("out/added").display().to_string();
    let planted = ["ws/bin", "out/folder", "out/file", "ws/through", "out/by", "out/added"];
    for folder in planted {
        let path = format!("{}:/usr/bin:/bin", world.path(folder).display());
        for options in [&["--mode", "auto"][..], &["--mode", "full", "--sandbox", "off"]] {
            let options = [options, &["--add-dir", &added]].concat();
            let mut program = world.batch(&options);
            program.env("PATH", &path);
            let call = serde_json::json!({"command": "echo $BASH"});
            let answers = super::answers(program, &[call]);
            assert_eq!(answers, ["done: /usr/bin/bash\n[exit code: 0]"], "{folder} {options:?}");
        }
        let mut doctor = world.clean(env!("CARGO_BIN_EXE_snick"));
        doctor.env("PATH", &path).args(["doctor", "--add-dir", &added]);
        let told = String::from_utf8(doctor.output().unwrap().stdout).unwrap();
        let line = told.lines().find(|line| line.contains(" bash ")).unwrap_or(&told);
        let passed_over = world.path(folder).join("bash").display().to_string();
        assert!(line.contains("/usr/bin/bash; passed over "), "{folder} {told}");
        assert!(told.contains(&passed_over), "{folder} {told}");
    }
    assert!(!world.path("home/planted").exists());
}
