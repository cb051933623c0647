//! Archives: each member as a file of its own.

use std::io::Write;

use crate::corpus::Random;
use crate::harness::{Place, gzip, line};

const TEXT: &str = "one two three four five six seven";

/// The ids that have a signature, in order.
fn ids(place: &Place, arguments: &str) -> Vec<String> {
    let signatures = place.run(&format!("sketch --hashes 1 {arguments}")).clean();
    let id = |line: &str| {
        let document: serde_json::Value = serde_json::from_str(line).unwrap();
        document["url"].as_str().unwrap().to_owned()
    };
    signatures.lines().map(id).collect()
}

pub fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

/// A member of a zip archive, and what it says of itself.
struct Member<'a> {
    name: &'a [u8],
    content: &'a [u8],
    method: u16,
    flags: u16,
    size: u32,
    attributes: u32,
}

impl<'a> Member<'a> {
    fn new(name: &'a str, content: &'a [u8]) -> Self {
        Self {
            name: name.as_bytes(),
            content,
            method: 8,
            flags: 0,
            size: content.len() as u32,
            attributes: 0,
        }
    }
}

fn zip(members: &[Member]) -> Vec<u8> {
    let (mut file, mut list) = (Vec::new(), Vec::new());
    for member in members {
        let packed = match member.method {
            8 => {
                let level = flate2::Compression::fast();
                let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), level);
                encoder.write_all(member.content).unwrap();
                encoder.finish().unwrap()
            }
            _ => member.content.to_vec(),
        };
        let mut crc = flate2::Crc::new();
        crc.update(member.content);
        let at = file.len() as u32;
        let mut common = Vec::new();
        for field in [20, member.flags, member.method, 0, 0] {
            common.extend(field.to_le_bytes());
        }
        for field in [crc.sum(), packed.len() as u32, member.size] {
            common.extend(field.to_le_bytes());
        }
        common.extend((member.name.len() as u16).to_le_bytes());
        common.extend(0_u16.to_le_bytes());
        file.extend(b"PK\x03\x04");
        file.extend(&common);
        file.extend(member.name);
        file.extend(packed);
        list.extend(b"PK\x01\x02\x14\x03");
        list.extend(&common);
        list.extend([0; 6]);
        list.extend(member.attributes.to_le_bytes());
        list.extend(at.to_le_bytes());
        list.extend(member.name);
    }
    let count = (members.len() as u16).to_le_bytes();
    let (start, length) = (file.len() as u32, list.len() as u32);
    file.extend(&list);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend([count, count].concat());
    file.extend(length.to_le_bytes());
    file.extend(start.to_le_bytes());
    file.extend([0, 0]);
    file
}

pub fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
    let members: Vec<Member> = members
        .iter()
        .map(|(name, content)| Member::new(name, content))
        .collect();
    zip(&members)
}

