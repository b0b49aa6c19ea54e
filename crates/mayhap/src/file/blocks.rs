//! Blocks to bytes and back.

use crate::bits::{BLOCK_BYTES, BLOCK_WORDS, Block, Blocks, Line, Owned};
use crate::codec::{Sink, Writer};

/// Blocks converted at a time: small beside the second-level cache.
const PIECE: usize = 512;

/// Writes a section.
pub(crate) fn write_blocks<S: Sink>(writer: &mut Writer<S>, blocks: &impl Blocks) -> Result<(), S::Error> {
    let mut bytes = [0; PIECE * BLOCK_BYTES];
    for piece in blocks.lines().chunks(PIECE) {
        for (bytes, line) in bytes.chunks_exact_mut(BLOCK_BYTES).zip(piece) {
            for (bytes, word) in bytes.chunks_exact_mut(8).zip(line.words()) {
                bytes.copy_from_slice(&word.to_le_bytes());
            }
        }
        writer.write_body(&bytes[..piece.len() * BLOCK_BYTES])?;
    }
    Ok(())
}

/// Fills blocks from the bytes of a section, which may come in pieces of whole blocks.
pub(crate) struct BlockFiller<'a>(core::slice::IterMut<'a, Block>);

impl<'a> BlockFiller<'a> {
    pub(crate) fn new(blocks: &'a mut Owned) -> Self {
        Self(blocks.iter_mut())
    }

    pub(crate) fn fill(&mut self, bytes: &[u8]) {
        for (bytes, block) in bytes.chunks_exact(BLOCK_BYTES).zip(&mut self.0) {
            let mut words = [0; BLOCK_WORDS];
            for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
                let mut array = [0; 8];
                array.copy_from_slice(bytes);
                *word = u64::from_le_bytes(array);
            }
            block.0 = words;
        }
    }
}
