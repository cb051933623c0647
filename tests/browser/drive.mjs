// Drives the page of `simdup report` in a browser: node drive.mjs SIMDUP CHROMIUM SCREENSHOTS.
// Fails on anything that is not as it should be, and on whatever the console says.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Browser } from "./browser.mjs";
import { manyPairs, programs, strangeTexts, students } from "./data.mjs";

const [simdup, chromium, pictures] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "simdup-report-"));
mkdirSync(pictures, { recursive: true });
const picture = (name) => join(resolve(pictures), `${name}.png`);

function report(name, documents, ...flags) {
  const [input, output] = [join(folder, `${name}.jsonl`), join(folder, `${name}.html`)];
  writeFileSync(input, documents);
  execFileSync(simdup, ["report", "-q", "-o", output, ...flags, input]);
  return output;
}

const browser = await Browser.open(chromium);
const page = await browser.page();
const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const text = (selector) => page.eval(`document.querySelector(${JSON.stringify(selector)}).textContent`);
const count = (selector) => page.eval(`document.querySelectorAll(${JSON.stringify(selector)}).length`);
// How long something takes in the page, up to what is then on the screen.
// The best of some: the machine may be busy with others.
const timed = async (run, before = "") => {
  const times = [];
  for (let time = 0; time < 4; time++) {
    times.push(await page.eval(`(async () => {
      await (async () => { ${before} })();
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      const start = performance.now();
      await (async () => { ${run} })();
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      return performance.now() - start;
    })()`));
  }
  return Math.round(Math.min(...times));
};
const go = (hash) => `if (location.hash !== "${hash}") location.hash = "${hash}", await new Promise((done) => addEventListener("hashchange", done, { once: true }));`;


let ran = 0;
async function test(name, run) {
  try {
    await run();
    assert.deepEqual(page.problems, []);
    ran++;
    console.log(`ok  ${name}`);
  } catch (error) {
    await page.screenshot(picture("failed")).catch(() => {});
    console.error(`FAILED  ${name}`);
    throw error;
  }
}

