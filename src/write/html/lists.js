// The overview, and the lists of pairs, clusters, documents and groups. A view gives its element,
// the list in it that scrolls, and what an export holds.

const containments = (pair) =>
  [pairs.left[pair], pairs.right[pair]].map((doc) => pairs.shared[pair] / Math.max(1, docs.shingles[doc]));

const matchesDoc = (doc, query) => lowerIds[doc].includes(query) || groupName(doc).toLowerCase().includes(query);

// The pairs at or above the threshold that the filter lets through.
function shownPairs(state) {
  const query = state.q.toLowerCase();
  const found = [];
  for (let pair = 0; pair < pairCount; pair++) {
    if (pairs.scores[pair] < state.t) break;
    const [left, right] = [pairs.left[pair], pairs.right[pair]];
    if (query && !matchesDoc(left, query) && !matchesDoc(right, query)) continue;
    if (state.doc !== null && left !== state.doc && right !== state.doc) continue;
    if (state.ga !== null) {
      const groups = [docs.groups[left], docs.groups[right]];
      const isAsked =
        state.gb === null
          ? groups.includes(state.ga)
          : (groups[0] === state.ga && groups[1] === state.gb) || (groups[0] === state.gb && groups[1] === state.ga);
      if (!isAsked) continue;
    }
    found.push(pair);
  }
  return found;
}

// By a key of numbers or texts; equal ones stay in their order.
function sorted(items, keys, sort) {
  const key = keys[sort.key];
  if (!key) return items;
  const ranked = items.map((item) => [key(item), item]);
  const order = (one, two) => (one < two ? -1 : one > two ? 1 : 0);
  ranked.sort((one, two) => (sort.down ? order(two[0], one[0]) : order(one[0], two[0])));
  return ranked.map(([, item]) => item);
}

const PAIR_KEYS = {
  score: (pair) => pairs.scores[pair],
  left: (pair) => docs.ids[pairs.left[pair]],
  right: (pair) => docs.ids[pairs.right[pair]],
  covered: (pair) => pairs.covered[pair],
  longest: (pair) => pairs.longest[pair],
};

function pairList(state, found, label) {
  const columns = [
    { name: "Score", kind: "score", key: "score" },
    { name: "Document", kind: "wide", key: "left" },
    { name: "Similar to", kind: "wide", key: "right" },
  ];
  if (hasTexts) {
    columns.push({ name: `Shared ${report.unit}`, kind: "number", key: "covered" });
    columns.push({ name: "Longest passage", kind: "number", key: "longest" });
  }
  // In an order of their own they cannot be sorted.
  if (!state.sort) for (const column of columns) delete column.key;
  return new RowList({
    label,
    columns,
    count: found.length,
    sort: state.sort,
    onsort: resort,
    row: (index) => {
      const pair = found[index];
      const [left, right] = [pairs.left[pair], pairs.right[pair]];
      return row(
        link({ pair }),
        `${short(pairs.scores[pair])}: ${docs.ids[left]} and ${docs.ids[right]}`,
        ["score", scoreBar(pairs.scores[pair])],
        cell("wide", idLabel(left)),
        cell("wide", idLabel(right)),
        hasTexts && cell("number", number(pairs.covered[pair])),
        hasTexts && cell("number", number(pairs.longest[pair])),
      );
    },
  });
}

const pairLines = (found) => [
  ["url1", "url2", "score", ...(isExact ? ["in1", "in2", "shared"] : []), ...(hasTexts ? ["passage_tokens", "longest"] : [])],
  ...found.map((pair) => [
    docs.ids[pairs.left[pair]],
    docs.ids[pairs.right[pair]],
    pairs.scores[pair],
    ...(isExact ? [...containments(pair), pairs.shared[pair]] : []),
    ...(hasTexts ? [pairs.covered[pair], pairs.longest[pair]] : []),
  ]),
];

