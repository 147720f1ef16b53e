// What a training costs under settings of the reader's: the arithmetic of scripts/costs and scripts/analysis/verdicts,
// which a test in a browser holds it against. Pure.

const SECONDS_PER_HOUR = 3600;

const COUNTS = {k: 1e3, thousand: 1e3, m: 1e6, million: 1e6, b: 1e9, bn: 1e9, billion: 1e9, t: 1e12, trillion: 1e12};

/** Thousands parted in one way: by commas, spaces of any width, apostrophes or underscores. */
const PARTED = /^[+-]?\d{1,3}([,_'’\s])\d{3}(?:\1\d{3})*(?:\.\d*)?$/;

/** The number that a text writes: 0.5, 1e6, 1,000,000, 1 000 000, 10k, 10 M, 10 million, 2 billion; one with such a word in `unit`s. NaN where it writes none. */
function writtenNumber(text, unit = 1) {
  const [, digits = "", word] = /^\s*([+-]?[\d.,_'’\s]*\d\.?(?:e[+-]?\d+)?)\s*([a-z]*)\s*$/i.exec(text) ?? [];
  const plain = PARTED.test(digits) ? digits.replace(/[,_'’\s]/g, "") : digits;
  // Number("0x10") is 16, which nobody means.
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
  return value * (word ? (COUNTS[word.toLowerCase()] ?? NaN) / unit : 1);
}

/** Why a text is no setting, by its limits (scripts/costs/limits.py); empty where it is one, or nothing is typed. */
function refusal(text, limit) {
  if (text === "") return "";
  const value = writtenNumber(text), {minimum, exclusiveMinimum, maximum} = limit;
  const fits = Number.isFinite(value) && !(value < minimum) && !(value <= exclusiveMinimum) && !(value > maximum);
  const from = exclusiveMinimum === undefined ? minimum : `more than ${exclusiveMinimum}`;
  const or = exclusiveMinimum === undefined ? " or more" : "", to = exclusiveMinimum === undefined ? " to " : " and at most ";
  const allowed = maximum === undefined ? `${from}${or}` : `${from}${to}${maximum}`;
  return fits ? "" : `${allowed} is allowed, not ${text.slice(0, 20)}`;
}

/** The median of numbers. */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b), half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** Expected machine time (s) of useful work where preemptions come at random: scripts/costs/spot.py (Daly 2006). */
function expectedSeconds(useful, perHour, checkpoint, restart, save) {
  const rate = perHour / SECONDS_PER_HOUR;
  if (!(rate > 0)) return useful;
  const work = (seconds) => (seconds === 0 ? 0 : (Math.exp(rate * restart) * Math.expm1(rate * seconds)) / rate);
  const intervals = Number.isFinite(checkpoint) ? Math.max(Math.ceil(Math.round((useful / checkpoint) * 1e9) / 1e9), 1) : 1;
  const interval = Math.min(checkpoint, useful);
  return (intervals === 1 ? 0 : (intervals - 1) * work(interval + save)) + work(useful - (intervals - 1) * interval);
}

function logGamma(x) { // Lanczos, g = 7
  const c = [0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];
  const t = x + 6.5;
  const sum = c.slice(1).reduce((total, one, i) => total + one / (x + i), c[0]);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

/** The regularised incomplete beta function, by its continued fraction (Lentz). */
function beta(x, a, b) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - beta(1 - x, b, a);
  const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) + logGamma(a + b) - logGamma(a) - logGamma(b)) / a;
  let c = 1, d = 1 / (1 - ((a + b) * x) / (a + 1)), value = d;
  for (let m = 1; m < 20000; m++) {
    for (const step of [(m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))]) {
      d = 1 / (1 + step * d);
      c = 1 + step / c;
      value *= d * c;
    }
    if (Math.abs(d * c - 1) < 1e-14) break;
  }
  return front * value;
}

/** Both tails of Student's t; infinite degrees are the normal distribution, as far as p can show. */
function twoTails(t, degrees) {
  const of = Math.min(degrees, 1e6);
  return beta(of / (of + t * t), of / 2, 0.5);
}

/** The mean of a cell's runs (logarithms), its variance and degrees of freedom: scripts/analysis/noise.py. */
function ofCell(logs, noise) {
  const n = logs.length, mean = logs.reduce((a, b) => a + b) / n, count = n >= 3 ? n : 1;
  if (noise.degrees === null) return {mean, variance: noise.variance / count, degrees: Infinity};
  const degrees = noise.degrees + n - 1, squares = logs.reduce((sum, one) => sum + (one - mean) ** 2, 0);
  if (!degrees) return {mean, variance: Infinity, degrees};
  const variance = (noise.degrees * noise.variance + squares) / degrees;
  return {mean, variance: (n >= 3 ? Math.max(variance, squares / (n - 1)) : variance) / count, degrees};
}

/** The runs of two cells, compared: the gap of their means (logarithms), its error and degrees of freedom, and the least ratio that counts. */
function compared(first, second, rule, machines) {
  const noises = machines.map((name) => rule.noises[name]), [one, other] = [first, second].map((values, i) => ofCell(values.map(Math.log), noises[i]));
  const isApart = noises[0].host !== noises[1].host, between = rule.between_machines;
  const error = Math.sqrt(one.variance + other.variance + (isApart ? 2 * between.variance : 0));
  const degrees = Math.min(one.degrees, other.degrees, isApart ? between.degrees : Infinity);
  return {gap: one.mean - other.mean, error, degrees, least: 1 + Math.max(...noises.map((noise) => noise.gap))};
}

/** Whether the runs of two cells are clearly different, by the page's rule: scripts/analysis/verdicts.py. */
function clearlyDifferent(first, second, rule, machines) {
  const ratio = median(first) / median(second);
  if (Math.min(...first, ...second) <= 0) return (median(first) === 0) !== (median(second) === 0);
  const {gap, error, degrees, least} = compared(first, second, rule, machines);
  if (!degrees) return false;
  const p = error ? twoTails(Math.abs(gap) / error, degrees) : Number(gap === 0);
  return Math.max(ratio, 1 / ratio) >= least && p <= highestP(first, second, rule) && ratio < 1 === gap < 0;
}

/** The highest p at which the runs of two cells are clearly different. */
function highestP(first, second, {level, level_of_few}) {
  return Math.min(level, level_of_few[Math.min(first.length, second.length)] ?? level);
}

/** Between which ratios the first of two cells lies to the second, as surely as the rule calls them different; null where nothing is known: `Judge.reach`, scripts/analysis/verdicts.py. */
function reachOf(first, second, rule, machines) {
  if (rule.level <= 0 || Math.min(...first, ...second) <= 0) return null;
  const {gap, error, degrees} = compared(first, second, rule, machines), p = highestP(first, second, rule), ratio = median(first) / median(second);
  if (!degrees) return null;
  let [low, high] = [0, 1];
  while (twoTails(high, degrees) > p) high *= 2;
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2;
    if (twoTails(middle, degrees) > p) low = middle;
    else high = middle;
  }
  return [Math.min(ratio, Math.exp(gap - high * error)), Math.max(ratio, Math.exp(gap + high * error))];
}

/** Why two cells are not clearly different, and what would show which is better: scripts/analysis/verdicts.py. */
const CLOSE = "too close to call", EQUAL = "equal", FEW = "too few runs", DISTURBED = "all runs disturbed";
const WHY = [EQUAL, CLOSE, FEW, DISTURBED], SAME = "nothing, all are the same";
const SETTLED = {[DISTURBED]: "runs that nothing disturbs", [FEW]: "4 runs or more of each", [CLOSE]: "more runs of each, on several machines of a kind"};

/** Why two cells are not clearly different: with few runs, too, they are too close if the 95 % interval of their ratio lies within the least that counts. */
function reasonOf(first, second, rule, machines) {
  if (rule.level < 0) return DISTURBED;
  if (Math.min(first.length, second.length) >= 4) return CLOSE;
  if (Math.min(...first, ...second) <= 0) return median(first) === 0 && median(second) === 0 ? CLOSE : FEW;
  const {gap, error, degrees, least} = compared(first, second, rule, machines), left = Math.log(least) - Math.abs(gap);
  const ratio = median(first) / median(second), isWithin = Math.max(ratio, 1 / ratio) < least && left > 0;
  return degrees && isWithin && (!error || twoTails(left / error, degrees) < 0.05) ? CLOSE : FEW;
}

/** An hour of a machine (USD), null where it has no price. */
function hourly(price, machine, state) {
  const typed = state.prices[machine];
  if (typed !== undefined) return typed;
  if (!price) return null;
  if (price.own) return price.own.usd_per_month / (state.hours ?? price.own.hours_per_month) + price.own.usd_per_hour;
  return price.usd_per_hour * (1 - state.discount);
}

/** How many machines a training takes one after another where each lives for so long at most: scripts/costs/spot.py. */
const livesOf = (seconds, price) => (price?.lives_seconds ? Math.ceil(seconds / price.lives_seconds) : 1);

/** The seconds that are billed, by the rule of a price: scripts/costs/billing.py; as they are where it has none. */
function billed(seconds, price) {
  if (!price?.increment_seconds || !Number.isFinite(seconds)) return seconds;
  const [used, step] = [seconds, price.increment_seconds].map((one) => Math.round(one * 1e6));
  return used ? Math.max((Math.ceil(used / step) * step) / 1e6, price.minimum_seconds) : 0;
}

/** Whether a run is surely billed the least that there is, however far off it is extrapolated: scripts/analysis/trainings.py. */
function isLeast(run, seconds, reach, usdPerHour, price, isRate) {
  if (usdPerHour === 0) return true;
  return !isRate && !run.tries && Boolean(price?.increment_seconds) && seconds * reach + (run.beside ?? 0) <= price.minimum_seconds;
}

/** What a run is billed (USD) that takes so many seconds; a million samples at a rate have no start of their own. */
function bill(run, seconds, usdPerHour, price, isRate) {
  const each = run.tries ?? [seconds + (run.beside ?? 0)];
  const paid = isRate || !price?.increment_seconds ? seconds : each.reduce((sum, one) => sum + billed(one, price), 0);
  return (paid * usdPerHour) / SECONDS_PER_HOUR;
}

/** How long (s) a run keeps a machine busy; infinite where it did not reach the accuracy asked for. */
function usefulSeconds(run, workload, state) {
  let times = state.times ?? (state.samples === null ? 1 : state.samples / workload.samples);
  if (state.accuracy !== null) times = (run.reached ?? []).find((point) => point[1] >= state.accuracy)?.[0] ?? Infinity;
  return run.once - (state.compile ? 0 : run.first_step ?? 0) + times * run.rest;
}

/** How many times as long as a workload's own a training is that takes so many hours on a machine, as a configuration there (`like`), or at the fastest of them; null if none ran there, or none starts as fast. */
function timesOf(data, state) {
  const useful = state.takes * SECONDS_PER_HOUR, skipped = (run) => (state.compile ? 0 : run.first_step ?? 0);
  const there = data.cells.filter(({workload, hardware}) => workload === state.workload && hardware === state.on);
  const alike = there.filter(({name}) => name === state.like), mine = alike.length ? alike : there;
  const shortest = (times) => Math.min(...mine.map(({runs}) => median(runs.map((run) => run.once - skipped(run) + times * run.rest))));
  if (!there.length || !(shortest(0) < useful)) return null;
  let [low, high] = [0, 1];
  while (shortest(high) < useful && high < 1e15) high *= 2;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (shortest(middle) < useful) low = middle;
    else high = middle;
  }
  return high;
}

