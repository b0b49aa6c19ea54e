//! The public methods of every kind of filter that is stored as blocks.

/// Gives a kind its methods. It implements [`Stored`](super::Stored) for the owned form, and has, for any storage `S`:
///
/// - `file_header(&self) -> Result<Header, FormatError>`,
/// - `bodies(&self) -> impl Iterator<Item = &S>`: the sections' blocks, in order,
/// - `from_file(recipe, hasher, bodies: Vec<S>) -> Result<Self, FormatError>`.
macro_rules! file_methods {
    ($owned:ty, $any:ty, $view:ty, $mapped:ty $(,)?) => {
        impl<S: crate::bits::Blocks> $any {
            /// The filter as the bytes of a file.
            ///
            /// # Errors
            /// When the memory can't be had.
            pub fn to_bytes(&self) -> Result<alloc::vec::Vec<u8>, crate::codec::FormatError> {
                crate::file::to_vec(&self.file_header()?, self.bodies())
            }

            /// Writes the filter, as the bytes of a file, to a stream.
            ///
            /// # Errors
            /// When writing fails.
            #[cfg(feature = "std")]
            pub fn write_to(&self, stream: impl std::io::Write) -> Result<(), crate::Error> {
                crate::file::write(stream, &self.file_header()?, self.bodies())
            }

            /// Saves the filter: beside the target first, synced, then renamed, so that there is the old file or the
            /// new one and never half of one.
            ///
            /// # Errors
            /// When writing fails, or there is such a file already and it is not to be replaced.
            #[cfg(feature = "std")]
            pub fn save(
                &self,
                path: impl AsRef<std::path::Path>,
                existing: crate::codec::Existing,
            ) -> Result<(), crate::Error> {
                crate::file::save(path.as_ref(), existing, &self.file_header()?, self.bodies())
            }
        }

        impl $owned {
            /// The filter in the bytes of a file. Every field and every checksum is checked.
            ///
            /// # Errors
            /// When the bytes are damaged, or not such a filter, or need a secret key.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, crate::Error> {
                Self::from_bytes_with(bytes, &crate::file::ReadOptions::new())
            }

            /// [`from_bytes`](Self::from_bytes), with a secret key, hash function or limit.
            ///
            /// # Errors
            /// When the bytes are damaged, or not such a filter, or the key is another.
            pub fn from_bytes_with(
                bytes: &[u8],
                options: &crate::file::ReadOptions,
            ) -> Result<Self, crate::Error> {
                let (recipe, hasher, bodies) = crate::file::parse::<Self>(bytes, options)?;
                let mut filter = Self::from_file(recipe, hasher, bodies)?;
                crate::file::Stored::after_reading(&mut filter)?;
                Ok(filter)
            }

            /// Reads a filter from a stream, which must end with it. Nothing is allocated before the header has been
            /// checked against the limit in `options`.
            ///
            /// # Errors
            /// When reading fails, or the bytes are damaged or not such a filter.
            #[cfg(feature = "std")]
            pub fn read_from(
                stream: impl std::io::Read,
                options: &crate::file::ReadOptions,
            ) -> Result<Self, crate::Error> {
                Self::read_rest(crate::codec::Reader::new(stream, options.limit())?, options)
            }

            /// Reads what follows a header.
            #[cfg(feature = "std")]
            pub(crate) fn read_rest(
                reader: crate::codec::Reader<impl std::io::Read>,
                options: &crate::file::ReadOptions,
            ) -> Result<Self, crate::Error> {
                let (recipe, hasher, bodies) = crate::file::read_bodies::<Self>(reader, options)?;
                let mut filter = Self::from_file(recipe, hasher, bodies)?;
                crate::file::Stored::after_reading(&mut filter)?;
                Ok(filter)
            }

            /// Reads a file into memory. Every checksum is checked.
            ///
            /// # Errors
            /// When reading fails, or the file is damaged, not such a filter, or needs a secret key.
            #[cfg(feature = "std")]
            pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self, crate::Error> {
                Self::open_with(path, &crate::file::ReadOptions::new())
            }

            /// [`open`](Self::open), with a secret key, hash function or limit.
            ///
            /// # Errors
            /// As [`open`](Self::open), or when the key is another.
            #[cfg(feature = "std")]
            pub fn open_with(
                path: impl AsRef<std::path::Path>,
                options: &crate::file::ReadOptions,
            ) -> Result<Self, crate::Error> {
                let path = path.as_ref();
                let reader = crate::codec::Reader::open(path, options.limit())?;
                Self::read_rest(reader, options).map_err(|error| error.at(path, "reading"))
            }
        }

        #[cfg(feature = "std")]
        impl $mapped {
            /// Maps a file: questions are answered from it without reading it first, and several processes share one
            /// copy in memory. The header is checked; the checksums of the body are not, because that would read it
            /// ([`codec::verify`](crate::codec::verify) does).
            ///
            /// # Errors
            /// When mapping fails, or the header is damaged, not of such a filter, or names a secret key.
            pub fn map(path: impl AsRef<std::path::Path>) -> Result<Self, crate::Error> {
                Self::map_with(path, &crate::file::ReadOptions::new())
            }

            /// [`map`](Self::map), with a secret key, hash function or limit.
            ///
            /// # Errors
            /// As [`map`](Self::map), or when the key is another.
            pub fn map_with(
                path: impl AsRef<std::path::Path>,
                options: &crate::file::ReadOptions,
            ) -> Result<Self, crate::Error> {
                let path = path.as_ref();
                let reader = crate::file::open_to_map(path, options)?;
                Self::map_rest(reader, options).map_err(|error| error.at(path, "mapping"))
            }

            /// Maps what follows a header.
            pub(crate) fn map_rest(
                reader: crate::codec::Reader<std::fs::File>,
                options: &crate::file::ReadOptions,
            ) -> Result<Self, crate::Error> {
                let (recipe, hasher, bodies) = crate::file::map_bodies::<$owned>(&reader, options)?;
                Ok(Self::from_file(recipe, hasher, bodies)?)
            }
        }

        impl<'a> $view {
            /// Borrows a filter from the bytes of a file, in place. The bytes must be aligned to 64, the machine
            /// little-endian; the checksums of the body are not looked at.
            ///
            /// # Errors
            /// When the bytes are not such a filter, or not aligned.
            pub fn from_aligned_bytes(
                bytes: &'a [u8],
                options: &crate::file::ReadOptions,
            ) -> Result<Self, crate::Error> {
                let (recipe, hasher, bodies) = crate::file::view::<$owned>(bytes, options)?;
                Ok(Self::from_file(recipe, hasher, bodies)?)
            }
        }
    };
}
pub(crate) use file_methods;