// What is not in the page, in words.
function leftOut() {
  const lines = [];
  if (report.pair_count > pairCount) {
    lines.push(
      `${number(report.pair_count - pairCount)} of ${number(report.pair_count)} pairs are left out: ` +
        `the page has the best ${number(pairCount)}, down to a score of ${short(pairs.scores[pairCount - 1])}. ` +
        "Lists and clusters are made of these, totals and the histogram of all. --max-pairs puts more into the page.",
    );
  }
  if (report.few_shared) {
    lines.push(`${plural(report.few_shared, "pair is", "pairs are")} left out because fewer than ${number(report.settings.min_shared)} shingles are shared (--min-shared).`);
  }
  if (report.texts_left_out) lines.push(`${plural(report.texts_left_out, "text is", "texts are")} left out to keep the page small.`);
  if (report.texts_cut) lines.push(`${plural(report.texts_cut, "text is", "texts are")} cut after the first megabyte.`);
  if (!hasTexts && pairCount) lines.push("Texts are left out.");
  return lines;
}

const leftOutNote = () => {
  const lines = leftOut();
  return lines.length ? h("p", { class: "note left-out" }, lines.join(" ")) : null;
};

function pairsView(state) {
  const found = sorted(shownPairs(state), PAIR_KEYS, state.sort);
  const between = [state.ga, state.gb].filter((group) => group !== null).map((group) => report.groups.names[group]);
  const list = pairList(state, found, "Pairs");
  return {
    element: h(
      "section",
      {},
      h("h1", {}, "Pairs"),
      between.length > 0 && h("p", { class: "note" }, "Of ", h("bdi", {}, between.join(" and ")), ". ", h("a", { href: link({ view: "pairs", ga: null, gb: null }) }, "All groups")),
      leftOutNote(),
      list.element,
    ),
    list,
    status: plural(found.length, "pair", "pairs"),
    lines: () => pairLines(found),
  };
}

const CLUSTER_KEYS = {
  size: (cluster) => cluster.members.length,
  keeper: (cluster) => docs.ids[cluster.keeper],
  lowest: (cluster) => cluster.lowest ?? -1,
};

function shownClusters(state) {
  const query = state.q.toLowerCase();
  const isShown = (cluster) =>
    matchesDoc(cluster.keeper, query) || cluster.members.some(({ doc }) => matchesDoc(doc, query));
  return query ? clustersOf(state).filter(isShown) : clustersOf(state);
}

function clustersView(state) {
  const found = sorted(shownClusters(state), CLUSTER_KEYS, state.sort);
  const list = new RowList({
    label: "Clusters",
    columns: [
      { name: "Documents", kind: "number first", key: "size" },
      { name: report.cluster === "star" ? "Keeper" : "First document", kind: "wide", key: "keeper" },
      { name: "Members", kind: "wide" },
      { name: "Lowest score", kind: "score", key: "lowest" },
    ],
    count: found.length,
    sort: state.sort,
    onsort: resort,
    row: (index) => {
      const { keeper, members, lowest } = found[index];
      return row(
        link({ cluster: keeper }),
        `${number(members.length + 1)} documents: cluster of ${docs.ids[keeper]}`,
        ["number first", number(members.length + 1)],
        cell("wide", idLabel(keeper)),
        cell("wide", idLabel(members[0].doc), members.length > 1 && h("span", { class: "more" }, ` +${members.length - 1}`)),
        cell("score", scoreBar(lowest)),
      );
    },
  });
  return {
    element: h("section", {}, h("h1", {}, "Clusters"), leftOutNote(), list.element),
    list,
    status: plural(found.length, "cluster", "clusters"),
    lines: () => [
      ["cluster", "keeper", "url", "score"],
      ...found.flatMap(({ keeper, members }, index) => [
        [index + 1, docs.ids[keeper], docs.ids[keeper], ""],
        ...members.map(({ doc, score }) => [index + 1, docs.ids[keeper], docs.ids[doc], score]),
      ]),
    ],
  };
}

