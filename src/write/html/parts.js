// Parts of pages. Whatever comes from documents becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

const h = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  build(document.createElementNS(SVG, tag), attributes, children);

const number = (value) => value.toLocaleString("en");
const plural = (count, one, more) => `${number(count)} ${count === 1 ? one : more}`;
// Never rounded up to what it is not: 0.9996 is not 1.
const short = (score) => (score === null ? "–" : (Math.floor(score * 1000 + 1e-9) / 1000).toFixed(3));
const percent = (part, whole) => (whole ? `${(Math.floor((part * 1000) / whole) / 10).toFixed(1)} %` : "–");

// An id: its end is seen too where it is long, as addresses differ there.
function idLabel(doc) {
  const id = docs.ids[doc];
  const tail = 22;
  if (id.length < 2 * tail || !/^[\x20-\x7e]+$/.test(id)) {
    return h("bdi", { class: "id", title: id }, h("span", { class: "head" }, id));
  }
  return h(
    "bdi",
    { class: "id", title: id },
    h("span", { class: "head" }, id.slice(0, -tail)),
    h("span", { class: "tail" }, id.slice(-tail)),
  );
}

function scoreBar(score) {
  const least = report.threshold;
  const share = score === null ? 0 : least < 1 ? 0.08 + (0.92 * (score - least)) / (1 - least) : 1;
  return h(
    "span",
    { class: "score" },
    h("span", { class: "bar", "aria-hidden": "true" }, h("i", { style: `width:${Math.max(0, share) * 100}%` })),
    h("b", {}, short(score)),
  );
}

const figure = (value, label, href) =>
  h(href ? "a" : "div", { class: "figure", href }, h("b", {}, value), h("span", {}, label));

const PRINTED_MAX = 1000;

// A list of which only the rows in sight are there. `row` builds one; `columns` have a name, a
// class, and a key to sort by.
class RowList {
  constructor({ label, columns, row, count, sort, onsort }) {
    this.row = row;
    this.count = count;
    this.rows = new Map();
    this.body = h("div", { class: "rows", role: "rowgroup" });
    const head = columns.map(({ name, kind, key }) => {
      const isSorted = key && sort && sort.key === key;
      const direction = isSorted ? (sort.down ? "descending" : "ascending") : undefined;
      const content = key
        ? h(
            "button",
            { type: "button", onclick: () => onsort(key) },
            name,
            h("span", { "aria-hidden": "true", class: "arrow" }, isSorted ? (sort.down ? "▼" : "▲") : ""),
          )
        : name;
      return h("span", { class: `cell ${kind}`, role: "columnheader", "aria-sort": direction }, content);
    });
    this.element = h(
      "div",
      { class: "list", role: "table", "aria-label": label, "aria-rowcount": count + 1 },
      h("div", { class: "listhead", role: "rowgroup" }, h("div", { class: "row", role: "row" }, head)),
      this.body,
    );
    if (count === 0) this.body.append(h("p", { class: "note" }, "Nothing here at this threshold and with this filter."));
    this.body.addEventListener("keydown", (event) => this.move(event));
  }

  height() {
    return matchMedia("(max-width: 45rem)").matches ? 76 : 46;
  }

  // Puts the rows in sight in their places, and takes the others away.
  show() {
    if (!this.element.isConnected || this.count === 0) return;
    const height = this.height();
    const top = -this.body.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(top / height) - 8);
    const last = Math.min(this.count, Math.ceil((top + innerHeight) / height) + 8);
    this.body.style.height = `${this.count * height}px`;
    this.body.querySelector(".printed")?.remove();
    this.place(first, last, height);
  }

  place(first, last, height) {
    const focused = document.activeElement;
    for (const [index, row] of this.rows) {
      if ((index < first || index >= last) && !row.contains(focused)) {
        row.remove();
        this.rows.delete(index);
      }
    }
    for (let index = first; index < last; index++) {
      let row = this.rows.get(index);
      if (!row) {
        row = this.row(index);
        row.setAttribute("aria-rowindex", index + 2);
        row.dataset.index = index;
        this.rows.set(index, row);
        this.body.append(row);
      }
      row.style.top = `${index * height}px`;
      row.style.height = `${height}px`;
    }
  }

  // Enough rows to print, one under the other, and how many there are besides.
  print() {
    const most = Math.min(this.count, PRINTED_MAX);
    this.place(0, most, this.height());
    // Rows were made as they came into sight.
    this.body.append(...[...this.rows].sort(([one], [two]) => one - two).map(([, row]) => row));
    if (this.count > most) this.body.append(h("p", { class: "note printed" }, `The first ${number(most)} of ${number(this.count)} rows are printed; a filter or a higher threshold leaves fewer.`));
    this.body.style.height = "auto";
  }

  move(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = event.target.closest(".row");
    if (!step || !row) return;
    event.preventDefault();
    const index = Number(row.dataset.index) + step;
    const next = this.rows.get(index);
    if (next) {
      next.querySelector("a").focus({ preventScroll: true });
      next.scrollIntoView({ block: "nearest" });
      this.show();
    }
  }
}

// A row of a list whose first cell has a link that covers all of it, with a name for those who do
// not see the row.
const row = (href, name, [kind, ...content], ...cells) =>
  h("div", { class: "row", role: "row" }, cell(kind, h("a", { class: "open", href, title: name, "aria-label": name }, content)), cells);

const cell = (kind, ...content) => h("span", { class: `cell ${kind}`, role: "cell" }, content);

// A file for whoever reads the report.
function save(name, lines) {
  const quote = (value) => {
    // A spreadsheet would run what begins so as a formula.
    const isFormula = typeof value === "string" && /^[=+\-@\t\r]/.test(value);
    const text = (isFormula ? "'" : "") + String(value ?? "");
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = lines.map((line) => line.map(quote).join(",") + "\r\n").join("");
  const link = h("a", { href: URL.createObjectURL(new Blob([csv], { type: "text/csv" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

