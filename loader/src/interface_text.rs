//! What people call the parts of interfaces, read from the lines of text that [`cairn_abi::interface_text`] describes.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use cairn_abi::interface_text::MAGIC;
use core::iter::Peekable;
use core::str::Lines;

/// An interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterfaceText {
    /// The trait's name.
    pub name: String,
    /// Its version.
    pub version: u64,
    /// Its documentation, a line each.
    pub documentation: Vec<String>,
    /// Its methods, in order.
    pub methods: Vec<MethodText>,
}

/// A method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodText {
    /// Its name.
    pub name: String,
    /// Its documentation.
    pub documentation: Vec<String>,
    /// Names and types of its parameters, those that a portal fills in among them.
    pub parameters: Vec<(String, TypeText)>,
    /// Its value.
    pub value: TypeText,
    /// Its error.
    pub error: TypeText,
}

/// A type that crosses portals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeText {
    /// Its name; a tuple has none.
    pub name: String,
    /// Its documentation.
    pub documentation: Vec<String>,
    /// Fields of a struct or parts of a tuple.
    pub fields: Vec<FieldText>,
    /// Variants of an enum, or a method's own errors.
    pub variants: Vec<VariantText>,
}

impl MethodText {
    /// What words of it mean, as the record says it (`cairn_abi::record::Method::meanings`).
    pub fn meanings(&self) -> String {
        let mut meanings = Vec::from([self.error.codes()]);
        // The first letter is the control word's.
        let mut place = 1;
        self.parameters.iter().for_each(|(_, of)| of.add_meanings(&mut place, &mut meanings));
        meanings.retain(|one| !one.is_empty());
        meanings.join(",")
    }
}

impl TypeText {
    /// What the words of a parameter mean that begins with the letter at `place`, which is moved behind it.
    fn add_meanings(&self, place: &mut usize, meanings: &mut Vec<String>) {
        if !self.fields.is_empty() {
            return self.fields.iter().for_each(|field| field.of.add_meanings(place, meanings));
        }
        let variants = self.variants.iter();
        meanings.extend(variants.map(|one| alloc::format!("{place}:{}={}", one.code, one.name)));
        match &*self.name {
            // An enum is a word, whatever it is called.
            _ if !self.variants.is_empty() => {}
            "u8" | "u16" | "u32" | "i8" | "i16" | "i32" | "bool" => {
                meanings.push(alloc::format!("{place}:{}", self.name));
            }
            "InstanceId" | "DomainId" => meanings.push(alloc::format!("{place}:u16")),
            // The client and its word.
            "Place" | "Passed" => *place += 1,
            _ => {}
        }
        *place += 1;
    }

    /// Its codes and what they are called: `1=NAME,2=NAME`.
    pub fn codes(&self) -> String {
        let codes: Vec<String> = (self.variants.iter())
            .map(|variant| alloc::format!("{}={}", variant.code, variant.name))
            .collect();
        codes.join(",")
    }
}

/// A field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldText {
    /// Its name; in a tuple, its place.
    pub name: String,
    /// Its documentation.
    pub documentation: Vec<String>,
    /// Its type.
    pub of: Box<TypeText>,
}

/// A variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantText {
    /// Its name.
    pub name: String,
    /// Its documentation.
    pub documentation: Vec<String>,
    /// The word that stands for it.
    pub code: i64,
}

/// The lines that follow the mark in a section.
pub fn find(section: &[u8]) -> Option<&str> {
    let mark = section.chunks_exact(8).position(|chunk| chunk == MAGIC.to_le_bytes())?;
    let behind = section.get((mark + 1) * 8..)?;
    let (length, bytes) = behind.split_first_chunk()?;
    core::str::from_utf8(bytes.get(..usize::try_from(u64::from_le_bytes(*length)).ok()?)?).ok()
}

/// What the lines are about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    /// Interfaces.
    pub interfaces: Vec<InterfaceText>,
    /// Arguments of the component that are enums, by their names.
    pub arguments: Vec<(String, TypeText)>,
}

/// Reads the lines; nothing if they are not as they should be.
pub fn read(text: &str) -> Option<Texts> {
    let mut lines = Reader(text.lines().peekable());
    let Texts { mut interfaces, mut arguments } = Texts::default();
    while let Some(words) = lines.line("interface") {
        let (name, version) = words.split_once(' ')?;
        interfaces.push(InterfaceText {
            name: name.to_owned(),
            version: u64::from_str_radix(version, 16).ok()?,
            documentation: lines.documentation(),
            methods: lines.methods()?,
        });
    }
    while let Some(name) = lines.line("argument") {
        arguments.push((name.to_owned(), lines.of(DEPTH)?));
    }
    lines.0.next().is_none().then_some(Texts { interfaces, arguments })
}

