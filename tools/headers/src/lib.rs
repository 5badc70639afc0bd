//! C headers from interface descriptors.
