// Two documents side by side: passages in colour, ribbons from one to the other, linked scrolling.

const COLOURS = 8;

// The parts of a text from `at` to `end`; those at `places` are of a class.
function parts(text, at, end, places, className) {
  const content = [];
  for (const place of places) {
    if (place.start < at || place.end > end) continue;
    if (place.start > at) content.push(text.slice(at, place.start));
    content.push(h("span", { class: className }, text.slice(place.start, place.end)));
    at = place.end;
  }
  if (end > at) content.push(text.slice(at, end));
  return content;
}

// A text with its passages marked, and what a template has. All of it is text.
function marked({ text, template }, { passages, own }, side, onpick) {
  const order = passages.map((passage, index) => ({ index, ...passage.sides[side] })).sort((one, two) => one.start - two.start);
  const content = [];
  let [at, next, nextOwn] = [0, 0, 0];
  // What of a list stands before an end; places are in order.
  const before = (list, from, end) => {
    let to = from;
    while (to < list.length && list[to].start < end) to++;
    return to;
  };
  const ofSide = [...own[side]].sort((one, two) => one.start - two.start);
  for (const { index, start, end } of order) {
    const until = before(template, next, start);
    content.push(...parts(text, at, start, template.slice(next, until), "template"));
    next = until;
    const untilOwn = before(ofSide, nextOwn, end);
    content.push(
      h(
        "mark",
        {
          class: `c${index % COLOURS}`,
          "data-passage": index,
          "data-number": index + 1,
          role: "button",
          tabindex: index === 0 ? "0" : "-1",
          "aria-description": `passage ${index + 1} of ${passages.length}, ${passages[index].tokens} ${report.unit}; Enter goes to its twin`,
          onclick: (event) => {
            if (String(getSelection())) return;
            onpick(index, side, event.currentTarget);
          },
        },
        parts(text, start, end, ofSide.slice(nextOwn, untilOwn), "own"),
      ),
    );
    [at, nextOwn] = [end, untilOwn];
  }
  content.push(...parts(text, at, text.length, template.slice(next), "template"));
  return content;
}

class PairPage {
  constructor(state) {
    this.state = state;
    this.pair = state.pair;
    this.docs = [pairs.left[this.pair], pairs.right[this.pair]];
    this.current = state.passage;
    this.isLinked = true;
    this.driver = 0;
    const neighbours = shownPairs({ ...state, doc: null });
    const found = sorted(neighbours, PAIR_KEYS, state.sort);
    const place = found.indexOf(this.pair);
    this.before = place > 0 ? found[place - 1] : null;
    this.behind = place >= 0 ? found[place + 1] ?? null : null;
    this.counter = h("span", { class: "counter", role: "status" });
    this.ribbons = svg("svg", { class: "ribbons", "aria-hidden": "true" });
    this.panes = this.docs.map((doc, side) =>
      h("div", { class: `pane ${report.unit === "tokens" ? "code" : ""}`, tabindex: "0", role: "region", "aria-label": `Text ${side + 1}: ${docs.ids[doc]}` }),
    );
    this.element = this.frame();
  }

