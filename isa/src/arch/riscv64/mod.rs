//! RV64IMAC with Zicsr, Zifencei and the supervisor's instructions. What no manual names is not an
//! instruction, nor are those of extensions that are not among these.

pub mod compressed;
pub mod decode;
pub mod register;
