//! A computation whose every bit depends on all that was before. Additions, multiplications and divisions have one result, in
//! hardware as in software.

/// The bits of a number after so many rounds of ten that are coupled.
pub fn after(seed: u64, rounds: u64) -> u64 {
    let mut numbers = [0.0; 10];
    for (place, number) in numbers.iter_mut().enumerate() {
        *number = 0.1 + (seed % 1000) as f64 / 1500.0 / (place + 1) as f64;
    }
    for _ in 0..rounds {
        let mut before = numbers[9];
        for number in &mut numbers {
            let next = 3.9 * *number * (1.0 - *number) / (1.0 + 0.01 * before);
            before = *number;
            *number = next;
        }
    }
    numbers.iter().fold(0, |bits, number| bits.rotate_left(7) ^ number.to_bits())
}
