//! Names in C: of parameters, and of the numbers that stand for the variants of an enum.

use crate::header::snake_case;
use cairn_loader::interface_text::{InterfaceText, TypeText};

/// What a parameter cannot be called: words of C and C++, and what a function has for itself.
const RESERVED: &str = "alignas alignof and asm auto bool break case catch char class const constexpr continue control decltype \
    default delete do double else enum errno explicit export extern false first_portal float for friend goto if inline int long \
    mutable namespace new noexcept not nullptr operator or private protected public register reply restrict return server short \
    signed sizeof static struct switch template this throw true try typedef typename typeof union unsigned using value virtual \
    void volatile while xor";

/// A parameter's name in C.
pub fn parameter_name(name: &str) -> String {
    let is_reserved = RESERVED.split_whitespace().any(|word| word == name);
    format!("{name}{}", if is_reserved { "_" } else { "" })
}

/// A name for each register of a parameter: those of a struct are called as its fields.
pub fn words_of(name: &str, of: &TypeText) -> Vec<String> {
    // A type of somebody else's that is called so has parts.
    if of.name == "Place" && of.fields.is_empty() && of.variants.is_empty() {
        return vec!["caller".to_owned(), name.to_owned()];
    }
    if of.name == "Passed" && of.fields.is_empty() && of.variants.is_empty() {
        return vec![format!("{name}_granter"), name.to_owned()];
    }
    if of.fields.is_empty() {
        return vec![name.to_owned()];
    }
    of.fields
        .iter()
        .flat_map(|field| words_of(&format!("{name}_{}", field.name), &field.of))
        .collect()
}

/// How the numbers of an enum's variants begin, of an interface called so in small letters.
fn prefix(of: &TypeText, interface: &str) -> String {
    let name = snake_case(&of.name);
    let is_told = name.starts_with(&format!("{interface}_"));
    let name = if is_told { name } else { format!("{interface}_{name}") };
    name.to_uppercase()
}

/// How one names the numbers that an enum's values are, if it is one.
pub fn constants_of(of: &TypeText, interface: &str) -> Option<String> {
    (!of.variants.is_empty()).then(|| prefix(of, interface) + "_*")
}

/// The numbers of all enums of an interface, methods' own errors among them, if those of each have names of their own: two
/// modules of Rust may have an enum of one name.
pub fn enumerations(text: &InterfaceText, interface: &str) -> Result<String, String> {
    let mut enums = Vec::<&TypeText>::new();
    for method in &text.methods {
        method.parameters.iter().for_each(|(_, of)| collect(of, &mut enums));
        collect(&method.value, &mut enums);
        collect(&method.error, &mut enums);
    }
    for (place, of) in enums.iter().enumerate() {
        let prefix = prefix(of, interface);
        if let Some(other) =
            enums[..place].iter().find(|other| self::prefix(other, interface) == prefix)
        {
            return Err(format!(
                "the interface `{}` has two enums whose numbers would be called {prefix}_* in C: one with {}, the other with {}; \
                 expected enums of different names",
                text.name,
                other.codes(),
                of.codes()
            ));
        }
    }
    let one = |of: &&TypeText| {
        let prefix = prefix(of, interface);
        let variants = of.variants.iter().map(|variant| {
            let name = snake_case(&variant.name).to_uppercase();
            let about = comment(&variant.documentation, "    ");
            format!("{about}    {prefix}_{name} = {},\n", variant.code)
        });
        let variants: String = variants.collect();
        format!("{}enum {{\n{variants}}};\n\n", comment(&of.documentation, ""))
    };
    Ok(enums.iter().map(one).collect())
}

fn collect<'text>(of: &'text TypeText, enums: &mut Vec<&'text TypeText>) {
    of.fields.iter().for_each(|field| collect(&field.of, enums));
    if !of.variants.is_empty() && !enums.contains(&of) {
        enums.push(of);
    }
}

/// Lines as a comment in C; nothing of no lines.
pub fn comment(lines: &[String], margin: &str) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let text = lines.join("\n").replace("*/", "* /").replace("/*", "/ *");
    let text = text.replace('\n', &format!("\n{margin} * ")).replace(" * \n", " *\n");
    format!("{margin}/* {text} */\n")
}
