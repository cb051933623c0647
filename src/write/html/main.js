// What the address says, what is shown, and what is typed.

const $ = (id) => document.getElementById(id);
const VIEWS = {
  overview: ["Overview", overviewView],
  pairs: ["Pairs", pairsView],
  clusters: ["Clusters", clustersView],
  documents: ["Documents", documentsView],
  groups: ["Groups", groupsView],
  document: [null, documentView],
  cluster: [null, clusterView],
  pair: [null, null],
};
const DEFAULT_SORT = { pairs: "score", clusters: "size", documents: "score", groups: "score", document: "score", cluster: "score", pair: "score" };

let state = null;
let shown = null;
let clustered = null;

// The clusters at the threshold of the page, made when they are first asked for.
function clustersOf({ t }) {
  if (clustered?.t !== t) clustered = { t, clusters: clustersAt(t) };
  return clustered.clusters;
}

function whole(text, end) {
  if (text === null || !/^\d+$/.test(text)) return null;
  return Number(text) < end ? Number(text) : null;
}

function read() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const groups = report.groups ? report.groups.names.length : 0;
  const next = {
    view: asked.get("view") ?? "overview",
    pair: whole(asked.get("pair"), pairCount),
    cluster: whole(asked.get("cluster"), docCount),
    doc: whole(asked.get("doc"), docCount),
    ga: whole(asked.get("ga"), groups),
    gb: whole(asked.get("gb"), groups),
    passage: whole(asked.get("passage"), 1e9),
    q: asked.get("q") ?? "",
    t: report.threshold,
  };
  const threshold = Number(asked.get("t"));
  if (threshold > report.threshold && threshold <= 1) next.t = Math.max(threshold, lowestShown);
  if (next.pair !== null) next.view = "pair";
  else if (next.cluster !== null) next.view = "cluster";
  else if (next.doc !== null) next.view = "document";
  const isPossible = Object.hasOwn(VIEWS, next.view) && (next.view !== "groups" || report.groups);
  if (!isPossible || (next.view === "pair" && next.pair === null) || (next.view === "cluster" && next.cluster === null) || (next.view === "document" && next.doc === null)) next.view = "overview";
  const [key, way] = (asked.get("sort") ?? "").split("-");
  next.sort = key ? { key, down: way !== "up" } : { key: DEFAULT_SORT[next.view] ?? "score", down: true };
  return next;
}

// The address of something, with the threshold and the filter as they are.
function link(target) {
  const asked = new URLSearchParams();
  const of = (name) => (name in target ? target[name] : undefined);
  if (of("view") && of("view") !== "document") asked.set("view", of("view"));
  for (const name of ["pair", "cluster", "doc", "ga", "gb", "passage"]) {
    if (of(name) !== undefined && of(name) !== null) asked.set(name, of(name));
  }
  const { t, q, sort, view, ga, gb } = { ...state, ...target };
  if (t !== report.threshold) asked.set("t", t);
  if (q) asked.set("q", q);
  const isSameList = !("view" in target) || target.view === view;
  if (isSameList && sort && (sort.key !== DEFAULT_SORT[view] || !sort.down)) asked.set("sort", `${sort.key}-${sort.down ? "down" : "up"}`);
  // A pair that was opened from a group's list steps through that list.
  if (target.pair !== undefined && state?.ga != null) {
    asked.set("ga", ga);
    if (gb !== null) asked.set("gb", gb);
  }
  return `#${asked}`;
}

// What is shown now, for the address.
function target() {
  const { view, pair, cluster, doc, ga, gb, passage } = state;
  if (view === "pair") return { pair, passage };
  if (view === "cluster") return { cluster };
  if (view === "document") return { view, doc };
  return { view, ga, gb };
}

// Changes the address without leaving the page.
function remember(change) {
  Object.assign(state, change);
  history.replaceState(history.state, "", link(target()));
}

// Where each address was left: how far down, and at which link.
const left = new Map();
let isReturning = false;

function leave() {
  const place = { top: scrollY, link: document.activeElement?.getAttribute("href") ?? null };
  left.set(location.hash, place);
  history.replaceState(place, "");
}

function comeBack({ top, link }) {
  scrollTo(0, top);
  shown.list?.show();
  if (link) document.querySelector(`.rows a[href="${CSS.escape(link)}"]`)?.focus({ preventScroll: true });
}

// Opens an address from where the page is.
function visit(address) {
  leave();
  location.hash = address;
}

// Opens a list where it was left.
function goBack(target) {
  isReturning = true;
  visit(link(target));
}

function resort(key) {
  const isSame = state.sort.key === key;
  const down = isSame ? !state.sort.down : !["left", "right", "id", "closest", "keeper", "one", "two"].includes(key);
  remember({ sort: { key, down } });
  render();
}

