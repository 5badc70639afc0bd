//! Portals of processes and of their server (`cairn_abi::process`): the ways between the two, and what the server may do to page
//! tables of processes.

use super::code::Code;
use super::fault::dead_entry;
use super::{GenerateError, Generated};
use crate::literal::*;
use crate::stencil::{self, Label, Value};
use cairn_abi::page_table::{ENTRIES, table_entry};
use cairn_abi::process::{CLEARED, PROCESS_FRAME, Pool, SERVER_FRAME};
use cairn_abi::{DomainId, Space, address};

/// What belongs to a server of processes. Addresses are the kernel domain's, but where it is said otherwise.
#[derive(Clone, Copy, Debug)]
pub struct ProcessServer {
    /// The server's domain.
    pub domain: DomainId,
    /// Where its cells begin.
    pub cells: u64,
    /// The portal table of its processes.
    pub table: u64,
    /// The space of its first process.
    pub space: Space,
    /// How many page tables there are.
    pub pool: Pool,
    /// The first of them.
    pub roots: u64,
    /// The physical address of that.
    pub roots_physical: u64,
    /// Physical address and bytes of its processes' memory.
    pub memory: (u64, u64),
    /// Where threads end, as their base frames name it.
    pub exit: u64,
    /// Address of the nucleus' service table.
    pub services: u64,
    /// Whether the machine's identifiers tell spaces apart.
    pub asids: bool,
}

/// A portal that belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessPortal {
    /// A process calls. The way that a table's entries lead to is the call; what the process frame names is the way back.
    Call,
    /// The server returns to a process, or to itself.
    Return,
    /// An exception of a process.
    Fault,
    /// The same of an illegal instruction, where processes may use the floating-point unit.
    Illegal,
    /// [`PORTAL_PROCESS_FLOAT`](cairn_abi::privileged::PORTAL_PROCESS_FLOAT).
    Float,
    /// [`PORTAL_PROCESS_BEGIN`](cairn_abi::privileged::PORTAL_PROCESS_BEGIN).
    Begin {
        /// The way back of [`ProcessPortal::Call`].
        call: u64,
        /// [`ProcessPortal::Return`].
        back: u64,
    },
    /// [`PORTAL_PROCESS_SELECT`](cairn_abi::privileged::PORTAL_PROCESS_SELECT).
    Select,
    /// [`PORTAL_PROCESS_MAP`](cairn_abi::privileged::PORTAL_PROCESS_MAP).
    Map,
    /// [`PORTAL_PROCESS_MAP_SEVERAL`](cairn_abi::privileged::PORTAL_PROCESS_MAP_SEVERAL).
    MapSeveral,
    /// [`PORTAL_PROCESS_LINK`](cairn_abi::privileged::PORTAL_PROCESS_LINK).
    Link,
    /// [`PORTAL_PROCESS_CLEAR`](cairn_abi::privileged::PORTAL_PROCESS_CLEAR).
    Clear,
    /// [`PORTAL_PROCESS_FENCE`](cairn_abi::privileged::PORTAL_PROCESS_FENCE).
    Fence,
    /// [`PORTAL_PROCESS_INTERRUPT`](cairn_abi::privileged::PORTAL_PROCESS_INTERRUPT).
    Interrupt {
        /// The way back of [`ProcessPortal::Call`].
        call: u64,
    },
}

/// Generates one of a server's portals.
pub fn process(
    portal: ProcessPortal,
    server: &ProcessServer,
    words: &mut [u32],
    address: u64,
) -> Result<Generated, GenerateError> {
    let mut code = Code::new(words, address);
    match portal {
        ProcessPortal::Call => call(code, server),
        ProcessPortal::Return => back(code, server),
        ProcessPortal::Fault | ProcessPortal::Illegal => {
            let start = code.literals()?;
            if portal == ProcessPortal::Illegal {
                code.emit(&stencil::PROCESS_FLOAT_USE)?;
                code.literal(start, LITERAL_SERVICES, server.services);
                code.label(Label::Fault);
                // It has found the cells.
                code.emit_part(&stencil::PROCESS_FAULT, 1..)?;
            } else {
                code.emit(&stencil::PROCESS_FAULT)?;
            }
            fence(&mut code, server)?;
            code.leave(5, &stencil::PROCESS_FAULTED)?;
            code.literal(start, LITERAL_MARK, MARK_CALL);
            code.resolve()?;
            code.finish(start, 0)
        }
        _ => operation(portal, code, server),
    }
}

