//! The interface [`interfaces::ParameterTypes`].

use super::{Server, interfaces, locked};
use cairn::window::ReadWindow;
use cairn::{Caller, Error};
use cairn_interfaces::ParameterError;
use cairn_portal::Parameter;
use cairn_portal::parameter::{FRAGMENT_MAXIMUM, Why};

/// The instructions of a fragment: how many.
fn instructions(
    bytes: ReadWindow<'_>,
    buffer: &mut [u32; FRAGMENT_MAXIMUM],
) -> Result<usize, ParameterError> {
    let mut copy = [0; FRAGMENT_MAXIMUM * 4];
    let copied: &[u8] = bytes.copy(&mut copy).map_err(|_| ParameterError::BadLength)?;
    let (words, []) = copied.as_chunks::<4>() else { return Err(ParameterError::BadLength) };
    for (instruction, bytes) in buffer.iter_mut().zip(words) {
        *instruction = u32::from_le_bytes(*bytes);
    }
    Ok(words.len())
}

fn refusal(error: cairn_portal::ParameterError) -> ParameterError {
    match error.why {
        Why::Letter => ParameterError::BadLetter,
        Why::Taken => ParameterError::Taken,
        Why::Words => ParameterError::BadWords,
        Why::Length => ParameterError::BadLength,
        Why::Jump => ParameterError::Jump,
        Why::System => ParameterError::System,
        Why::Memory => ParameterError::Memory,
        Why::Instruction => ParameterError::BadInstruction,
        Why::Written => ParameterError::WrongRegister,
        Why::Unset => ParameterError::Unset,
        Why::Bounds => ParameterError::Bounds,
    }
}

impl interfaces::ParameterTypes for Server {
    fn register_parameter(
        &self,
        caller: Caller,
        letter: u64,
        words: u64,
        call: ReadWindow<'_>,
        back: ReadWindow<'_>,
    ) -> Result<(), ParameterError> {
        let (mut in_buffer, mut back_buffer) = ([0; FRAGMENT_MAXIMUM], [0; FRAGMENT_MAXIMUM]);
        let (in_count, back_count) =
            (instructions(call, &mut in_buffer)?, instructions(back, &mut back_buffer)?);
        let number = u8::try_from(letter).map_err(|_| ParameterError::BadLetter)?;
        let code = (&in_buffer[..in_count], &back_buffer[..back_count]);
        locked(|manager, _| {
            let data = manager.parameter_data().find(caller.0, letter);
            let parameter = Parameter::with_data(number, words, code, data);
            Ok(parameter.and_then(|parameter| manager.register_type(parameter)).map_err(refusal))
        })?
    }

    fn keep_data(&self, caller: Caller, letter: u64, words: u64) -> Result<(), ParameterError> {
        let kept = locked(|manager, _| Ok(manager.parameter_data().keep(caller.0, letter, words)))?;
        kept.map_err(|error| match error {
            Error::BadArgument => ParameterError::BadLetter,
            Error::Busy => ParameterError::Taken,
            _ => ParameterError::NoRoom,
        })
    }

    fn set_data(&self, caller: Caller, letter: u64, place: u64, word: u64) -> Result<(), Error> {
        locked(|manager, machine| {
            manager.set_parameter_data(machine, caller.0, letter, (place, word))
        })
    }
}