/** Which cell has won, or for which reasons that is not known, and of a few which may have: scripts/analysis/verdicts.py. */
function won(names, {does}, of, reasons) {
  if (names.length === 1) return `${names[0]} ${does}`;
  if (reasons.every((why) => why === EQUAL)) return `${names.length}${names.length < of ? ` of ${of}` : ""} cost the same`;
  const unsure = `${reasons.join(" or ")}${reasons.includes(DISTURBED) ? ": nobody can say" : reasons.includes(FEW) ? " to say" : ""}`;
  const words = `${unsure[0].toUpperCase()}${unsure.slice(1)} which`;
  if (names.length <= 3 && names.length < of) return `${words} ${does}: ${names.join(" or ")}`;
  return `${words} of ${names.length}${names.length < of ? ` (of ${of})` : ""} ${does}`;
}

/** Why rows of `ask` are not clearly different from the first, each reason once. */
function whyNot(rows) {
  return WHY.filter((why) => rows.some((row) => row.why === why));
}

/** What another row is beside the first: "equal", "near", if too close to call, "few", if its runs cannot say, or clearly more: scripts/analysis/trainings.py. */
function markOf(row) {
  return !row.near ? "" : {[EQUAL]: "equal", [CLOSE]: "near"}[row.why] ?? "few";
}

