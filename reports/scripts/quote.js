// The front door: reads a question about a training, quotes it on every card with a price, and keeps it in the address.
// The pure part is that of scripts/estimate (question, rates, choice, dollars), which a test holds it against.

/** The quantile of a normal distribution at nine of ten: of an interval of 80 %. */
const NINE_TENTHS = 1.2815515655446004;

const MONTH_MS = 30.44 * 86400e3;

/** How many months ago something of a date (YYYY, YYYY-MM or YYYY-MM-DD) was. */
function monthsSince(date, today) {
  return Math.max(0, (Date.parse(today) - Date.parse(date + "YYYY-01-01".slice(date.length))) / MONTH_MS);
}

const K_OF_LENGTH = 1024; // a sequence of 4k has 4,096 tokens

/** A number as people write large ones (`writtenNumber`): null of nothing. */
const numberOf = (text, unit = 1) => (text.trim() === "" ? null : writtenNumber(text, unit));

/** The tokens of a sequence: scripts/estimate/question.py. */
function lengthOf(text) {
  const short = /^(.*\d)\s*k$/i.exec(text.trim());
  return short ? numberOf(short[1]) * K_OF_LENGTH : numberOf(text);
}

/** A rate of a card, or of several together (3600/4): {rate, of}, null where it is not said of how many. */
function rateOf(text) {
  const several = /^(.+)\/\s*(\d+)$/.exec(text.trim()), of = several ? Number(several[2]) : null, rate = numberOf(several ? several[1] : text);
  return {rate: rate === null ? null : rate / (of ?? 1), of};
}

/** A training as the model takes it, and what cannot be of it (`problems`): a model by its name, or by its numbers with layers and width of the one next in size. */
function questionOf(given, data) {
  const problems = [], exact = (value) => value.toLocaleString("en-US", {maximumSignificantDigits: 6}), within = (value, [low, high], what) => {
    if (!(value >= low && value <= high)) problems.push(`${what}: ${exact(low)} to ${exact(high)} are allowed.`);
  };
  for (const text of new Set(given.unreadable)) problems.push(`${text} is no number: 10, 10,000, 10 000, 1e7, 10M or 10 million are (k, M, B, T).`);
  const named = data.models[given.model], active = given.kind === "moe" ? given.active : given.billion, alike = Object.values(data.models).filter(({kind, of_layers}) => kind === given.kind && !of_layers);
  if (!named) {
    within(active, data.sizes[given.kind], given.kind === "moe" ? "Active parameters, billions" : "Parameters, billions");
    if (given.kind === "moe" && !(given.billion >= active)) problems.push("All parameters: at least the active ones.");
    if (given.billion > data.most_in_all[given.kind]) problems.push(`All parameters, billions: up to ${exact(data.most_in_all[given.kind])} are allowed.`);
  }
  within(given.length, data.lengths, "Tokens of a sequence");
  if (!(given.tokens > 0 && given.tokens <= data.most_tokens)) problems.push(`Billions of tokens: more than 0 and at most ${shown(data.most_tokens / 1e9)} are allowed.`);
  if (given.cards !== null && !(Number.isInteger(given.cards) && given.cards >= 1 && given.cards <= data.most_cards)) problems.push(`Cards: 1 to ${shown(data.most_cards)} are allowed.`);
  const far = (one) => Math.abs(Math.log(one.active / active)), near = named ?? alike.reduce((best, one) => (far(one) < far(best) ? one : best));
  const size = named ?? {kind: given.kind, active, total: given.billion}, task = given.task === "qlora" ? "lora" : given.task;
  const asked = {...given, kind: size.kind, active: size.active, total: size.total, layers: near.layers, width: near.width, model: named ? given.model : "asked", has_family: Boolean(named?.has_family), is_quantised: task !== given.task};
  asked.points = (named?.points ?? []).map((point) => ({...point, model: asked.model, kind: asked.kind, active: asked.active, total: asked.total}));
  asked.gflop = gflopPerToken(asked, data.model);
  asked.task = task;
  asked.state_bytes = given.bytes ?? data.state_bytes[given.task];
  asked.state_gb = asked.total * asked.state_bytes;
  if (!(asked.state_bytes > 0)) problems.push("Bytes of a parameter: more than 0 are allowed.");
  if (!(given.preemptions >= 0)) problems.push("Preemptions an hour: 0 or more are allowed.");
  if (asked.is_quantised && given.precision !== "bf16") problems.push("QLoRA keeps weights in 4 bits and computes in BF16.");
  for (const name of given.unknown ?? []) problems.push(`${name} is no card or provider that is known: ${[...Object.keys(data.providers), ...Object.keys(data.model.cards)].join(", ")}.`);
  asked.sequence_gb = (2 * (near.of_layers ?? asked.layers) * given.length * asked.width) / 1e9; // the BF16 inputs of a sequence's layers
  asked.kept_gb = asked.state_gb + asked.sequence_gb;
  if (named?.positions && given.length > named.positions) {
    const beyond = textOf(data, "positions", {model: given.model, positions: named.positions.toLocaleString("en-US"), length: given.length.toLocaleString("en-US")});
    if (named.are_learned) problems.push(`Tokens of a sequence: ${beyond}${textOf(data, "learned")}.`);
    else asked.stretched = `${beyond}${textOf(data, "stretched")}.`;
  }
  asked.vocabulary = named?.vocabulary ?? null;
  asked.ran = named?.ran ?? [];
  asked.is_usual = asked.state_bytes === data.state_bytes[given.task];
  asked.asked_task = given.task;
  asked.sequences = Math.floor(given.tokens / given.length);
  if (given.tokens < given.length) problems.push("Tokens: less than one sequence.");
  else if (given.cards > asked.sequences) problems.push(`Cards: with a sequence each at most ${asked.sequences.toLocaleString("en-US")}, as many as the whole training has.`);
  if (given.by_hours && given.cards === null) problems.push("Hours are of so many cards: say above how many took them.");
  else if (given.rate !== null) {
    if (given.of !== null && !(given.of >= 1 && given.of <= data.most_cards)) problems.push(`Cards of the rate: 1 to ${shown(data.most_cards)} are allowed.`);
    const peak = data.model.cards[given.on].peak_tflops[given.precision], most = (peak * 1000) / asked.gflop;
    if (!peak) problems.push(`${given.on} has no ${given.precision.toUpperCase()}.`);
    else if (!(given.rate > 0)) problems.push("Tokens a second and card, or hours: more than 0 are allowed.");
    else if (given.rate < data.least_of_peak * most) problems.push(`${shown(given.rate)} tokens a second are less than ${data.least_of_peak * 100} % of what the data sheet's peak allows (${exact(most)}): ${given.by_hours ? "are model, tokens and cards those of your hours" : "are they samples or steps"}?`);
    else if (given.rate > most) problems.push(`${shown(given.rate)} tokens a second are more than the data sheet's peak allows on ${given.on} (${exact(most)}): ${given.by_hours ? "are model, tokens and cards those of your hours" : "is it the rate of one card, and of this model"}?`);
  }
  return {asked, problems};
}

