//! The pages of a column, unpacked here and not by the crate: that would make as much room as a
//! page says it needs, or as much as it unpacks to. Here a page has a limit, whatever it says.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use super::shared::Shared;
use crate::error::ErrorKind;
use crate::read::open::compression::{gzip, zstd};

/// The largest page that is read, packed or not; for lists, all pages of one row. Writers make
/// pages of a megabyte, unless a single value is larger.
pub(super) const PAGE_BYTES_MAX: usize = 256 << 20;
/// Elements of lists that a page may have: a few bytes can say that there are billions.
const ELEMENTS_MAX: u32 = 1 << 24;

/// What is known of the page that was read last.
#[derive(Debug, Default)]
pub(super) struct PageNews {
    /// Rows in it, where each has one value.
    pub(super) rows: usize,
    pub(super) bytes: usize,
    /// Values start as the one before does: they may take more together than the page.
    pub(super) is_prefixed: bool,
    /// Bytes of all pages since this was set to 0.
    pub(super) bytes_since: usize,
}

/// The news of a column's pages, for who reads their values.
#[derive(Clone, Default)]
pub(super) struct News(Arc<Mutex<PageNews>>);

impl News {
    pub(super) fn lock(&self) -> MutexGuard<'_, PageNews> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The most that pages take together: so many columns have one each, packed and not.
#[derive(Clone)]
pub(super) struct Held {
    pub(super) columns: u64,
    pub(super) bytes: Arc<AtomicU64>,
}

impl Held {
    fn add(&self, page_bytes: usize) {
        let most = page_bytes as u64 * self.columns;
        self.bytes.fetch_max(most, Ordering::Relaxed);
    }
}

/// The pages of one column of a row group.
pub(super) struct Pages {
    packed: SerializedPageReader<Shared>,
    compression: Compression,
    /// The least bytes that a value of the dictionary takes.
    value_bytes: usize,
    is_list: bool,
    unpacker: zstd::Bulk,
    news: News,
    held: Held,
}

impl Pages {
    pub(super) fn new(
        file: &Arc<Shared>,
        group: &RowGroupMetaData,
        leaf: usize,
        news: &News,
        held: &Held,
    ) -> Result<Self> {
        let column = group.column(leaf);
        let compression = column.compression();
        let rows = usize::try_from(group.num_rows())?;
        // So it hands pages on as they are.
        let unpacked = column.clone().into_builder();
        let unpacked = unpacked
            .set_compression(Compression::UNCOMPRESSED)
            .build()?;
        let descriptor = column.column_descr();
        Ok(Self {
            packed: SerializedPageReader::new(Arc::clone(file), &unpacked, rows, None)?,
            compression,
            value_bytes: match descriptor.physical_type() {
                Type::INT64 | Type::DOUBLE => 8,
                _ => 4,
            },
            is_list: descriptor.max_rep_level() > 0,
            unpacker: zstd::Bulk::default(),
            news: news.clone(),
            held: held.clone(),
        })
    }

    /// Unpacks bytes behind so many that are not packed.
    fn unpack(&mut self, bytes: Bytes, plain: usize) -> Result<Bytes> {
        let (plain, packed) = bytes
            .split_at_checked(plain)
            .ok_or_else(|| general("a page that is shorter than its levels"))?;
        if packed.is_empty() || self.compression == Compression::UNCOMPRESSED {
            return Ok(bytes);
        }
        let limit = PAGE_BYTES_MAX;
        let unpacked = match self.compression {
            Compression::SNAPPY => snappy(packed, limit),
            Compression::ZSTD(_) => self.unpacker.unpack(packed, limit),
            #[cfg(feature = "lz4")]
            Compression::LZ4_RAW => crate::read::open::compression::lz4::block(packed, limit),
            _ => {
                let packed = io::Cursor::new(bytes.slice(plain.len()..));
                let mut unpacked = Vec::new();
                let reader = gzip::reader(Box::new(packed));
                let done = reader.take(limit as u64 + 1).read_to_end(&mut unpacked);
                done.map(|_| unpacked)
            }
        }
        .map_err(|error| general(&format!("a page that cannot be unpacked: {error}")))?;
        let length = plain.len() + unpacked.len();
        if length > limit {
            return Err(too_large());
        }
        Ok(match plain {
            [] => unpacked.into(),
            plain => [plain, &unpacked].concat().into(),
        })
    }

