//! One method: its parameters in C, on both sides.

use crate::names::{comment, constants_of, parameter_name, words_of};
use cairn_abi::descriptor::{
    VALUE_BOOL, VALUE_NONE, VALUE_OBJECT, VALUE_SIGNED, VALUE_UNSIGNED, VALUE_WORDS,
};
use cairn_loader::interface_text::MethodText;

/// Of a method that returns an object: the letter that is the place for it.
const PLACE: usize = 2;
/// Argument registers behind the control word.
const REGISTERS: usize = 7;
/// Most words of a reply behind its status.
const REPLY_WORDS: usize = 4;

/// A parameter as C has it.
enum Parameter {
    Word(String),
    Bytes {
        pointer: String,
        length: String,
        writable: bool,
    },
    /// Filled in by the portal: only the server has it.
    Context(String),
}

/// A method as C has it.
pub struct Method<'descriptor> {
    pub name: &'descriptor str,
    pub letters: &'descriptor str,
    value: u32,
    /// Words of the reply behind its status.
    reply: usize,
    parameters: Vec<Parameter>,
    text: Option<&'descriptor MethodText>,
}

impl<'descriptor> Method<'descriptor> {
    /// Reads a descriptor's entry. Without a text its parameters have numbers.
    pub fn new(
        descriptor: &'descriptor cairn_loader::Method,
        text: Option<&'descriptor MethodText>,
    ) -> Self {
        let letters = &*descriptor.letters;
        let words_of_reply = |letter: char| letter.to_digit(10);
        let reply = letters.chars().last().and_then(words_of_reply).unwrap_or(1) as usize;
        assert!(reply <= REPLY_WORDS, "{letters}: this tool is older than the descriptor");
        let names: Vec<String> = text
            .into_iter()
            .flat_map(|text| &text.parameters)
            .flat_map(|(name, of)| words_of(&parameter_name(name), of))
            .collect();
        let parameters = letters
            .chars()
            .filter(|letter| !letter.is_ascii_digit())
            .zip(0..)
            .skip(1)
            .map(|(letter, number)| {
                let or = |other: &str| {
                    let name = names.get(number - 1).cloned();
                    name.unwrap_or_else(|| format!("{other}{number}"))
                };
                match letter {
                    'r' | 'w' => Parameter::Bytes {
                        length: match names.is_empty() {
                            true => format!("length{number}"),
                            false => or("") + "_length",
                        },
                        pointer: or("bytes"),
                        writable: letter == 'w',
                    },
                    'a' | 't' | 'h' | '=' => Parameter::Context(or("portal_says")),
                    // Behind the client's domain: where that wants the object.
                    _ if descriptor.value == VALUE_OBJECT && number == PLACE => {
                        Parameter::Word("place".into())
                    }
                    _ => Parameter::Word(or("word")),
                }
            })
            .collect();
        Method { name: &descriptor.name, letters, value: descriptor.value, reply, parameters, text }
    }

    /// What is said above the function that calls it.
    fn comment(&self, interface: &str) -> String {
        let Some(text) = self.text else { return format!("/* Letters: {}. */\n", self.letters) };
        let mut lines = text.documentation.clone();
        for (name, of) in &text.parameters {
            lines.extend(constants_of(of, interface).map(|all| format!("`{name}`: {all}.")));
        }
        if self.reply > 1 {
            let words = words_of("value", &text.value);
            let words = words.iter().map(|word| word.strip_prefix("value_").unwrap_or(word));
            lines.push(format!("`value`: {}.", words.collect::<Vec<_>>().join(", ")));
        } else {
            lines
                .extend(constants_of(&text.value, interface).map(|all| format!("`value`: {all}.")));
        }
        let error = constants_of(&text.error, interface);
        lines.extend(error.map(|all| format!("Errors of its own: {all}.")));
        lines.push(format!("Letters: {}.", self.letters));
        comment(&lines, "")
    }

