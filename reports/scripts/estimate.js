// What a training of a language model would do on other cards: scripts/estimate/linear.py in the browser, which a test holds
// it against. Pure.

/** The columns of the model that are numbers, of a point {card, kind, active, total, length ...} on its card. */
const NUMBERS = {
  "constant": () => 1,
  "peak": (point, card) => Math.log(card.peak_tflops.bf16 / 989),
  "bandwidth": (point, card, model) => bandwidth(card) - bandwidth(model.cards.H100),
  "size": ({active}) => Math.log(active / 8),
  "size below 1 billion": ({active}) => Math.min(0, Math.log(active)),
  "sparsity": ({kind, active, total}) => (kind === "moe" ? Math.log(total / active) : 0), // what a dense model looks up takes no time
  "length": ({length}) => Math.log((length ?? 4096) / 4096),
  "length above 8192": ({length}) => Math.max(0, Math.log((length ?? 4096) / 8192)),
  "size above 1 billion": ({active}) => Math.log(Math.max(1, active) / 8),
  "attention": ({active, gflop, task, is_quantised}, _, {tasks}) => Math.max(0, 1 - (6 * active * tasks[is_quantised ? "qlora" : task]) / gflop),
};

function bandwidth(card) {
  return Math.log(card.bandwidth_gb_per_second / card.peak_tflops.bf16);
}

/** GFLOP of a token forward and back, attention counted as causal, and what a task saves of it or takes beside it. */
function gflopPerToken({active, layers, width, length, task}, model) {
  return (6 * active + (6 * layers * length * width) / 1e9) * model.tasks[task];
}

/** What the data sheet alone says: the logarithm of TFLOP a second. */
function fromDataSheet(point, model) {
  const peaks = model.cards[point.card].peak_tflops;
  return Math.log(peaks.bf16 / 989) + 0.5 * Math.log(peaks[point.precision] / peaks.bf16) + Math.log(396) - (point.kind === "dense" ? 0 : 0.6);
}

function designOf(point, model) {
  const card = model.cards[point.card];
  const isSo = (is) => !is || Object.entries(is).every(([key, value]) => point[key] === value);
  return model.columns.map(({number, is}) => (!isSo(is) ? 0 : number ? NUMBERS[number](point, card, model) : 1));
}

/** What the models of two points have of their own together, and what 4-bit weights take. */
function ownTogether(one, other, model) {
  const together = model.own.reduce((sum, [keys, deviation]) => sum + (keys.every((key) => one[key] === other[key]) ? deviation ** 2 : 0), 0);
  return together * model.own_of_kind[one.kind] * model.own_of_kind[other.kind] + (one.is_quantised && other.is_quantised ? model.quantised ** 2 : 0);
}

/** Covariance of weights times a design, whose entries are mostly 0. */
function spreadOf(design, model) {
  const found = design.map(() => 0);
  design.forEach((value, column) => {
    if (value) for (let row = 0; row < found.length; row++) {
      const [high, low] = row > column ? [row, column] : [column, row];
      found[row] += value * model.covariance[(high * (high + 1)) / 2 + low];
    }
  });
  return found;
}

const dot = (one, other) => one.reduce((sum, value, i) => sum + value * other[i], 0);

/** Solve a small symmetric system by elimination. */
function solved(matrix, right) {
  const rows = matrix.map((row, i) => [...row, right[i]]), n = rows.length;
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) {
      const share = rows[j][i] / rows[i][i];
      for (let k = i; k <= n; k++) rows[j][k] -= share * rows[i][k];
    }
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) rows[i][n] -= rows[i][k] * rows[k][n];
    rows[i][n] /= rows[i][i];
  }
  return rows.map((row) => row[n]);
}

/**
 * Return of each point asked for the logarithm of tokens a second and card (`log`), and the covariance of all (`spread`).
 *
 * `measured` are points of the same model with their `rate`: the person's own, or `printed`.
 */
