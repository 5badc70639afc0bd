//! What `./cairn build demo` prints, numbers apart: they change with every change of a component.
#![forbid(unsafe_code)]

use cairn_tool::build::build;

/// `text` with `#` for every number, and one space between words.
fn shape(text: &str) -> String {
    let word = |word: &str| {
        let number = word.strip_suffix(':').unwrap_or(word);
        match number.strip_prefix("0x") {
            Some(digits) if digits.chars().all(|one| one.is_ascii_hexdigit()) => "#".to_owned(),
            _ if number.parse::<f64>().is_ok() => "#".to_owned(),
            _ => word.to_owned(),
        }
    };
    let line = |line: &str| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(|text| line(text) + "\n").collect()
}

#[test]
fn the_layout_report_of_demo_has_its_shape() {
    let report = build("demo", None).unwrap().report;
    let shape = shape(&report);
    let mut expected = include_str!("layout_report.txt").lines().peekable();
    for line in shape.lines() {
        if expected.next_if_eq(&line).is_none() {
            // Whoever makes a component adds an instance to this system.
            let (_, numbers) = line.split_once(' ').unwrap_or_default();
            assert_eq!(
                numbers, "# # # # # # # # # domain",
                "`{line}`, not {expected:?}, in\n{report}"
            );
        }
    }
    assert_eq!(expected.next(), None, "is missing in\n{shape}");
    // A table whose columns are as wide in every line.
    let rows: Vec<usize> = report
        .lines()
        .take_while(|line| !line.starts_with("for its role") && !line.starts_with("shared"))
        .map(|line| line.find("  domain").or(line.find("  placement")).unwrap_or(line.len()))
        .collect();
    assert!(rows.windows(2).all(|pair| pair[0].abs_diff(pair[1]) <= 1), "{rows:?}\n{report}");
}
