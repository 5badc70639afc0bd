//! Executes generated portals in the emulator, together with the nucleus as it is linked for the
//! machine: the trap entry, the window services and the privileged portals.

mod boot;
mod calls;
mod copies;
mod counts;
mod death;
mod device;
mod fences;
mod float;
mod float_hand_over;
mod float_mutation;
mod guests;
mod hostile;
mod in_place;
mod interposed;
mod limits;
mod mutation;
mod nucleus;
mod pagers;
mod pagers_between;
mod places;
mod privileged;
mod process_float;
mod process_requests;
mod processes;
mod round_trips;
mod run;
mod semaphores;
mod services;
mod steps;
mod traps;
mod types;
mod world;
