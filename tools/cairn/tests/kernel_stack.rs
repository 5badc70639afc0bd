//! How much stack the system's components need, from the machine code: a call in the kernel domain leaves its callee half of one.
#![forbid(unsafe_code)]

use cairn_abi::address::KERNEL_STACK_SIZE;
use cairn_isa::riscv64::compressed;
use cairn_isa::riscv64::decode::{Arithmetic, Instruction, decode};
use cairn_isa::riscv64::register::SP;
use cairn_tool::build::Parts;
use cairn_tool::paths;
use cairn_tool::placements::{Placements, is_of_system};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// What an instruction that is reached leaves on the stack, and where it leads, both at most.
#[derive(Default)]
struct Function {
    name: String,
    frame: u64,
    calls: BTreeSet<u64>,
    /// It calls what is in a register.
    calls_any: bool,
}

/// The functions of a component, by their addresses.
fn functions(file: &[u8]) -> BTreeMap<u64, Function> {
    let elf = object::File::parse(file).unwrap();
    // Assembly has labels without a kind; those that begin so are the assembler's own.
    let is_function = |name: &str| !name.is_empty() && !name.starts_with(['.', '$']);
    let texts: Vec<_> = elf.sections().filter(|one| one.kind() == SectionKind::Text).collect();
    let functions = elf.symbols().filter(|symbol| {
        let index = symbol.section_index();
        let is_code = texts.iter().any(|text| Some(text.index()) == index);
        is_code && is_function(symbol.name().unwrap_or(""))
    });
    let mut functions: BTreeMap<u64, Function> = functions
        .map(|symbol| {
            let name = symbol.name().unwrap_or("").to_owned();
            (symbol.address(), Function { name, ..Function::default() })
        })
        .collect();
    for section in &texts {
        let (mut address, code) = (section.address(), section.data().unwrap());
        let start = address;
        // What registers are known to hold.
        let mut known = BTreeMap::new();
        while let Some(half) = code.get((address - start) as usize..).and_then(<[u8]>::first_chunk)
        {
            let half = u16::from_le_bytes(*half);
            let is_short = half & 3 != 3;
            let word =
                || Some(u32::from_le_bytes(*code[(address - start) as usize..].first_chunk()?));
            let instruction =
                if is_short { compressed::decode(half) } else { word().and_then(decode) };
            if functions.contains_key(&address) {
                known.clear();
            }
            let target = match instruction {
                Some(Instruction::Jump { offset, .. } | Instruction::Branch { offset, .. }) => {
                    Some(address.wrapping_add(offset))
                }
                Some(Instruction::JumpRegister { base, offset, .. }) => {
                    known.get(&base).map(|base: &u64| base.wrapping_add(offset))
                }
                _ => None,
            };
            let owner = functions.range(..=address).next_back().map(|(start, _)| *start);
            let callee = target
                .and_then(|target| functions.range(..=target).next_back())
                .map(|(start, _)| *start)
                .filter(|callee| Some(*callee) != owner);
            if let Some(function) = functions.range_mut(..=address).next_back().map(|(_, one)| one)
            {
                function.calls.extend(callee);
                let calls = matches!(instruction, Some(Instruction::JumpRegister { to: 1, .. }));
                function.calls_any |= calls && target.is_none();
                function.frame += taken(instruction, &known);
            }
            learn(instruction, address, &mut known);
            address += if is_short { 2 } else { 4 };
        }
    }
    functions
}

/// Bytes of stack that an instruction takes.
fn taken(instruction: Option<Instruction>, known: &BTreeMap<u8, u64>) -> u64 {
    let change = match instruction {
        Some(Instruction::ComputeImmediate {
            operation: Arithmetic::Add,
            to: SP,
            left: SP,
            right,
            ..
        }) => right as i64,
        Some(Instruction::Compute { operation, to: SP, left: SP, right, .. }) => {
            let by = *known.get(&right).expect("the size of a frame is a constant") as i64;
            if operation == Arithmetic::Sub { -by } else { by }
        }
        _ => 0,
    };
    change.min(0).unsigned_abs()
}

fn learn(instruction: Option<Instruction>, address: u64, known: &mut BTreeMap<u8, u64>) {
    match instruction {
        Some(Instruction::LoadUpperImmediate { to, value }) => _ = known.insert(to, value),
        Some(Instruction::AddUpperImmediate { to, value }) => {
            _ = known.insert(to, address.wrapping_add(value));
        }
        Some(Instruction::ComputeImmediate {
            operation: Arithmetic::Add, to, left, right, ..
        }) => match (left, known.get(&left)) {
            (0, _) => _ = known.insert(to, right),
            (_, Some(value)) => _ = known.insert(to, value.wrapping_add(right)),
            _ => _ = known.remove(&to),
        },
        Some(
            Instruction::Load { to, .. }
            | Instruction::ComputeImmediate { to, .. }
            | Instruction::Compute { to, .. },
        ) => _ = known.remove(&to),
        _ => {}
    }
}

/// The deepest way from each function, without what calls by register add.
struct Depths<'a> {
    functions: &'a BTreeMap<u64, Function>,
    known: BTreeMap<u64, u64>,
    /// What a call by register adds.
    any: u64,
}

impl Depths<'_> {
    fn of(&mut self, address: u64, above: &mut Vec<u64>) -> u64 {
        if let Some(depth) = self.known.get(&address) {
            return *depth;
        }
        let function = &self.functions[&address];
        assert!(
            !above.contains(&address),
            "`{}` calls itself: nobody knows how deep",
            function.name
        );
        above.push(address);
        let calls = function.calls.iter().map(|callee| self.of(*callee, above)).max().unwrap_or(0);
        above.pop();
        let depth = function.frame + calls.max(if function.calls_any { self.any } else { 0 });
        self.known.insert(address, depth);
        depth
    }
}

/// The deepest way among the functions that `is_meant` names.
fn deepest(functions: &BTreeMap<u64, Function>, any: u64, is_meant: impl Fn(&str) -> bool) -> u64 {
    let mut depths = Depths { functions, known: BTreeMap::new(), any };
    let meant = functions.iter().filter(|(_, function)| is_meant(&function.name));
    meant.map(|(address, _)| depths.of(*address, &mut Vec::new())).max().unwrap_or(0)
}

#[test]
fn half_a_kernel_stack_is_enough_for_each_component_of_the_system() {
    let mut looked = 0;
    for system in ["demo", "bench/systems/late-edf"] {
        let parts = Parts::new(system, None).unwrap();
        let mut in_kernel = cairn_description::load_from(&paths::files(), system, None).unwrap();
        Placements::Kernel.apply(&mut in_kernel);
        let instances = parts.system.instances.iter().zip(&in_kernel.instances);
        for (instance, placed) in instances.filter(|(one, _)| is_of_system(one)) {
            looked += 1;
            // Who cannot be there has what its description says.
            let room =
                if placed.is_in_kernel() { KERNEL_STACK_SIZE / 2 } else { instance.stacks.size };
            let functions = functions(&fs::read(parts.file(instance)).unwrap());
            // What is called by register formats text, some of it by formatting other text.
            let text = |name: &str| name.contains("fmt");
            let any = deepest(&functions, deepest(&functions, 0, text), text);
            let need = deepest(&functions, any, |_| true);
            println!("{}: {need} bytes, {any} of them for text", *instance.name);
            assert!(
                need <= room,
                "`{}` needs {need} bytes of stack; expected at most {room}, which it has, or a call in the kernel domain leaves it \
                 (docs/portals.md): make its frames smaller",
                *instance.name
            );
        }
    }
    assert!(looked > 12, "{looked} instances");
}
