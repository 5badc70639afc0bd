//! Reading and writing portal specifications.

use cairn_portal::specification::{Reason, Specification, SpecificationError};
use cairn_portal::{Letter, Stack, State};

/// Every specification of up to `words` letters that the parser takes.
fn all(letters: usize) -> Vec<String> {
    let mut texts: Vec<String> = ["s", "n", "r", "k"]
        .iter()
        .flat_map(|stack| ["m", "p", "d"].map(|state| format!("{stack}{state}")))
        .collect();
    let mut last = texts.clone();
    texts.extend(["np2", "rpc3", "smcwi4"].map(String::from));
    for _ in 0..letters {
        last = last
            .iter()
            .flat_map(|text| "icrw=ath".chars().map(move |c| format!("{text}{c}")))
            .collect();
        texts.extend(last.clone());
    }
    texts.retain(|text| Specification::parse(text).is_ok());
    texts
}

#[test]
fn what_was_read_is_written_the_same() {
    let texts = all(4);
    // s, n and k with m or p take everything of up to four letters but `wwww` and its like (4 of r or
    // w); r with p or d takes the six letters without memory.
    let count = |letters: usize| (0..=4).map(|length| letters.pow(length)).sum::<usize>();
    assert_eq!(texts.len(), 6 * (count(8) - 16) + 2 * count(6) + 3);
    for text in texts {
        let specification = Specification::parse(&text).unwrap();
        assert_eq!(specification.to_string(), text);
    }
}

#[test]
fn the_parts() {
    let specification = Specification::parse("npcrwi").unwrap();
    assert_eq!((specification.stack, specification.state), (Stack::New, State::Partial));
    let letters = [Letter::Constant, Letter::Read, Letter::Write, Letter::Word];
    assert_eq!(specification.letters(), letters);
    assert_eq!((specification.words(), specification.windows()), (6, 2));
    for (text, takes) in [
        ("sm", false),
        ("smr", true),
        ("spiii", false),
        ("nm", true),
        ("rp", false),
        ("kmrw", false),
    ] {
        assert_eq!(Specification::parse(text).unwrap().takes_activation(), takes, "{text}");
    }
    assert_eq!((specification.reply(), Specification::parse("npc3").unwrap().reply()), (1, 3));
    assert!(Specification::parse("npiiiiiiii4").is_ok(), "eight words");
    assert!(Specification::parse("npiirwr").is_ok(), "eight words, three windows");
}

#[test]
fn errors_say_where_and_why() {
    for (text, at, reason) in [
        ("", 0, Reason::TooShort),
        ("s", 1, Reason::TooShort),
        ("é", 0, Reason::UnknownStack),
        ("xm", 0, Reason::UnknownStack),
        ("Sm", 0, Reason::UnknownStack),
        (" sm", 0, Reason::UnknownStack),
        ("sx", 1, Reason::UnknownState),
        ("nn", 1, Reason::UnknownState),
        ("smx", 2, Reason::UnknownLetter),
        ("smi ", 3, Reason::UnknownLetter),
        ("npI", 2, Reason::UnknownLetter),
        ("npi\0", 3, Reason::UnknownLetter),
        ("npcé", 3, Reason::UnknownLetter),
        ("npiiiiiiiii", 10, Reason::TooManyWords),
        ("npiiiiiiir", 9, Reason::TooManyWords),
        ("nprrrr", 5, Reason::TooManyWindows),
        ("smwrwr", 5, Reason::TooManyWindows),
        ("rm", 1, Reason::Impossible),
        ("sd", 1, Reason::Impossible),
        ("nd", 1, Reason::Impossible),
        ("rpr", 2, Reason::Impossible),
        ("npc0", 3, Reason::BadReply),
        ("npc1", 3, Reason::BadReply),
        ("npc5", 3, Reason::BadReply),
        ("np2c", 2, Reason::BadReply),
        ("npc22", 3, Reason::BadReply),
        ("rpiw", 3, Reason::Impossible),
        ("rdw", 2, Reason::Impossible),
    ] {
        assert_eq!(Specification::parse(text), Err(SpecificationError { at, reason }), "{text:?}");
    }
}

#[test]
fn any_text_is_read_or_refused() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut read = 0;
    for _ in 0..100_000 {
        let mut choose = |letters: &[u8]| char::from(letters[random.usize(..letters.len())]);
        let mut text = format!("{}{}", choose(b"snnrx"), choose(b"mppdx"));
        while choose(b"01234567") != '0' {
            text.push(choose(b"icrw=athficrw=athfx24"));
        }
        match Specification::parse(&text) {
            Ok(specification) => {
                assert_eq!(specification.to_string(), text);
                assert!(specification.words() <= 8 && specification.windows() <= 3);
                read += 1;
            }
            Err(error) => {
                assert!(error.at <= text.len());
                let shown = error.to_string();
                assert!(shown.contains(&format!("character {}:", error.at + 1)), "{shown}");
            }
        }
    }
    assert!(read > 1000, "only {read} were specifications");
}

#[test]
fn other_letters_for_the_same_stack_and_state() {
    let head = Specification::parse("npiii").unwrap();
    assert_eq!(head.with_letters(b"cr"), Specification::parse("npcr"));
    assert_eq!(head.with_letters(b""), Specification::parse("np"));
    let error = SpecificationError { at: 3, reason: Reason::UnknownLetter };
    assert_eq!(head.with_letters(b"iz"), Err(error), "counted as in the whole string");
    let run = Specification::parse("rp").unwrap();
    assert!(run.with_letters(b"r").is_err());
}
