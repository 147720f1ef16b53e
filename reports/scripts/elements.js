// How numbers read, and elements of which no text is markup.

/** A number with three significant digits, thousands parted: scripts/storage/numbers.py. */
function shown(value, digits = 3) {
  if (!Number.isFinite(value)) return "—";
  const rounded = Number(value.toExponential(digits - 1));
  const decimals = rounded === 0 ? digits : Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(rounded))));
  return value.toLocaleString("en-US", {minimumFractionDigits: decimals, maximumFractionDigits: decimals});
}

function duration(seconds) {
  for (const [unit, size] of [["days", 86400], ["h", 3600], ["min", 60]]) if (seconds >= 2 * size) return `${shown(seconds / size)} ${unit}`;
  return `${shown(seconds)} s`;
}

/** An element with a class and children, which are elements or texts: never markup. */
function made(tag, kind, ...children) {
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  element.append(...children);
  return element;
}
