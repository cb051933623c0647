//! Clusters of pairs that were written earlier: nothing is compared anew.

use crate::cluster::{ClusterMethod, Keep, PairCluster, ScoredPair, cluster_pairs};
use crate::collection::{Added, Urls};
use crate::document::DocumentId;
use crate::error::{Error, ErrorKind};
use crate::read::{Input, read_pairs};
use crate::score::Threshold;

/// What [`cluster_written_pairs`] found.
pub struct WrittenClusters {
    /// The ids of all documents that are in a pair.
    pub urls: Urls,
    /// How many pairs there were.
    pub pairs: usize,
    /// The clusters, by their keepers, in input order as far as the pairs tell it.
    pub clusters: Vec<PairCluster>,
}

/// Joins documents into clusters by the pairs in a file.
pub fn cluster_written_pairs(
    input: Input,
    threshold: Threshold,
    method: ClusterMethod,
    keep: &Keep,
) -> Result<WrittenClusters, Error> {
    let mut urls = Urls::default();
    let mut pairs = Vec::new();
    read_pairs(input, |left, right, score| {
        let [left, right] = [number(&mut urls, left)?, number(&mut urls, right)?];
        pairs.push(ScoredPair { left, right, score });
        Ok(())
    })?;
    let clusters = cluster_pairs(urls.len(), &pairs, threshold.as_f64(), method, keep);
    Ok(WrittenClusters {
        urls,
        pairs: pairs.len(),
        clusters,
    })
}

fn number(urls: &mut Urls, url: &str) -> Result<DocumentId, Error> {
    match urls.add(url) {
        Added::New(id) | Added::Repeated(id) => Ok(id),
        Added::Full => Err(Error::in_file(url, ErrorKind::TooManyDocuments)),
    }
}