#[test]
fn members_are_read_as_files_are() {
    let records = [
        line("", TEXT).replace("\"url\":\"\"", "\"n\":1"),
        line("b", TEXT),
    ]
    .concat();
    let packed = gzip(&records);
    let members: [(&str, &[u8]); 7] = [
        ("d/a.txt", TEXT.as_bytes()),
        ("d/records.jsonl", records.as_bytes()),
        ("d/records.jsonl.gz", &packed),
        ("d/.hidden", b"hidden words"),
        ("__MACOSX/d/._a.txt", b"\0\x05\x16\x07"),
        ("d/image.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        ("d/empty.txt", b""),
    ];
    let place = Place::new();
    place
        .file("t.tar", tar(&members))
        .file("z.zip", zipped(&members));
    place.file("t.tgz", gzip(tar(&members)));
    for name in ["t.tar", "z.zip", "t.tgz"] {
        let run = place.run(&format!("sketch --hashes 1 --stats s {name}"));
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert_eq!(
            run.stderr,
            "simdup: 1 file without text was passed over\n\
             simdup: 1 document was skipped: its id had been met before, and the first counts\n"
        );
        let urls: Vec<&str> = run
            .stdout
            .lines()
            .map(|l| l.split('"').nth(3).unwrap())
            .collect();
        let expected =
            ["d/a.txt", "d/records.jsonl:1", "", "d/records.jsonl.gz:1"].map(|id| match id {
                "" => "b".to_owned(),
                id => format!("{name}!{id}"),
            });
        assert_eq!(urls, expected);
        let stats: serde_json::Value = serde_json::from_str(&place.read("s")).unwrap();
        assert_eq!(stats["counts"]["passed_over"], 1);
        assert_eq!(stats["counts"]["empty"], 1);
        let hidden = place.run(&format!("sketch --hidden --hashes 1 -q {name}"));
        assert!(hidden.stdout.contains(&format!("{name}!d/.hidden")));
    }
    // From a pipe too.
    for name in ["t.tar", "z.zip", "t.tgz"] {
        let bytes = std::fs::read(place.path(name)).unwrap();
        let run = place.pipe("-q --threshold 1", bytes);
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert!(
            run.stdout
                .starts_with("-!d/a.txt -!d/records.jsonl:1 1.0\n"),
            "{}",
            run.stdout
        );
    }
}

#[test]
fn archives_in_archives_are_read_to_some_depth() {
    let place = Place::new();
    let mut archive = tar(&[("x", TEXT.as_bytes())]);
    let mut id = "x".to_owned();
    for depth in 0..3 {
        place.file("a", &archive);
        assert_eq!(ids(&place, "a"), [format!("a!{id}")]);
        id = format!("in!{id}");
        archive = match depth % 2 {
            0 => zipped(&[("in", &archive)]),
            _ => gzip(tar(&[("in", &archive)])),
        };
    }
    place.file("a", &archive).file("b", TEXT);
    let run = place.run("a b");
    assert_eq!(run.status, 2);
    assert!(
        run.stderr
            .starts_with("simdup: a!in!in!in: an archive inside"),
        "{}",
        run.stderr
    );
}

#[test]
fn what_is_wrong_with_a_member_is_said_and_the_others_are_read() {
    let encrypted = Member {
        flags: 1,
        ..Member::new("secret", b"words")
    };
    let lying = Member {
        size: 3,
        ..Member::new("lying", b"some other words")
    };
    let method = Member {
        method: 14,
        ..Member::new("lzma", b"words")
    };
    let link = Member {
        attributes: 0o120_777 << 16,
        ..Member::new("link", b"a")
    };
    let odd = Member {
        name: b"caf\x82",
        ..Member::new("", TEXT.as_bytes())
    };
    let good = || Member::new("good", TEXT.as_bytes());
    let place = Place::new();
    place.file("z", zip(&[encrypted, lying, method, link, odd, good()]));
    let run = place.run("--threshold 1 z");
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (2, "z!caf\u{fffd}82 z!good 1.0\n")
    );
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert!(lines[0].starts_with("simdup: z!secret: a member that is encrypted; unpack"));
    assert!(
        lines[1].starts_with("simdup: z!lying: record 1, byte 0: damaged"),
        "{}",
        lines[1]
    );
    assert!(lines[2].starts_with("simdup: z!lzma: a member that is compressed in a way"));
    assert_eq!(lines[3], "simdup: 3 records or files were skipped");
}

#[test]
fn members_that_overlap_are_no_bomb() {
    let content = vec![b' '; 1 << 20];
    let one = zip(&[Member::new("a", &content)]);
    let end = one.len() - 22;
    let start = u32::from_le_bytes(one[end + 16..end + 20].try_into().unwrap()) as usize;
    let mut bomb = one[..start].to_vec();
    for _ in 0..60_000 {
        bomb.extend(&one[start..end]);
    }
    let length = (bomb.len() - start) as u32;
    bomb.extend(b"PK\x05\x06\0\0\0\0");
    bomb.extend([60_000_u16.to_le_bytes(), 60_000_u16.to_le_bytes()].concat());
    bomb.extend(length.to_le_bytes());
    bomb.extend(&one[end + 16..]);
    let place = Place::new();
    place.file("z", bomb);
    let run = place.run("-q z");
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("members overlap"), "{}", run.stderr);
}

