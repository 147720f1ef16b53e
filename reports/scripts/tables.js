// Tables: sorted by their heads, filtered and copied. On a phone a row becomes a card, with the heads beside its values.

/** So many rows, and values of a row, are seen on a phone before all are asked for. */
const MOST_ROWS = 8, MOST_VALUES = 4;

/** What a cell shows while it is closed. */
function textOf(cell) {
  return ((cell?.querySelector("summary") ?? cell)?.textContent ?? "").trim().replace(/\s+/g, " ");
}

const SECONDS = {s: 1, min: 60, h: 3600, days: 86400};

/** What a cell sorts by: its number, of a time its seconds; else, and of a date, its text. */
function sortKey(cell) {
  const text = textOf(cell), value = Number.parseFloat(text.replaceAll(",", ""));
  if (Number.isNaN(value) || /^\d{4}-\d\d/.test(text)) return text;
  return value * (SECONDS[/^[\d.,]+ (s|min|h|days)\b/.exec(text)?.[1]] ?? 1);
}

function compareKeys(a, b) {
  if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b);
  return typeof a === "number" ? -1 : 1; // what is missing comes last
}

/** Heads become buttons that sort; what a head means is read in `note` while one has the focus, for who has no pointer. */
function sortable(table, heads, note) {
  const body = table.tBodies[0];
  for (const [place, head] of heads.entries()) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    if (head.title) button.setAttribute("aria-description", head.title);
    button.addEventListener("focus", () => { note.textContent = head.title; });
    button.addEventListener("blur", () => { note.textContent = ""; });
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const keyed = [...body.rows].map((row) => [sortKey(row.cells[place]), row]);
      keyed.sort(([a], [b]) => (up ? compareKeys(a, b) : compareKeys(b, a)));
      body.append(...keyed.map(([, row]) => row));
    });
  }
}

function tools(table, label) {
  const bar = document.createElement("div"), rows = [...table.tBodies[0].rows];
  bar.className = "tools";
  if (rows.length > 12) {
    const texts = rows.map((row) => row.textContent.toLowerCase()), filter = document.createElement("input");
    filter.type = "search";
    filter.placeholder = "filter";
    filter.setAttribute("aria-label", `Filter: ${label}`);
    filter.addEventListener("input", () => {
      table.classList.remove("folded");
      const words = filter.value.toLowerCase().split(/\s+/);
      rows.forEach((row, place) => (row.hidden = !words.every((word) => texts[place].includes(word))));
    });
    bar.append(filter);
  }
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.title = label;
  button.addEventListener("click", () => {
    const shown = [...table.rows].filter((row) => !row.hidden);
    copy(button, shown.map((row) => [...row.cells].map((cell) => textOf(cell)).join("\t")).join("\n"), "The browser forbids it");
  });
  bar.append(button);
  return bar;
}

/** Shows the first of what is a dozen screens on a phone, and a button for all. */
function fold(element, words) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "unfold";
  button.textContent = words;
  button.addEventListener("click", () => element.classList.remove("folded"));
  element.classList.add("folded");
  element.after(button);
}

/** Does something once the page is as narrow as on a phone, at once or later. */
function onPhone(act) {
  if (NARROW.matches) act();
  else NARROW.addEventListener("change", act, {once: true});
}

for (const table of document.querySelectorAll("main .table > table:not(.heat)")) {
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])], rows = table.tBodies[0]?.rows ?? [];
  if (table.tHead?.rows.length !== 1 || heads.some((head) => head.colSpan > 1) || rows.length < 2) continue;
  const texts = heads.map((head) => head.textContent.trim());
  onPhone(() => {
    table.classList.add("stacked");
    const isLong = rows.length > MOST_ROWS, plain = heads.filter((head) => !head.classList.contains("extra"));
    const isWide = plain.length > MOST_VALUES + 2, far = new Set(isWide ? plain.slice(MOST_VALUES + 1) : []);
    for (const head of far) head.classList.add("far");
    if (isLong || isWide) fold(table, isLong ? `All ${rows.length} rows${isWide ? `, ${plain.length} columns` : ""}` : `All ${plain.length} columns`);
    for (const row of rows) {
      [...row.cells].forEach((cell, place) => {
        cell.setAttribute("data-head", texts[place] ?? "");
        cell.classList.toggle("far", far.has(heads[place]));
      });
      const near = [...row.cells].filter(({classList}) => classList.contains("n") && !classList.contains("far"));
      row.classList.toggle("far", isWide && near.length > 0 && near.every((cell) => cell.textContent.trim() === "—"));
    }
  });
  if (rows.length < 4) continue;
  const bar = tools(table, table.parentElement.getAttribute("aria-label") ?? "table"), note = made("span", "means");
  bar.append(note);
  sortable(table, heads, note);
  table.parentElement.before(bar);
}
