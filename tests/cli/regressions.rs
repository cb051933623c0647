//! Defects that were found and mended, each under its name.

mod command_line {
    use crate::harness::{Place, line};

    #[test]
    fn a_share_that_is_no_number_is_refused() {
        for share in ["€%", "1€%", "%", "é.5%"] {
            let run = Place::new().run(&format!("--score jaccard --ignore-common {share}"));
            assert_eq!(run.status, 2, "{share}");
            assert!(run.stderr.contains("a share such as 5%"), "{}", run.stderr);
        }
    }

    /// `a b` and `a%20b` printed the same.
    #[test]
    fn text_tells_apart_what_is_encoded_and_what_was() {
        let docs = ["a b", "a%20b", "50%"].map(|id| line(id, "the same text"));
        let place = Place::new();
        assert_eq!(
            place.pipe("", docs.concat()).clean(),
            "a%20b a%2520b 1.0\na%20b 50% 1.0\na%2520b 50% 1.0\n"
        );
        assert_eq!(
            place.pipe("cluster", docs.concat()).clean(),
            "a%20b a%2520b 50%\n"
        );
    }

    /// Numbers as `3,212.3118/s`, and a bar that stood at its end for half the run.
    #[test]
    fn progress_has_whole_numbers_and_a_phase_of_comparing() {
        let docs: String = (0..2000)
            .map(|n| line(&n.to_string(), "some text"))
            .collect();
        let run = Place::new().pipe("dedup --progress always -o /dev/null", docs);
        assert_eq!(run.status, 0);
        assert!(run.stderr.contains("simdup: comparing\n"), "{}", run.stderr);
        assert!(
            run.stderr.contains("simdup: 2,000 documents, ") && !run.stderr.contains(".3"),
            "{}",
            run.stderr
        );
    }
}
