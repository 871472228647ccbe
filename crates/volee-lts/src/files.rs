//! Files by their names: which format, which compression, `-` for the standard streams.
//!
//! Compression is recognised when reading by the first bytes (so that a renamed file still opens) and chosen
//! when writing by the extension: `.gz` or `.zst` after the format's own.

use std::fs::File;
use std::io::{self, BufWriter, Chain, Cursor, Read, Write};
use std::path::Path;

use crate::binary::{read_binary, write_binary};
use crate::dot::write_dot;
use crate::{Lts, LtsError, read_aut, write_aut};

/// The formats of explicit systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `.aut`, the text format of CADP, mCRL2 and MERC.
    Aut,
    /// `.vlts`, volee's own compact format.
    Binary,
    /// `.dot`, a picture; can only be written.
    Dot,
}

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Plain,
    Gzip,
    Zstd,
}

impl Format {
    /// The format that a file name asks for; `-` and names without extension are `.aut` text.
    ///
    /// # Errors
    /// The extension is not one of an explicit system.
    pub fn of(path: &Path) -> Result<Format, LtsError> {
        let (stem, _) = unpacked_name(path);
        match stem.rsplit_once('.').map(|(_, extension)| extension) {
            None | Some("aut") => Ok(Format::Aut),
            Some("vlts") => Ok(Format::Binary),
            Some("dot" | "gv") => Ok(Format::Dot),
            Some(other) => Err(LtsError::input(format!(
                "`{}`: `.{other}` is not a format of transition systems; known are aut and vlts, and to write dot (each \
                 also with .gz or .zst)",
                path.display()
            ))),
        }
    }
}

fn unpacked_name(path: &Path) -> (String, Packing) {
    let name = path.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    if let Some(stem) = name.strip_suffix(".gz") {
        return (stem.into(), Packing::Gzip);
    }
    match name.strip_suffix(".zst").or_else(|| name.strip_suffix(".zstd")) {
        Some(stem) => (stem.into(), Packing::Zstd),
        None => (name, Packing::Plain),
    }
}

/// An opened input: its unpacked bytes, and their number where it is known.
pub struct Input {
    /// The bytes.
    pub bytes: Box<dyn Read>,
    /// How many, unless they come compressed or through a pipe.
    pub size: Option<u64>,
    /// How messages call it.
    pub name: String,
}

/// Opens a file, or the standard input for `-`, and unpacks it on the fly.
///
/// # Errors
/// It cannot be opened or read.
pub fn open(path: &Path) -> Result<Input, LtsError> {
    let failed = |e| LtsError::io(path, e);
    let (raw, size): (Box<dyn Read>, _) = if path == Path::new("-") {
        (Box::new(io::stdin()), None)
    } else {
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(LtsError::input(format!("`{}` is a directory", path.display())));
        }
        (Box::new(file), metadata.is_file().then_some(metadata.len()))
    };
    let name = if path == Path::new("-") { "standard input".into() } else { path.display().to_string() };
    let (head, bytes) = peek(raw).map_err(failed)?;
    Ok(match packing_of(&head) {
        Packing::Plain => Input { bytes, size, name },
        Packing::Gzip => {
            Input { bytes: Box::new(flate2::read::MultiGzDecoder::new(bytes)), size: None, name }
        }
        Packing::Zstd => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(bytes)
                .map_err(|e| LtsError::input(format!("{name}: not a sound zstd file: {e}")))?;
            Input { bytes: Box::new(decoder), size: None, name }
        }
    })
}

fn packing_of(head: &[u8]) -> Packing {
    match head {
        [0x1f, 0x8b, ..] => Packing::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd] => Packing::Zstd,
        _ => Packing::Plain,
    }
}

/// The first four bytes, and a reader that still has them.
fn peek(mut raw: Box<dyn Read>) -> io::Result<(Vec<u8>, Box<dyn Read>)> {
    let mut head = Vec::new();
    raw.by_ref().take(4).read_to_end(&mut head)?;
    let chained: Chain<Cursor<Vec<u8>>, Box<dyn Read>> = Cursor::new(head.clone()).chain(raw);
    Ok((head, Box::new(chained)))
}

/// Reads an explicit system from a file, or from the standard input for `-`.
///
/// # Errors
/// The file cannot be read or is not a transition system.
pub fn read_file(path: &Path) -> Result<Lts, LtsError> {
    let format = Format::of(path)?;
    let mut input = open(path)?;
    match format {
        Format::Aut => read_aut(&mut input.bytes, &input.name, input.size),
        Format::Binary => read_binary(&mut input.bytes, &input.name),
        Format::Dot => Err(LtsError::input(format!("`{}`: pictures cannot be read back", path.display()))),
    }
}

/// Writes an explicit system to a file, or to the standard output for `-`.
///
/// # Errors
/// The format is not known or the file cannot be written.
pub fn write_file(lts: &Lts, path: &Path) -> Result<(), LtsError> {
    Format::of(path)?;
    if path == Path::new("-") {
        return write_as(lts, path, &mut io::stdout().lock());
    }
    let file = File::create(path).map_err(|e| LtsError::io(path, e))?;
    write_as(lts, path, &mut BufWriter::new(file))
}

/// Writes an explicit system somewhere, in the format and compression that a file name asks for.
///
/// # Errors
/// The format is not known, or what the writer says.
pub fn write_as(lts: &Lts, path: &Path, out: &mut dyn Write) -> Result<(), LtsError> {
    let format = Format::of(path)?;
    let body = |out: &mut dyn Write| match format {
        Format::Aut => write_aut(lts, out),
        Format::Binary => write_binary(lts, out),
        Format::Dot => write_dot(lts, out),
    };
    let failed = |e| LtsError::io(path, e);
    match unpacked_name(path).1 {
        Packing::Plain => body(out).map_err(failed),
        Packing::Gzip => {
            let mut packed = flate2::write::GzEncoder::new(out, flate2::Compression::fast());
            body(&mut packed).and_then(|()| packed.finish().map(drop)).map_err(failed)
        }
        Packing::Zstd => {
            // The encoder pulls its input, so the text is made first.
            let mut text = Vec::new();
            body(&mut text).map_err(failed)?;
            let level = ruzstd::encoding::CompressionLevel::Fastest;
            out.write_all(&ruzstd::encoding::compress_to_vec(&text[..], level)).map_err(failed)
        }
    }
}
