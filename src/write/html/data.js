// What was found: the head as it was written, and what follows from it. Texts and passages are
// unpacked when they are looked at.

const report = JSON.parse(document.getElementById("data").textContent);
const docs = report.documents;
const pairs = report.pairs;
const docCount = docs.ids.length;
const pairCount = pairs.left.length;
const isExact = pairs.shared.length > 0;
const hasTexts = docs.chunks.some((chunk) => chunk >= 0);

// The least threshold at which all pairs are in the page, in the hundredths of the slider.
const isWhole = report.pair_count === pairCount;
const lowestShown = isWhole || pairCount === 0 ? report.threshold : Math.max(report.threshold, Math.min(1, Math.floor(pairs.scores[pairCount - 1] * 100 + 1 + 1e-9) / 100));
// Whether pairs at or above a threshold are not in the page.
const isCut = (threshold) => threshold < lowestShown && !isWhole;

// The pairs of each document, the best first.
const pairsOf = Array.from({ length: docCount }, () => []);
for (let pair = 0; pair < pairCount; pair++) {
  pairsOf[pairs.left[pair]].push(pair);
  pairsOf[pairs.right[pair]].push(pair);
}

const lowerIds = docs.ids.map((id) => id.toLowerCase());
const groupName = (doc) => {
  const group = docs.groups.length ? docs.groups[doc] : -1;
  return group >= 0 ? report.groups.names[group] : "";
};

const otherOf = (pair, doc) => (pairs.left[pair] === doc ? pairs.right[pair] : pairs.left[pair]);

// Chunks that were looked at last.
const unpacked = new Map();
const UNPACKED_MAX = 24;

function unpack(name) {
  if (!unpacked.has(name)) {
    unpacked.set(name, inflate(document.getElementById(name).textContent));
    if (unpacked.size > UNPACKED_MAX) unpacked.delete(unpacked.keys().next().value);
  }
  return unpacked.get(name);
}

async function inflate(letters) {
  const packed = atob(letters);
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < packed.length; at++) bytes[at] = packed.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const buffer = await new Response(stream).arrayBuffer();
  return JSON.parse(new TextDecoder("utf-8", { ignoreBOM: true }).decode(buffer));
}

// Places in a text, from a list of starts and lengths.
function placesOf(flat) {
  const places = [];
  for (let at = 0; at < flat.length; at += 2) places.push({ start: flat[at], end: flat[at] + flat[at + 1] });
  return places;
}

// A text, and what of it a template has.
async function textOf(doc) {
  const chunk = docs.chunks[doc];
  if (chunk < 0) return null;
  const [text, template] = (await unpack(`t${chunk}`))[docs.places[doc]];
  return { text, template: placesOf(template) };
}

// The passages of a pair, in the order of the first text, and what inside of them only one text
// has.
async function passagesOf(pair) {
  const chunk = pairs.chunks[pair];
  if (chunk < 0) return { passages: [], own: [[], []] };
  const [flat, ...own] = (await unpack(`p${chunk}`))[pairs.places[pair]];
  const found = [];
  for (let at = 0; at < flat.length; at += 5) {
    found.push({
      tokens: flat[at],
      sides: [
        { start: flat[at + 1], end: flat[at + 1] + flat[at + 2] },
        { start: flat[at + 3], end: flat[at + 3] + flat[at + 4] },
      ],
    });
  }
  return { passages: found, own: own.map(placesOf) };
}

// Clusters of the pairs at or above a threshold, by the rules of `simdup cluster`; keepers are the
// first in input order. Each is {keeper, members, lowest}, the members with their scores to the
// keeper, null where they have no pair with it.
function clustersAt(threshold) {
  const keeperOf = report.cluster === "star" ? stars(threshold) : components(threshold);
  const clusters = new Map();
  for (let doc = 0; doc < docCount; doc++) {
    const keeper = keeperOf[doc];
    if (keeper === doc) continue;
    if (!clusters.has(keeper)) clusters.set(keeper, { keeper, members: [], lowest: 1 });
    const cluster = clusters.get(keeper);
    const pair = pairsOf[doc].find((pair) => otherOf(pair, doc) === keeper);
    const score = pair === undefined ? null : pairs.scores[pair];
    cluster.members.push({ doc, score });
    if (score === null) cluster.lowest = null;
    else if (cluster.lowest !== null) cluster.lowest = Math.min(cluster.lowest, score);
  }
  return [...clusters.values()].sort((one, two) => one.keeper - two.keeper);
}

// Documents in input order: one that is similar to a keeper before it joins the most similar, any
// other becomes a keeper.
function stars(threshold) {
  const keeperOf = new Int32Array(docCount).fill(-1);
  for (let doc = 0; doc < docCount; doc++) {
    let [best, bestScore] = [doc, -1];
    for (const pair of pairsOf[doc]) {
      const [other, score] = [otherOf(pair, doc), pairs.scores[pair]];
      if (score < threshold || score < bestScore) break;
      if (other >= doc || keeperOf[other] !== other) continue;
      if (score > bestScore || other < best) [best, bestScore] = [other, score];
    }
    keeperOf[doc] = best;
  }
  return keeperOf;
}

// Whatever is connected.
function components(threshold) {
  const parent = Int32Array.from({ length: docCount }, (_, doc) => doc);
  const find = (doc) => {
    while (parent[doc] !== doc) doc = parent[doc] = parent[parent[doc]];
    return doc;
  };
  for (let pair = 0; pair < pairCount; pair++) {
    if (pairs.scores[pair] < threshold) break;
    const [one, two] = [find(pairs.left[pair]), find(pairs.right[pair])];
    parent[Math.max(one, two)] = Math.min(one, two);
  }
  return parent.map((_, doc) => find(doc));
}