/** A text that a terminal says too, with its values: scripts/estimate/reasons.py. */
function textOf(data, key, values = {}) {
  return data.texts[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** The software that tables have on TPUs or on GPUs, whichever a card is. */
const softwareOn = (card, data) => (card.startsWith("TPU") ? data.tpu_software : data.gpu_software);

/** Why the rate of a card is not answered; empty if it is: scripts/estimate/rates.py. */
function refusalOf(asked, card, data) {
  const peaks = data.model.cards[card].peak_tflops;
  if (!peaks[asked.precision]) return textOf(data, "precision", {precision: asked.precision, has: Object.keys(peaks).join(", ")});
  if (asked.rate !== null && asked.on === card) return "";
  if (asked.kind === "moe" && asked.precision === "nvfp4") return textOf(data, "nvfp4");
  if (asked.kind === "moe" && !data.rows.some((row) => row.card === card && row.kind === "moe")) return textOf(data, "no experts");
  if (card.startsWith("TPU") && asked.task === "lora" && !data.has_adapters_on_tpu) return textOf(data, "adapters on TPU");
  if (card.startsWith("TPU") && asked.software && !softwareOn(card, data).includes(classOf(asked, data))) {
    return textOf(data, "software on TPU", {software: classOf(asked, data) === "other" ? "the software named" : asked.software});
  }
  return "";
}

/** The printed runs of this training on cards of no more memory: scripts/estimate/memory.py. */
function ranOf(asked, card, {model: {cards}}) {
  return asked.ran.filter((run) => asked.is_usual && run.task === asked.asked_task && run.precision === asked.precision && run.tokens >= asked.length && cards[run.card].memory_gb <= cards[card].memory_gb);
}

/** A printed run that ran out of memory, of no more parameters, words and tokens, on no fewer cards of no less memory. */
function ranOut(asked, card, held, {memory, models, model: {cards}}) {
  const isLess = (run) => run.model === asked.model || (asked.kind === "dense" && (models[run.model]?.active ?? 0) <= asked.total && (models[run.model]?.vocabulary ?? 0) <= (asked.vocabulary ?? 0));
  return [...memory.out].sort((a, b) => (a.model !== asked.model) - (b.model !== asked.model)).find((run) => asked.is_usual && isLess(run) && run.task === asked.asked_task && run.precision === asked.precision && run.tokens <= asked.length && run.cards >= held && cards[run.card].memory_gb >= cards[card].memory_gb);
}

/** What a card takes of a sequence (GB) where no layer is computed again and the state is spread, by printed peaks; null of what none says anything. */
function peakOf(asked, count, {memory}) {
  const weights = memory.weights[asked.asked_task], words = asked.vocabulary ?? 0;
  if (!weights || asked.kind !== "dense" || !asked.is_usual) return null;
  const parts = {activations: (asked.total * asked.length) / asked.width, embedding: (words * asked.width) / 1e9, logits: (words * asked.length) / 1e9};
  return asked.state_gb / count + Object.entries(weights).reduce((sum, [name, weight]) => sum + weight * parts[name], 0);
}

/** How many cards hold what a training keeps: scripts/estimate/answer.py. */
const keptOn = (asked, card, data) => Math.max(1, Math.ceil(asked.kept_gb / (data.room * data.model.cards[card].memory_gb)));

/** On how many cards a person says that the training ran; infinite where nothing is said. */
const seenOn = (asked, card) => (asked.rate !== null && card === asked.on && asked.of) || Infinity;

/** Whether a training fits in the memory of so many cards: {fits, peak_gb}. */
function fitsIn(asked, card, count, data) {
  const peak_gb = peakOf(asked, count, data), {memory} = data, limit = (data.room * data.model.cards[card].memory_gb) / (memory.over[asked.asked_task] ?? 1);
  if (ranOf(asked, card, data).some((run) => run.cards <= count)) return {fits: "printed", peak_gb};
  const isOver = peak_gb !== null && peak_gb > limit, isLikely = peak_gb !== null && peakOf(asked, 1, data) <= limit && asked.vocabulary && asked.length <= memory.tokens && asked.total <= memory.billion;
  if (seenOn(asked, card) <= count && (isOver || (!isLikely && count < keptOn(asked, card, data)))) return {fits: "as you say", peak_gb};
  return {fits: isOver ? "may run out" : isLikely ? "likely" : "unknown", peak_gb};
}

/** How many cards hold a training; whether what is said is of one card alone; and why the card is not answered all the same: scripts/estimate/answer.py. */
function heldBy(asked, {card, basis}, data) {
  const {memory_gb, link_gb_per_second} = data.model.cards[card];
  const least = Math.min(keptOn(asked, card, data), seenOn(asked, card), ...ranOf(asked, card, data).map((run) => run.cards));
  const linked = link_gb_per_second > data.pcie_gb_per_second ? Infinity : basis === "your rate" ? asked.of ?? 1 : 1, held = asked.cards ?? least;
  const reason = () => {
    if (asked.without.includes(card)) return textOf(data, "left out");
    const out = basis !== "your rate" && ranOut(asked, card, held, data);
    if (out) return textOf(data, "ran out", {...out, tokens: out.tokens.toLocaleString("en-US")});
    if (held > linked) return textOf(data, "PCIe", {cards: held.toLocaleString("en-US"), yours: basis === "your rate" ? textOf(data, "of so many", {of: linked}) : ""});
    if (held > asked.sequences) return textOf(data, "few sequences", {cards: held, of: "the whole training", sequences: asked.sequences.toLocaleString("en-US")});
    if (least <= (asked.cards ?? data.most_cards)) return "";
    return textOf(data, "too small", {state: rounded(asked.state_gb), bytes: asked.state_bytes, sequence: rounded(asked.sequence_gb), needed: least, memory: memory_gb});
  };
  return {least, most: Math.min(linked, asked.sequences), reason: reason()};
}

/** On what an answer rests, and when the newest row of its card and kind was printed. */
function basisOf(asked, card, data) {
  const rows = data.rows.filter((row) => row.card === card && row.kind === asked.kind);
  const until = rows.map((row) => row.until).sort().at(-1) ?? "";
  if (asked.rate !== null && asked.on === card) return {basis: "your rate", until};
  if (asked.points.some((point) => point.card === card && point.precision === asked.precision)) return {basis: "tables, this model", until};
  const same = rows.some((row) => row.precision === asked.precision);
  return {basis: same ? "tables" : rows.length ? "tables, other precision" : "data sheet only", until};
}

/** By how much an interval is widened: the most that trials found where as much is missing. */
function factorOf(asked, card, basis, data) {
  if (basis === "your rate") return 1;
  const software = classOn(asked, card, data), alike = [...(asked.rate === null ? [] : [asked]), ...asked.points.filter((point) => point.software === software && software !== "other")], missing = [];
  if (alike.length) {
    missing.push(asked.kind === "dense" && alike.some((point) => point.precision === asked.precision) ? "another card" : "another card and precision");
    if (alike.every((point) => point.length !== asked.length)) missing.push("another length");
  } else {
    missing.push(asked.has_family ? "its model" : "its family");
    if (basis === "tables, other precision") missing.push("its precision on its card, and its model");
  }
  if (basis === "data sheet only") missing.push("its card, and its model");
  if (software === "other" && asked.rate === null) missing.push("its software, and its model");
  return Math.max(...missing.map((one) => data.factors[one][asked.kind]));
}

/** The class of software as tables know it on a card: what it does on a TPU says nothing of it on a GPU. */
function classOn(asked, card, data) {
  return softwareOn(card, data).includes(classOf(asked, data)) ? classOf(asked, data) : "other";
}

/** The class of software that the tables know it by. */
function classOf({software}, data) {
  return data.software.includes(software) ? software : "other";
}

/** The model of speeds without the points of a model of language, and these: they count as printed for another machine. */
function fittedWithout(points, name, data) {
  fitted.has(name) || fitted.set(name, points.length ? withoutPoints(data.model, points) : data.model);
  return fitted.get(name);
}

const fitted = new Map();

/** The highest rate that rows reach of a card's peak, or another share of it. */
const rateAt = (asked, card, share, data) => (data.model.cards[card].peak_tflops[asked.precision] * share * 1000) / asked.gflop;

/** The logarithms that the model expects on cards, and their covariance, as trials have widened it; `carried` is a rate of one's own as others follow from it: scripts/estimate/rates.py. */
function expectedOf(asked, cards, carried, data, today) {
  const own = asked.points.map((one) => ({...one, printed: true}));
  const {log, spread} = predicted(fittedWithout(asked.points, asked.model, data), cards.map((card) => ({...asked, card, software: classOn(asked, card, data)})), [...own, ...carried]);
  const about = cards.map((card) => ({card, ...basisOf(asked, card, data)})), factors = about.map(({basis, card}) => factorOf(asked, card, basis, data));
  const covariance = spread.map((row, i) => row.map((value, j) => value * factors[i] * factors[j]));
  about.forEach(({basis, until}, i) => {
    if (basis === "tables, this model") covariance[i][i] += data.printed_elsewhere ** 2; // of another machine, and of another release
    if (basis === "data sheet only" && data.model.cards[cards[i]].link_gb_per_second <= data.pcie_gb_per_second) covariance[i][i] += data.unlike ** 2; // nothing like it was left out in a trial
    const passed = until ? monthsSince(until, today) : 0; // of rows that are old a random walk adds to the variance
    about[i].is_old = passed > data.old_months[asked.kind] && basis !== "your rate";
    if (about[i].is_old) covariance[i][i] += (data.ageing[asked.kind] ** 2 * passed) / data.ageing_months;
  });
  return {log, covariance, about};
}

/** A rate of one's own beside what would be said without it: {line, notCarried, isAskedAfter, carried}; null where there is none: scripts/estimate/rates.py. */
function besideOf(asked, data, today) {
  if (asked.rate === null) return null;
  const {log: [log], covariance: [[variance]], about: [{basis}]} = expectedOf({...asked, rate: null}, [asked.on], [], data, today);
  const limit = rateAt(asked, asked.on, data.most_of_peak, data), said = Math.exp(below(log, Math.sqrt(variance), Math.log(limit))?.middle ?? Math.log(limit));
  const times = asked.rate / said, off = Math.max(times, 1 / times), isFar = off > data.farthest, share = asked.rate / rateAt(asked, asked.on, 1, data);
  const named = {card: asked.on, factor: rounded(off), side: times >= 1 ? "above" : "below"}, percent = (value) => `${Number((100 * value).toFixed(1))} %`;
  const words = [textOf(data, off > data.same ? "beside" : "as said", {...named, rate: rounded(asked.rate), precision: asked.precision, said: rounded(said), basis})];
  if (share > data.most_of_peak) {
    const near = textOf(data, "near the peak", {share: `${(100 * share).toFixed(0)} %`, most: percent(data.highest_printed)});
    words.push(isFar ? near : `${near} ${textOf(data, "capped", {limit: percent(data.most_of_peak)})}`);
  }
  if (isFar) words.push(textOf(data, "far", {limit: data.farthest}));
  const rate = (Math.min(asked.rate, limit) / said) * Math.exp(log); // as far from what the model expects as from what is said
  return {line: words.join(". "), notCarried: isFar ? textOf(data, "not carried", named) : "", isAskedAfter: isFar || share > data.most_of_peak, carried: {...asked, software: classOn(asked, asked.on, data), card: asked.on, rate}};
}

/** How many times as fast a card is said to be as MLPerf's logs have it, where most of these lie outside the interval; else null. */
function offLogs(card, asked, {basis}, data) {
  const found = data.off_logs.find(([of, precision]) => of === card && precision === asked.precision);
  return found && basis !== "your rate" ? found[2] : null;
}

/** Rates by card: {answers: [{card, low, middle, high, basis, until}], covariance, refused: {card: why}, beside (a line of one's own rate), isAskedAfter}. */
function ratesOf(asked, data, today) {
  const refused = {}, cards = [], beside = besideOf(asked, data, today);
  for (const card of Object.keys(data.model.cards)) {
    const why = refusalOf(asked, card, data) || (card !== asked.on && beside?.notCarried);
    if (why) refused[card] = why;
    else cards.push(card);
  }
  const {log, covariance, about} = expectedOf(asked, cards, beside ? [beside.carried] : [], data, today);
  about.forEach(({basis}, i) => {
    if (basis !== "your rate") return;
    log[i] = Math.log(asked.rate); // what a person measured is said as given
    covariance[i][i] += (Math.max(0, log[i] - Math.log(rateAt(asked, asked.on, data.most_of_peak, data))) / NINE_TENTHS) ** 2; // down to what rows reach
  });
  const found = cards.map((card, i) => {
    const peak = data.model.cards[card].peak_tflops[asked.precision], most = about[i].basis === "your rate" ? 1 : data.most_of_peak;
    const place = [log[i], Math.sqrt(covariance[i][i]), Math.log((peak * most * 1000) / asked.gflop)];
    return about[i].basis === "your rate" ? upTo(...place) : below(...place);
  });
  const kept = cards.map((_, i) => i).filter((i) => {
    const factor = Math.exp(NINE_TENTHS * Math.sqrt(covariance[i][i]));
    if (factor > data.widest) {
      const why = about[i].is_old ? textOf(data, "old rows", {until: about[i].until}) : "", or_name = asked.software ? "" : textOf(data, "name the software");
      refused[cards[i]] = textOf(data, "too wide", {factor: (Math.ceil(factor * 100) / 100).toFixed(2), widest: data.widest, why, or_name});
    } else if (!found[i]) {
      const rate = Math.exp(log[i]).toLocaleString("en-US", {maximumFractionDigits: 0});
      refused[cards[i]] = textOf(data, "above the peak", {rate, share: `${Math.round(data.most_of_peak * 100)}%`});
    }
    return !refused[cards[i]];
  });
  const answers = kept.map((i) => ({card: cards[i], low: Math.exp(found[i].low), middle: Math.exp(found[i].middle), high: Math.exp(found[i].high), is_wide: Math.exp(NINE_TENTHS * Math.sqrt(covariance[i][i])) > data.wide, off_logs: offLogs(cards[i], asked, about[i], data), ...about[i]}));
  return {answers, covariance: kept.map((i) => kept.map((j) => covariance[i][j] * found[i].times * found[j].times)), refused, beside: beside?.line ?? "", isAskedAfter: beside?.isAskedAfter ?? false};
}

/** How many machines of `size` cards make up `cards` that train together, 0 if they do not: scripts/costs/cards.py. */
function machinesOf(card, provider, size, cards, data) {
  if (size === 1 && data.by_card.includes(provider)) return cards;
  const count = Math.floor(cards / size), isWhole = size >= wholeOf(card, data) && !data.markets.includes(provider);
  return count * size !== cards || (count > 1 && !isWhole) ? 0 : count;
}

/** How many cards a whole machine, or a host of their rack, has: scripts/costs/cards.py. */
const wholeOf = (card, data) => data.whole_of_rack[card] ?? data.whole;

/** How many cards make up machines that have the least: of a list by the card, above one whole machine, those of whole ones. */
function wantedOf(card, {provider, cards}, least, data) {
  const isMany = cards === 1 && data.by_card.includes(provider) && least > wholeOf(card, data), unit = isMany ? wholeOf(card, data) : cards;
  return Math.ceil(least / unit) * unit;
}

/** In words how many machines of how many cards: scripts/costs/cards.py. */
function counted(card, {cards, machines}, data) {
  const whole = wholeOf(card, data), isWhole = cards === 1 && machines > whole && machines % whole === 0, [size, of] = isWhole ? [whole, machines / whole] : [cards, machines];
  return size === 1 || of === 1 ? `${(size * of).toLocaleString("en-US")} × ${card}` : `${of.toLocaleString("en-US")} machines of ${size} × ${card}`;
}

/** In which region an offer has its price, and what others ask where it comes to so many USD: scripts/estimate/reasons.py. */
function inRegion({region, regions, usd_per_hour}, data, usd = null) {
  if (!region) return "";
  if (usd === null || regions.length < 2) return ` in ${region}`;
  const of = (price) => rounded((usd * price) / usd_per_hour, 2), [least, most] = [regions[0], regions.at(-1)];
  const spread = least === most ? textOf(data, "one price", {regions: regions.length}) : textOf(data, "regions", {regions: regions.length, low: of(least), high: of(most), median: of(median(regions))});
  return ` in ${region} (${spread})`;
}

/** What an offer comes to by its regions, the median first, with what it costs in the cheapest in words; empty where all ask the same: scripts/estimate/reasons.py. */
function byRegion({region, regions, usd_per_hour}, usd, cost, data) {
  if (!region || regions.length < 2 || regions[0] === regions.at(-1)) return "";
  const of = (price) => rounded((usd * price) / usd_per_hour, 2);
  return textOf(data, "by region", {median: of(median(regions)), regions: regions.length, low: cost, region, high: of(regions.at(-1))});
}

/** The cheapest region of each kind of offer, with the prices of the others; a list without regions is of all, and the newer of both counts: scripts/estimate/dollars.py. */
function ofRegions(offers) {
  const kinds = Map.groupBy ? Map.groupBy(offers, kindOf) : offers.reduce((map, one) => map.set(kindOf(one), [...(map.get(kindOf(one)) ?? []), one]), new Map());
  return [...kinds.values()].map((each) => {
    const newest = (isIt) => each.filter(isIt).map(({as_of}) => as_of).sort().at(-1) ?? "", everywhere = newest(({region}) => !region), somewhere = newest(({region}) => region);
    const kept = each.filter((one) => one.as_of >= (one.region ? everywhere : somewhere));
    const low = kept.reduce((low, one) => (one.usd_per_hour < low.usd_per_hour || (one.usd_per_hour === low.usd_per_hour && one.region < low.region) ? one : low));
    return {...low, regions: kept.filter(({region}) => region && low.region).map((one) => one.usd_per_hour).sort((a, b) => a - b)};
  });
}

const kindOf = ({provider, purchase, cards}) => [provider, purchase, cards].join("|");

/**
 * The offers of a card whose machines make up so many, or where none are said as many whole ones as hold `least`, and no
 * more than `most`: of a provider, purchase, size and region the newest, then the cheapest.
 */
function offersOf(card, {cards, without}, {least, most}, today, data) {
  const found = new Map();
  for (const row of data.offers[card] ?? []) {
    const wanted = cards ?? wantedOf(card, row, least, data), machines = machinesOf(card, row.provider, row.cards, wanted, data);
    if (!machines || wanted > most || monthsSince(row.as_of, today) > data.oldest_months || without.includes(row.provider)) continue;
    const key = `${kindOf(row)}|${row.region}`, other = found.get(key);
    if (!other || row.as_of > other.as_of || (row.as_of === other.as_of && row.usd_per_hour < other.usd_per_hour)) found.set(key, {...row, machines});
  }
  return ofRegions([...found.values()]);
}

/** How long so many tokens are expected to take on an offer: spot machines are preempted, and one of several stops all. */
function secondsOf(offer, {tokens, preemptions}, rate, {save_seconds, restart_seconds}) {
  const useful = tokens / (rate * offer.cards * offer.machines), perHour = preemptions * offer.machines;
  return offer.purchase === "spot" ? expectedSeconds(useful, perHour, Math.sqrt((2 * save_seconds * 3600) / perHour), restart_seconds, save_seconds) : useful;
}

/** What that costs: every increment begun, at least the minimum, of each machine. */
function usdOf(offer, asked, rate, data) {
  return (offer.machines * billed(secondsOf(offer, asked, rate, data.spot), offer) * offer.usd_per_hour) / 3600;
}

/** Quotes by card, the lowest first: rates with dollars of its offers. Those without an offer have their time alone. */
function quoted(asked, data, today) {
  const {answers, covariance, ...of} = ratesOf(asked, data, today), {refused} = of;
  const rows = answers.flatMap((answer, at) => {
    const {reason, ...held} = heldBy(asked, answer, data);
    if (reason) refused[answer.card] = reason;
    return reason ? [] : [rowOf(answer, at, held)];
  });
  function rowOf(answer, at, held) {
    const goesOn = (offer) => secondsOf(offer, asked, answer.low, data.spot) <= (data.spot.most_times * asked.tokens) / (answer.low * offer.cards * offer.machines);
    const offers = offersOf(answer.card, asked, held, today, data).filter(goesOn), usd = (offer, rate) => usdOf(offer, asked, rate, data), own = data.owned[answer.card];
    const ends = (offer) => ({usd: usd(offer, answer.middle), usd_low: usd(offer, answer.high), usd_high: usd(offer, answer.low)});
    const of = (purchase, isMarket) => offers.filter((one) => one.purchase === purchase && data.markets.includes(one.provider) === isMarket)
      .map((offer) => ({offer, ...ends(offer), seconds: secondsOf(offer, asked, answer.middle, data.spot), ...fitsIn(asked, answer.card, offer.cards * offer.machines, data)})).sort((a, b) => a.usd - b.usd);
    const clouds = of("on-demand", false), [spot] = of("spot", false), [market] = of("on-demand", true), [first] = clouds;
    const on = (first ?? market)?.offer, cards = asked.cards ?? (on ? on.cards * on.machines : held.least), seconds = asked.tokens / (answer.middle * cards);
    const owned = own && {offer: own, ...ends({...own, machines: 1, cards, usd_per_hour: own.usd_per_hour * cards}), ...fitsIn(asked, answer.card, cards, data)};
    const row = {...answer, at, cards, is_open: asked.cards === null, seconds, spot, market, owned, is_arm: data.arm.includes(answer.card), offers: clouds.length, ...fitsIn(asked, answer.card, cards, data)};
    if (!first) return row;
    return {...row, first: first.offer, second: clouds[1], usd: first.usd, usd_low: usd(first.offer, answer.high), usd_high: usd(first.offer, answer.low),
      median_usd: median(clouds.map((one) => one.usd)), dearest_usd: clouds.at(-1).usd};
  }
  const priced = rows.filter((row) => row.offers), expected = (row) => Math.log(row.usd) + covariance[row.at][row.at] / 2;
  priced.sort((a, b) => expected(a) - expected(b));
  if (!priced.length) return {rows, best: null, covariance, ...of};
  const [best] = priced;
  for (const row of priced) row.near = row !== best && !isBelow(best, row, covariance);
  return {rows: [...priced, ...rows.filter((row) => !row.offers)], best, covariance, ...of};
}

/** Whether one card costs less than another, clearly at 80 %. */
function isBelow(one, other, covariance) {
  const apart = covariance[one.at][one.at] + covariance[other.at][other.at] - 2 * covariance[one.at][other.at];
  return Math.log(one.usd / other.usd) + NINE_TENTHS * Math.sqrt(Math.max(0, apart)) < 0;
}

const isSheet = ({basis}) => basis === "data sheet only";

/** What is taken without a minute: the first that tables know, if they know any. */
const takenOf = (rows) => rows.find((row) => row.offers && !isSheet(row)) ?? rows[0];

/** Whether a card of several is known by its data sheet alone, which decides nothing: scripts/estimate/verdict.py. */
const isMeasuredFirst = (best, rows) => isSheet(best) && rows.filter((row) => row.offers).length > 1;

/** Up to which price of its machines the best offer keeps the lowest expected cost, and which follows, of any card; null without another. */
function flipOf(rows, best, covariance) {
  const expected = (row) => row.usd * Math.exp(covariance[row.at][row.at] / 2), others = rows.filter((row) => row.offers && row !== best);
  const follow = others.map((row) => ({usd: expected(row), card: row.card, offer: row.first}));
  if (best.second) follow.push({usd: (best.second.usd * expected(best)) / best.usd, card: best.card, offer: best.second.offer});
  if (!follow.length) return null;
  const {usd, card, offer} = follow.reduce((low, one) => (one.usd < low.usd ? one : low)), now = best.first.machines * best.first.usd_per_hour;
  return {card, provider: offer.provider, region: offer.region, from_usd_per_hour: now, usd_per_hour: (now * usd) / expected(best)};
}

/** By how much a minute on each card is expected to lower the cost of what is chosen, beyond its own, where that is worth a person's time, the most first; what it says of others counts, and what a data sheet alone speaks for is taken by nobody before: scripts/estimate/choice.py. */
function minutes(rows, best, covariance, {least_share, least_usd, model: {measured}}) {
  const priced = rows.filter((row) => row.offers), at = (one, other) => covariance[one.at][other.at];
  const mean = (row) => row.usd * Math.exp(at(row, row) / 2), known = isSheet(takenOf(rows)) ? priced : priced.filter((row) => !isSheet(row)), sure = Math.min(...known.map(mean));
  const grid = Array.from({length: 401}, (_, i) => normalQuantile((i + 0.5) / 401));
  return priced.map((tried) => {
    const noise = at(tried, tried) + measured ** 2;
    const after = (known.includes(tried) ? known : [...known, tried]).map((row) => {
      const gain = at(row, tried) / noise, left = at(row, row) - gain * at(row, tried);
      const drawn = grid.map((z) => row.usd * Math.exp(left / 2 + Math.sqrt(noise) * z * gain));
      const scale = mean(row) / (drawn.reduce((a, b) => a + b) / grid.length); // the ends of the normal are cut
      return drawn.map((one) => one * scale);
    });
    const fall = sure - grid.map((_, i) => Math.min(...after.map((row) => row[i]))).reduce((a, b) => a + b) / grid.length;
    const {machines, usd_per_hour} = tried.first, minute = (machines * billed(60, tried.first) * usd_per_hour) / 3600;
    return {row: tried, fall: fall - minute, minute};
  }).filter(({fall}) => fall >= Math.max(least_usd, least_share * best.usd)).sort((a, b) => b.fall - a.fall);
}

/** Who has one machine's hours hardly means one that takes so many times as long: those are said apart. */
const SLOWEST = 3;

/**
 * Quotes of a classic net by machine, the lowest first: its time there, by the ratio of tables, at a cloud's price where one
 * offers it. `best` is the lowest of clouds, or of market places (`markets`) where no cloud has one that is answered.
 */
function classicQuoted(asked, data, markets) {
  const found = Object.keys(data.cards).flatMap((card) => {
    const ratio = card === asked.on ? {middle: 1, low: 1, high: 1} : ratioOf(data, asked.precision, asked.on, card, asked.net);
    const seconds = (times) => (asked.hours * 3600) / times, usd = (offer, times) => (billed(seconds(times), offer) * offer.usd_per_hour) / 3600;
    if (!ratio || ratio.high > ratio.middle * data.widest || !data.offers[card]) return [];
    const isMarket = (one) => markets.includes(one.provider), lowest = (isIt) => data.offers[card].filter((one) => isMarket(one) === isIt).sort((a, b) => usd(a, ratio.middle) - usd(b, ratio.middle))[0];
    const cloud = lowest(false), market = lowest(true), first = cloud ?? market;
    return [{card, basis: card === asked.on ? "your time" : "tables", first, is_market: !cloud, offers: data.offers[card].length, seconds: seconds(ratio.middle), times: ratio.middle,
      usd: usd(first, ratio.middle), usd_low: usd(first, ratio.high), usd_high: usd(first, ratio.low), reach: Math.log(ratio.high / ratio.middle),
      market: market && {offer: market, usd: usd(market, ratio.middle)}}];
  }).sort((a, b) => a.usd - b.usd);
  const slowest = SLOWEST * asked.hours * 3600, best = found.find((row) => !row.is_market && row.seconds <= slowest) ?? found.find((row) => !row.is_market) ?? found[0];
  for (const row of found) {
    Object.assign(row, {is_slow: row.seconds > Math.max(slowest, best.seconds), is_aside: row.is_market !== best.is_market});
    row.near = row !== best && !row.is_slow && !row.is_aside && isCloseNet(row, best);
  }
  return {rows: found, best};
}

/** Whether two nets' costs are too close to call at 80 %: scripts/estimate/classic.py tries this rule. */
const isCloseNet = (one, other) => Math.abs(Math.log(one.usd / other.usd)) <= Math.hypot(one.reach, other.reach);

/** The quotes as CSV, a card each. */
function csvOf({rows}) {
  const columns = ["card", "basis", "tokens_per_second_per_card", "low", "high", "cards", "hours", "usd", "usd_low", "usd_high", "provider", "item", "machines", "usd_per_hour", "as_of"];
  const cells = rows.map(({card, basis, middle, low, high, cards, seconds, usd, usd_low, usd_high, first}) => [card, basis, middle, low, high, cards, seconds / 3600, usd, usd_low, usd_high,
    first?.provider, first?.item, first?.machines, first?.usd_per_hour, first?.as_of]);
  const text = (value) => (typeof value === "number" ? String(Number(value.toPrecision(6))) : /[",\n]/.test(value ?? "") ? `"${value.replaceAll('"', '""')}"` : value ?? "");
  return [columns, ...cells].map((row) => row.map(text).join(",")).join("\n") + "\n";
}

const plain = (name) => name.toLowerCase().replace(/\b(nvidia|geforce|tesla|google)\b|[^a-z0-9.]/g, "");

/** The words of a card's name, its memory (80gb) as one of them, and those that distinguish it: scripts/costs/cards.py. */
function wordsOf(name) {
  const text = name.toLowerCase().replace(/\b(nvidia|geforce|tesla|google)\b/g, "").replace(/(\d)\s*gi?b?\b/g, "$1gb").replace(/\brtx(?=\d)/g, "rtx ");
  const words = text.match(/[a-z0-9.]+/g) ?? [], code = words.filter((one) => one !== "rtx" && one !== "tpu" && !one.endsWith("gb"));
  return {words, code: code.length ? code : words};
}

/** The cards that a name may mean: one, those that it does not distinguish (A100), or none. */
function cardsMeant(name, data) {
  const called = [...Object.keys(data.model.cards).map((card) => [card, card]), ...Object.entries(data.names)], asked = wordsOf(name).words;
  const exact = called.find(([one]) => plain(one) === plain(name));
  if (exact) return [exact[1]];
  return Object.keys(data.model.cards).filter((card) => {
    const may = called.filter(([, of]) => of === card).flatMap(([one]) => wordsOf(one).words);
    return wordsOf(card).code.every((one) => asked.includes(one)) && asked.every((one) => may.includes(one));
  });
}

/** The providers and cards that a text names, parted by commas (`without`), and what is neither (`unknown`). */
function leftOut(text, data) {
  const written = (name) => name.toLowerCase().replace(/[^a-z0-9.]/g, ""), without = [], unknown = []; // `plain` leaves out makers, Google too
  const providers = new Map(Object.entries(data.provider_names).map(([name, id]) => [written(name), id]));
  for (const name of text.split(",").map((one) => one.trim()).filter(Boolean)) {
    const parts = Object.keys(data.providers).filter((id) => data.providers[id].toLowerCase().startsWith(`${name.toLowerCase()}, `)); // RunPod, community
    const provider = providers.get(written(name));
    const found = provider ? [provider, ...parts] : cardsMeant(name, data);
    if (!found.length && /^[a-z]{2,}$/.test(plain(name))) found.push(...Object.keys(data.model.cards).filter((card) => plain(card).startsWith(plain(name)))); // TPU, RTX
    (found.length ? without : unknown).push(...(found.length ? found : [name]));
  }
  return {without: [...new Set(without)], unknown};
}

/** Of more rows the rest is folded. */
const MOST_ROWS_SHOWN = NARROW.matches ? 4 : 8;

function beginQuote() {
  const data = JSON.parse(document.getElementById("quote-data").textContent), form = document.getElementById("quote");
  const [said, why, place, link] = ["said", "why", "quoted", "link"].map((name) => document.getElementById(name));
  const more = form.querySelector("details"), classic = document.getElementById("classic"), [classicSaid, classicPlace] = ["classic-said", "classic-quoted"].map((name) => document.getElementById(name));
  const today = new Date().toISOString().slice(0, 10);
  // Of a row as many digits as its interval bears; of others' money two.
  const digitsOf = ({low, high, usd_low, usd_high}) => digitsWithin(low ?? usd_low, high ?? usd_high);
  const usd = (value, row) => `${rounded(value, row ? digitsOf(row) : 2)} USD`, time = (row) => duration(row.seconds, (value) => rounded(value, digitsOf(row)));

  function given(fields) {
    const unreadable = [], number = (name, unit = 1) => {
      const text = (fields.get(name) ?? "").trim(), value = numberOf(text, unit);
      if (Number.isNaN(value)) unreadable.push(text);
      return value;
    };
    const read = (name, reader) => { // as `number`, of what is written otherwise
      const text = (fields.get(name) ?? "").trim(), found = reader(text);
      if (Number.isNaN(found?.rate ?? found)) unreadable.push(text);
      return found;
    };
    const hours = number("hours"), cards = number("cards"), tokens = number("tokens", 1e9) * 1e9, seen = hours === null ? read("rate", rateOf) : {rate: hours > 0 ? tokens / (hours * 3600 * cards) : NaN, of: cards};
    return {
      kind: fields.get("kind"), model: fields.get("kind"), billion: number("billion", 1e9), active: number("active", 1e9), tokens, length: read("length", lengthOf), task: fields.get("task"),
      precision: fields.get("precision"), software: fields.get("software"), cards, on: fields.get("on"), ...seen, by_hours: hours !== null,
      bytes: number("bytes"), preemptions: number("preemptions"), ...leftOut(fields.get("without"), data), unreadable,
    };
  }

  const provider = (name) => data.providers[name] ?? name;

  const count = (value) => value.toLocaleString("en-US");

  const capital = (text) => text[0].toUpperCase() + text.slice(1);

  function machine({first, card, usd}, about = null) {
    return `${counted(card, first, data)}${about ?? ""} at ${provider(first.provider)}${inRegion(first, data, about === null ? null : usd)}`;
  }

  const ofLogs = (times) => (times ? textOf(data, "off logs", {times: times.toFixed(2)}) : "");

  /** What is to be known of a card before it is rented. */
  function caveats({basis, is_arm, fits, off_logs}) {
    const found = [basis === "data sheet only" && textOf(data, basis), is_arm && textOf(data, "ARM"), ofLogs(off_logs), ["may run out", "as you say"].includes(fits) && data.texts[fits].split(":")[0]].filter(Boolean);
    return found.length ? ` (${found.join("; ")})` : "";
  }

  /** Cards whose minute is worth its time, where anything is open that a minute settles. */
  function worthOf({rows, best, covariance, isAskedAfter}) {
    if (isAskedAfter || !(rows.some((row) => row.near) || isMeasuredFirst(best, rows))) return [];
    return minutes(rows, best, covariance, data).filter(({row}) => row === best || row.near).slice(0, data.most_measured);
  }

  function sentence(found, asked) {
    const label = (row) => (row.fits === "as you say" ? `${row.card} (${textOf(data, row.fits)})` : row.card);
    const {rows, best} = found, near = rows.filter((row) => row.near).map(label), yours = rows.find((row) => row.offers && row.basis === "your rate"), own = yours !== best && yours;
    const costs = (row) => `about ${usd(row.usd, row)} and ${time(row)}`, what = (row) => `${costs(row)} on demand`, rent = (row) => machine(row, caveats(row)), taken = takenOf(rows), isWorth = worthOf(found).length > 0;
    const instead = own ? `, for ${usd(own.usd, own)} and ${time(own)} on ${own.card}` : "";
    const known = isSheet(best) && !isSheet(taken) ? ` Of those that tables know: ${rent(taken)}, ${costs(taken)}.` : "";
    const move = yours && rows.filter((row) => row.offers).length > 1 ? ` ${stayOrMove(yours, found)}.` : "";
    if (found.isAskedAfter) return `${textOf(data, "is it right", {card: asked.on})}: ${rent(best)}, ${what(best)}${instead}.${move}`;
    if (!near.length && isMeasuredFirst(best, rows)) {
      if (isWorth) return `${textOf(data, "measure first")}: ${rent(best)}, ${what(best)}${instead}.${known}${move}`;
      return `${textOf(data, "not worth a minute", {card: best.card})}: ${rent(taken)}, ${what(taken)}, ${isSheet(taken) ? "comes first, as far as is known" : "will do"}${instead}.${move}`;
    }
    if (!near.length) return `Rent ${rent(best)}: ${what(best)}${instead}.${move}`;
    return `Too close to call on demand between ${named([label(best), ...near], yours && label(yours))}${isWorth ? "" : ", and no minute is worth its time"}.\nOn demand, lowest expected: ${rent(best)}, ${costs(best)}${instead}.${known}${move}`;
  }

  /** Whether to stay on the card that a person measured: scripts/estimate/verdict.py. */
  function stayOrMove(yours, {rows, best, covariance, isAskedAfter}) {
    const isOpen = isMeasuredFirst(best, rows) || rows.some((row) => row.near), below = rows.filter((row) => row.offers && isBelow(row, yours, covariance));
    const open = below.some((row) => !isSheet(row)) ? "move to some" : below.length ? "stay until tried" : "stay for now";
    const safe = isOpen && !isAskedAfter && open === "move to some" && safely(yours, below.filter((row) => !isSheet(row)), ({card}) => card);
    if (safe) return safe.words;
    return textOf(data, isAskedAfter ? "stay or move" : isOpen ? open : yours === best ? "stay" : "move", {own: yours.card, card: best.card});
  }

  /** To which row a move is safe, though it is open which of those `below` costs least, in words: scripts/estimate/verdict.py; null for none. */
  function safely(own, below, label) {
    const wholly = below.filter((row) => row.usd_high < own.usd_low).sort((a, b) => a.usd_high - b.usd_high), [row] = wholly;
    if (!row) return null;
    const why = wholly.length > 1 ? textOf(data, "several below", {count: wholly.length}) : textOf(data, "one below"), name = row.fits === "as you say" ? `${label(row)} (${textOf(data, row.fits)})` : label(row);
    return {row, words: textOf(data, "move safely", {own: label(own), card: name, ends: between(row.usd_low, row.usd_high, digitsOf(row)), usd: rounded(own.usd, digitsOf(own)), why})};
  }

  /** What a market place asks, and what owned cards come to, where that is less than so many dollars. */
  function elsewhere(asked, rows, most = Infinity) {
    const lowest = (way) => rows.filter((row) => row[way]?.usd < most).sort((a, b) => a[way].usd - b[way].usd)[0], market = lowest("market"), owned = lowest("owned"), spot = lowest("spot");
    const cost = ({usd: middle, usd_low, usd_high}) => `${usd(middle, {usd_low, usd_high})} (${between(usd_low, usd_high, digitsOf({usd_low, usd_high}))} by the 80 % interval of its speed)`;
    const on = (row, {offer, fits}, where) => ` on ${counted(row.card, offer, data)}${caveats({...row, fits})} (${provider(offer.provider)}${where}, price of ${offer.as_of})`;
    const rented = (row, of) => `${cost(of)}${on(row, of, inRegion(of.offer, data, of.usd))}`;
    const inMedian = (row, of) => { // a spot machine is seldom free in the cheapest region
      const spread = byRegion(of.offer, of.usd, cost(of), data);
      return spread ? `${spread},${on(row, of, "")}` : rented(row, of);
    };
    return {market: market ? `\nAt a market place, where anybody may be the host: from ${rented(market, market.market)}.` : "", spot: spot ? `\nOn spot, if it may be interrupted (${shown(asked.preemptions ?? 0, 2)} times an hour of a machine are counted): ${inMedian(spot, spot.spot)}.` : "",
      owned: owned ? `Owned, as reckoned below: ${cost(owned.owned)} on ${count(owned.cards)} × ${owned.card}${caveats({...owned, fits: owned.owned.fits})}.` : ""};
  }

  /** A line as a sentence, none of no line. */
  const stated = (line) => (line ? [`${capital(line)}${/[.?]$/.test(line) ? "" : "."}`] : []);

  function reasons(asked, {best, rows, covariance, beside, isAskedAfter}) {
    const words = [...stated(beside), `The 80 % interval of its speed (which rests on: ${best.basis}) makes that ${between(best.usd_low, best.usd_high, digitsOf(best))} USD, at ${shown(best.first.machines * best.first.usd_per_hour)} USD an hour (${best.first.item}${best.first.machines > 1 ? `, ${best.first.cards === 1 ? "by the card" : "each"}` : ""}, price of ${best.first.as_of}).`];
    const flips = flipOf(rows, best, covariance), ofStep = asked.cards * asked.length, {owned} = elsewhere(asked, rows, best.usd);
    if (flips && !isAskedAfter) words.push(`If an hour of ${machine(best)} rises to ${shown(flips.usd_per_hour)} USD, ${flips.card} at ${provider(flips.provider)}${inRegion(flips, data)} is expected to cost less.`);
    if (ofStep * data.fewest_steps > asked.tokens && asked.task === "pretrain") words.push(`${count(asked.cards)} cards: ${textOf(data, "few steps", {steps: count(Math.floor(asked.tokens / ofStep)), of_step: count(ofStep), fewest: count(data.fewest_steps)})}.`);
    if (asked.cards > data.most_printed) words.push(`${count(asked.cards)} cards: ${textOf(data, "many cards", {limit: count(data.most_printed)})}.`);
    if (asked.by_hours) words.push(`Your hours for so many tokens on so many cards are ${rounded(asked.rate)} tokens a second a card, and other cards are reckoned from that speed: with other tokens or cards it is another, and so is the answer.`);
    if (![...data.gpu_software, "other"].includes(classOf(asked, data))) words.push(`${capital(textOf(data, "software on GPU", {software: asked.software}))}.`);
    if (asked.stretched) words.push(asked.stretched);
    if (owned) words.push(owned);
    if (asked.is_quantised) words.push(`QLoRA is taken to last ${shown(data.model.tasks.qlora / data.model.tasks.lora)} times LoRA, by ten pairs on one A10G: no table prints its speed.`);
    words.push("A steady run: no start, failure, restart, evaluation or checkpoint is counted.");
    if (asked.precision === "bf16" && asked.rate === null && !asked.is_quantised) {
      const other = quoted({...asked, precision: "fp8"}, data, today).best;
      if (other && other.usd < best.usd) words.push(`If FP8 will do: ${other.card}, about ${usd(other.usd, other)} and ${time(other)}.`);
    }
    return words.join(" ");
  }

  /** Names, of many the first three, and one's own. */
  function named(names, own) {
    const kept = names.filter((name, place) => place < 3 || name === own), first = names.length > 4 ? [...kept, ...(names.length > kept.length ? [`${names.length - kept.length} more`] : [])] : names;
    return first.length > 1 ? `${first.slice(0, -1).join(", ")} and ${first.at(-1)}` : first[0];
  }

  const mostOf = (rows) => Math.max(...rows.filter((row) => row.offers).map((row) => row.usd_high));

  /** What the colours of some bars are, in words. */
  function key(rows) {
    const grey = rows.filter((row) => row.offers && !row.is_best && !row.near), isAside = (row) => row.is_slow || row.is_aside;
    const greys = [["clearly more", grey.some((row) => !isAside(row))], [`over ${SLOWEST} times your hours`, grey.some((row) => row.is_slow)], ["of a market place alone", grey.some((row) => row.is_aside)]];
    const kinds = [["best", "lowest expected", rows.some((row) => row.is_best)], ["near", "too close to call", rows.some((row) => row.near)], ["", greys.filter(([, is]) => is).map(([words]) => words).join(" or "), grey.length > 0]];
    return made("p", "about", made("span", "key", ...kinds.filter(([, , is]) => is).flatMap(([kind, words]) => [made("span", "", made("i", kind), words), " "])));
  }

  /** Bars of dollars up to `most`, with their interval; of a row `about` stands under its name, `more` under its dollars. */
  function bars(rows, most = mostOf(rows)) {
    const percent = (value) => `${((100 * value) / most).toFixed(2)}%`;
    const list = made("div", "bars", ...rows.map((row) => {
      const track = made("span", "track");
      if (row.offers) {
        const fill = made("i"), mark = made("u");
        fill.style.left = percent(row.usd_low);
        fill.style.right = percent(most - row.usd_high);
        mark.style.left = percent(row.usd);
        track.append(fill, mark);
      }
      const right = row.offers ? `${usd(row.usd, row)} · ${time(row)}` : `no cloud offers ${row.cards > 1 ? `${count(row.cards)} of ` : ""}it · ${time(row)}`;
      const element = made("div", `bar quote${row.is_best ? " best" : ""}${row.near ? " near" : ""}`, made("span", "", row.name, made("small", "", row.about)), track, made("span", "n", right, made("small", "", row.more ?? "")));
      element.setAttribute("role", "listitem");
      return element;
    }));
    list.setAttribute("role", "list");
    const scale = made("div", "bar quote scale", made("span"), made("span", "ends", made("span", "", "0"), made("span", "", usd(most / 2)), made("span", "", usd(most))), made("span"));
    scale.setAttribute("aria-hidden", "true"); // each bar says its dollars
    list.prepend(scale);
    return list;
  }

  /** That no offer decides, and what other ways to buy come to. */
  function noOffer(asked, rows) {
    const {spot, market, owned} = elsewhere(asked, rows), without = asked.without.length ? ` (without ${asked.without.map(provider).join(", ")})` : "";
    return `${textOf(data, "no offer", {what: asked.cards === null ? "a card" : "so many cards", without, months: data.oldest_months})}${spot}${market}${owned && ` ${owned}`}`;
  }

  /** Bars of the first rows and of those that are `asked` about; the rest is a click away. */
  function folded(rows, isAsked, words, most = mostOf(rows)) {
    const isLong = rows.length > MOST_ROWS_SHOWN + 2, kept = rows.filter((row, place) => !isLong || place < MOST_ROWS_SHOWN || isAsked(row)), rest = rows.filter((row) => !kept.includes(row));
    return [key(rows), bars(kept, most), ...(rest.length ? [made("details", "", made("summary", "", `${rest.length} ${words}`), bars(rest, most))] : [])];
  }

  function described(row) {
    const many = row.offers > 1 ? `; ${row.offers} offers, median to dearest ${between(row.median_usd, row.dearest_usd, digitsOf(row))}` : "; 1 offer";
    const way = (words, {usd: cost, usd_low, usd_high, offer}) => `${words} ${rounded(cost, digitsOf(row))} (${between(usd_low, usd_high, digitsOf(row))})${row.is_open ? ` on ${count(offer.cards * offer.machines)}` : ""} at ${provider(offer.provider)}${inRegion(offer, data, cost)}`;
    const other = [row.spot && way("spot, with preemptions,", row.spot), row.market && way("market place", row.market), row.owned && `owned ${rounded(row.owned.usd, digitsOf(row))}`].filter(Boolean);
    const more = [row.offers ? `${between(row.usd_low, row.usd_high, digitsOf(row))} at ${provider(row.first.provider)}${inRegion(row.first, data, row.usd)}${many}` : "", ...other].filter(Boolean).join("; ");
    return {...row, name: row.card, more, about: `${row.basis}${row.is_wide ? `; ${textOf(data, "wide")}` : ""}${row.off_logs ? `; ${ofLogs(row.off_logs)}` : ""}${row.until ? `, rows until ${row.until}` : ""} · ${rounded(row.middle, digitsOf(row))} tokens/s${row.is_open ? ` · ${row.cards} card${row.cards > 1 ? "s" : ""}` : ""}${row.is_arm ? ` · ${textOf(data, "ARM")}` : ""}${row.fits === "unknown" ? "" : ` · ${textOf(data, row.fits, {peak: row.peak_gb === null ? "" : rounded(row.peak_gb, 2)})}`}`};
  }

  function tries(of) {
    const found = worthOf(of);
    if (!found.length) return [];
    return [made("h2", "", "What a minute would settle"), made("div", "answers", ...found.map(({row, fall, minute}) => made("div", "card", made("strong", "", machine(row)),
      made("p", "", `expected to save ${usd(fall)} beyond the ${usd(minute)} of its minute; the start of the machine is not counted`))))];
  }

  function answer() {
    fitLength();
    const fields = new FormData(form), {asked, problems} = questionOf(given(fields), data), found = problems.length ? null : quoted(asked, data, today);
    for (const [name, other] of [["rate", "hours"], ["hours", "rate"]]) form.elements[name].disabled = form.elements[name].value === "" && form.elements[other].value !== "";
    form.elements.active.parentElement.hidden = fields.get("kind") !== "moe";
    form.elements.billion.parentElement.hidden = fields.get("kind") in data.models;
    if (!found?.best) {
      said.textContent = taken(fields, asked) + (problems[0] ?? (found.rows.length ? noOffer(asked, found.rows) : "No card can be answered for."));
      why.textContent = (found ? stated(found.beside) : problems.slice(1)).join(" ");
      place.replaceChildren(...(found ? [notAnswered(found)] : []));
      return;
    }
    found.best.is_best = true;
    const {spot, market} = elsewhere(asked, found.rows, found.best.usd);
    said.textContent = taken(fields, asked) + sentence(found, asked) + spot + market;
    why.textContent = reasons(asked, found);
    place.replaceChildren(...tries(found), made("h2", "", "Every card"),
      made("p", "about", `Mark: dollars at the cheapest on-demand offer of a cloud, as billed. Bar: the 80 % interval of the speed. ${capital(textOf(data, "order"))}. All cards together hold the ${shown(asked.kept_gb)} GB of the training's parameters (${asked.state_bytes} bytes each) and of the inputs of a sequence's layers, and a tenth of them stays free. ${capital(textOf(data, "memory", {over: Math.max(...Object.values(data.memory.over)).toFixed(2)}))}.`),
      ...folded(found.rows.map(described), (row) => row.basis === "your rate", "more cards"), ...ways(asked, found), notAnswered(found));
  }

  /** Who has chosen a card, as a link from a study does, is asked for hours; who has said how fast it is is told what else is taken as it stands. */
  function taken(fields, asked) {
    const isTouched = (...names) => names.some((name) => touched.quote.has(name)), isTimed = fields.get("hours") || fields.get("rate");
    if (!isTimed) return isTouched("on") ? `Give your hours on ${fields.get("on")} above: until then this is an example. ` : "";
    const standing = [!isTouched("kind", "billion") && `${count(asked.total)} billion parameters`, !isTouched("tokens") && `${count(asked.tokens / 1e9)} billion tokens`, !isTouched("cards") && `${count(asked.cards)} cards`].filter(Boolean);
    return standing.length ? `Taken as ${named(standing)}, as it stands above. ` : "";
  }

  /** A sequence that nobody gave has as many tokens as the model has positions, if those are fewer. */
  function fitLength() {
    const length = form.elements.namedItem("length"); // `length` is how many fields there are
    if (!touched.quote.has("length")) length.value = Math.min(Number(length.defaultValue), data.models[form.elements.kind.value]?.positions ?? Infinity);
  }

  /** How what spot machines lose, and what owned cards cost, are reckoned. */
  function ways(asked, {rows}) {
    const words = rows.some(({cards}) => cards > 1) ? [`${capital(textOf(data, "links"))}.`] : [], owned = rows.filter((row) => row.owned).map((row) => `${row.card} ${shown(row.owned.offer.usd_per_hour)} USD an hour (${row.owned.offer.reckoned})`);
    if (rows.some((row) => row.spot)) words.push(`Spot: ${asked.preemptions} preemptions an hour of each machine are assumed, one of several stops all; a checkpoint takes ${data.spot.save_seconds} s, at Young's interval, and a restart ${data.spot.restart_seconds} s; waiting for a machine is not counted.`);
    if (owned.length) words.push(`Owned, apart from offers: ${owned.join("; ")}; ${rows.find((row) => row.owned).owned.offer.source}.`);
    return words.map((text) => made("p", "about", text));
  }

  function notAnswered({refused}) {
    const alike = new Map();
    for (const [card, reason] of Object.entries(refused)) alike.set(reason, [...(alike.get(reason) ?? []), card]);
    return made("p", "about", `Not answered: ${[...alike].map(([reason, cards]) => `${cards.join(", ")} (${reason})`).join("; ") || "none"}.`);
  }

  /** A classic net, by the ratio of the speeds of both machines. */
  function answerClassic() {
    const fields = new FormData(classic), hours = numberOf(fields.get("hours")), label = (card) => data.classic.cards[card];
    const asked = {net: fields.get("net"), precision: fields.get("bits"), on: fields.get("machine"), hours};
    const {rows, best} = hours > 0 && hours < 1e6 ? classicQuoted(asked, data.classic, data.markets) : {rows: []};
    if (rows.length < 2) {
      const isRefused = data.classic.refused.some(([kind, bits]) => kind === asked.net && bits === asked.precision);
      classicSaid.textContent = hours > 0 && hours < 1e6 ? isRefused ? "Not answered between a V100 and newer cards, in these bits: of such nets that hangs on software and batch more than on the cards." : `The tables time too few nets on ${label(asked.on)}.` : "Hours: more than 0 and less than 1,000,000 are allowed.";
      classicPlace.replaceChildren();
      return;
    }
    best.is_best = true;
    const market = rows.filter((row) => row.market && row.seconds <= SLOWEST * 3600 * hours).sort((a, b) => a.market.usd - b.market.usd)[0];
    const stranger = market && market.market.usd < best.usd && !best.is_market ? `\nAt a market place, where anybody may be the host: from ${usd(market.market.usd, market)} on ${label(market.card)} (${provider(market.market.offer.provider)}).` : "";
    const own = rows.find((row) => row.card === asked.on), where = `${label(best.card)} at ${provider(best.first.provider)}`;
    const close = rows.filter((row) => row.near).map((row) => label(row.card));
    const slow = rows.find((row) => !row.is_market && row.usd < best.usd), patient = slow ? `\nIf it may take ${time(slow)}: ${label(slow.card)} at ${provider(slow.first.provider)}, about ${usd(slow.usd, slow)}.` : "";
    const instead = !own ? `; yours, ${label(asked.on)}, has no price` : own !== best ? `; yours, ${label(own.card)}, ${own.is_market ? "at a market place" : "in a cloud"} (${provider(own.first.provider)}) ${usd(own.usd, own)} and ${time(own)}` : "", what = `about ${usd(best.usd, best)} and ${time(best)}`;
    const quick = slow ? ` of those that take no longer than ${SLOWEST} times your ${shown(hours)} hours` : "";
    const isHeld = touched.classic.size > 0 && !touched.classic.has("hours"), held = isHeld ? `Taken as ${count(hours)} hours: give yours above. ` : "";
    const ends = `. ${own ? `${stayOrMoveNet(own, best, rows, Boolean(slow || stranger))}.` : ""}${patient}${stranger}\nWhether it fits in their memory is not known.`;
    classicSaid.textContent = held + (close.length ? `Too close to call at 80 % between ${named([label(best.card), ...close], label(asked.on))}.\nLowest${best.is_market ? "" : " of clouds"}${quick}: ${where}, ${what}${instead}${ends}` : `Rent ${where}${quick && `, the lowest${quick}`}: ${what}${instead}${ends}`);
    const described = rows.map((row) => ({...row, name: label(row.card), about: `${row.basis} · ${rounded(row.times, digitsOf(row))}× as fast`,
      more: `${between(row.usd_low, row.usd_high, digitsOf(row))} at ${row.is_market ? "a market place, " : ""}${provider(row.first.provider)}, ${shown(row.first.usd_per_hour)} USD an hour of ${row.first.as_of}`}));
    const most = mostOf(described), isShown = (row) => row.is_market === best.is_market || row === described.find((one) => one.card === asked.on);
    const shownRows = described.filter(isShown), rest = described.filter((row) => !isShown(row));
    const more = made("details", "", made("summary", "", `${rest.length} machines that market places alone offer`), bars(rest, most));
    classicPlace.replaceChildren(...folded(shownRows, (row) => row.card === asked.on, "more machines", most), ...(rest.length ? [more] : []));
  }

  /** Whether to stay on the machine that a net was timed on: what is not clearly less is no reason to move. */
  function stayOrMoveNet(own, best, rows, hasLess) {
    const names = {own: data.classic.cards[own.card], card: data.classic.cards[best.card]}, longest = Math.max(SLOWEST * own.seconds, best.seconds);
    const hours = `${count(Number((longest / 3600).toPrecision(3)))} h`, most = longest > SLOWEST * own.seconds ? hours : `three times your hours (${hours})`;
    const stay = `Stay on ${names.own}: nothing${best.is_market ? "" : " of a cloud"} that takes at most ${most} clearly costs less`;
    if (own === best) return hasLess ? stay : `Stay on ${names.own}: no other machine is expected to cost less`;
    if (own.is_market && !best.is_market && own.usd < best.usd) return `Stay on ${names.own}, if a market place will do`;
    const below = rows.filter((row) => row.usd < own.usd && row.seconds <= longest && row.is_market === best.is_market && !isCloseNet(row, own));
    const safe = rows.some((row) => row.near) ? safely(own, below, ({card}) => data.classic.cards[card]) : null, to = safe?.row ?? best;
    const less = usd(own.usd - to.usd), long = `${rounded(to.seconds / own.seconds, 2)} times`;
    if (!below.length) return `${stay}; moving saves ${less}, not surely, for ${long} the time`;
    const saved = `${less} less for ${long} the time`;
    if (safe) return `${safe.words}; ${saved}`;
    return rows.some((row) => row.near) ? `${textOf(data, "move to some", names)}; on the first, ${saved}` : `${textOf(data, "move", names)}: ${saved}`;
  }

  const forms = {quote: form, classic}, start = Object.fromEntries(Object.entries(forms).map(([name, one]) => [name, new FormData(one)]));
  const touched = {quote: new Set(), classic: new Set()}; // fields that a person, or the address, has filled in
  function address(name) {
    const kept = new URLSearchParams([...new FormData(forms[name])].filter(([field]) => touched[name].has(field)));
    return kept.size ? `#${name}&${kept}` : location.pathname + location.search;
  }

  function read() {
    const denied = [];
    for (const [name, one] of Object.entries(forms)) {
      const kept = new URLSearchParams(location.hash.startsWith(`#${name}&`) ? location.hash.slice(name.length + 2) : "");
      touched[name] = new Set(kept.keys());
      for (const [key, value] of [...start[name], ...kept]) {
        const field = one.elements.namedItem(key); // `length` is one
        if (field && (!field.options || [...field.options].some((option) => option.value === value))) field.value = value;
        else denied.push(`${key}=${value}`);
      }
    }
    if (location.hash.includes("=") && !Object.keys(forms).some((name) => location.hash.startsWith(`#${name}&`))) denied.push(location.hash.slice(1));
    more.open = [...more.querySelectorAll("input")].some((field) => field.value !== field.defaultValue);
    answer();
    answerClassic();
    if (denied.length) said.prepend(`The address asks for what is not known here (${denied.join(", ")}), and was not followed in that. `);
    if (/^#(classic&|nets$)/.test(location.hash)) document.getElementById("nets").scrollIntoView();
    // Who comes from a study has the machine filled in, and has to say the hours.
    if (location.hash.startsWith("#classic&")) classic.elements.hours.focus({preventScroll: true});
    else if (touched.quote.has("on") && !touched.quote.has("hours") && !touched.quote.has("rate")) form.elements.hours.focus();
  }

  const csv = document.getElementById("csv");
  for (const one of [form, link, csv, document.getElementById("nets"), document.getElementById("other")]) one.hidden = false;
  document.getElementById("worked").open = false;
  for (const [name, one] of Object.entries(forms)) {
    one.addEventListener("submit", (event) => event.preventDefault());
    one.addEventListener("input", ({target}) => { touched[name].add(target.name); ({quote: answer, classic: answerClassic})[name](); });
    one.addEventListener("change", () => location.href === new URL(address(name), location.href).href || history.pushState(null, "", address(name)));
  }
  window.addEventListener("hashchange", () => location.hash === "#nets" || read()); // the jump asks nothing
  function copies(button, textOf, otherwise) {
    const label = button.textContent;
    button.addEventListener("click", async () => {
      const text = textOf(), copied = text !== null && (await navigator.clipboard?.writeText(text).then(() => true, () => false));
      button.textContent = copied ? "Copied" : otherwise;
      setTimeout(() => { button.textContent = label; }, 2000);
    });
  }
  /** What is shared is of one way to buy: lines of others stand on the page. */
  const onDemand = () => said.textContent.split("\n").filter((line) => !/^(On spot|At a market place),/.test(line)).join(" ");
  copies(link, () => `${onDemand()} ${why.textContent} ${new URL(address("quote"), location.href).href}`, "Copy it from the address bar");
  copies(csv, () => {
    const {asked, problems} = questionOf(given(new FormData(form)), data);
    return problems.length ? null : csvOf(quoted(asked, data, today));
  }, "Nothing to copy");
  read();
}

if (document.getElementById("quote-data")) beginQuote();