/// Entering a space, where identifiers do not tell them apart.
fn fence(code: &mut Code, server: &ProcessServer) -> Result<(), GenerateError> {
    if server.asids { Ok(()) } else { code.emit(&stencil::PROCESS_FENCE) }
}

fn call(mut code: Code, server: &ProcessServer) -> Result<Generated, GenerateError> {
    let index = code.literals()?;
    code.literal(index, LITERAL_MARK, MARK_CALL);
    code.emit(&stencil::PROCESS_INDEX)?;
    enter_server(&mut code, server)?;
    let frame = code.literals()?;
    enter_server(&mut code, server)?;
    frame_literals(&mut code, server, frame, PROCESS_FRAME)?;
    code.finish(index, frame)
}

fn enter_server(code: &mut Code, server: &ProcessServer) -> Result<(), GenerateError> {
    code.emit(&stencil::PROCESS_CALL)?;
    fence(code, server)?;
    code.leave(4, &stencil::PROCESS_CALLED)
}

fn back(mut code: Code, server: &ProcessServer) -> Result<Generated, GenerateError> {
    let start = code.literals()?;
    code.emit(&stencil::PROCESS_RETURN)?;
    fence(&mut code, server)?;
    code.leave(6, &stencil::PROCESS_RESUME)?;
    code.label(Label::Pending);
    code.leave(5, &stencil::PROCESS_PENDING)?;
    code.resolve()?;
    frame_literals(&mut code, server, start, SERVER_FRAME)?;
    code.finish(start, start)
}

/// What walks of an invocation stack find before the code that a frame names, and the frame's dead entry. Nobody but the server's domain
/// runs above such a frame, so if that is dead the frame is, too.
fn frame_literals(
    code: &mut Code,
    server: &ProcessServer,
    back: usize,
    size: i64,
) -> Result<(), GenerateError> {
    code.value(Value::FrameSizeNegative, -size);
    let dead = dead_entry(code, back, false)?;
    let at = |word: usize| code.address + word as u64 * 4;
    let (back_address, dead_address) = (at(back), at(dead));
    let frame = CallFrame {
        size: size as u16,
        of_carrier: true,
        caller: server.domain,
        callee: server.domain,
    }
    .word();
    for (literal, word) in [
        (LITERAL_MARK, MARK_RETURN),
        (LITERAL_ABORT, dead_address),
        (LITERAL_RETURN, dead_address),
        (LITERAL_FRAME, frame),
    ] {
        code.literal(back, literal, word);
    }
    code.literals_at(dead, &[back_address, dead_address, MARK_DEAD]);
    Ok(())
}

