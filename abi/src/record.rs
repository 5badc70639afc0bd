//! The layout's record: what the host tool laid out, for the components that take over from it
//! (supervisor, memory manager, portal manager, scheduler).
