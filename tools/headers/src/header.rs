//! The header of one interface.

use crate::method::Method;
use crate::names::{comment, enumerations};
use cairn_loader::Interface;
use cairn_loader::interface_text::InterfaceText;

/// The file's name for `interface`: `BlockDevice` is described by `block_device.h`.
pub fn file_name(interface: &Interface) -> String {
    snake_case(&interface.name) + ".h"
}

/// The C header of `interface`, to be saved under its [`file_name`]; with names and documentation if there is a text of it. The
/// error says which names of its parts C cannot tell apart.
pub fn header(interface: &Interface, text: Option<&InterfaceText>) -> Result<String, String> {
    let name = &interface.name;
    let lower = snake_case(name);
    let upper = lower.to_uppercase();
    let texts = text.map_or(&[][..], |text| &text.methods);
    let methods: Vec<Method> = interface
        .methods
        .iter()
        .enumerate()
        .map(|(place, method)| Method::new(method, texts.get(place)))
        .collect();
    let about = text.map_or(String::new(), |text| comment(&text.documentation, "") + "\n");
    let enumerations = text.map_or(Ok(String::new()), |text| enumerations(text, &lower))?;
    let callers: Vec<String> =
        methods.iter().enumerate().map(|(number, method)| method.caller(&lower, number)).collect();
    let prototypes: Vec<String> =
        methods.iter().map(|method| format!("    {}", method.entry())).collect();
    let entries: Vec<String> = methods.iter().map(Method::entry_name).collect();
    let descriptors: Vec<String> = methods
        .iter()
        .map(|method| {
            format!(
                "        {{ \"{}\", \"{}\", {} }}",
                method.name,
                method.letters,
                method.value_constant()
            )
        })
        .collect();
    Ok(format!(
        "/* The interface {name}. Made from its descriptor; do not edit. */\n\
         #ifndef CAIRN_INTERFACE_{upper}_H\n\
         #define CAIRN_INTERFACE_{upper}_H\n\
         \n\
         #include \"cairn.h\"\n\
         \n\
         {about}\
         /* Portals that an import of it takes. */\n\
         #define {upper}_METHODS {count}\n\
         \n\
         /* What a client of it knows, for portals_open (the letters) and portals_reserve (all of it). */\n\
         #define {upper}_VERSION UINT64_C(0x{version:016x})\n\
         #define {upper}_LETTERS \"{letters}\"\n\
         #define {upper}_SIGNATURE \"{name} \" {upper}_LETTERS\n\
         \n\
         /* What a component's descriptor says of it. */\n\
         #define {upper}_INTERFACE {{ \\\n    \
             \"{name}\", {upper}_VERSION, {upper}_METHODS, {{ \\\n{descriptors} \\\n    }} \\\n}}\n\
         \n\
         {enumerations}\
         /* Calls. They return zero, a positive error code of the method, or a negative CAIRN_ERROR_*. */\n\
         \n\
         {callers}\n\
         /* A server's entry points, named SERVER_METHOD: their prototypes, and their list for the\n   \
            component's descriptor. Other threads may write the memory of a parameter at any time. */\n\
         #define {upper}_SERVER(server) \\\n{prototypes}\n\
         #define {upper}_ENTRIES(server) {{ {entries} }}\n\
         \n\
         #endif\n",
        count = methods.len(),
        version = interface.version,
        letters = methods.iter().map(|method| format!("{} ", method.letters)).collect::<String>(),
        descriptors = descriptors.join(", \\\n"),
        callers = callers.join("\n"),
        prototypes = prototypes.join(" \\\n"),
        entries = entries.join(", "),
    ))
}

/// `BlockDevice` as `block_device`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    let mut previous_lower = false;
    for letter in name.chars() {
        if letter.is_uppercase() && previous_lower {
            snake.push('_');
        }
        previous_lower = letter.is_lowercase() || letter.is_ascii_digit();
        snake.extend(letter.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::snake_case;

    #[test]
    fn names_become_snake_case() {
        for (name, snake) in
            [("Echo", "echo"), ("BlockDevice", "block_device"), ("Uart16550Port", "uart16550_port")]
        {
            assert_eq!(snake_case(name), snake);
        }
    }
}