const DOCUMENT_KEYS = {
  score: ({ best }) => pairs.scores[best],
  id: ({ doc }) => docs.ids[doc],
  closest: ({ doc, best }) => docs.ids[otherOf(best, doc)],
  count: ({ count }) => count,
};

function documentsView(state) {
  const query = state.q.toLowerCase();
  const all = [];
  for (let doc = 0; doc < docCount; doc++) {
    const similar = pairsOf[doc].filter((pair) => pairs.scores[pair] >= state.t);
    if (similar.length && (!query || matchesDoc(doc, query))) all.push({ doc, best: similar[0], count: similar.length });
  }
  const found = sorted(all, DOCUMENT_KEYS, state.sort);
  const list = new RowList({
    label: "Documents",
    columns: [
      { name: "Score", kind: "score", key: "score" },
      { name: "Document", kind: "wide", key: "id" },
      { name: "Closest", kind: "wide", key: "closest" },
      { name: "Similar to", kind: "number", key: "count" },
    ],
    count: found.length,
    sort: state.sort,
    onsort: resort,
    row: (index) => {
      const { doc, best, count } = found[index];
      return row(
        link({ view: "document", doc }),
        `${short(pairs.scores[best])}: ${docs.ids[doc]}`,
        ["score", scoreBar(pairs.scores[best])],
        cell("wide", idLabel(doc)),
        cell("wide", idLabel(otherOf(best, doc))),
        cell("number", number(count)),
      );
    },
  });
  const alone = report.counts.documents + report.counts.against - report.paired_count;
  return {
    element: h(
      "section",
      {},
      h("h1", {}, "Documents and their closest"),
      h("p", { class: "note" }, `${plural(alone, "document is", "documents are")} in none of these pairs.`),
      leftOutNote(),
      list.element,
    ),
    list,
    status: plural(found.length, "document", "documents"),
    lines: () => [
      ["url", "closest", "score", "similar"],
      ...found.map(({ doc, best, count }) => [docs.ids[doc], docs.ids[otherOf(best, doc)], pairs.scores[best], count]),
    ],
  };
}

function documentView(state) {
  const { doc } = state;
  const found = sorted(shownPairs(state), PAIR_KEYS, state.sort);
  const list = pairList(state, found, "Pairs of the document");
  const facts = [
    groupName(doc) && `group ${groupName(doc)}`,
    isExact && plural(docs.shingles[doc], "shingle", "shingles"),
    docs.tokens[doc] > 0 && `${number(docs.tokens[doc])} ${report.unit}`,
  ].filter(Boolean);
  return {
    element: h(
      "section",
      {},
      h("p", { class: "crumb" }, h("a", { href: link({ view: "documents" }) }, "Documents")),
      h("h1", { class: "long" }, h("bdi", {}, docs.ids[doc])),
      h("p", { class: "note" }, facts.join(" · ")),
      list.element,
    ),
    list,
    status: plural(found.length, "similar document", "similar documents"),
    lines: () => pairLines(found),
  };
}

// Pairs of groups, each with its best pair and how many there are.
function groupPairs(state) {
  const found = new Map();
  for (const pair of shownPairs(state)) {
    const ends = [docs.groups[pairs.left[pair]], docs.groups[pairs.right[pair]]];
    if (ends.includes(-1)) continue;
    const [one, two] = ends.sort((a, b) => a - b);
    const key = one * report.groups.names.length + two;
    if (!found.has(key)) found.set(key, { one, two, best: pair, count: 0 });
    found.get(key).count++;
  }
  return [...found.values()];
}

const GROUP_KEYS = {
  score: ({ best }) => pairs.scores[best],
  one: ({ one }) => report.groups.names[one],
  two: ({ two }) => report.groups.names[two],
  count: ({ count }) => count,
};