  frame() {
    const { pair } = this;
    const step = (other, name, key) =>
      other === null
        ? h("span", { class: "button off", "aria-hidden": "true" }, name)
        : h("a", { class: "button", href: link({ pair: other }), title: key }, name);
    const names = this.docs.map((doc, side) =>
      h(
        "div",
        { class: "name" },
        h("span", { class: "no" }, side + 1),
        h("div", {},
          h("a", { href: link({ view: "document", doc }) }, h("bdi", {}, docs.ids[doc])),
          h("p", { class: "note" }, this.facts(doc, side)),
        ),
      ),
    );
    const cuts = this.docs.filter((doc) => docs.cut.includes(doc));
    this.legend = h("p", { class: "note legend", hidden: true }, h("span", { class: "template" }, "Dotted"), " is what the template has: it is part of no passage.");
    return h(
      "section",
      { class: "pair" },
      h(
        "div",
        { class: "pairhead" },
        h("div", { class: "steps" },
          h("a", { href: link({ view: "pairs" }) }, "Pairs"),
          h("a", { href: link({ cluster: this.docs[0] }) }, "Cluster"),
          step(this.before, "‹ previous", "P"),
          step(this.behind, "next ›", "N"),
        ),
        h("h1", { class: "big" }, short(pairs.scores[pair]), h("span", {}, isExact ? `${report.score}, ${plural(pairs.shared[pair], "shingle", "shingles")} shared` : report.score)),
        h("div", { class: "steps" },
          h("button", { type: "button", id: "passage-before", title: "p", onclick: () => this.step(-1) }, "‹"),
          this.counter,
          h("button", { type: "button", id: "passage-behind", title: "n", onclick: () => this.step(1) }, "›"),
          h("label", { class: "check" }, h("input", { type: "checkbox", checked: true, onchange: (event) => { this.isLinked = event.target.checked; } }), "Scroll both"),
          h("button", { type: "button", onclick: () => print() }, "Print"),
        ),
      ),
      h("div", { class: "names" }, names[0], h("span"), names[1]),
      cuts.length > 0 && h("p", { class: "note left-out" }, "Of a text that is longer than a megabyte, the start is shown."),
      this.legend,
      h("div", { class: "texts" }, this.panes[0], this.ribbons, this.panes[1]),
      h("p", { class: "printed" }, `simdup ${report.simdup}: ${report.score} ${pairs.scores[pair]}; shared passages of at least ${report.min_tokens} ${report.unit} are shaded and have the same number on both sides.`),
    );
  }

  facts(doc, side) {
    const { pair } = this;
    const facts = [];
    if (groupName(doc)) facts.push(groupName(doc));
    if (isExact) facts.push(`${percent(pairs.shared[pair], docs.shingles[doc])} of ${plural(docs.shingles[doc], "shingle", "shingles")} ${side ? "in 1" : "in 2"}`);
    if (docs.tokens[doc]) facts.push(`${percent(pairs.covered[pair], docs.tokens[doc])} of ${number(docs.tokens[doc])} ${report.unit} in passages`);
    return facts.join(" · ");
  }

  async load() {
    let texts, found;
    try {
      [texts, found] = await Promise.all([Promise.all(this.docs.map(textOf)), passagesOf(this.pair)]);
    } catch {
      // Browsers without DecompressionStream, or without its deflate-raw.
      const why = "This browser cannot unpack the texts: it needs DecompressionStream, which Chrome and Edge have since version 103, Firefox since 113 and Safari since 16.4. Open the page in a newer one.";
      for (const pane of this.panes) pane.replaceChildren(h("p", { class: "note left-out", role: "alert" }, why));
      return;
    }
    const { passages } = found;
    this.passages = passages;
    this.legend.hidden = !texts.some((text) => text?.template.length);
    texts.forEach((text, side) => {
      const pane = this.panes[side];
      const content =
        text === null
          ? [h("p", { class: "note" }, "The text is not in this page.")]
          : [h("div", { class: "text", dir: "auto" }, marked(text, found, side, (index, from, mark) => this.pick(index, from, mark)))];
      pane.replaceChildren(...content);
      for (const type of ["pointerenter", "wheel", "touchstart", "focusin", "keydown"]) {
        pane.addEventListener(type, () => { this.driver = side; }, { passive: true });
      }
      pane.addEventListener("scroll", () => this.scrolled(side), { passive: true });
    });
    this.marks = this.panes.map((pane) => {
      const marks = [];
      for (const mark of pane.querySelectorAll("mark")) marks[mark.dataset.passage] = mark;
      return marks;
    });
    this.measure();
    this.count();
    if (this.current !== null && this.current < passages.length) this.go(this.current);
    else this.current = null;
  }

  // Where each passage stands in its pane.
  measure() {
    this.spans = this.marks.map((marks, side) => {
      const pane = this.panes[side];
      const origin = pane.getBoundingClientRect().top - pane.scrollTop;
      return marks.map((mark) => {
        const { top, bottom } = mark.getBoundingClientRect();
        return { top: top - origin, bottom: bottom - origin };
      });
    });
    this.draw();
  }

  scrolled(side) {
    if (this.isLinked && side === this.driver) this.follow(side);
    this.draw();
  }

