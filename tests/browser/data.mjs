// Collections to make reports of, always the same.

function chance(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function words(count, random) {
  const made = [];
  for (let index = 0; index < count; index++) {
    let word = "";
    for (let letters = 2 + random(8); letters > 0; letters--) word += "etaoinshrdlucmfwypvbgk"[random(1 + random(22))];
    made.push(word);
  }
  return made;
}

const line = (url, text, more = {}) => JSON.stringify({ url, text, ...more }) + "\n";

// Pairs of documents of about 2 kB, each pair a cluster of its own.
export function manyPairs(count) {
  const random = chance(7);
  const known = words(20000, random);
  const lines = [];
  for (let pair = 0; pair < count; pair++) {
    const text = Array.from({ length: 330 }, () => known[random(1 + random(known.length))]);
    lines.push(line(`https://site-${pair % 97}.example/articles/${pair}/original`, text.join(" ")));
    const edited = text.slice();
    for (let edit = 0; edit < 3 + (pair % 9); edit++) edited[random(edited.length)] = known[random(known.length)];
    lines.push(line(`https://copy-${pair % 89}.example/posts/${pair}/copy`, edited.join(" ")));
  }
  return lines.join("");
}

const REST = "and then we walked down to the harbour where the boats were coming in, one after the other, with their lamps lit and their nets full of herring";

// Texts that are to be shown as they are: markup, other scripts and directions, layout.
export function strangeTexts() {
  const hostile = `</script><script>window.hurt = 1</script><img src=x onerror="window.hurt = 1"> &lt;b&gt; <!-- ${REST}`;
  const arabic = "كان يا ما كان في قديم الزمان رجل يعيش في قرية صغيرة على شاطئ البحر وكان يصنع القوارب من خشب الأرز ويبيعها للصيادين في الميناء كل ربيع";
  const chinese = "从前有一座山，山里有一座庙，庙里有一个老和尚在给小和尚讲故事。他说，很久以前，海边的村子里住着一位造船的老人，每年春天他都把船卖给渔夫。";
  const russian = "Жил-был у самого синего моря старый лодочник, который каждую весну строил лодки из кедра и продавал их рыбакам в гавани, а по вечерам рассказывал сказки.";
  const thai = "กาลครั้งหนึ่งนานมาแล้วมีชายชราคนหนึ่งอาศัยอยู่ในหมู่บ้านเล็กๆริมทะเลเขาต่อเรือจากไม้และขายให้ชาวประมงทุกฤดูใบไม้ผลิ";
  const code = "int main(void) {\n\tint total = 0;\n\tfor (int i = 0; i < 10; i++) {\n\t\ttotal += i * i;   // squares\n\t}\n\n\n\treturn total == 285 ? 0 : 1;\n}\n";
  const twice = (name, text, ending) => line(`${name}-1`, text) + line(`${name}-2`, `${ending} ${text}`);
  return (
    twice('<img src=x onerror="window.hurt=1">', hostile, "New start:") +
    twice("عربي", arabic, "قالوا إنه") +
    twice("中文", chinese, "开头不同。") +
    twice("русский", russian, "Говорят:") +
    twice("ไทย", thai, "ว่ากันว่า") +
    twice("code", `${code}${code.replaceAll("total", "sum")}`, "/* mine */") +
    line("moved-1", `First the boats came in. ${REST}. Then, when the church clock struck nine, everybody went home to bed and slept until the sun came up again over the breakwater.`) +
    line("moved-2", `Then, when the church clock struck nine, everybody went home to bed and slept until the sun came up again over the breakwater. First the boats came in. ${REST}.`)
  );
}

// Students who handed in versions of each other's essays.
export function students() {
  const random = chance(11);
  const known = words(900, random);
  const lines = [];
  let text = Array.from({ length: 420 }, () => known[random(known.length)]);
  for (let student = 0; student < 14; student++) {
    text = student % 5 === 4 ? Array.from({ length: 420 }, () => known[random(known.length)]) : text.slice();
    for (let edit = 0; edit < 9; edit++) text[random(text.length)] = known[random(known.length)];
    const moved = text.slice(200, 300).concat(text.slice(0, 200), text.slice(300));
    const essay = (student % 3 ? text : moved).map((word, at) => (at % 40 === 39 ? `${word}.\n\n` : word)).join(" ");
    lines.push(line(`essays/${["ada", "ben", "cleo", "dora", "emil", "fred", "gina", "hugo", "ines", "jan", "kira", "lars", "mara", "nils"][student]}/essay.txt`, essay, { student: `Student ${student}` }));
  }
  return lines.join("");
}

// Two programs with a hand-out in them; what they have besides is the same but for a comment.
export function programs() {
  const random = chance(5);
  const body = (statements) => Array.from({ length: 30 }, () => statements[random(statements.length)]);
  const given = body(["if (a > 3) b += a;", "while (b < a) { b++; a--; }", "print(a, b);", "a = (b << 2) ^ a;", "for (a = 0; a < b; a++) b %= 7;"]);
  const handOut = `int read_all(int a, int b) {\n${given.map((line) => `  ${line}\n`).join("")}  return a & b | 12;\n}`;
  const own = body(["switch (*a) { case 1: break; default: *a <<= b; }", "do { a[b] *= a[b] - 1; } while (!a[b]);", "a[b] = b != 4 ? ~*a : *a / b;", "else if (a[b] == *a || b >= 9) continue;", "goto next; next: a[b++] -= b-- % 3;"]);
  const program = (comment) => `${handOut}\nlong squares(long *a, long b) {\n${own.map((line, at) => `  ${line}${at === 10 ? " // both have this" : at === 15 ? comment : ""}\n`).join("")}  return a[0] ? -b : +b;\n}\n`;
  return { handOut, lines: line("ada.c", program(" // only Ada wrote this")) + line("ben.c", program("")) };
}