/// Structs in structs: as many as there can be, with four words in all.
const DEPTH: usize = 8;

struct Reader<'text>(Peekable<Lines<'text>>);

impl<'text> Reader<'text> {
    /// What is behind the word with which the next line begins, if it is this one.
    fn line(&mut self, word: &str) -> Option<&'text str> {
        let rest = self.0.peek()?.strip_prefix(word)?;
        let rest = if rest.is_empty() { rest } else { rest.strip_prefix(' ')? };
        self.0.next();
        Some(rest)
    }

    fn documentation(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(line) = self.0.next_if(|line| line.starts_with('/')) {
            lines.push(line[1..].to_owned());
        }
        lines
    }

    fn methods(&mut self) -> Option<Vec<MethodText>> {
        let mut methods = Vec::new();
        while let Some(name) = self.line("method") {
            let documentation = self.documentation();
            let mut parameters = Vec::new();
            while let Some(name) = self.line("parameter") {
                parameters.push((name.to_owned(), self.of(DEPTH)?));
            }
            self.line("value")?;
            let value = self.of(DEPTH)?;
            self.line("error")?;
            let error = self.of(DEPTH)?;
            methods.push(MethodText {
                name: name.to_owned(),
                documentation,
                parameters,
                value,
                error,
            });
        }
        Some(methods)
    }

    /// A type; what is deeper than any that can cross a portal is none.
    fn of(&mut self, depth: usize) -> Option<TypeText> {
        let mut of = TypeText {
            name: String::new(),
            documentation: Vec::new(),
            fields: Vec::new(),
            variants: Vec::new(),
        };
        let inner = depth.checked_sub(1)?;
        if let Some(name) = self.line("type") {
            of.name = name.to_owned();
            return Some(of);
        } else if let Some(name) = self.line("struct") {
            (of.name, of.documentation) = (name.to_owned(), self.documentation());
            while let Some(name) = self.line("field") {
                let documentation = self.documentation();
                let of_field = Box::new(self.of(inner)?);
                of.fields.push(FieldText { name: name.to_owned(), documentation, of: of_field });
            }
        } else if let Some(name) = self.line("enum") {
            (of.name, of.documentation) = (name.to_owned(), self.documentation());
            while let Some(words) = self.line("variant") {
                let (name, code) = words.split_once(' ')?;
                let (name, code) = (name.to_owned(), code.parse().ok()?);
                of.variants.push(VariantText { name, documentation: self.documentation(), code });
            }
        } else {
            self.line("tuple")?;
            while self.0.peek().is_some_and(|line| *line != "end") {
                let name = alloc::format!("{}", of.fields.len());
                let part = Box::new(self.of(inner)?);
                of.fields.push(FieldText { name, documentation: Vec::new(), of: part });
            }
        }
        self.line("end")?;
        Some(of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use cairn_abi::interface_text as constant;

    const WORD: constant::TypeText = constant::TypeText::Plain("u64");
    const MODE: constant::TypeText = constant::TypeText::Enum(
        "Mode",
        "",
        &[
            constant::VariantText { name: "Slow", documentation: "", code: -30 },
            constant::VariantText { name: "Fast", documentation: "Very.", code: 300 },
        ],
    );
    const POINT: constant::TypeText = constant::TypeText::Struct(
        "Point",
        "Somewhere,\n\nor there.",
        &[constant::FieldText { name: "mode", documentation: "How.", of: MODE }],
    );
    const INTERFACES: &[constant::InterfaceText] = &[
        constant::InterfaceText {
            name: "Maps",
            version: 0x12_3456_789a_bcde,
            documentation: "Where things are.",
            methods: &[
                constant::MethodText {
                    name: "find",
                    documentation: "Looks.",
                    parameters: &[("at", POINT), ("length", WORD)],
                    value: constant::TypeText::Tuple(&[WORD, MODE]),
                    error: constant::TypeText::Plain("Error"),
                },
                constant::MethodText {
                    name: "lose",
                    documentation: "",
                    parameters: &[],
                    value: constant::TypeText::Plain("()"),
                    error: MODE,
                },
            ],
        },
        constant::InterfaceText { name: "None", version: 0, documentation: "", methods: &[] },
    ];
    const ARGUMENTS: &[(&str, constant::TypeText)] = &[("speed", MODE)];
    static TEXTS: constant::Texts<{ constant::length(INTERFACES, ARGUMENTS) }> =
        constant::Texts::new(INTERFACES, ARGUMENTS);

    fn section() -> vec::Vec<u8> {
        // As a linker lays it out, with other things before and behind.
        let mut section = vec![0x55; 16];
        section.extend(MAGIC.to_le_bytes());
        section.extend((TEXTS.bytes().len() as u64).to_le_bytes());
        section.extend(TEXTS.bytes());
        section.extend([0x55; 7]);
        section
    }

    #[test]
    fn what_words_mean_is_told_by_the_places_of_letters() {
        let of = |name: &str| TypeText {
            name: name.to_owned(),
            documentation: vec![],
            fields: vec![],
            variants: vec![],
        };
        let variant =
            |name: &str, code| VariantText { name: name.to_owned(), documentation: vec![], code };
        let mode =
            TypeText { variants: vec![variant("Slow", 0), variant("Off", -1)], ..of("Mode") };
        let field = |of| FieldText { name: String::new(), documentation: vec![], of: Box::new(of) };
        let point = TypeText { fields: vec![field(of("u64")), field(mode)], ..of("Point") };
        let parameters = ["Caller", "&[u8]", "Place"].map(|name| (name.to_owned(), of(name)));
        let mut method = MethodText {
            name: "set".to_owned(),
            documentation: vec![],
            parameters: parameters.into(),
            value: of("()"),
            error: TypeText { variants: vec![variant("Late", 1)], ..of("Lateness") },
        };
        assert_eq!(method.meanings(), "1=Late");
        // Behind the control word `c` are `a`, `r`, two words of the place, then two of the struct.
        method.parameters.push((String::new(), point));
        method.parameters.push((String::new(), of("u8")));
        assert_eq!(method.meanings(), "1=Late,6:0=Slow,6:-1=Off,7:u8");
        // An enum of somebody's own that is called as one of Cairn's types is one word.
        for name in ["Place", "InstanceId"] {
            let variants = vec![variant("Here", 0)];
            method.parameters =
                vec![(String::new(), TypeText { variants, ..of(name) }), (String::new(), of("u8"))];
            assert_eq!(method.meanings(), "1=Late,1:0=Here,2:u8");
        }
    }

    #[test]
    fn what_the_build_writes_is_read() {
        let section = section();
        let Texts { interfaces, arguments } = read(find(&section).unwrap()).unwrap();
        assert_eq!(interfaces.len(), 2);
        let maps = &interfaces[0];
        assert_eq!((maps.name.as_str(), maps.version), ("Maps", 0x12_3456_789a_bcde));
        assert_eq!(maps.documentation, ["Where things are."]);
        let find = &maps.methods[0];
        assert_eq!(find.parameters[1].0, "length");
        let point = &find.parameters[0].1;
        assert_eq!((point.name.as_str(), point.documentation.len()), ("Point", 3));
        assert_eq!(point.fields[0].of.variants[0].code, -30);
        assert_eq!(point.fields[0].of.variants[1].documentation, ["Very."]);
        assert_eq!(find.value.fields[1].of.name, "Mode");
        assert_eq!((arguments.len(), arguments[0].0.as_str()), (1, "speed"));
        assert_eq!(arguments[0].1.codes(), "-30=Slow,300=Fast");
        assert_eq!(maps.methods[1].error.codes(), "-30=Slow,300=Fast");
        assert_eq!((maps.methods[1].value.name.as_str(), interfaces[1].methods.len()), ("()", 0));
    }

    #[test]
    fn what_is_cut_off_or_too_deep_is_refused() {
        let section = section();
        let whole = find(&section).unwrap();
        let lines: vec::Vec<&str> = whole.lines().collect();
        for end in 1..lines.len() {
            // Whole interfaces and methods are fine.
            let is_end =
                ["method", "interface", "argument"].iter().any(|word| lines[end].starts_with(word));
            let is_begun = lines[end].starts_with('/') && end == 1;
            let cut = lines[..end].join("\n");
            assert_eq!(read(&cut).is_some(), is_end || is_begun, "{cut}");
        }
        for end in 16..section.len() - 8 {
            assert_eq!(find(&section[..end]), None);
        }
        let deep = "struct S\nfield f\n".repeat(100_000);
        let deep = alloc::format!("interface I 0\nmethod m\nvalue\n{deep}");
        assert_eq!(read(&deep), None);
    }
}