function groupsView(state) {
  const all = groupPairs(state);
  const found = sorted(all, GROUP_KEYS, state.sort);
  const name = (group) => h("bdi", { class: "id" }, h("span", { class: "head" }, report.groups.names[group]));
  const list = new RowList({
    label: "Pairs of groups",
    columns: [
      { name: "Best score", kind: "score", key: "score" },
      { name: "Group", kind: "wide", key: "one" },
      { name: "Similar to", kind: "wide", key: "two" },
      { name: "Pairs", kind: "number", key: "count" },
    ],
    count: found.length,
    sort: state.sort,
    onsort: resort,
    row: (index) => {
      const { one, two, best, count } = found[index];
      const target = count === 1 ? { pair: best } : { view: "pairs", ga: one, gb: two };
      return row(
        link(target),
        `${short(pairs.scores[best])}: ${report.groups.names[one]} and ${report.groups.names[two]}`,
        ["score", scoreBar(pairs.scores[best])],
        cell("wide", name(one)),
        cell("wide", name(two)),
        cell("number", number(count)),
      );
    },
  });
  const met = [...new Set(all.flatMap(({ one, two }) => [one, two]))].sort((a, b) => a - b);
  const scores = new Map(all.map(({ one, two, best }) => [`${one} ${two}`, best]));
  const grid = matrix(
    met.slice(0, MATRIX_MAX).map((group) => ({
      name: report.groups.names[group],
      href: link({ view: "pairs", ga: group, gb: null }),
      key: group,
    })),
    (one, two) => scores.get(one.key < two.key ? `${one.key} ${two.key}` : `${two.key} ${one.key}`),
  );
  return {
    element: h(
      "section",
      {},
      h("h1", {}, "Groups"),
      h(
        "p",
        { class: "note" },
        `${plural(report.groups.names.length, "group", "groups")} by ${report.groups.by}; ${number(met.length)} of them have a pair with another. ` +
          "Documents of one group are not compared with each other.",
      ),
      leftOutNote(),
      met.length > 1 && grid,
      list.element,
    ),
    list,
    status: plural(found.length, "pair of groups", "pairs of groups"),
    lines: () => [
      ["group1", "group2", "score", "pairs"],
      ...found.map(({ one, two, best, count }) => [report.groups.names[one], report.groups.names[two], pairs.scores[best], count]),
    ],
  };
}

// Pairs by their scores, those below the threshold of the page pale.
function histogram(state) {
  const first = Math.min(99, Math.floor(report.threshold * 100));
  const bins = report.histogram.slice(first);
  const most = Math.max(1, ...bins);
  const width = Math.max(280, Math.min(1400, document.documentElement.clientWidth - 120));
  const [height, foot] = [150, 22];
  const step = width / bins.length;
  const bars = bins.map((count, index) => {
    const score = (first + index) / 100;
    const tall = count ? Math.max(2, (Math.sqrt(count) / Math.sqrt(most)) * height) : 0;
    const range = score === 1 ? "1" : `${score.toFixed(2)} to ${(score + 0.01).toFixed(2)}`;
    return svg(
      "rect",
      {
        class: score + 0.005 < state.t ? "below" : "above",
        x: index * step + step * 0.1,
        y: height - tall,
        width: step * 0.8,
        height: tall,
        rx: Math.min(2, step * 0.2),
      },
      svg("title", {}, `${range}: ${plural(count, "pair", "pairs")}`),
    );
  });
  const marks = [];
  const every = bins.length > 50 ? 10 : bins.length > 15 ? 5 : 1;
  for (let index = 0; index < bins.length; index++) {
    if ((first + index) % every) continue;
    const anchor = index === 0 ? "start" : index === bins.length - 1 ? "end" : "middle";
    const x = anchor === "start" ? 0 : anchor === "end" ? width : (index + 0.5) * step;
    marks.push(svg("text", { x, y: height + 16, "text-anchor": anchor }, ((first + index) / 100).toFixed(2)));
  }
  const label = `Histogram of ${plural(report.pair_count, "score", "scores")} from ${report.threshold} to 1, root scale`;
  return h(
    "figure",
    { class: "chart" },
    h("figcaption", {}, "Scores of all pairs", h("span", { class: "hint" }, "height by square root")),
    svg(
      "svg",
      { viewBox: `0 0 ${width} ${height + foot}`, role: "img", "aria-label": label },
      svg("line", { x1: 0, x2: width, y1: height, y2: height, class: "axis" }),
      bars,
      marks,
    ),
  );
}