  // Scrolls the other text so that what is near the eye stands beside its twin.
  follow(side) {
    const [own, other] = [this.spans[side], this.spans[1 - side]];
    const pane = this.panes[side];
    const line = pane.clientHeight * 0.35;
    const eye = pane.scrollTop + line;
    let [best, distance] = [-1, Infinity];
    own.forEach(({ top, bottom }, index) => {
      const far = eye < top ? top - eye : eye > bottom ? eye - bottom : 0;
      if (far < distance) [best, distance] = [index, far];
    });
    const twin = this.panes[1 - side];
    if (best < 0) {
      const share = pane.scrollTop / Math.max(1, pane.scrollHeight - pane.clientHeight);
      twin.scrollTop = share * (twin.scrollHeight - twin.clientHeight);
      return;
    }
    const [from, to] = [own[best], other[best]];
    const share = (eye - from.top) / Math.max(1, from.bottom - from.top);
    const inside = Math.min(1, Math.max(0, share)) * (to.bottom - to.top);
    const beyond = eye < from.top ? eye - from.top : eye > from.bottom ? eye - from.bottom : 0;
    twin.scrollTop = to.top + inside + beyond - line;
  }

  draw() {
    if (!this.spans) return;
    const height = this.panes[0].clientHeight;
    const width = this.ribbons.clientWidth || 56;
    this.ribbons.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const shapes = [];
    this.spans[0].forEach((span, index) => {
      const ends = [span, this.spans[1][index]].map(({ top, bottom }, side) => [top - this.panes[side].scrollTop, bottom - this.panes[side].scrollTop]);
      if (ends.every(([top, bottom]) => bottom < 0) || ends.every(([top]) => top > height)) return;
      const [[a, b], [c, d]] = ends.map(([top, bottom]) => [Math.max(-40, Math.min(height + 40, top)), Math.max(-40, Math.min(height + 40, bottom))]);
      const bend = width / 2;
      const path = `M0 ${a}C${bend} ${a} ${bend} ${c} ${width} ${c}L${width} ${d}C${bend} ${d} ${bend} ${b} 0 ${b}Z`;
      shapes.push(svg("path", { d: path, class: `c${index % COLOURS}${index === this.current ? " on" : ""}` }));
    });
    this.ribbons.replaceChildren(...shapes);
  }

  // A passage was picked in one text: the other shows its twin at the same height.
  pick(index, side, mark) {
    this.select(index);
    const top = mark.getBoundingClientRect().top - this.panes[side].getBoundingClientRect().top;
    this.driver = side;
    const twin = this.panes[1 - side];
    twin.scrollTop = this.spans[1 - side][index].top - top;
    this.draw();
  }

  // Shows a passage in both texts.
  go(index) {
    this.select(index);
    this.driver = -1;
    this.panes.forEach((pane, side) => {
      pane.scrollTop = this.spans[side][index].top - pane.clientHeight * 0.25;
    });
    this.draw();
  }

  step(by) {
    const count = this.passages?.length;
    if (!count) return;
    const index = this.current === null ? (by > 0 ? 0 : count - 1) : (this.current + by + count) % count;
    this.go(index);
    this.marks[0][index].focus({ preventScroll: true });
  }

  select(index) {
    for (const marks of this.marks) {
      for (const mark of marks) {
        const isOn = Number(mark.dataset.passage) === index;
        mark.classList.toggle("on", isOn);
        mark.tabIndex = isOn ? 0 : -1;
      }
    }
    this.current = index;
    this.count();
    remember({ passage: index });
  }

  count() {
    const count = this.passages.length;
    this.counter.textContent =
      count === 0 ? "no passage" : this.current === null ? plural(count, "passage", "passages") : `passage ${this.current + 1} of ${count}, ${number(this.passages[this.current].tokens)} ${report.unit}`;
  }

  key(event) {
    if (event.key === "n") this.step(1);
    else if (event.key === "p") this.step(-1);
    else if (event.key === "N" && this.behind !== null) visit(link({ pair: this.behind }));
    else if (event.key === "P" && this.before !== null) visit(link({ pair: this.before }));
    else if ((event.key === "Enter" || event.key === " ") && event.target.matches?.("mark")) {
      const index = Number(event.target.dataset.passage);
      const side = this.marks[0][index] === event.target ? 0 : 1;
      this.pick(index, side, event.target);
      this.marks[1 - side][index].focus({ preventScroll: true });
    } else return false;
    return true;
  }
}

