// What a training of a language model would do on other cards: scripts/estimate/linear.py in the browser, which a test holds
// it against. Pure.

/** The columns of the model that are numbers, of a point {card, kind, active, total, length ...} on its card. */
const NUMBERS = {
  "constant": () => 1,
  "peak": (point, card) => Math.log(card.peak_tflops.bf16 / 989),
  "bandwidth": (point, card, model) => bandwidth(card) - bandwidth(model.cards.H100),
  "size": ({active}) => Math.log(active / 8),
  "size below 1 billion": ({active}) => Math.min(0, Math.log(active)),
  "sparsity": ({active, total}) => Math.log(total / active),
  "length": ({length}) => Math.log((length ?? 4096) / 4096),
  "length above 8192": ({length}) => Math.max(0, Math.log((length ?? 4096) / 8192)),
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
  return model.columns.map(({number, is}) => (number ? NUMBERS[number](point, card, model) : Number(Object.entries(is).every(([key, value]) => point[key] === value))));
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
  const told = asked.map((point, i) => fromDataSheet(point, model) + dot(x[i], model.weights));
  const spread = asked.map((one, i) => asked.map((other, j) => dot(far[i], x[j]) + ownTogether(one, other, model) + (i === j ? model.noise ** 2 : 0)));
  if (measured.length) {
    const near = z.map((design) => spreadOf(design, model));
    const among = measured.map((one, i) => measured.map((other, j) => dot(near[i], z[j]) + ownTogether(one, other, model) + (i === j ? (one.printed ? model.printed : model.measured) ** 2 : 0)));
    const across = asked.map((one, i) => measured.map((other, j) => dot(far[i], z[j]) + ownTogether(one, other, model)));
    const missed = measured.map((point, i) => Math.log((point.rate * point.gflop) / 1000) - fromDataSheet(point, model) - dot(z[i], model.weights));
    const gain = across.map((row) => solved(among, row));
    gain.forEach((row, i) => {
      told[i] += dot(row, missed);
      for (let j = 0; j < asked.length; j++) spread[i][j] -= dot(row, across[j]);
    });
  }
  return {log: told.map((value, i) => value - Math.log(asked[i].gflop / 1000)), spread};
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
 * {middle, low, high, families}, null where too few families of nets tell: scripts/estimate/classic.py.
 */
function ratioOf({rates, families, level, fewest}, precision, measured, asked, net) {
  const family = (name) => families[name] ?? name, logs = new Map(), others = new Map();
  for (const [name, of] of Object.entries(rates)) {
    const one = of[precision]?.[asked], other = of[precision]?.[measured];
    if (one && other) logs.set(name, Math.log(one / other));
  }
  for (const [name, value] of logs) if (name !== net && family(name) !== family(net)) others.set(family(name), [...(others.get(family(name)) ?? []), value]);
  if (others.size < fewest) return null;
  const middles = [...others.values()].map(median), without = (i) => median(middles.filter((_, j) => j !== i));
  const off = middles.map((value, i) => Math.abs(value - without(i))).sort((a, b) => a - b);
  const reach = off[Math.min(Math.ceil(level * (off.length + 1)), off.length) - 1], middle = logs.get(net) ?? median(middles);
  return {middle: Math.exp(middle), low: Math.exp(middle - reach), high: Math.exp(middle + reach), families: others.size + Number(logs.has(net))};
}