#[test]
fn a_cut_off_archive_gives_what_it_has() {
    let (one, two) = (line("a", TEXT), line("b", TEXT));
    let archive = tar(&[
        ("1", one.as_bytes()),
        ("2", two.as_bytes()),
        ("3", &[b'x'; 5000]),
    ]);
    let place = Place::new();
    place.file("t", &archive[..6 * 512]);
    let run = place.run("t");
    assert_eq!((run.status, run.stdout.as_str()), (2, "a b 1.0\n"));
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert!(
        lines[0].starts_with("simdup: t!3: record 1, byte 0: damaged"),
        "{}",
        run.stderr
    );
    assert!(
        lines[1].starts_with("simdup: t: damaged or incomplete archive"),
        "{}",
        run.stderr
    );
    let zip = zipped(&[("1", one.as_bytes()), ("2", two.as_bytes())]);
    place.file("z", &zip[..zip.len() - 30]);
    let run = place.run("z");
    assert_eq!(run.status, 2);
    assert!(
        run.stderr
            .starts_with("simdup: z: damaged or incomplete archive"),
        "{}",
        run.stderr
    );
}

#[test]
fn long_and_strange_names_are_kept() {
    let long = "directory/".repeat(30) + "file";
    let place = Place::new();
    place.file("t", tar(&[(&long, TEXT.as_bytes())]));
    assert_eq!(ids(&place, "t"), [format!("t!{long}")]);
    let mut strange = tar(&[("caf_", TEXT.as_bytes())]);
    strange[3] = 0xe9;
    let sum: u32 = (0..512)
        .map(|at| match at {
            148..156 => 32,
            at => u32::from(strange[at]),
        })
        .sum();
    strange[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    place.file("t", strange);
    assert_eq!(ids(&place, "t"), ["t!caf\u{fffd}E9"]);
}

#[test]
fn dedup_takes_records_from_members() {
    let records = [line("a", TEXT), line("b", TEXT), line("c", "other words")].concat();
    let members: [(&str, &[u8]); 1] = [("r.jsonl", records.as_bytes())];
    let expected = [line("a", TEXT), line("c", "other words")].concat();
    let place = Place::new();
    place.file("t", tar(&members)).file("z", zipped(&members));
    for name in ["t", "z"] {
        assert_eq!(place.run(&format!("dedup -q {name}")).stdout, expected);
        let bytes = std::fs::read(place.path(name)).unwrap();
        assert_eq!(place.pipe("dedup -q", bytes).stdout, expected);
    }
    place.file(
        "texts",
        zipped(&[("1", TEXT.as_bytes()), ("2", TEXT.as_bytes())]),
    );
    assert_eq!(place.run("dedup -q texts").stdout, "texts!1\n");
}

#[test]
fn no_archive_makes_it_panic() {
    let members: [(&str, &[u8]); 3] = [
        ("a.txt", b"one two three"),
        ("d/b.jsonl", b"{\"url\":\"a\",\"text\":\"one two\"}\n"),
        ("d/c.txt", b"caf\xe9 au lait, d\xe9j\xe0 vu"),
    ];
    let bzip2 = |bytes: &[u8]| {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let xz = |bytes: &[u8]| {
        let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 0);
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let lz4 = |bytes: &[u8]| {
        let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let utf16: Vec<u8> = "\u{feff}некоторые слова\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let text = b"{\"url\":\"a\",\"text\":\"one two\"}\n".repeat(20);
    let seeds = [
        tar(&members),
        zipped(&members),
        bzip2(&text),
        xz(&text),
        lz4(&text),
        gzip(tar(&members)),
        xz(&zipped(&members)),
        zipped(&[("t.tar", &tar(&members)), ("x", &bzip2(&text))]),
        utf16,
    ];
    let mut random = Random::new(23);
    for round in 0..4000 {
        let mut bytes = seeds[round % seeds.len()].clone();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes[at] = random.next() as u8,
                1 => bytes[at] ^= 1 << random.below(8),
                2 => bytes.truncate(at + 1),
                _ => bytes.insert(at, random.next() as u8),
            }
        }
        let read = || simdup::Input::from_reader("fuzz", std::io::Cursor::new(bytes.clone()));
        let settings = simdup::Settings {
            threads: 1,
            ..simdup::Settings::default()
        };
        // Whatever comes, it is said and the run ends.
        let found = simdup::find_pairs(vec![read()], &settings, &simdup::Quiet);
        assert!(found.is_ok(), "{bytes:?}");
    }
}

#[test]
fn globs_reach_into_archives() {
    let place = Place::new();
    let inner = zip(&[
        Member::new("B.java", TEXT.as_bytes()),
        Member::new("b.txt", TEXT.as_bytes()),
    ]);
    let outer = tar(&[
        ("src/A.java", TEXT.as_bytes()),
        ("src/lib/C.java", TEXT.as_bytes()),
        ("readme.md", TEXT.as_bytes()),
        ("eve.zip", &inner),
    ]);
    place
        .file("d/all.tar.gz", gzip(&outer))
        .file("d/no.zip", TEXT)
        .file("d/D.java", TEXT)
        .file("d/d.txt", TEXT)
        .file("d/x.txt.gz", gzip(TEXT));
    let java = [
        "d/all.tar.gz!src/A.java",
        "d/all.tar.gz!src/lib/C.java",
        "d/all.tar.gz!eve.zip!B.java",
    ];
    assert_eq!(
        ids(&place, "--glob *.java d"),
        [&["d/D.java"][..], &java].concat()
    );
    assert_eq!(ids(&place, "--glob *.java d/all.tar.gz"), java);
    assert_eq!(
        ids(&place, "--glob *.java --glob !lib d/all.tar.gz"),
        [java[0], java[2]]
    );
    assert_eq!(
        ids(&place, "--glob !*.java d/all.tar.gz"),
        ["d/all.tar.gz!readme.md", "d/all.tar.gz!eve.zip!b.txt"]
    );
    let piped = place.pipe("sketch --hashes 1 --glob *.md", &outer).clean();
    assert_eq!(piped.lines().count(), 1);
    let run = place.run("--glob *.java d/d.txt");
    assert_eq!(run.status, 2);
    assert!(
        run.stderr.contains("a directory or an archive"),
        "{}",
        run.stderr
    );
}

#[test]
fn folders_in_an_archive_make_groups() {
    let text = TEXT.as_bytes();
    let place = Place::new();
    place.file(
        "all.zip",
        zipped(&[("ada/1", text), ("ada/2", text), ("bob/1", text)]),
    );
    let expected = "all.zip!ada/1 all.zip!bob/1 1.0\nall.zip!ada/2 all.zip!bob/1 1.0\n";
    assert_eq!(place.run("--group-by dir all.zip").clean(), expected);
    place.file("in/ada.zip", zipped(&[("1", text), ("2", text)]));
    place.file("in/bob.zip", zipped(&[("1", text)]));
    let pairs = place.run("--group-by dir in").clean();
    assert_eq!(pairs.lines().count(), 2, "{pairs}");
}

/// An archive for each student, of which folders of one name were one group without a word; and
/// those that have nothing but one folder, or none at all.
#[test]
fn folders_of_one_name_in_several_archives_are_told() {
    let place = Place::new();
    place.file("g/carl/src/x.txt", TEXT);
    place
        .file("z/anna.zip", zipped(&[("src/a.txt", TEXT.as_bytes())]))
        .file("z/bob.zip", zipped(&[("src/b.txt", TEXT.as_bytes())]))
        .file("z/carl.zip", zipped(&[("x.txt", TEXT.as_bytes())]));
    place
        .run("--group-by dir z/anna.zip z/bob.zip")
        .says("none were compared; name the folder above them, as in `simdup --group-by dir z`\n");
    place
        .run("--group-by dir z/anna.zip z/carl.zip")
        .says("z/carl.zip!x.txt is in no folder of its FILE");
    place
        .run("--group-by dir:2 z/carl.zip g/carl")
        .says("all were compared; name the folder above them instead\n");
    assert_eq!(place.run("--group-by dir z").clean().lines().count(), 3);
}