try {
  await page.size(1280, 800);
  await page.media([{ name: "prefers-color-scheme", value: "light" }]);

  const essays = report("students", students(), "--threshold", "0.3", "--cluster", "components", "--group-by", "field:student");

  await test("the overview says what was read and found", async () => {
    await page.open(`file://${essays}`);
    assert.equal(await text("h1"), "Similar documents");
    assert.match(await text(".figures"), /14documents read26pairs3clusters14documents in a pair14groups/);
    assert.equal(await count(".chart rect.above"), 71);
    await page.screenshot(picture("overview"));
  });

  await test("lists are sorted and filtered", async () => {
    await page.click("#views a[data-view=pairs]");
    await page.until("document.querySelector('h1').textContent === 'Pairs'");
    assert.equal(await text("#status"), "26 pairs");
    const best = await text(".rows .row:first-child .score b");
    await page.click(".listhead button");
    await page.until(`document.querySelector('[aria-sort=ascending]')`);
    assert.notEqual(await text(".rows .row:first-child .score b"), best);
    await page.click("#filter");
    await page.type("cleo");
    await page.until("document.querySelector('#status').textContent === '3 pairs'");
    await page.screenshot(picture("pairs"));
  });

  await test("a threshold joins clusters anew", async () => {
    await page.open(`file://${essays}#view=clusters`);
    assert.equal(await text("#status"), "3 clusters");
    await page.eval(`(() => { const slider = document.querySelector("#threshold"); slider.value = 0.8; slider.dispatchEvent(new Event("input")); })()`);
    await page.until("document.querySelector('#status').textContent !== '3 clusters'");
    assert.match(await page.eval("location.hash"), /t=0.8/);
    const pairs = execFileSync(simdup, ["--score", "jaccard", "--threshold", "0.3", "-f", "jsonl", "--group-by", "field:student", join(folder, "students.jsonl")]);
    writeFileSync(join(folder, "pairs.jsonl"), pairs);
    for (const [threshold, method] of [["0.8", "components"], ["0.6", "components"], ["0.3", "star"], ["0.65", "star"]]) {
      const own = execFileSync(simdup, ["cluster", "--pairs", join(folder, "pairs.jsonl"), "--threshold", threshold, "--cluster", method]).toString();
      const shown = await page.eval(`(() => {
        report.cluster = ${JSON.stringify(method)};
        return clustersAt(${threshold}).map(({ keeper, members }) => [keeper, ...members.map(({ doc }) => doc)].map((doc) => docs.ids[doc]).join(" ") + "\\n").join("");
      })()`);
      assert.equal(shown, own, `${method} ${threshold}`);
    }
  });

  await test("a cluster is a graph and a matrix", async () => {
    await page.open(`file://${essays}#view=clusters`);
    await page.click(".rows .row");
    await page.until("document.querySelector('.graph')");
    assert.equal(await count(".graph .node"), 5);
    assert.equal(await count(".graph .edge"), 10);
    assert.equal(await count(".matrix td a"), 20);
    await page.screenshot(picture("cluster"));
  });

  await test("groups are set against each other", async () => {
    await page.click("#views a[data-view=groups]");
    await page.until("document.querySelector('h1').textContent === 'Groups'");
    assert.equal(await text("#status"), "26 pairs of groups");
    await page.screenshot(picture("groups"));
    await page.click(".matrix td a");
    await page.until("document.querySelector('.pane mark')");
  });

  await test("each document has its closest", async () => {
    await page.open(`file://${essays}#view=documents`);
    assert.equal(await text("#status"), "14 documents");
    await page.click(".rows .row");
    await page.until("document.querySelector('h1').textContent.startsWith('essays/')");
    assert.match(await text("#status"), /similar documents/);
  });

  await test("a passage leads to its twin, by mouse and by keys", async () => {
    await page.open(`file://${essays}#pair=0`);
    await page.until("document.querySelector('.pane mark')");
    const passages = await page.eval("shown.page.passages.length");
    assert.ok(passages > 2);
    assert.equal(await count(".pane:first-child mark"), passages);
    for (const mark of [0, 1]) {
      const twins = await page.eval(`shown.page.marks.map((marks) => marks[${mark}].textContent.split(/\\s+/).join(" ").replace(/[.]/g, ""))`);
      assert.equal(twins[0].replaceAll(" ", ""), twins[1].replaceAll(" ", ""));
    }
    const before = await page.eval("shown.page.panes[1].scrollTop");
    await page.click(`.pane:first-child mark[data-passage="${passages - 1}"]`);
    await page.until("document.querySelectorAll('mark.on').length === 2");
    const tops = await page.eval(`[...document.querySelectorAll("mark.on")].map((mark) => mark.getBoundingClientRect().top)`);
    const end = await page.eval("shown.page.panes[1].scrollTop + shown.page.panes[1].clientHeight >= shown.page.panes[1].scrollHeight - 2");
    assert.ok(Math.abs(tops[0] - tops[1]) < 3 || end, `${tops} from ${before}`);
    assert.match(await page.eval("location.hash"), new RegExp(`passage=${passages - 1}`));
    await page.key("n");
    assert.equal(await page.eval("shown.page.current"), 0);
    await page.key("n");
    await page.key("n");
    await page.key("p");
    assert.equal(await page.eval("shown.page.current"), 1);
    await page.key("Enter");
    assert.equal(await page.eval("document.activeElement === shown.page.marks[1][1]"), true);
    await page.screenshot(picture("pair"));
    await page.key("N", "KeyN");
    await page.until("location.hash.startsWith('#pair=1')");
    await page.key("Escape");
    await page.until("document.querySelector('h1').textContent === 'Pairs'");
  });

  await test("both texts scroll together", async () => {
    await page.size(1100, 420);
    await page.open(`file://${essays}#pair=2`);
    await page.until("document.querySelector('.pane mark')");
    await page.eval(`(() => { shown.page.driver = 0; shown.page.panes[0].scrollTop = 300; })()`);
    await page.until("shown.page.panes[1].scrollTop > 0");
    await page.size(1280, 800);
  });

  await test("a link opens the same pair and passage", async () => {
    await page.open(`file://${essays}#pair=3&passage=1`);
    await page.until("document.querySelectorAll('mark.on').length === 2");
    assert.match(await text(".counter"), /^passage 2 of/);
  });

  await test("what is shown is exported", async () => {
    await page.open(`file://${essays}#view=pairs&q=ada`);
    const lines = await page.eval("shown.lines()");
    assert.deepEqual(lines[0].slice(0, 3), ["url1", "url2", "score"]);
    assert.equal(lines.length, 4);
    const csv = await page.eval(`new Promise((done) => {
      const make = URL.createObjectURL;
      URL.createObjectURL = (blob) => { blob.text().then(done); return make.call(URL, blob); };
      document.querySelector("#export").click();
    })`);
    assert.match(csv, /^url1,url2,score,in1,in2,shared,passage_tokens,longest\r\nessays\//);
    assert.equal(csv.trimEnd().split("\r\n").length, 4);
    const guarded = await page.eval(`new Promise((done) => {
      const make = URL.createObjectURL;
      URL.createObjectURL = (blob) => { blob.text().then(done); return make.call(URL, blob); };
      save("formulas.csv", [["=1+1", "+1", "-1", "@A1", "\\t=1", "a=1", -1, 0.5]]);
    })`);
    assert.equal(guarded, "'=1+1,'+1,'-1,'@A1,'\t=1,a=1,-1,0.5\r\n");
  });

  await test("light and dark", async () => {
    const ground = "getComputedStyle(document.body).backgroundColor";
    const light = await page.eval(ground);
    await page.media([{ name: "prefers-color-scheme", value: "dark" }]);
    await page.open(`file://${essays}#pair=1`);
    await page.until("document.querySelector('.pane mark')");
    assert.notEqual(await page.eval(ground), light);
    await page.screenshot(picture("pair-dark"));
    await page.open(`file://${essays}#view=overview`);
    await page.screenshot(picture("overview-dark"));
    await page.click("#theme");
    assert.equal(await page.eval(ground), light);
    await page.click("#theme");
    await page.eval("localStorage.clear()");
    await page.media([{ name: "prefers-color-scheme", value: "light" }]);
  });

  await test("colours can be told apart: contrast of text is at least 4.5", async () => {
    for (const theme of ["light", "dark"]) {
      for (const view of ["view=overview", "view=pairs", "view=groups", "cluster=0", "pair=0"]) {
        await page.open(`file://${essays}#${view}`);
        await page.until("document.querySelector('h1')");
        if (view === "pair=0") await page.until("document.querySelector('.pane mark')");
        await page.eval(`setTheme(${JSON.stringify(theme)})`);
        const poor = await page.eval(`(${poorContrast})()`);
        assert.deepEqual(poor, [], `${theme} ${view}`);
      }
    }
  });

  await test("every control has a name", async () => {
    for (const view of ["view=overview", "view=pairs", "view=groups", "cluster=0", "pair=0"]) {
      await page.open(`file://${essays}#${view}`);
      const { nodes } = await page.send("Accessibility.getFullAXTree");
      const controls = ["button", "link", "searchbox", "slider", "checkbox", "img"];
      const nameless = nodes.filter(({ ignored, role, name }) => !ignored && controls.includes(role?.value) && !name?.value);
      assert.deepEqual(nameless.map(({ role }) => role.value), []);
    }
  });

  await test("rows are rows of a table, with a link in the first cell", async () => {
    await page.open(`file://${essays}#view=pairs`);
    const { nodes } = await page.send("Accessibility.getFullAXTree");
    const of = Object.fromEntries(nodes.map((node) => [node.nodeId, node]));
    const rows = nodes.filter(({ role }) => role?.value === "row");
    assert.equal(rows.length, 1 + (await count(".rows .row")));
    const cells = (row) => row.childIds.map((id) => of[id]).filter(({ role }) => /cell/i.test(role?.value));
    const [first] = cells(rows[1]);
    const below = (node) => [node, ...node.childIds.flatMap((id) => (of[id] ? below(of[id]) : []))];
    const links = below(first).filter(({ role }) => role?.value === "link");
    assert.equal(links.length, 1);
    assert.match(links[0].name.value, /^0\.\d+: essays\/\w+\/essay.txt and essays\//);
    // All of the row is the link.
    await page.click(".rows .row:nth-child(2) .cell.wide");
    await page.until("location.hash.startsWith('#pair=1')");
  });

  await test("Back and Escape return to the place in a list", async () => {
    await page.size(1280, 420);
    for (const leave of ["history.back()", "Escape"]) {
      await page.open(`file://${essays}#view=pairs`);
      await page.eval("scrollTo(0, 600)");
      await page.until("document.querySelector('.rows a[href=\"#pair=15\"]')");
      await page.click('.rows a[href="#pair=15"]');
      await page.until("document.querySelector('.pane mark')");
      await page.eval("scrollTo(0, 0)");
      if (leave === "Escape") await page.key("Escape");
      else await page.eval(leave);
      await page.until("document.querySelector('h1').textContent === 'Pairs'");
      await page.until("scrollY > 400");
      assert.equal(await page.eval("document.activeElement.getAttribute('href')"), "#pair=15");
    }
    // A list that is opened anew starts at its top.
    await page.click("#views a[data-view=clusters]");
    await page.until("document.querySelector('h1').textContent === 'Clusters'");
    await page.click("#views a[data-view=pairs]");
    await page.until("document.querySelector('h1').textContent === 'Pairs'");
    assert.equal(await page.eval("scrollY"), 0);
    await page.size(1280, 800);
  });

  await test("a browser that cannot unpack texts says so", async () => {
    for (const hurt of ["delete window.DecompressionStream", "window.DecompressionStream = class { constructor() { throw new TypeError('deflate-raw'); } }"]) {
      await page.open(`file://${essays}#view=pairs`);
      await page.eval(hurt);
      await page.eval("location.hash = '#pair=0'");
      await page.until("document.querySelectorAll('.pane [role=alert]').length === 2");
      assert.match(await text(".pane"), /cannot unpack the texts/);
    }
    await page.screenshot(picture("old-browser"));
  });

  await test("every control has a name on a phone", async () => {
    await page.size(390, 780, true);
    await page.open(`file://${essays}#view=pairs`);
    const { nodes } = await page.send("Accessibility.getFullAXTree");
    const named = (role) => nodes.filter((node) => !node.ignored && node.role?.value === role).map(({ name }) => name?.value);
    assert.deepEqual(named("slider"), ["Threshold"]);
    assert.deepEqual(named("searchbox"), ["Filter"]);
    await page.size(1280, 800);
  });

  await test("on a phone nothing sticks out", async () => {
    await page.size(390, 780, true);
    for (const view of ["view=overview", "view=pairs", "view=clusters", "view=documents", "view=groups", "cluster=0", "pair=0"]) {
      await page.open(`file://${essays}#${view}`);
      await sleep(100);
      assert.ok(await page.eval("document.documentElement.scrollWidth <= innerWidth"), view);
      await page.screenshot(picture(`phone-${view.replace("=", "-")}`));
    }
    await page.size(1280, 800);
  });

  await test("a pair is printed whole", async () => {
    await page.open(`file://${essays}#pair=0`);
    await page.until("document.querySelector('.pane mark')");
    await page.pdf(join(resolve(pictures), "pair.pdf"));
    await page.size(1000, 1400);
    await page.send("Emulation.setEmulatedMedia", { media: "print" });
    assert.ok(await page.eval("shown.page.panes.every((pane) => pane.scrollHeight <= pane.clientHeight + 1)"));
    await page.screenshot(picture("pair-print"));
    await page.send("Emulation.setEmulatedMedia", { media: "" });
    await page.open(`file://${essays}#view=pairs`);
    await page.pdf(join(resolve(pictures), "pairs.pdf"));
    await page.size(1280, 800);
  });

  await test("what only one program has and what the template has is not shared", async () => {
    const { handOut, lines } = programs();
    const template = join(folder, "hand-out.c");
    writeFileSync(template, handOut);
    const code = report("programs", lines, "--preset", "code", "--template", template);
    await page.open(`file://${code}#pair=0`);
    await page.until("document.querySelector('.pane mark')");
    const texts = (selector, side) => page.eval(`[...document.querySelectorAll(".pane")[${side}].querySelectorAll("${selector}")].map((part) => part.textContent)`);
    assert.deepEqual(await texts("mark .own", 0), ["// only Ada wrote this"]);
    assert.deepEqual(await texts("mark .own", 1), []);
    assert.match((await texts("mark", 0)).join(""), /both have this/);
    for (const side of [0, 1]) {
      const own = (await texts(".template", side)).join("");
      assert.match(own, /^int read_all[^]*}$/);
      assert.ok(!own.includes("squares"));
      assert.ok(!(await texts("mark", side)).join("").includes("read_all"));
    }
    assert.ok(await page.eval("!document.querySelector('.legend').hidden"));
    assert.match(await text("h1"), /\d+ shingles shared/);
    await page.screenshot(picture("template"));
  });

  await test("exact copies are those that are shown", async () => {
    const [first] = students().split("\n");
    const { text: essay } = JSON.parse(first);
    const documents = ["a/1", "a/2", "b/1"].map((url) => JSON.stringify({ url, text: essay }) + "\n").join("");
    const copies = report("copies", documents, "--group-by", "regex:^[^/]+");
    await page.open(`file://${copies}`);
    assert.match(await text(".figures"), /3documents read2pairs1clusters3documents in a pair2groups1exact copies/);
  });

  const strange = report("strange", strangeTexts(), "--threshold", "0.3", "--shingle-words", "3");

  await test("documents are shown as they are, whatever stands in them", async () => {
    for (const view of ["view=overview", "view=pairs", "view=clusters", "view=documents", "cluster=0", "doc=0"]) {
      await page.open(`file://${strange}#${view}`);
      await sleep(50);
      assert.equal(await page.eval("window.hurt"), undefined);
      assert.equal(await count("main img, main script"), 0);
    }
    const wanted = Object.fromEntries(strangeTexts().trim().split("\n").map((line) => JSON.parse(line)).map(({ url, text }) => [url, text]));
    const pairs = await page.eval("pairCount");
    assert.ok(pairs >= 7);
    for (let pair = 0; pair < pairs; pair++) {
      await page.open(`file://${strange}#pair=${pair}`);
      await page.until("document.querySelector('.text')");
      const shown = await page.eval(`[...document.querySelectorAll(".text")].map((text, side) => [docs.ids[window.shown ? 0 : [pairs.left, pairs.right][side][${pair}]], text.textContent])`);
      for (const [id, text] of shown) assert.equal(text, wanted[id]);
      assert.equal(await page.eval("window.hurt"), undefined);
      const [id] = shown[0];
      if (/عربي/.test(id)) {
        const sides = await page.eval(`(() => { const mark = document.querySelector("mark"), box = document.querySelector(".text").getBoundingClientRect(); const first = mark.getClientRects()[0]; return [first.left - box.left, box.right - first.right]; })()`);
        assert.ok(sides[1] < sides[0], `Arabic starts at the right: ${sides}`);
        await page.screenshot(picture("arabic"));
      }
      if (/中文/.test(id)) await page.screenshot(picture("chinese"));
      if (/<img/.test(id)) await page.screenshot(picture("hostile"));
    }
  });

  await test("names are hidden everywhere, and the key has them", async () => {
    const key = join(folder, "key.csv");
    const hidden = report("hidden", students(), "--threshold", "0.3", "--anonymise", "--key", key, "--group-by", "field:student", "--no-text");
    const html = readFileSync(hidden, "utf8");
    assert.ok(!/essays\/|Student \d|\/tmp\//.test(html));
    assert.match(readFileSync(key, "utf8"), /^pseudonym,id\nGroup 1,Student 0\n[^]*\nDocument 1,essays\/ada\/essay.txt\n/);
    await page.open(`file://${hidden}#pair=0`);
    await page.until("document.querySelector('.pane .note')");
    assert.match(await text(".names"), /Document \d+/);
  });

  await test("what was left out is said", async () => {
    const few = report("few", students(), "--threshold", "0.3", "--max-pairs", "5");
    await page.open(`file://${few}#view=pairs`);
    assert.match(await text(".left-out"), /^21 of 26 pairs are left out: the page has the best 5, down to a score of 0\.8/);
    assert.equal(await text("#status"), "5 pairs");
  });

  await test("a report without pairs says so", async () => {
    const none = report("none", students(), "--threshold", "1");
    for (const view of ["overview", "pairs", "clusters", "documents"]) {
      await page.open(`file://${none}#view=${view}`);
      await page.until("document.querySelector('h1')");
    }
    assert.equal(await text("#status"), "0 documents");
  });

  const many = report("many", manyPairs(12500), "--threshold", "0.7", "--max-pairs", "10000");

  await test("pairs that are left out are in the totals, and the slider starts where all are there", async () => {
    await page.open(`file://${many}`);
    const clusters = Number(execFileSync(simdup, ["cluster", "--count", "--threshold", "0.7", join(folder, "many.jsonl")]));
    const all = await page.eval("report.pair_count");
    assert.ok(all > 12000);
    const figures = await text(".figures");
    assert.ok(figures.includes(`${all.toLocaleString("en")}pairs${clusters.toLocaleString("en")}clusters`), figures);
    assert.match(await text(".left-out, .warnings"), /2,\d\d\d of 12,\d\d\d pairs are left out/);
    const slide = (value) => page.eval(`(async () => { const slider = document.querySelector("#threshold"); slider.value = ${value}; slider.dispatchEvent(new Event("input")); await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame); })()`);
    const lowest = await page.eval("lowestShown");
    const below = await page.eval("pairs.scores[pairCount - 1]");
    assert.ok(lowest > below && lowest <= below + 0.011, `${lowest} ${below}`);
    await slide(lowest);
    const shown = Number((await text("#status")).replace(/\D/g, ""));
    assert.equal(shown, await page.eval(`pairs.scores.filter((score) => score >= ${lowest}).length`));
    assert.ok(shown < 10000);
    await slide(0);
    assert.equal(Number((await text("#status")).replace(/\D/g, "")), all);
  });

  await test("a printed list says how many rows it leaves out", async () => {
    await page.open(`file://${many}#view=pairs`);
    await page.eval("shown.list.print()");
    assert.equal(await count(".rows .row"), 1000);
    assert.match(await text(".rows .printed"), /^The first 1,000 of 10,000 rows are printed/);
    assert.deepEqual(await page.eval("[...document.querySelectorAll('.rows .row')].map((row) => Number(row.dataset.index)).filter((index, at) => index !== at)"), []);
    await page.eval("shown.list.show()");
    assert.equal(await count(".rows .printed"), 0);
  });

  await test("ten thousand pairs and clusters stay quick", async () => {
    const bytes = statSync(many).size;
    assert.ok(bytes < 30e6, `${bytes} bytes`);
    const start = Date.now();
    await page.open(`file://${many}`);
    await page.until("document.querySelector('.figures')");
    const opened = Date.now() - start;
    assert.ok(opened < 2000, `opened in ${opened} ms`);
    assert.equal(await page.eval("pairCount"), 10000);
    const times = { bytes, opened };
    times.pairs = await timed(go("#view=pairs"), go("#view=overview"));
    times.clusters = await timed(go("#view=clusters"), `clustered = null; ${go("#view=overview")}`);
    assert.match(await text("#status"), /^(9,9|10,0)\d\d clusters$/);
    times.sort = await timed(`document.querySelectorAll(".listhead button")[1].click();`);
    const slide = (value) => `const slider = document.querySelector("#threshold"); slider.value = ${value}; slider.dispatchEvent(new Event("input")); await new Promise(requestAnimationFrame);`;
    times.slider = await timed(slide(0.85), slide(0.8));
    const filter = (value) => `const filter = document.querySelector("#filter"); filter.value = "${value}"; filter.dispatchEvent(new Event("input")); await new Promise(requestAnimationFrame);`;
    times.filter = await timed(filter("articles/77"), filter(""));
    assert.ok((await count(".rows .row")) < 60);
    await page.eval(`(async () => { ${go("#view=pairs")} })()`);
    times.scroll = await timed("scrollTo(0, 200000);", "scrollTo(0, 0);");
    await page.until("document.querySelector('.rows .row').dataset.index > 1000");
    times.pair = await timed(`${go("#pair=5000")} while (!document.querySelector(".pane mark")) await new Promise((done) => setTimeout(done, 1));`, `unpacked.clear(); ${go("#view=pairs")}`);
    times.passage = await timed(`document.querySelectorAll(".pane mark")[2].click();`);
    times.documents = await timed(go("#view=documents"), go("#view=overview"));
    console.log(JSON.stringify(times));
    for (const [name, time] of Object.entries(times)) if (name !== "bytes" && name !== "opened") assert.ok(time < 100, `${name}: ${time} ms`);
    await page.screenshot(picture("many"));
  });
  console.log(`${ran} tests passed`);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}

// Elements whose text is hard to read on what is behind it.
function poorContrast() {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((part) => (part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] > 0.99) return colour;
    }
    return [255, 255, 255, 1];
  };
  const poor = [];
  for (const element of document.querySelectorAll("body *")) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const style = getComputedStyle(element);
    if (!hasText || element.closest("[aria-hidden], dialog, noscript, svg, script, style, .skip") || style.display === "none" || element.getClientRects().length === 0) continue;
    const [one, two] = [light(rgba(style.color)), light(behind(element))].sort((a, b) => b - a);
    const contrast = (one + 0.05) / (two + 0.05);
    if (contrast < 4.5) poor.push(`${element.tagName}.${element.className}: ${contrast.toFixed(2)} ${element.textContent.slice(0, 30)}`);
  }
  return poor;
}
