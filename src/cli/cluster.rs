//! `simdup cluster`: the clusters of near-duplicates.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use clap::ValueEnum;
use simdup::inside::{ClusterLine, Packed, cluster_written_pairs, write_cluster};
use simdup::settings::Keep;
use simdup::{Cluster, Input, Stats, Urls, cluster_documents};

use super::args::{ClusterArgs, Flag};
use super::observer::Terminal;
use super::report::{self, StatsOutput};
use super::{Answer, Failure, Outcome, files, summary};

pub(super) fn run(args: &ClusterArgs, typed: &[Flag]) -> Result<Outcome, Failure> {
    match &args.pairs {
        Some(path) => of_pairs(args, path, typed),
        None => of_documents(args),
    }
}

fn of_documents(args: &ClusterArgs) -> Result<Outcome, Failure> {
    let settings = args.settings()?;
    let inputs = args.similar.inputs()?;
    let (output, name) = args.output.open_to_the_end(args.exit_status)?;
    let stats = StatsOutput::open(args.output.stats.as_deref())?;
    let terminal = Terminal::new(&args.output, inputs.iter());
    let choice = &args.clusters;
    let method = choice.cluster.into();
    let mut clustered = cluster_documents(inputs, &settings, method, &choice.keep, &terminal)?;
    terminal.finish(&clustered.stats);
    if !args.output.quiet {
        warn_of_field(&choice.keep, clustered.has_values);
        warn_of_large_clusters(clustered.clusters(), &clustered.urls);
    }
    let lines = clustered.clusters().map(|cluster| ClusterLine {
        keeper: clustered.urls.get(cluster.keeper),
        members: cluster
            .members
            .iter()
            .map(|&(member, score)| (clustered.urls.get(member), Some(score.printed(args.digits))))
            .collect(),
        lowest: cluster.lowest().map(|score| score.printed(args.digits)),
    });
    let output = write_all(lines, args, output).map_err(|error| Failure::write(&name, error))?;
    let stats = stats.write(&mut clustered.stats)?;
    files::finish([(output, name)].into_iter().chain(stats))?;
    terminal.close(
        &clustered.stats,
        &summary::near_duplicates(&clustered.stats),
    );
    let answer = Answer {
        is_asked: args.exit_status,
        documents: clustered.stats.counts.documents,
        found: clustered.stats.counts.clusters,
    };
    Ok(Outcome::answering(
        &clustered.stats,
        &args.resources,
        answer,
    ))
}

fn write_all<'a>(
    lines: impl Iterator<Item = ClusterLine<'a>>,
    args: &ClusterArgs,
    output: Packed,
) -> io::Result<Packed> {
    let mut output = BufWriter::new(output);
    if args.count {
        writeln!(output, "{}", lines.count())?;
        return output.into_inner().map_err(io::IntoInnerError::into_error);
    }
    let mut is_encoded = false;
    for line in lines {
        is_encoded |= write_cluster(&line, args.format(), &mut output)?;
    }
    let output = output
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    if is_encoded && !args.output.quiet {
        report::note_encoded_ids("-f jsonl");
    }
    Ok(output)
}

/// Clusters of pairs that were written earlier.
fn of_pairs(args: &ClusterArgs, path: &Path, typed: &[Flag]) -> Result<Outcome, Failure> {
    let keep = &args.clusters.keep;
    args.check_pairs(path, typed)?;
    let (output, name) = args.output.open_to_the_end(args.exit_status)?;
    let stats = StatsOutput::open(args.output.stats.as_deref())?;
    let started = Instant::now();
    let terminal = Terminal::new(&args.output, std::iter::empty());
    let threshold = args.similar.similarity.threshold();
    let input = match path.as_os_str() == "-" {
        true => Input::from_reader("-", io::stdin()),
        false => Input::from_path(path),
    };
    let found = cluster_written_pairs(input, threshold, args.clusters.cluster.into(), keep)?;
    let (urls, clusters) = (&found.urls, &found.clusters);
    let print = |score: f64| match args.digits {
        Some(digits) => digits.of_number(score),
        None => serde_json::to_string(&score).unwrap_or_default(),
    };
    let lines = clusters.iter().map(|cluster| ClusterLine {
        keeper: urls.get(cluster.keeper),
        members: cluster
            .members
            .iter()
            .map(|&(member, score)| (urls.get(member), score.map(print)))
            .collect(),
        lowest: cluster.lowest().map(print),
    });
    let output = write_all(lines, args, output).map_err(|error| Failure::write(&name, error))?;
    let method = args.clusters.cluster.to_possible_value();
    let members: usize = clusters.iter().map(|cluster| cluster.members.len()).sum();
    let stats = stats.write_as_json(&serde_json::json!({
        "settings": {
            "pairs": path.to_string_lossy(),
            "threshold": threshold.to_string(),
            "cluster": method.as_ref().map(clap::builder::PossibleValue::get_name),
            "keep": if *keep == Keep::Last { "last" } else { "first" },
        },
        "counts": {
            "documents": urls.len(),
            "pairs": found.pairs,
            "clusters": clusters.len(),
            "members": members,
        },
        "seconds": { "all": started.elapsed().as_secs_f64() },
        "peak_memory_bytes": report::peak_memory_bytes(),
    }))?;
    files::finish([(output, name)].into_iter().chain(stats))?;
    let mut done = Stats::default();
    done.counts.documents = urls.len() as u64;
    done.counts.clusters = clusters.len() as u64;
    done.counts.members = members as u64;
    terminal.close(&done, &summary::near_duplicates(&done));
    let answer = Answer {
        is_asked: args.exit_status,
        documents: urls.len() as u64,
        found: clusters.len() as u64,
    };
    Ok(Outcome::answering(&done, &args.resources, answer))
}

/// Documents from which on a cluster is large, whatever the collection's size.
const LARGE_MIN: usize = 1000;
/// Documents up to which a cluster is small, whatever its share.
const SMALL_MAX: usize = 10;
/// Large clusters that are told of, each in a line.
const TOLD_MAX: usize = 10;

/// The field by which keepers are chosen may not be there.
pub(super) fn warn_of_field(keep: &Keep, has_values: bool) {
    if let Some(field) = keep.field()
        && !has_values
    {
        report::warning(&format!(
            "no document has a number or a text in the field `{field}`: of each cluster the first \
             was kept"
        ));
    }
}

/// Clusters that are more than a hundredth of the collection, or a thousand documents, are
/// often a frame or an error message.
pub(super) fn warn_of_large_clusters(clusters: impl Iterator<Item = Cluster>, urls: &Urls) {
    let documents = urls.len();
    let is_large = |size: usize| size > LARGE_MIN || (size > SMALL_MAX && size * 100 > documents);
    let mut large = 0;
    for cluster in clusters.filter(|cluster| is_large(cluster.size())) {
        large += 1;
        if large <= TOLD_MAX {
            report::warning(&format!(
                "a cluster of {} documents, {:.1} % of the collection, around {}",
                cluster.size(),
                cluster.size() as f64 * 100.0 / documents as f64,
                urls.get(cluster.keeper),
            ));
        }
    }
    if large > TOLD_MAX {
        let more = large - TOLD_MAX;
        report::warning(&format!("{more} more clusters as large as these"));
    }
}
