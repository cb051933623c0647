// A cluster as a graph and as a matrix.

const GRAPH_MAX = 60;
const MATRIX_MAX = 40;

// The best pair of two documents, if there is one at or above the threshold.
function pairBetween(one, two, threshold) {
  const [from, to] = pairsOf[one].length < pairsOf[two].length ? [one, two] : [two, one];
  return pairsOf[from].find((pair) => otherOf(pair, from) === to && pairs.scores[pair] >= threshold);
}

// A table of items against each other; `pairOf` gives the pair of two of them.
function matrix(items, pairOf) {
  const heads = items.map((item, index) => h("th", { scope: "col", title: item.name }, index + 1));
  const rows = items.map((one, index) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("a", { href: one.href }, h("span", { class: "no" }, index + 1), h("bdi", {}, one.name))),
      items.map((two) => {
        if (one === two) return h("td", { class: "self" });
        const pair = pairOf(one, two);
        if (pair === undefined) return h("td", {});
        const score = pairs.scores[pair];
        const share = report.threshold < 1 ? (score - report.threshold) / (1 - report.threshold) : 1;
        const label = `${one.name} and ${two.name}: ${short(score)}`;
        return h(
          "td",
          { style: `--share:${Math.round(12 + 46 * share)}%` },
          h("a", { href: link({ pair }), title: label, "aria-label": label }, Math.floor(score * 100 + 1e-9)),
        );
      }),
    ),
  );
  return h(
    "div",
    { class: "matrix", tabindex: "0", role: "region", "aria-label": "Matrix of scores, in hundredths" },
    h("table", {}, h("thead", {}, h("tr", {}, h("td", {}), heads)), h("tbody", {}, rows)),
  );
}

function graph(members, keeper, threshold) {
  const drawn = members.slice(0, GRAPH_MAX);
  const size = 460;
  const middle = size / 2;
  const isStar = report.cluster === "star";
  const ring = isStar ? drawn.filter((doc) => doc !== keeper) : drawn;
  const places = new Map();
  ring.forEach((doc, index) => {
    const angle = (2 * Math.PI * index) / ring.length - Math.PI / 2;
    places.set(doc, [middle + Math.cos(angle) * 185, middle + Math.sin(angle) * 185]);
  });
  if (isStar) places.set(keeper, [middle, middle]);
  const edges = [];
  for (const [index, one] of drawn.entries()) {
    const near = new Map(pairsOf[one].map((pair) => [otherOf(pair, one), pair]));
    for (const two of drawn.slice(index + 1)) {
      const pair = near.get(two);
      if (pair === undefined || pairs.scores[pair] < threshold) continue;
      const [[x1, y1], [x2, y2]] = [places.get(one), places.get(two)];
      const score = pairs.scores[pair];
      const share = report.threshold < 1 ? (score - report.threshold) / (1 - report.threshold) : 1;
      const label = `${docs.ids[one]} and ${docs.ids[two]}: ${short(score)}`;
      edges.push(
        svg(
          "a",
          { href: link({ pair }), "aria-label": label, tabindex: drawn.length > 12 ? "-1" : "0" },
          svg("title", {}, label),
          svg("line", { x1, y1, x2, y2, class: "grip" }),
          svg("line", { x1, y1, x2, y2, class: "edge", "stroke-width": 1 + 4 * share, "stroke-opacity": 0.25 + 0.6 * share }),
        ),
      );
    }
  }
  const nodes = drawn.map((doc) => {
    const [x, y] = places.get(doc);
    const label = docs.ids[doc];
    return svg(
      "a",
      { href: link({ view: "document", doc }), "aria-label": label, class: doc === keeper ? "node keeper" : "node" },
      svg("title", {}, label),
      svg("circle", { cx: x, cy: y, r: doc === keeper ? 17 : 14 }),
      svg("text", { x, y: y + 4.5, "text-anchor": "middle" }, members.indexOf(doc) + 1),
    );
  });
  return h(
    "figure",
    { class: "graph" },
    svg("svg", { viewBox: `0 0 ${size} ${size}`, role: "group", "aria-label": "Graph of the cluster" }, edges, nodes),
    members.length > GRAPH_MAX && h("figcaption", {}, `The first ${GRAPH_MAX} of ${number(members.length)} documents are drawn.`),
  );
}

function clusterView(state) {
  const cluster = clustersOf(state).find(({ keeper, members }) => keeper === state.cluster || members.some(({ doc }) => doc === state.cluster));
  if (!cluster) {
    return {
      element: h("section", {}, h("h1", {}, "Cluster"), h("p", { class: "note" }, "There is no such cluster at this threshold. ", h("a", { href: link({ view: "clusters" }) }, "All clusters"))),
      status: "",
      lines: () => [],
    };
  }
  const { keeper, members } = cluster;
  const all = [keeper, ...members.map(({ doc }) => doc)];
  const inside = new Set(all);
  const found = sorted(
    [...new Set(all.flatMap((doc) => pairsOf[doc]))].filter(
      (pair) => pairs.scores[pair] >= state.t && inside.has(pairs.left[pair]) && inside.has(pairs.right[pair]),
    ).sort((one, two) => one - two),
    PAIR_KEYS,
    state.sort,
  );
  const list = pairList(state, found, "Pairs of the cluster");
  const items = all.slice(0, MATRIX_MAX).map((doc) => ({ doc, name: docs.ids[doc], href: link({ view: "document", doc }) }));
  return {
    element: h(
      "section",
      {},
      h("p", { class: "crumb" }, h("a", { href: link({ view: "clusters" }) }, "Clusters")),
      h("h1", {}, `Cluster of ${number(all.length)} documents`),
      h("p", { class: "note" }, report.cluster === "star" ? "1 stands for all: each of the others is similar to it." : "Each is similar to another one of them."),
      h(
        "div",
        { class: "two" },
        graph(all, keeper, state.t),
        h("div", {}, matrix(items, (one, two) => pairBetween(one.doc, two.doc, state.t)), all.length > MATRIX_MAX && h("p", { class: "note" }, `The first ${MATRIX_MAX} documents.`)),
      ),
      h("h2", {}, plural(found.length, "pair", "pairs")),
      list.element,
    ),
    list,
    status: plural(all.length, "document", "documents"),
    lines: () => pairLines(found),
  };
}