/** What would show whether rows of `ask` differ from the first, where that is not clear. */
function settledBy(rows) {
  if (rows.every((row) => row.why === EQUAL)) return SAME;
  return SETTLED[Object.keys(SETTLED).find((why) => rows.some((row) => row.why === why))];
}

/** By what is ranked: its values, what its best is called and does if it has won, and if others are not clearly different. */
const ROLES = {
  cost: {key: "usd", role: "cheapest", does: "is cheapest", measured: "lowest cost measured"},
  time: {key: "seconds", role: "fastest", does: "is fastest", measured: "shortest time measured"},
  value: {key: "value", role: "least time × cost", does: "has the least time × cost", measured: "least time × cost measured"},
};

/** Two rows as the rule compares them. Seconds x USD vary as the square of a time: their roots are compared as times are. */
function pairOf(row, other, by, rule) {
  const judged = ({of}) => (by === "value" ? of.value.map(Math.sqrt) : of[ROLES[by].key]);
  return [judged(row), judged(other), rule, [row.cell.hardware, other.cell.hardware]];
}

/** Which axes of cells are clear, and which open, where several may have won: scripts/analysis/verdicts.py. */
function clearAxes(axes) {
  const known = axes.filter(([, , tied, of]) => tied === 1 && of > 1).map(([axis, name]) => `${axis} is clear (${name})`);
  const unknown = axes.filter(([, , tied]) => tied > 1).map(([axis]) => `${axis} is open`);
  return known.length ? ` The ${[...known, ...(unknown.length ? unknown : ["settings are open"])].join(", the ")}.` : "";
}