    /// The page with its bytes unpacked, if it is what it seems.
    fn unpacked(&mut self, mut page: Page) -> Result<Page> {
        let (plain, is_packed) = match &page {
            Page::DataPageV2 {
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed,
                ..
            } => {
                let levels = def_levels_byte_len.saturating_add(*rep_levels_byte_len);
                (levels as usize, *is_compressed)
            }
            _ => (0, true),
        };
        let (Page::DataPage { buf, .. }
        | Page::DataPageV2 { buf, .. }
        | Page::DictionaryPage { buf, .. }) = &mut page;
        let packed = buf.len();
        if is_packed {
            *buf = self.unpack(std::mem::take(buf), plain)?;
        }
        self.held.add(packed + buf.len());
        let (bytes, rows) = (buf.len(), page.num_values());
        if let Page::DictionaryPage { .. } = page {
            // Room is made for all of them at once.
            if rows as usize > bytes / self.value_bytes {
                return Err(general("a dictionary that says it is larger than it is"));
            }
            return Ok(page);
        }
        let is_prefixed = page.encoding() == Encoding::DELTA_BYTE_ARRAY;
        let mut news = self.news.lock();
        news.bytes_since = news.bytes_since.saturating_add(bytes);
        if self.is_list {
            if is_prefixed {
                return Err(general(
                    "lists of strings that are written as parts of each other (DELTA_BYTE_ARRAY), \
                     which is not read; write them in another encoding",
                ));
            }
            if rows > ELEMENTS_MAX || news.bytes_since > PAGE_BYTES_MAX {
                return Err(too_large());
            }
        }
        (news.rows, news.bytes, news.is_prefixed) = (rows as usize, bytes, is_prefixed);
        Ok(page)
    }
}

/// Refuses what is not unpacked.
pub(super) fn check(compression: Compression) -> std::result::Result<(), ErrorKind> {
    let what = match compression {
        Compression::UNCOMPRESSED
        | Compression::SNAPPY
        | Compression::GZIP(_)
        | Compression::ZSTD(_) => return Ok(()),
        Compression::LZ4_RAW if cfg!(feature = "lz4") => return Ok(()),
        Compression::LZ4_RAW => {
            "Parquet compressed with lz4, which this simdup was built without (feature `lz4`)"
        }
        Compression::BROTLI(_) => "Parquet compressed with Brotli, which is not read",
        Compression::LZO => "Parquet compressed with LZO, which is not read",
        Compression::LZ4 => "Parquet compressed with Hadoop's LZ4, which is not read",
    };
    let remedy = "write the file with zstd or snappy";
    Err(ErrorKind::Foreign { what, remedy })
}

fn general(what: &str) -> ParquetError {
    ParquetError::General(what.into())
}

/// What is said of a page that takes too much.
pub(super) fn too_large() -> ParquetError {
    general(&format!(
        "a page of more than {PAGE_BYTES_MAX} bytes; write the file with smaller pages \
         (data_page_size)"
    ))
}

fn snappy(packed: &[u8], limit: usize) -> io::Result<Vec<u8>> {
    /// Three bytes stand for 64 at the most.
    const RATIO_MAX: usize = 32;
    let length = snap::raw::decompress_len(packed)?;
    if length > limit {
        return Err(io::Error::other("it is too large"));
    }
    if length / RATIO_MAX > packed.len() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut unpacked = vec![0; length];
    let length = snap::raw::Decoder::new().decompress(packed, &mut unpacked)?;
    unpacked.truncate(length);
    Ok(unpacked)
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.packed.get_next_page()?;
        page.map(|page| self.unpacked(page)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.packed.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.packed.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.packed.at_record_boundary()
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_snappy_says_of_its_size_is_not_believed() {
        let packed = snap::raw::Encoder::new().compress_vec(&[7; 5000]).unwrap();
        assert_eq!(snappy(&packed, 5000).unwrap(), [7; 5000]);
        assert!(snappy(&packed, 4999).is_err());
        // Two gigabytes in a few bytes.
        assert!(snappy(&[0xff, 0xff, 0xff, 0xff, 0x07, 0, 0], PAGE_BYTES_MAX).is_err());
        assert!(snappy(&[0xff, 0xff, 0xff, 0x7f, 0, 0], PAGE_BYTES_MAX).is_err());
        assert!(snappy(&[], 5000).is_err() || snappy(&[], 5000).unwrap().is_empty());
    }
}
