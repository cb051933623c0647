//! Facts about the process and the machine, which Linux lists in `/proc` and `/sys`; elsewhere
//! nothing is known.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// What stands behind a name in a file of lines, each a name, a colon and a value.
pub(super) fn told(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let value = |line: &str| {
        line.strip_prefix(name)?
            .strip_prefix(':')
            .map(str::to_owned)
    };
    text.lines().find_map(value)
}

/// The same of a number of kilobytes, in bytes.
pub(super) fn told_bytes(file: &str, name: &str) -> Option<u64> {
    let value = told(file, name)?;
    let kilobytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Memory that the process can have: the machine's, or less if a control group limits it, as the
/// one of a container does. `root` is the folder that has `proc` and `sys`.
pub(super) fn memory_bytes(root: &Path) -> Option<u64> {
    let machine = told_bytes(root.join("proc/meminfo").to_str()?, "MemTotal")?;
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let limits = groups.lines().flat_map(|line| group_limits(root, line));
    Some(limits.fold(machine, u64::min))
}

/// The limits of a control group, which is a line of `/proc/self/cgroup`, and of all groups that
/// it is in. A group of version 1 without a limit has one above any machine's memory.
fn group_limits(root: &Path, line: &str) -> Vec<u64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else {
        return Vec::new();
    };
    let (mounts, files): (&[&str], &[&str]) = match controllers {
        "" => (
            &["sys/fs/cgroup", "sys/fs/cgroup/unified"],
            &["memory.max", "memory.high"],
        ),
        _ if controllers.split(',').any(|name| name == "memory") => {
            (&["sys/fs/cgroup/memory"], &["memory.limit_in_bytes"])
        }
        _ => return Vec::new(),
    };
    // Within a container the path may be the host's: what the container can see of it is the
    // mount itself.
    let is_name = |part: &Component<'_>| matches!(part, Component::Normal(_));
    let group: PathBuf = Path::new(group).components().filter(is_name).collect();
    let mut limits = Vec::new();
    for mount in mounts {
        for folder in group.ancestors() {
            let folder = root.join(mount).join(folder);
            let limit = |file: &&str| {
                let text = fs::read_to_string(folder.join(file)).ok()?;
                text.trim().parse::<u64>().ok()
            };
            limits.extend(files.iter().filter_map(limit));
        }
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memory where these files are, on a machine of 8 GB.
    fn memory(files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        let machine = (
            "proc/meminfo",
            "MemTotal:        8388608 kB\nMemFree: 1 kB\n",
        );
        for (name, text) in files.iter().chain([&machine]) {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        memory_bytes(root.path())
    }

    const MACHINE: Option<u64> = Some(8 << 30);
    /// The limit of a group of version 1 that has none.
    const NO_LIMIT: &str = "9223372036854771712\n";

    #[test]
    fn without_groups_memory_is_the_machines() {
        assert_eq!(memory(&[]), MACHINE);
        assert_eq!(memory(&[("proc/self/cgroup", "0::/\nnonsense\n")]), MACHINE);
        assert_eq!(memory_bytes(Path::new("/nothing/here")), None);
    }

    #[test]
    fn the_least_limit_of_a_group_and_of_those_around_it_counts() {
        let group = ("proc/self/cgroup", "0::/pods/one/two\n");
        let limited = |limits: [&str; 4]| {
            let [own, high, outer, all] = limits;
            memory(&[
                group,
                ("sys/fs/cgroup/pods/one/two/memory.max", own),
                ("sys/fs/cgroup/pods/one/two/memory.high", high),
                ("sys/fs/cgroup/pods/memory.max", outer),
                ("sys/fs/cgroup/memory.max", all),
            ])
        };
        assert_eq!(limited(["max\n"; 4]), MACHINE);
        let [four, three] = ["4294967296\n", "3221225472\n"];
        assert_eq!(limited([four, "max", "max", "max"]), Some(4 << 30));
        assert_eq!(limited([four, three, "max", "max"]), Some(3 << 30));
        assert_eq!(limited(["max", "max", three, four]), Some(3 << 30));
        assert_eq!(limited(["max", "max", "max", four]), Some(4 << 30));
        // More than the machine has limits nothing.
        assert_eq!(limited(["99999999999999"; 4]), MACHINE);
    }

    #[test]
    fn groups_of_version_1_limit_memory() {
        let groups = "9:cpuset:/\n4:cpu,memory:/docker/one\n0::/\n";
        let group = ("proc/self/cgroup", groups);
        let of_host = "sys/fs/cgroup/memory/docker/one/memory.limit_in_bytes";
        let of_mount = "sys/fs/cgroup/memory/memory.limit_in_bytes";
        let four = "4294967296\n";
        assert_eq!(memory(&[group, (of_host, NO_LIMIT)]), MACHINE);
        assert_eq!(memory(&[group, (of_host, four)]), Some(4 << 30));
        // In a container, the mount is the group, whatever the host calls it.
        assert_eq!(memory(&[group, (of_mount, four)]), Some(4 << 30));
    }

    #[test]
    fn a_group_without_memory_limits_nothing() {
        let group = ("proc/self/cgroup", "3:cpuset:/a\n0::/../../b\n");
        let limit = ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1000\n");
        assert_eq!(memory(&[group, limit]), MACHINE);
        let outer = ("sys/fs/cgroup/unified/b/memory.max", "4294967296");
        assert_eq!(memory(&[group, limit, outer]), Some(4 << 30));
    }
}