    /// The `CAIRN_VALUE_*` constant of the value.
    pub fn value_constant(&self) -> &'static str {
        match self.value {
            VALUE_NONE => "CAIRN_VALUE_NONE",
            VALUE_UNSIGNED => "CAIRN_VALUE_UNSIGNED",
            VALUE_SIGNED => "CAIRN_VALUE_SIGNED",
            VALUE_BOOL => "CAIRN_VALUE_BOOL",
            VALUE_OBJECT => "CAIRN_VALUE_OBJECT",
            VALUE_WORDS => "CAIRN_VALUE_WORDS",
            other => panic!("a value of kind {other}: this tool is older than the descriptor"),
        }
    }

    /// C type of the value; none: the method returns nothing.
    fn value_type(&self) -> Option<&'static str> {
        match self.value {
            // An object is where the client wanted it.
            VALUE_NONE | VALUE_OBJECT => None,
            VALUE_SIGNED => Some("int64_t"),
            VALUE_BOOL => Some("bool"),
            _ => Some("uint64_t"),
        }
    }

    /// The function that calls the method, which is number `number` of the interface.
    pub fn caller(&self, interface: &str, number: usize) -> String {
        let mut parameters = vec!["uint32_t first_portal".to_string()];
        let mut arguments = Vec::new();
        for parameter in &self.parameters {
            match parameter {
                Parameter::Word(name) => {
                    parameters.push(format!("uint64_t {name}"));
                    arguments.push(name.clone());
                }
                Parameter::Bytes { pointer, length, writable } => {
                    let constant = if *writable { "" } else { "const " };
                    parameters.push(format!("{constant}void *{pointer}"));
                    parameters.push(format!("size_t {length}"));
                    arguments.push(format!("(uint64_t){pointer}"));
                    arguments.push(length.clone());
                }
                Parameter::Context(_) => arguments.push("0".into()),
            }
        }
        arguments.resize(REGISTERS, "0".into());
        let (call, mut store) = match self.reply {
            1 => ("cairn_reply reply = cairn_call", String::new()),
            _ => ("cairn_wide_reply reply = cairn_wide_call", String::new()),
        };
        if self.reply > 1 {
            parameters.push(format!("uint64_t value[{}]", self.reply));
            store = "    if (reply.status == 0) {\n".to_string();
            for word in 0..self.reply {
                store += &format!("        value[{word}] = reply.words[{word}];\n");
            }
            store += "    }\n";
        } else if let Some(value) = self.value_type() {
            parameters.push(format!("{value} *value"));
            store = format!("    if (reply.status == 0)\n        *value = ({value})reply.value;\n");
        }
        format!(
            "{comment}\
             static inline int64_t {interface}_{name}({parameters})\n\
             {{\n    struct {call}(first_portal + {number}, {arguments});\n\
             {store}    return reply.status;\n}}\n",
            comment = self.comment(interface),
            name = self.name,
            parameters = parameters.join(", "),
            arguments = arguments.join(", "),
        )
    }

    /// The prototype of a server's entry point, in a macro with the parameter `server`.
    pub fn entry(&self) -> String {
        let mut parameters = vec!["uint64_t control".to_string()];
        for parameter in &self.parameters {
            match parameter {
                Parameter::Word(name) => parameters.push(format!("uint64_t {name}")),
                Parameter::Bytes { pointer, length, writable } => {
                    let constant = if *writable { "" } else { "const " };
                    parameters.push(format!("{constant}volatile void *{pointer}"));
                    parameters.push(format!("size_t {length}"));
                }
                Parameter::Context(name) => parameters.push(format!("uint64_t {name}")),
            }
        }
        let name = self.name;
        let (reply, shim) = match self.reply {
            1 => ("reply", String::new()),
            _ => ("wide_reply", format!(" CAIRN_WIDE_ENTRY(server##_{name})")),
        };
        format!(
            "CAIRN_C struct cairn_{reply} server##_{name}({});{shim} CAIRN_ENTERING(server##_{name}{wide})",
            parameters.join(", "),
            wide = self.wide(),
        )
    }

    /// The entry point in the list of a macro with the parameter `server`.
    pub fn entry_name(&self) -> String {
        format!("CAIRN_ENTRY(server##_{}{})", self.name, self.wide())
    }

    /// Behind the name of a function that returns more than C does in registers: of what calls it.
    fn wide(&self) -> &'static str {
        if self.reply > 1 { "_wide" } else { "" }
    }
}