function predicted(model, asked, measured) {
  const x = asked.map((point) => designOf(point, model)), far = x.map((design) => spreadOf(design, model));
  const z = measured.map((point) => designOf(point, model));
  const expected = asked.map((point, i) => fromDataSheet(point, model) + dot(x[i], model.weights));
  const spread = asked.map((one, i) => asked.map((other, j) => dot(far[i], x[j]) + ownTogether(one, other, model) + (i === j ? model.noise ** 2 : 0)));
  if (measured.length) {
    const near = z.map((design) => spreadOf(design, model));
    const among = measured.map((one, i) => measured.map((other, j) => dot(near[i], z[j]) + ownTogether(one, other, model) + (i === j ? (one.printed ? model.printed : model.measured) ** 2 : 0)));
    const across = asked.map((one, i) => measured.map((other, j) => dot(far[i], z[j]) + ownTogether(one, other, model)));
    const missed = measured.map((point, i) => Math.log((point.rate * point.gflop) / 1000) - fromDataSheet(point, model) - dot(z[i], model.weights));
    const gain = across.map((row) => solved(among, row));
    gain.forEach((row, i) => {
      expected[i] += dot(row, missed);
      for (let j = 0; j < asked.length; j++) spread[i][j] -= dot(row, across[j]);
    });
  }
  return {log: expected.map((value, i) => value - Math.log(asked[i].gflop / 1000)), spread};
}

/** The share of a normal below a point, by Marsaglia's series ("Evaluating the Normal Distribution", 2004). */
function normalBelow(point) {
  let sum = point, term = point;
  for (let i = 3, before = NaN; sum !== before; i += 2) {
    before = sum;
    sum += term *= point ** 2 / i;
  }
  return 0.5 + sum * normalDensity(point);
}

function normalDensity(point) {
  return Math.exp(-(point ** 2) / 2) / Math.sqrt(2 * Math.PI);
}

/** The quantile of the standard normal distribution: Wichura's algorithm AS 241 (1988), to sixteen digits. */
function normalQuantile(p) {
  const poly = (x, c) => c.reduceRight((sum, one) => sum * x + one, 0), q = p - 0.5;
  if (Math.abs(q) <= 0.425) {
    const r = 0.180625 - q * q;
    return (q * poly(r, [3.387132872796366608, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125, 45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727])) /
      poly(r, [1, 42.313330701600911252, 687.1870074920579083, 5394.1960214247511077, 21213.794301586595867, 39307.89580009271061, 28729.085735721942674, 5226.495278852545925]);
  }
  const r = Math.sqrt(-Math.log(Math.min(p, 1 - p))), sign = Math.sign(q);
  if (r <= 5) {
    return (sign * poly(r - 1.6, [1.42343711074968357734, 4.6303378461565452959, 5.7694972214606914055, 3.64784832476320460504, 1.27045825245236838258, 0.24178072517745061177, 0.0227238449892691845833, 7.7454501427834140764e-4])) /
      poly(r - 1.6, [1, 2.05319162663775882187, 1.6763848301838038494, 0.68976733498510000455, 0.14810397642748007459, 0.0151986665636164571966, 5.475938084995344946e-4, 1.05075007164441684324e-9]);
  }
  return (sign * poly(r - 5, [6.6579046435011037772, 5.4637849111641143699, 1.7848265399172913358, 0.29656057182850489123, 0.026532189526576123093, 0.0012426609473880784386, 2.71155556874348757815e-5, 2.01033439929228813265e-7])) /
    poly(r - 5, [1, 0.59983220655588793769, 0.13692988092273580531, 0.0148753612908506148525, 7.868691311456132591e-4, 1.8463183175100546818e-5, 1.4215117583164458887e-7, 2.04426310338993978564e-15]);
}