function overviewView(state) {
  const found = shownPairs(state);
  const { counts } = report;
  const flags = Object.entries(report.settings).filter(([, value]) => value !== null && value !== false);
  const flagText = (value) => (Array.isArray(value) ? value.join(", ") : String(value));
  const notes = [...leftOut(), ...report.warnings];
  const totals = totalsAt(state, found);
  const best = found.slice(0, 8);
  const top = pairList({ ...state, sort: null }, best, "Best pairs");
  return {
    element: h(
      "section",
      { class: "overview" },
      h("h1", {}, "Similar documents"),
      h(
        "p",
        { class: "note" },
        report.anonymous ? "Names are replaced by numbers. " : "",
        `${report.score === "minhash" ? "Estimated Jaccard" : report.score === "jaccard" ? "Exact Jaccard" : "Exact containment"} scores of at least ${report.threshold}.`,
      ),
      h(
        "div",
        { class: "figures" },
        figure(number(counts.documents), "documents read"),
        figure(number(totals.pairs), "pairs", link({ view: "pairs" })),
        figure(number(totals.clusters), "clusters", link({ view: "clusters" })),
        figure(number(totals.documents), "documents in a pair", link({ view: "documents" })),
        report.groups && figure(number(report.groups.names.length), "groups", link({ view: "groups" })),
        totals.copies > 0 && figure(number(totals.copies), "exact copies"),
      ),
      notes.length > 0 &&
        h("div", { class: "warnings", role: "note" }, h("h2", {}, "Worth knowing"), h("ul", {}, notes.map((note) => h("li", {}, note)))),
      report.pair_count > 0 && histogram(state),
      best.length > 0 && h("h2", {}, "Best pairs"),
      best.length > 0 && top.element,
      h("h2", {}, "What was read, and how"),
      h(
        "dl",
        { class: "facts" },
        report.inputs.length > 0 && [
          h("dt", {}, "inputs"),
          h("dd", {}, h("bdi", {}, report.inputs.join(", ")), report.input_count > report.inputs.length && ` and ${number(report.input_count - report.inputs.length)} more`),
        ],
        h("dt", {}, "bytes"),
        h("dd", {}, number(counts.input_bytes)),
        h("dt", {}, "passages"),
        h("dd", {}, `at least ${report.min_tokens} ${report.unit}`),
        h("dt", {}, "clusters"),
        h("dd", {}, report.cluster),
        flags.map(([name, value]) => [h("dt", {}, name.replaceAll("_", " ")), h("dd", {}, flagText(value))]),
        h("dt", {}, "written by"),
        h("dd", {}, `simdup ${report.simdup}`),
      ),
    ),
    list: top,
    status: plural(totals.pairs, "pair", "pairs"),
    lines: () => pairLines(found),
  };
}

// What is found at the threshold: counted in the page, or as it was counted before pairs were left
// out. A copy is a document that has the same shingles as one before it.
function totalsAt(state, found) {
  const copies = new Set();
  for (const pair of found) {
    const [left, right] = [pairs.left[pair], pairs.right[pair]];
    const isSame = isExact ? pairs.shared[pair] === docs.shingles[left] && pairs.shared[pair] === docs.shingles[right] : pairs.scores[pair] === 1;
    if (isSame) copies.add(right);
  }
  if (!state.q && isCut(state.t)) {
    return { pairs: report.pair_count, clusters: report.cluster_count, documents: report.paired_count, copies: copies.size };
  }
  const met = new Set(found.flatMap((pair) => [pairs.left[pair], pairs.right[pair]]));
  return { pairs: found.length, clusters: shownClusters(state).length, documents: met.size, copies: copies.size };
}

