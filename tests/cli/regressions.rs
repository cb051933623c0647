//! Defects that were found and mended, each under its name.

mod command_line {
    use crate::harness::Place;

    #[test]
    fn a_share_that_is_no_number_is_refused() {
        for share in ["€%", "1€%", "%", "é.5%"] {
            let run = Place::new().run(&format!("--score jaccard --ignore-common {share}"));
            assert_eq!(run.status, 2, "{share}");
            assert!(run.stderr.contains("a share such as 5%"), "{}", run.stderr);
        }
    }
}