/**
 * A normal of which nothing lies above a ceiling: {low, middle, high, times}, the 80 % interval, its median, and how many
 * times as wide it still is; null where the ceiling denies it: scripts/estimate/ceiling.py.
 */
function below(middle, deviation, ceiling) {
  const place = (ceiling - middle) / deviation, isCut = place < 6;
  if (place < -3) return null;
  const share = isCut ? normalBelow(place) : 1, hazard = isCut ? normalDensity(place) / share : 0;
  const [low, half, high] = [0.1, 0.5, 0.9].map((level) => middle + deviation * normalQuantile(level * share));
  return {low, middle: half, high, times: Math.sqrt(1 - (isCut ? place : 0) * hazard - hazard ** 2)};
}

/** The 80 % interval of a normal and its middle, none of them above a ceiling: what was measured is not shifted by what cannot be. */
function upTo(middle, deviation, ceiling) {
  const [low, half, high] = [0.1, 0.5, 0.9].map((level) => Math.min(ceiling, middle + deviation * normalQuantile(level)));
  return {low, middle: half, high, times: 1};
}

/**
 * The model as it is without points of one model of language that it was fitted to: what they taught is taken back, which
 * is conditioning on them with their noise below zero. Fitted anew it is the same (scripts/estimate/linear.py).
 */
function withoutPoints(model, points) {
  const x = points.map((point) => designOf(point, model)), far = x.map((design) => spreadOf(design, model));
  const among = points.map((one, i) => points.map((other, j) => ownTogether(one, other, model) + (i === j ? model.noise ** 2 : 0) - dot(far[i], x[j])));
  const missed = points.map((point, i) => Math.log((point.rate * point.gflop) / 1000) - fromDataSheet(point, model) - dot(x[i], model.weights));
  const of = model.weights.map((_, column) => far.map((row) => row[column])), gain = of.map((row) => solved(among, row));
  return {...model, weights: model.weights.map((weight, i) => weight - dot(gain[i], missed)),
    covariance: of.flatMap((_, i) => of.slice(0, i + 1).map((other, j) => model.covariance[(i * (i + 1)) / 2 + j] + dot(gain[i], other)))};
}

/**
 * How many times as fast a card trains a net as another does, by tables of rates ({net: {precision: {card: rate}}}):
 * {middle, low, high, families}, null where too few families of nets say or it is refused: scripts/estimate/classic.py.
 */
function ratioOf({rates, families, kinds, level, fewest, fewest_alike, refused}, precision, measured, asked, net) {
  const family = (name) => families[name] ?? name, kind = (name) => kinds[name] ?? name, logs = new Map(), others = new Map();
  for (const [name, of] of Object.entries(rates)) {
    const one = of[precision]?.[asked], other = of[precision]?.[measured];
    if (one && other) logs.set(name, Math.log(one / other));
  }
  for (const [name, value] of logs) if (name !== net && family(name) !== family(net)) others.set(family(name), [...(others.get(family(name)) ?? []), value]);
  const own = logs.get(net), of = kind(family(net)), isOld = (card) => card.startsWith("v100");
  if (others.size < fewest || (own === undefined && isOld(measured) !== isOld(asked) && refused.some(([one, bits]) => one === of && bits === precision))) return null;
  const middles = [...others].map(([name, values]) => ({kind: kind(name), value: median(values)}));
  const middleOf = (among, like) => {
    const alike = among.filter((one) => one.kind === like);
    return median((alike.length >= fewest_alike ? alike : among).map(({value}) => value));
  };
  const off = middles.map((one) => Math.abs(one.value - middleOf(middles.filter((other) => other !== one), one.kind))).sort((a, b) => a - b);
  const reach = off[Math.min(Math.ceil(level * (off.length + 1)), off.length) - 1], middle = own ?? middleOf(middles, of);
  return {middle: Math.exp(middle), low: Math.exp(middle - reach), high: Math.exp(middle + reach), families: others.size + Number(logs.has(net))};
}
