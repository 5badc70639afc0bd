//! The header of the ABI's numbers.

use cairn_abi::Error;
use cairn_abi::constants::{C, Name};

/// The file's name.
pub const ABI_FILE: &str = "cairn_abi.h";

/// The C header of what components and the system agree on.
pub fn abi() -> String {
    let errors: String = Error::ALL
        .iter()
        .map(|error| {
            let name = Name(error.name());
            format!("    CAIRN_ERROR_{name} = {}, /* {error} */\n", error.status())
        })
        .collect();
    let constants: String = C
        .iter()
        .map(|(name, number)| match u32::try_from(*number) {
            Ok(number) => format!("#define CAIRN_{name} {number}\n"),
            Err(_) => format!("#define CAIRN_{name} UINT64_C({number:#x})\n"),
        })
        .collect();
    format!(
        "/* Numbers of the crate cairn-abi. Made from it; do not edit. */\n\
         #ifndef CAIRN_ABI_H\n\
         #define CAIRN_ABI_H\n\
         \n\
         #include <stdint.h>\n\
         \n\
         enum {{\n{errors}}};\n\
         \n\
         {constants}\n\
         #endif\n"
    )
}
