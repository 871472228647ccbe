//! Files by their names: which format, which compression, `-` for the standard streams.
//!
//! Compression is recognised when reading by the first bytes (so that a renamed file still opens) and chosen when
//! writing by the extension: `.gz` or `.zst` after the format's own.

use std::fs::File;
use std::io::{self, BufWriter, Chain, Cursor, Read, Write};
use std::path::Path;

use crate::{Lts, LtsError, read_aut, write_aut};

/// The formats of explicit systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `.aut`, the text format of CADP, mCRL2 and MERC.
    Aut,
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
            Some(other) => Err(LtsError::input(format!(
                "`{}`: `.{other}` is not a format of transition systems; known is aut (also .gz, .zst)",
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
    }
}

/// Writes an explicit system to a file, or to the standard output for `-`.
///
/// # Errors
/// The format is not known or the file cannot be written.
pub fn write_file(lts: &Lts, path: &Path) -> Result<(), LtsError> {
    let format = Format::of(path)?;
    write_packed(path, &mut |out| match format {
        Format::Aut => write_aut(lts, out),
    })
}

/// Writes through the compression that the name asks for.
///
/// # Errors
/// The file cannot be written.
pub fn write_packed(
    path: &Path,
    body: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<(), LtsError> {
    let failed = |e| LtsError::io(path, e);
    if path == Path::new("-") {
        return body(&mut io::stdout().lock()).map_err(failed);
    }
    let file = File::create(path).map_err(failed)?;
    match unpacked_name(path).1 {
        Packing::Plain => body(&mut BufWriter::new(file)).map_err(failed),
        Packing::Gzip => {
            let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
            body(&mut out).and_then(|()| out.finish().map(drop)).map_err(failed)
        }
        Packing::Zstd => {
            // The encoder pulls its input, so the text is made first.
            let mut text = Vec::new();
            body(&mut text).map_err(failed)?;
            let level = ruzstd::encoding::CompressionLevel::Fastest;
            ruzstd::encoding::compress(&text[..], BufWriter::new(file), level);
            Ok(())
        }
    }
}