/** What the rows of `ask` say of the best: its head, and the sentence that names it or what may be it. */
function best(rows, by) {
  const within = rows.filter((row) => !row.out), near = within.filter((row, place) => place === 0 || row.near), {role, measured} = ROLES[by];
  const head = near.length > 1 || within.length < 2 ? measured : role;
  return {head: head[0].toUpperCase() + head.slice(1), said: won(near.map((row) => row.name), ROLES[by], within.length, whyNot(near.slice(1)))};
}

/** The highest price of its machine (USD an hour) at which a row costs surely less than those of all other machines; null for none. */
function winsBelow(row, others, rule) {
  const wins = (times) => others.every(({of, cell}) => of.usd.length && median(row.of.usd) * times < median(of.usd) &&
    clearlyDifferent(row.of.usd.map((one) => one * times), of.usd, rule, [row.cell.hardware, cell.hardware]));
  if (!others.length || !(row.usd > 0) || !(Math.min(...others.map((one) => one.usd)) > 0)) return null;
  let [low, high] = [0, Math.min(...others.map((one) => one.usd)) / row.usd]; // of the price it has
  if (!wins(high * 1e-6)) return null;
  for (let i = 0; i < 24; i++) {
    const middle = (low + high) / 2;
    if (wins(middle)) low = middle;
    else high = middle;
  }
  return low * row.usd_per_hour;
}

