// How numbers read, elements of which no text is markup, and how wide the page is.

/** Whether the page is as narrow as on a phone: style.css has the same width. */
const NARROW = matchMedia("(max-width: 37.5rem)");

/** A number with three significant digits, thousands parted: scripts/storage/numbers.py. */
function shown(value, digits = 3) {
  if (!Number.isFinite(value)) return "—";
  const rounded = Number(value.toExponential(digits - 1));
  const decimals = rounded === 0 ? digits : Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(rounded))));
  return value.toLocaleString("en-US", {minimumFractionDigits: decimals, maximumFractionDigits: decimals});
}

/** How many digits of a number an interval bears: two, and three where its ends lie within a quarter: scripts/estimate/rates.py. */
function digitsWithin(low, high) {
  return high <= 1.25 * low ? 3 : 2;
}

/** A number with so many significant digits, zeros for the rest of a large one: scripts/storage/numbers.py. */
function rounded(value, digits = 3) {
  return shown(Number(value.toPrecision(digits)), digits);
}

/** Between which numbers something lies, one where both ends read the same: scripts/storage/numbers.py. */
function between(low, high, digits) {
  return [...new Set([low, high].map((end) => rounded(end, digits)))].join(" to ");
}

function duration(seconds, write = shown) {
  for (const [unit, size] of [["days", 86400], ["h", 3600], ["min", 60]]) if (seconds >= 2 * size) return `${write(seconds / size)} ${unit}`;
  return `${write(seconds)} s`;
}

/** The first of some names, and how many more there are: scripts/storage/words.py. */
function few(names) {
  return names.slice(0, 3).join("; ") + (names.length > 3 ? ` and ${names.length - 3} more` : "");
}

/** Copies a text, and says on its button for a while whether it could. */
async function copy(button, text, otherwise) {
  const words = (button.dataset.words ??= button.textContent);
  const copied = await navigator.clipboard?.writeText(text).then(() => true, () => false);
  button.setAttribute("aria-live", "polite");
  button.textContent = copied ? "Copied" : otherwise;
  setTimeout(() => { button.textContent = words; }, 2000);
}

/** What is jumped to stands below the bar of sections, however many lines that has; a chapter's heading is above what its address names. */
function clear(bar) {
  const height = getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0;
  document.documentElement.style.setProperty("--nav", `${height}px`);
  for (const head of document.querySelectorAll(".chapter > summary")) head.nextElementSibling.style.setProperty("--head", `${head.offsetHeight}px`);
}

const BAR = document.querySelector("main > nav");
if (BAR) {
  clear(BAR);
  new ResizeObserver(() => clear(BAR)).observe(BAR);
}

/** An element with a class and children, which are elements or texts: never markup. */
function made(tag, kind, ...children) {
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  element.append(...children);
  return element;
}