function render() {
  state = read();
  $("filter").value !== state.q && ($("filter").value = state.q);
  $("threshold").value = state.t;
  $("threshold-value").textContent = state.t.toFixed(2);
  for (const tab of $("views").children) {
    const isHere = tab.dataset.view === state.view || tab.dataset.view === { pair: "pairs", cluster: "clusters", document: "documents" }[state.view];
    tab.href = link({ view: tab.dataset.view, ga: null, gb: null });
    if (isHere) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  if (state.view === "pair") {
    const page = new PairPage(state);
    shown = { element: page.element, page, status: "", lines: () => pairLines([state.pair]) };
  } else shown = VIEWS[state.view][1](state);
  document.body.classList.toggle("reading", state.view === "pair");
  $("status").textContent = shown.status;
  $("main").replaceChildren(shown.element);
  shown.list?.show();
  document.title = `${$("main").querySelector("h1")?.textContent ?? ""} · simdup report`;
  return shown.page?.load();
}

let wanted = null;
function onceAFrame(run) {
  if (wanted) cancelAnimationFrame(wanted);
  wanted = requestAnimationFrame(() => {
    wanted = null;
    run();
  });
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  $("theme").setAttribute("aria-pressed", theme === "dark");
  $("theme").textContent = theme === "dark" ? "Light" : "Dark";
}

// Kept where the browser allows it, which some do not for files.
function storedTheme(theme) {
  try {
    if (theme) localStorage.setItem("simdup-theme", theme);
    return localStorage.getItem("simdup-theme");
  } catch {
    return null;
  }
}

function start() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  setTheme(storedTheme() ?? (dark.matches ? "dark" : "light"));
  dark.addEventListener("change", () => storedTheme() ?? setTheme(dark.matches ? "dark" : "light"));
  $("theme").addEventListener("click", () => {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    storedTheme(theme);
    setTheme(theme);
  });
  for (const [view, [name]] of Object.entries(VIEWS)) {
    if (name && (view !== "groups" || report.groups)) $("views").append(h("a", { "data-view": view, href: `#view=${view}` }, name));
  }
  // Where pairs are left out, the lowest position stands for all of them, and the next is the least
  // threshold at which the page has all pairs.
  const lowest = isWhole ? Math.floor(report.threshold * 100) / 100 : Math.min(0.99, lowestShown - 0.01);
  $("threshold").min = lowest;
  $("threshold").max = 1;
  $("threshold").addEventListener("input", (event) => {
    const value = Number(event.target.value);
    remember({ t: value <= lowest + 0.001 ? report.threshold : Math.max(report.threshold, value) });
    onceAFrame(render);
  });
  $("filter").addEventListener("input", (event) => {
    if (["overview", "pair", "cluster", "document"].includes(state.view) && event.target.value) {
      visit(link({ view: "pairs", q: event.target.value }));
      return;
    }
    remember({ q: event.target.value });
    onceAFrame(render);
  });
  $("export").addEventListener("click", () => save(`${state.view}.csv`, shown.lines()));
  $("skip").addEventListener("click", () => $("main").focus());
  $("help").addEventListener("click", () => $("keys").showModal());
  // Positions in lists are kept by this program: rows are there only while they are in sight.
  history.scrollRestoration = "manual";
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("a[href^='#']")) leave();
  }, { capture: true });
  addEventListener("pagehide", leave);
  addEventListener("hashchange", () => {
    const before = state?.view;
    const place = history.state ?? (isReturning ? left.get(location.hash) : null);
    isReturning = false;
    render();
    if (place) comeBack(place);
    else if (before !== state.view) scrollTo(0, 0);
    const focused = document.activeElement;
    if (focused !== $("filter") && !focused.closest(".rows")) $("main").focus({ preventScroll: true });
  });
  addEventListener("scroll", () => shown.list?.show(), { passive: true });
  addEventListener("resize", () => onceAFrame(() => {
    shown.list?.show();
    if (shown.page?.marks) shown.page.measure();
  }));
  addEventListener("beforeprint", () => shown.list?.print());
  addEventListener("afterprint", () => shown.list?.show());
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
    const isTyping = event.target.matches?.("input[type=search], textarea");
    if (event.key === "Escape" && isTyping) return event.target.blur();
    if (isTyping) return;
    if (event.key === "/") $("filter").focus();
    else if (event.key === "?") $("keys").showModal();
    else if (event.key === "Escape" && state.view === "pair") goBack({ view: "pairs", ga: state.ga, gb: state.gb });
    else if (event.key === "Escape" && state.view === "cluster") goBack({ view: "clusters" });
    else if (event.key === "Escape" && state.view === "document") goBack({ view: "documents" });
    else if (!shown.page?.key(event)) return;
    event.preventDefault();
  });
  render();
  if (history.state) comeBack(history.state);
}

start();