/** Return the configurations of a workload that have a price: {cell, name, usd_per_hour, seconds, usd, of, out, near, why}.
 *
 * Those within deadline and budget come first, best first; `near` is what is not clearly different from the best, `why` the reason. The best of each
 * machine has `even_at`, the price (USD an hour) of its machine at which it would cost what the cheapest of another does. */
function ask(data, state) {
  if (state.takes != null && state.accuracy === null) {
    state = {...state, times: timesOf(data, state)};
    if (state.times === null) return [];
  }
  const workload = data.workloads[state.workload], prices = data.prices[state.option] ?? {};
  const rows = data.cells.filter((cell) => cell.workload === state.workload).flatMap((cell) => {
    const price = prices[cell.hardware], usdPerHour = hourly(price, cell.hardware, state);
    if (usdPerHour === null) return [];
    const rate = state.preemptions ?? price?.preemptions_per_hour ?? 0;
    const terms = [state.checkpoint ?? price?.checkpoint_seconds ?? Infinity,
      state.restart ?? price?.restart_seconds ?? 0, price?.save_seconds ?? 0];
    const seconds = cell.runs.map((run) => {
      const useful = usefulSeconds(run, workload, state);
      return run.tries || !Number.isFinite(useful) ? useful : expectedSeconds(useful, rate, ...terms);
    });
    const of = {seconds, usd: seconds.map((one, i) => bill(cell.runs[i], one, usdPerHour, price, workload.is_rate))};
    of.value = of.usd.map((one, i) => one * seconds[i]);
    const middle = Object.fromEntries(Object.entries(of).map(([key, values]) => [key, median(values)]));
    if (!Number.isFinite(middle.seconds)) return [];
    const late = state.deadline !== null && middle.seconds > state.deadline * SECONDS_PER_HOUR;
    const dear = state.budget !== null && middle.usd > state.budget;
    return [{cell, name: cell.name, usd_per_hour: usdPerHour, ...middle, of, is_least: seconds.every((one, i) => isLeast(cell.runs[i], one, cell.reach ?? 1, usdPerHour, price, workload.is_rate)), out: late ? "too slow" : dear ? "too dear" : ""}];
  });
  const {key} = ROLES[state.by];
  // Of those that cost the same, as where all are billed the least that there is, the shortest comes first.
  rows.sort((a, b) => Boolean(a.out) - Boolean(b.out) || a[key] - b[key] || a.seconds - b.seconds || a.usd - b.usd);
  const within = rows.filter((row) => !row.out), cheapest = [...within].sort((a, b) => a.usd - b.usd);
  for (const [place, row] of rows.entries()) {
    const pair = pairOf(row, rows[0], state.by, data.rule);
    row.near = place > 0 && !row.out && !clearlyDifferent(...pair);
    const isSame = state.by === "cost" && row.is_least && rows[0].is_least && row.usd === rows[0].usd;
    row.why = row.near ? (isSame ? EQUAL : reasonOf(...pair)) : "";
    const rival = cheapest.find((other) => other.cell.hardware !== row.cell.hardware);
    const isBest = cheapest.find((other) => other.cell.hardware === row.cell.hardware) === row;
    row.even_at = rival && isBest && row.usd > 0 ? (row.usd_per_hour * rival.usd) / row.usd : null;
  }
  return rows;
}

/** Of the pairs of cells on the two sides of the study's question: how many cost less on the first, and how many more. */
function pays(data, state) {
  const count = {pairs: 0, cheaper: 0, dearer: 0};
  for (const workload of Object.keys(data.workloads)) {
    const rows = ask(data, {...state, workload, by: "cost", deadline: null, budget: null});
    for (const row of rows.filter((one) => one.cell.side === 0)) {
      const other = rows.find((one) => one.cell.side === 1 && one.cell.rest === row.cell.rest);
      if (!other) continue;
      count.pairs++;
      if (!clearlyDifferent(row.of.usd, other.of.usd, data.rule, [row.cell.hardware, other.cell.hardware])) continue;
      count[row.usd < other.usd ? "cheaper" : "dearer"]++;
    }
  }
  return count;
}