/// A short-circuit portal.
fn operation(
    portal: ProcessPortal,
    mut code: Code,
    server: &ProcessServer,
) -> Result<Generated, GenerateError> {
    let start = code.literals()?;
    code.literal(start, LITERAL_MARK, MARK_CALL);
    let pool = server.pool;
    let entries = ENTRIES as u64;
    let runs = address::PAGE_SIZE / CLEARED;
    let literals: &[(i64, u64)] = match portal {
        ProcessPortal::Begin { call, back } => {
            code.emit(&stencil::PROCESS_BEGIN)?;
            &[
                (LITERAL_RETURN, server.exit),
                (LITERAL_ENTRY, call),
                (LITERAL_STUB, back),
                (LITERAL_TABLE, server.table),
            ]
        }
        ProcessPortal::Select => {
            space(&mut code, server)?;
            code.emit(&stencil::PROCESS_SELECT)?;
            &[(LITERAL_COUNT, pool.spaces)]
        }
        ProcessPortal::Fence => {
            space(&mut code, server)?;
            // Without identifiers every return to a process fences.
            if server.asids {
                code.emit(&stencil::PROCESS_FENCE_SPACE)?;
                end(&mut code, &stencil::PROCESS_DONE)?;
                code.label(Label::Address);
                code.emit(&stencil::PROCESS_FENCE_ADDRESS)?;
            }
            &[(LITERAL_COUNT, pool.spaces)]
        }
        ProcessPortal::Map | ProcessPortal::MapSeveral => {
            if portal == ProcessPortal::Map {
                code.emit(&stencil::PROCESS_MAP)?;
                code.label(Label::Entry);
                code.emit(&stencil::PROCESS_ENTRY)?;
            } else {
                code.emit(&stencil::PROCESS_MAP_SEVERAL)?;
            }
            let (first, size) = server.memory;
            &[
                (LITERAL_FIRST, first >> 2),
                (LITERAL_SPAN, size >> 2),
                (LITERAL_COUNT, pool.leaves * entries),
                (LITERAL_POOL, server.roots + pool.first_leaf() * address::PAGE_SIZE),
            ]
        }
        ProcessPortal::Link => {
            code.emit(&stencil::PROCESS_LINK)?;
            code.label(Label::Root);
            code.emit(&stencil::PROCESS_LINK_ROOT)?;
            code.label(Label::Entry);
            code.emit(&stencil::PROCESS_LINK_ENTRY)?;
            &[
                (LITERAL_COUNT, pool.spaces * entries),
                (LITERAL_FIRST, pool.first_directory()),
                (LITERAL_SPAN, pool.directories),
                (LITERAL_LEAVES, pool.leaves),
                (LITERAL_POOL, server.roots),
                (LITERAL_POINTER, table_entry(server.roots_physical)),
            ]
        }
        ProcessPortal::Clear => {
            code.emit(&stencil::PROCESS_CLEAR)?;
            &[
                (LITERAL_COUNT, pool.tables() * runs),
                (LITERAL_FIRST, pool.spaces * runs),
                (LITERAL_POOL, server.roots),
            ]
        }
        ProcessPortal::Float => {
            code.emit(&stencil::PROCESS_FLOAT_OFF)?;
            code.emit(&stencil::PROCESS_FLOAT)?;
            end(&mut code, &stencil::PROCESS_DONE)?;
            code.label(Label::Load);
            code.emit(&stencil::PROCESS_FLOAT_LOAD)?;
            end(&mut code, &stencil::PROCESS_DONE)?;
            code.label(Label::Save);
            code.emit(&stencil::PROCESS_FLOAT_SAVE)?;
            &[(LITERAL_SERVICES, server.services)]
        }
        ProcessPortal::Interrupt { call } => {
            code.emit(&stencil::PROCESS_INTERRUPT)?;
            &[(LITERAL_ENTRY, call)]
        }
        ProcessPortal::Call
        | ProcessPortal::Return
        | ProcessPortal::Fault
        | ProcessPortal::Illegal => {
            unreachable!("they are no operations")
        }
    };
    for (literal, word) in literals {
        code.literal(start, *literal, *word);
    }
    code.literal(start, LITERAL_CELLS, server.cells);
    code.literal(start, LITERAL_SPACE, server.space.word());
    end(&mut code, &stencil::PROCESS_DONE)?;
    let refused = match portal {
        ProcessPortal::Float => None,
        ProcessPortal::Interrupt { .. } => Some((Label::Elsewhere, &stencil::PROCESS_ELSEWHERE)),
        _ => Some((Label::Refused, &stencil::PROCESS_REFUSED)),
    };
    if let Some((label, status)) = refused {
        code.label(label);
        end(&mut code, status)?;
    }
    code.resolve()?;
    code.finish(start, 0)
}

/// The space that the first argument names.
fn space(code: &mut Code, server: &ProcessServer) -> Result<(), GenerateError> {
    code.emit(&stencil::PROCESS_SPACE)?;
    if server.asids {
        code.emit(&stencil::PROCESS_SPACE_IDENTIFIER)?;
    }
    code.emit(&stencil::PROCESS_SPACE_ROOT)
}

/// An end, with the status that it answers.
fn end(code: &mut Code, status: &stencil::Stencil) -> Result<(), GenerateError> {
    code.emit(status)?;
    code.emit(&stencil::PROCESS_SCRUB)?;
    code.leave(2, &stencil::DEVICE_LEAVE)
}
