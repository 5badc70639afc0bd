//! The numbers that C components share: from this list comes `cairn_abi.h`, which `lib/c/cairn.h` includes.

use crate::{VERSION, descriptor, domain};

/// Name in C without `CAIRN_`, and the number. The errors are in [`crate::Error::ALL`].
pub const CONSTANTS: &[(&str, u64)] = &[
    ("ABI_VERSION", VERSION as u64),
    ("PORTAL_OWN_DOMAIN", domain::PORTAL_OWN_DOMAIN as u64),
    ("PORTAL_OWN_THREAD", domain::PORTAL_OWN_THREAD as u64),
    ("PORTAL_TIME", domain::PORTAL_TIME as u64),
    ("PORTAL_FIRST_IMPORT", domain::PORTAL_FIRST_IMPORT as u64),
    ("VALUE_NONE", descriptor::VALUE_NONE as u64),
    ("VALUE_UNSIGNED", descriptor::VALUE_UNSIGNED as u64),
    ("VALUE_SIGNED", descriptor::VALUE_SIGNED as u64),
    ("VALUE_BOOL", descriptor::VALUE_BOOL as u64),
    ("VALUE_OBJECT", descriptor::VALUE_OBJECT as u64),
    ("VALUE_PACKED", descriptor::VALUE_PACKED as u64),
    ("NAME_SIZE", descriptor::NAME_SIZE as u64),
    ("LETTERS_SIZE", descriptor::LETTERS_SIZE as u64),
    ("METHODS_MAXIMUM", descriptor::METHODS_MAXIMUM as u64),
    ("IMPORTS_MAXIMUM", descriptor::IMPORTS_MAXIMUM as u64),
    ("EXPORTS_MAXIMUM", descriptor::EXPORTS_MAXIMUM as u64),
    ("DESCRIPTOR_MAGIC", descriptor::MAGIC),
    ("SIZE_OF_METHOD", size_of::<descriptor::MethodDescriptor>() as u64),
    ("SIZE_OF_INTERFACE", size_of::<descriptor::InterfaceDescriptor>() as u64),
    ("SIZE_OF_IMPORT", size_of::<descriptor::ImportDescriptor>() as u64),
    ("SIZE_OF_EXPORT", size_of::<descriptor::ExportDescriptor>() as u64),
    ("SIZE_OF_COMPONENT", size_of::<descriptor::ComponentDescriptor>() as u64),
];
