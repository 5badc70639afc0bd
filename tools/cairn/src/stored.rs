//! Files that a system writes on its console: it may have no other place for them. Each of their lines stands behind `file NAME: `, between
//! `file NAME begins` and `file NAME ends`, so what others print meanwhile does no harm.
//!
//! Whatever prints may be hostile: names are those of files in one folder, and there is an end to how much is written.

use anyhow::{Context, Result};
use cairn_shell::called::is_file_name;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Most bytes of all files of a run, and most files.
const BYTES_MAXIMUM: usize = 256 << 20;
const FILES_MAXIMUM: usize = 256;
/// Longest line that is looked at.
const LINE_MAXIMUM: usize = 4096;

/// Where a console's output goes, and the files in it as well.
pub struct Stored<W> {
    to: W,
    /// Nowhere, if nobody asked for files.
    folder: Option<PathBuf>,
    files: BTreeMap<String, File>,
    begun: usize,
    bytes: usize,
    /// The line that is not complete yet.
    line: Vec<u8>,
}

impl<W: Write> Stored<W> {
    /// Makes the folder, if there is to be one.
    pub fn new(to: W, folder: Option<&Path>) -> Result<Stored<W>> {
        if let Some(folder) = folder {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        let folder = folder.map(Path::to_owned);
        let (files, line) = (BTreeMap::new(), Vec::new());
        Ok(Stored { to, folder, files, begun: 0, bytes: 0, line })
    }

    /// Does what a line says; a line for people, if a file is complete.
    fn take(&mut self, folder: &Path, line: &str) -> io::Result<Option<String>> {
        let Some(line) = line.strip_prefix("file ") else { return Ok(None) };
        if let Some((name, text)) = line.split_once(": ") {
            let Some(file) = self.files.get_mut(name) else { return Ok(None) };
            self.bytes += text.len() + 1;
            if self.bytes > BYTES_MAXIMUM {
                self.files.clear();
                return Ok(Some(format!("no more is stored: {BYTES_MAXIMUM} bytes came")));
            }
            writeln!(file, "{text}")?;
        } else if let Some(name) = line.strip_suffix(" begins").filter(|name| is_file_name(name)) {
            if self.begun < FILES_MAXIMUM {
                self.begun += 1;
                self.files.insert(name.to_owned(), File::create(folder.join(name))?);
            }
        } else if let Some(name) = line.strip_suffix(" ends")
            && self.files.remove(name).is_some()
        {
            return Ok(Some(format!("{} is written", folder.join(name).display())));
        }
        Ok(None)
    }
}

impl<W: Write> Write for Stored<W> {
    fn write(&mut self, output: &[u8]) -> io::Result<usize> {
        let Some(folder) = self.folder.clone() else { return self.to.write(output) };
        for byte in output {
            self.to.write_all(&[*byte])?;
            match byte {
                b'\n' => {
                    let line = std::mem::take(&mut self.line);
                    let line = String::from_utf8_lossy(&line);
                    if let Some(told) = self.take(&folder, line.trim_end_matches('\r'))? {
                        write!(self.to, "cairn: {told}\r\n")?;
                    }
                }
                _ if self.line.len() < LINE_MAXIMUM => self.line.push(*byte),
                _ => {}
            }
        }
        Ok(output.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_what_stands_behind_their_names() {
        let folder = std::env::temp_dir().join(format!("cairn-stored-{}", std::process::id()));
        let mut shown = Vec::new();
        let mut stored = Stored::new(&mut shown, Some(&folder)).unwrap();
        let output = "> trace\r\nfile a.json begins\r\nfile a.json: [\r\nsupervisor: x\r\nfile a.json: 1: 2\r\n\
                      file b: none\r\nfile ../c begins\r\nfile ../c: none\r\nfile a.json ends\r\nfile a.json: late\r\n> ";
        // In whatever pieces it comes.
        for piece in output.as_bytes().chunks(7) {
            stored.write_all(piece).unwrap();
        }
        assert_eq!(std::fs::read_to_string(folder.join("a.json")).unwrap(), "[\n1: 2\n");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        let shown = String::from_utf8(shown).unwrap();
        assert!(shown.contains("file a.json ends\r\ncairn: ") && shown.contains("is written\r\n"));
        assert!(shown.ends_with("late\r\n> "));
    }

    #[test]
    fn nobody_asked() {
        let mut shown = Vec::new();
        let output = b"file a begins\nfile a: x\nfile a ends\n";
        Stored::new(&mut shown, None).unwrap().write_all(output).unwrap();
        assert_eq!(shown, output);
    }
}
