// The form at the top of the page: reads it, asks the engine, shows the answer, and keeps the settings in the URL.

/** Of more bars than a few beyond these, the rest is folded. */
const MOST_BARS = NARROW.matches ? 6 : 16;

/** A table that is open where there is room for it. */
const GLANCE = "All at a glance";

/** The fields that say how long a training is. */
const LENGTHS = ["samples", "takes", "accuracy"];

/** In the name of a configuration. */
const BATCH = / · batch (\d+)/;

/** Beyond so many times as much nobody asks how many: scripts/pages/first.py. */
const FARTHEST = 100;

/** So many configurations stand side by side at a glance. */
const MOST_COLUMNS = 8;

/** Trainings that cost as much both ways, to such a part, are said to once: scripts/storage/numbers.py. */
const LEAST_GAP = 0.05;

/** A machine that wins at less than this share of its price wins at none that anybody asks: scripts/analysis/trainings.py. */
const LEAST_SHARE = 0.1;

/** Settings of a form as the engine takes them; what is empty or no number is null. */
function stateOf(fields, limits) {
  const value = (name) => fields.get(name) ?? "";
  const number = (name) => (value(name) === "" || !Number.isFinite(writtenNumber(value(name))) ? null : writtenNumber(value(name)));
  const prices = {};
  for (const name of fields.keys()) if (name.startsWith("price.") && number(name) !== null) prices[name.slice(6)] = number(name);
  const state = {workload: value("workload"), by: value("by"), option: value("option"), base: value("base"), on: value("on"), like: value("like"), prices};
  for (const name of Object.keys(limits)) state[name] = number(name);
  return {...state, compile: value("compile") !== "no", discount: (number("discount") ?? 0) / 100};
}

function begin() {
  const data = JSON.parse(document.getElementById("ask-data").textContent);
  const form = document.getElementById("ask"), place = document.getElementById("asked");
  const readable = (name) => form.elements.workload.querySelector(`[value="${CSS.escape(name)}"]`).textContent;

  const asked = () => data.workloads[form.elements.workload.value];

  /** Where the page's price is an offer of an hour of one card, hours are of a card, as at the top of the page. */
  const anHour = Object.keys(data.by_card).length ? "USD a card-hour" : "USD an hour";
  const perHour = ({cell}, value) => (value === null ? null : value / (data.by_card[cell.hardware] ?? 1));

  /** Of how many trainings the dollars are shown: of many, where one costs next to nothing. */
  function scaleOf(state, {is_rate, times}, rows) {
    return is_rate ? 1 : (!isOwn(state) && times) || (Math.max(...rows.flatMap((row) => row.of.usd)) < 0.01 ? 1000 : 1);
  }

  /** Dollars, and of how many trainings. */
  function usd(value, times) {
    return `${shown(value * times)} USD${times > 1 ? ` per ${shown(times, 4)} trainings` : ""}`;
  }

  function time(seconds, times) {
    return `${duration(seconds)}${times > 1 ? " each" : ""}`;
  }

  /** An hour of a row's machine, now or when its price was that; one that the reader typed is theirs. */
  function priced(state, row) {
    const {usd_per_hour, cell} = row;
    const since = state.prices[cell.hardware] === undefined ? data.prices[state.option]?.[cell.hardware]?.since ?? "now" : "yours";
    return `${since}${since === "now" ? "" : ":"} ${shown(perHour(row, usd_per_hour))}`;
  }

  function card(head, name, ...words) {
    return made("div", "card", made("span", "", head), made("strong", "", name), made("p", "", ...words));
  }

  /** How many runs the best has, and which are not clearly different from it. */
  function sure(rows) {
    const runs = rows[0].of.usd.length, close = rows.filter((row) => row.near), near = close.map((row) => row.name);
    return made("span", "", ` · ${runs} run${runs > 1 ? "s" : ""}${near.length ? ` · ${whyNot(close).join(" or ")}: ${few(near)}; what would settle it: ${settledBy(close)}` : ""}`);
  }

  /** How trainings are billed, and what they come to in the other way, where that is another: scripts/pages/minute.py. */
  function billedAs(state, row, times) {
    const price = data.prices[state.option]?.[row.cell.hardware], rule = price?.alone ?? price, isRow = Boolean(price?.alone);
    if (!rule?.increment_seconds || asked().is_rate || !(row.usd > 0) || row.cell.runs.some((run) => run.tries)) return "";
    const other = median(row.of.seconds.map((one) => isRow ? billed(one, rule) : one)) * row.usd_per_hour / SECONDS_PER_HOUR;
    if (Math.abs(other / row.usd - 1) < LEAST_GAP) return "";
    const least = row.seconds < rule.minimum_seconds ? `, as ${duration(rule.minimum_seconds)} are billed at least` : "", shownOther = shown(other * times);
    return isRow ? `, in a row on one machine (one by one ${shownOther}${least})` : `, one by one${least} (in a row on one machine ${shownOther})`;
  }

  /** Whether interruptions of spot machines are counted: the quote page always does. */
  function interrupted(state, row) {
    const price = data.prices[state.option]?.[row.cell.hardware], rate = state.preemptions ?? price?.preemptions_per_hour ?? 0;
    if (!price?.is_spot) return "";
    const lives = livesOf(row.seconds, price), many = lives > 1 ? ` A preemptible machine lives for ${shown(price.lives_seconds / SECONDS_PER_HOUR, 2)} h at most: that takes ${shown(lives, 1)} of them, one after another.` : "";
    return rate > 0 ? `${many} ${shown(rate, 2)} interruptions an hour of the spot machine are counted.` : `${many} No interruption of the spot machine is counted (under “More” you can).`;
  }

  /** How two rows compare in cost or time: the ratio of their medians where the rule calls them different. */
  function against(row, other, key, words) {
    const isClear = clearlyDifferent(row.of[key], other.of[key], data.rule, [row.cell.hardware, other.cell.hardware]);
    return isClear ? `${words} ${shown(row[key] / other[key])}× as ${key === "usd" ? "much" : "long"}` : `is not clearly different in ${key === "usd" ? "cost" : "time"}`;
  }

  function sentence(state, rows, times, unit) {
    const [first] = rows, base = rows.find((row) => row.name === state.base), within = rows.filter((row) => !row.out);
    const tied = within.filter((row) => row === first || row.near), axis = (what, name, key) => [what, name, new Set(tied.map((row) => row.cell[key])).size, new Set(within.map((row) => row.cell[key])).size];
    const isSame = tied.length > 1 && tied.every((row) => row === first || row.why === EQUAL), known = tied.length > 1 && !isSame ? clearAxes([axis("machine", data.machines[first.cell.hardware], "hardware"), axis("software", first.cell.software, "software")]) : "";
    const price = data.prices[state.option]?.[first.cell.hardware];
    const said = state.takes !== null && state.by === "cost" ? decision(state, within, times) : within.length > 1 ? `${best(rows, state.by).said}.` : "";
    const words = said ? [made("strong", "", `${said}${known}`), " "] : [];
    words.push(`${first.name}: ${usd(first.usd, times)}${billedAs(state, first, times)}, and ${time(first.seconds, times)} for ${unit}${price?.whose && state.prices[first.cell.hardware] === undefined ? `, at ${price.whose}` : ""}.${stayOrMove(state, rows, times)}${interrupted(state, first)}`);
    const machines = new Set(rows.map((row) => row.cell.hardware));
    const below = state.by === "cost" && !rows.some((row) => row.near) ? winsBelow(first, within.filter((row) => row.cell.hardware !== first.cell.hardware), data.rule) : null;
    if (machines.size === 1 && rows.length > 1) words.push(" All of them run on one machine: no price of it changes their order.");
    else if (below) words.push(` It stays clearly the cheapest up to ${shown(perHour(first, below))} ${anHour}, and is even with the next machine at ${shown(perHour(first, first.even_at))} (${priced(state, first)}).`);
    if (price?.by_month && state.prices[first.cell.hardware] === undefined) words.push(" It is rented by the month: its price is that of an hour where every hour of the month is used.");
    if (base && base !== first) words.push(` ${base.name} ${against(base, first, "usd", "costs")} and ${against(base, first, "seconds", "takes")}.`);
    return made("p", "answer", ...words);
  }

  /** What to rent for a training of the reader's own, or between what that is undecided, and of when its price is. */
  function decision(state, within, times) {
    const [first] = within, tied = within.filter((row) => row === first || row.near), place = ({name, cell}) => {
      const machine = data.machines[cell.hardware], others = name.split(" · ").filter((part) => part.replace(/ ?†$/, "") !== machine);
      return `${machine}${others.length ? ` (${others.join(", ")})` : ""}`;
    };
    const price = data.prices[state.option]?.[first.cell.hardware], isTyped = tied.some(({cell}) => state.prices[cell.hardware] !== undefined);
    const days = [...new Set(tied.map(({cell}) => data.prices[state.option]?.[cell.hardware]?.as_of).filter(Boolean))].sort();
    const dated = isTyped ? ", at your price" : days.length ? `, price${days.length > 1 ? "s" : ""} of ${[...new Set([days[0], days.at(-1)])].join(" to ")}` : "";
    if (tied.length < 2) return `${price?.own ? "Use" : "Rent"} ${place(first)}: ${usd(first.usd, times)}${dated}.`;
    const named = tied.slice(0, 3).map((row) => `${place(row)}: ${usd(row.usd, times)}${row === first ? "" : ` (${noted(state, row, first)})`}`);
    return `Undecided between ${named.join("; ")}${tied.length > 3 ? `; and ${tied.length - 3} more` : ""}${dated}.`;
  }

  /** Whether the reader says how long a training is. */
  const isOwn = (state) => state.samples !== null || state.takes !== null || state.accuracy !== null;

  /** The page's question under these settings, over all workloads; nothing where it asks none. */
  function over(state) {
    const found = data.question && pays(data, state), [one, other] = data.question ?? [];
    if (!found?.pairs) return [];
    const left = found.pairs - found.cheaper - found.dearer;
    return [`Over all workloads${isOwn(state) ? ", at this length," : ""} ${one} is cheaper than ${other} in ${found.cheaper} of ${found.pairs} pairs and dearer in ${found.dearer}${left ? ` (undecided: ${left})` : ""}.`];
  }

  /** What the page says of its own number of samples, where none of that may be cheapest here; else nothing: what is only surer or less sure is no other answer. */
  function changed(state, rows) {
    if (state.samples === null && state.takes === null) return "";
    const before = ask(data, {...state, samples: null, takes: null}), may = (found) => found.filter((row, place) => !row.out && (place === 0 || row.near)).map(({name}) => name);
    const here = may(rows);
    if (!before.length || may(before).some((name) => here.includes(name))) return "";
    const least = Math.max(0, ...[before, rows].flatMap((found) => found.filter((row) => row.near || row === found[0])).map((row) => {
      const minimum = data.prices[state.option]?.[row.cell.hardware]?.minimum_seconds ?? 0;
      return row.seconds < minimum ? minimum : 0;
    }));
    const once = rows.some(({cell}) => cell.runs.some((run) => run.once > 0));
    const reasons = [...(least && state.by !== "time" ? [`${duration(least)} are billed at least`] : []), ...(once ? ["start and compilation are paid once"] : [])];
    const {samples, noun} = asked();
    return `With the page's own ${shown(samples, 4)} ${noun}: ${best(before, state.by).said}${reasons.length ? `, as ${reasons.join(" and ")}` : ""}.`;
  }

  /** As which configuration the reader's own is taken: that which is chosen, or the fastest on its machine. */
  function mine(state) {
    const there = ask(data, {...state, by: "time", deadline: null, budget: null}).filter(({cell}) => cell.hardware === state.on);
    return there.find(({name}) => name === state.like) ?? there[0];
  }

  /** The reader's own training, in words; hours that a link of the page gave are an example. */
  function own(state, name) {
    const like = mine(state), there = data.cells.filter(({workload, hardware}) => workload === state.workload && hardware === state.on);
    const as = !like || there.length < 2 ? "" : like.name === state.like ? ` as ${like.name}` : ` as ${like.name}, the fastest there (another: choose it beside)`;
    return `a training like ${name} that takes ${shown(state.takes)} h on ${data.machines[state.on]}${as}${isExample(state) ? ` (taken as ${shown(state.takes)} hours: give yours)` : ""}`;
  }

  /** Whether the hours are those of a link of the page, and not the reader's. */
  function isExample(state) {
    const given = [...document.querySelectorAll(".asks a")].map(({hash}) => new URLSearchParams(hash.slice(1)));
    return !typed && given.some((fields) => Number(fields.get("takes")) === state.takes && fields.get("on") === state.on);
  }

  /** Whether to stay on the machine that the reader's hours are of: to move, something has to cost clearly less. */
  function stayOrMove(state, rows, times) {
    const like = mine(state), own = rows.find(({name}) => name === like?.name);
    if (state.takes === null || state.by !== "cost" || !own || own.out) return "";
    const below = rows.filter((row) => !row.out && row.usd < own.usd && clearlyDifferent(row.of.usd, own.of.usd, data.rule, [row.cell.hardware, own.cell.hardware]));
    const there = data.machines[own.cell.hardware], yours = ` Yours comes to ${usd(own.usd, times)}`;
    if (own === rows[0]) return ` That is yours: stay on ${there}.`;
    if (!below.length) return `${yours}: stay on ${there}, nothing here clearly costs less.`;
    const isHere = ({cell}) => cell.hardware === own.cell.hardware, here = below.find(isHere);
    const isEnough = here && (here === rows[0] || here.near || below.every(isHere)); // other software may do as much as another machine
    return isEnough ? `${yours}: stay on ${there}, where ${here.name} clearly costs less.` : `${yours}, clearly more: move.`;
  }

  /** Where a training of the reader's own is quoted at all providers: this page's form answers among its own machines. */
  function elsewhere(state) {
    const door = data.quoted[state.on];
    if (state.takes === null) return [];
    const words = `These are of the machines of this page (${data.options[state.option]})`;
    if (!door) return [made("p", "", `${words}.`)];
    const link = made("a", "", `${state.takes.toLocaleString("en-US")} h on ${data.machines[state.on]}, by the quote page`);
    const net = door.includes("classic&") ? {net: data.nets.includes(state.workload) ? state.workload : ""} : {}; // other nets are none of its own
    const like = mine({...state, takes: null, samples: null}); // whose hours are as many times yours as its tokens
    const model = like?.cell.training && door.includes("quote&") ? {...like.cell.training, tokens: ((asked().samples * state.takes * 3600) / like.seconds / 1e9).toPrecision(4)} : {};
    link.href = `${door}&${new URLSearchParams({...model, ...net, hours: state.takes})}`;
    return [made("p", "", `${words}; over all providers: `, link, ".")];
  }

  /** What the shortest time costs beside the lowest cost, where both are clearly different. */
  function priceOfSpeed(cheap, fast) {
    const head = "Price of speed", near = (rows, [{cell}]) => rows.filter((row) => row.cell === cell && row.near);
    const measured = [...cheap, ...fast].some((row) => row.near) ? " measured" : "";
    if (cheap[0].cell === fast[0].cell) return card(head, `nothing${measured}`, "one configuration has both");
    const alike = Object.entries({time: near(fast, cheap), cost: near(cheap, fast)}).filter(([, rows]) => rows.length);
    if (alike.length) return card(head, WHY.filter((why) => alike.some(([, [row]]) => row.why === why)).join(" or "), `in ${alike.map(([what]) => what).join(" and ")}`);
    return card(head, `${shown(fast[0].usd / cheap[0].usd)}× the money`, `for ${shown(cheap[0].seconds / fast[0].seconds)}× the speed${measured}`);
  }

  function cards(state, rows, times) {
    const [cheap, fast] = ["cost", "time"].map((by) => ask(data, {...state, by}));
    return made("div", "answers", card(`${best(cheap, "cost").head} · ${data.options[state.option]}`, cheap[0].name, `${usd(cheap[0].usd, times)}, ${time(cheap[0].seconds, times)}`, sure(cheap)),
      card(best(fast, "time").head, fast[0].name, `${time(fast[0].seconds, times)}, ${usd(fast[0].usd, times)}`, sure(fast)), priceOfSpeed(cheap, fast));
  }

  /** The best by each way to buy, beside each other: one choice away nobody would see that another wins. */
  function ways(state, times) {
    const found = Object.keys(data.options).map((option) => [option, ask(data, {...state, option})]).filter(([, rows]) => rows.length && !rows[0].out);
    if (found.length < 2) return [];
    const hasLeast = found.some(([option, [first]]) => data.prices[option][first.cell.hardware]?.minimum_seconds);
    const lines = found.map(([option, rows]) => {
      const [first] = rows, close = rows.filter((row) => row.near), near = close.map((row) => row.name), least = data.prices[option][first.cell.hardware]?.minimum_seconds;
      const values = [shown(first.usd * times), duration(first.seconds), shown(perHour(first, first.usd_per_hour)), ...(hasLeast ? [least ? duration(least) : "—"] : [])];
      return [data.options[option], made("td", "wrap", first.name, ...(near.length ? [made("span", "about", ` (${whyNot(close).join(" or ")}: ${near.length > 1 ? `${near.length} others` : near[0]})`)] : [])), ...values.map((value) => made("td", "n", value))];
    });
    const per = usd(0, times).split("USD")[1], each = times > 1 ? " each" : "";
    const heads = ["bought as", {cost: "lowest cost", time: "shortest time", value: "least time × cost"}[state.by], `USD${per}`, `time${each}`, anHour, ...(hasLeast ? ["billed at least"] : [])];
    return [stacked(table("The best by each way to buy", "", heads, lines))];
  }

  /** How many times as much; of what is far off that it is. */
  const factor = (value) => (value > FARTHEST ? `over ${FARTHEST}` : value < 1 / FARTHEST ? `under ${1 / FARTHEST}` : shown(value));

  /** What a row is beside the first, and between how many times as much the rule sees it: that decides. scripts/pages/first.py has the same. */
  function noted(state, row, first) {
    if (row === first || row.out || row.why === DISTURBED || row.why === EQUAL) return row === first || row.out ? "" : row.why;
    const reach = reachOf(...pairOf(row, first, state.by, data.rule))?.map((end) => factor(state.by === "value" ? end ** 2 : end));
    const fewest = Math.min(...[row, first].map(({of}) => of.usd.length)), ends = reach ? `: ${reach.join(" to ")}×` : "";
    return row.near ? {[CLOSE]: `too close${ends}`, [FEW]: `few runs: ${fewest}`}[row.why] : `clearly more${ends}`;
  }

  /** What the bars are: reports/panel.html.j2. */
  function legend() {
    const swatch = (kind, words) => [made("span", "", made("i", kind), words), " "];
    return made("span", "key", ...swatch("best", "lowest"), ...swatch("equal", "equal"), ...swatch("near", "too close to call"), ...swatch("few", "too few or disturbed runs"), ...swatch("", "clearly more"));
  }

  function bars(state, rows, times) {
    const {key} = ROLES[state.by], most = Math.max(...rows.flatMap((row) => row.of[key]));
    const percent = (value) => (most ? `${((100 * value) / most).toFixed(2)}%` : "0%");
    const list = (some) => {
      const element = made("div", "bars", ...some);
      element.setAttribute("role", "list");
      return element;
    };
    const all = rows.map((row, place) => {
      const fill = made("i"), track = made("span", "track", fill, ...row.of[key].map((value) => {
        const dot = made("em");
        dot.style.left = percent(value);
        return dot;
      }));
      fill.style.width = percent(row[key]);
      const note = noted(state, row, rows[0]);
      const words = `${shown(row.usd * times)} · ${shown(row[key] / rows[0][key])}× · ${duration(row.seconds)}${row.out ? ` · ${row.out}` : ""}`;
      const bar = made("div", `bar ${place ? markOf(row) : "best"}${row.out ? " out" : ""}`, made("span", "", row.name), track, made("span", "n", words, ...(note ? [made("small", "", ` · ${note}`)] : [])));
      bar.setAttribute("role", "listitem");
      return bar;
    });
    if (all.length <= MOST_BARS + 4) return [list(all)];
    const more = made("details", "", made("summary", "", `${all.length - MOST_BARS} more configurations`), list(all.slice(MOST_BARS)));
    return [list(all.slice(0, MOST_BARS)), more];
  }

  /** `means` is the meaning of heads that have none of their own: the names of configurations. */
  function table(label, kind, heads, rows, means = "") {
    const head = made("tr", "", ...heads.map((text, i) => {
      const cell = made("th", i && rows[0][i].className !== "wrap" ? "n" : "", text);
      cell.title = data.means[text] ?? data.means[text.split(" ")[0]] ?? means;
      return cell;
    }));
    const body = made("tbody", "", ...rows.map(([first, ...cells]) => {
      const name = made("th", first instanceof Node ? "" : "wrap", first);
      name.scope = "row";
      return made("tr", "", name, ...cells);
    }));
    const made_ = made("div", "table", made("table", kind, made("thead", "", head), body));
    made_.tabIndex = 0;
    made_.setAttribute("role", "region");
    made_.setAttribute("aria-label", label);
    return made_;
  }

  /** Which of the rows found stands in which column: its own, or where that did not run the lowest of those at another batch size, in one column. */
  function columnsOf(names, found) {
    const shown = new Map(names.map((name) => [name, found.find((row) => row.name === name)])), plain = (name) => name.replace(BATCH, "");
    for (const name of names) {
      const lowest = shown.get(name) ? null : found.find((row) => plain(row.name) === plain(name));
      if (lowest && ![...shown.values()].includes(lowest)) shown.set(name, lowest);
    }
    return shown;
  }

  /** How many are tied with the lowest, and in no column: scripts/pages/first.py. */
  function more(found, seen) {
    const tied = found.filter((row, place) => place && ![...seen.values()].includes(row) && ["equal", "near"].includes(markOf(row))).length;
    return tied ? `; tied: ${tied} more` : "";
  }

  function glance(state) {
    const all = Object.keys(data.workloads).map((workload) => [workload, ask(data, {...state, workload})]);
    const {key} = ROLES[state.by];
    const ratios = new Map();
    for (const [, found] of all) for (const row of found) ratios.set(row.name, [...(ratios.get(row.name) ?? []), row[key] / found[0][key]]);
    const middle = (name) => [...ratios.get(name)].sort((a, b) => a - b)[ratios.get(name).length >> 1];
    const sorted = [...ratios.keys()].sort((a, b) => ratios.get(b).length - ratios.get(a).length || middle(a) - middle(b));
    const firsts = new Set(all.flatMap(([, found]) => found.filter((row) => row[key] === found[0][key]).map((row) => row.name)));
    const kept = new Set([...sorted].sort((a, b) => firsts.has(b) - firsts.has(a)).slice(0, Math.max(MOST_COLUMNS, firsts.size)));
    const names = sorted.filter((name) => kept.has(name));
    const cut = names.length < sorted.length ? ` ${names.length} of ${sorted.length} configurations: the lowest of each row, then those low in most.` : "";
    const lowest = (workload, rows, [first] = rows, about = data.workloads[workload], times = scaleOf(state, about, rows)) => (
      {cost: `● ${usd(first.usd, times)}${isOwn(state) || times > 1 ? "" : ` ${about.unit}`}`, time: `● ${duration(first.seconds)}`}[state.by] ?? "");
    const rows = all.filter(([, found]) => found.length).map(([workload, found]) => [workload, found, columnsOf(names, found)]).map(([workload, found, seen]) => [made("span", "", `${readable(workload)} `, made("span", "about", lowest(workload, found), more(found, seen))), ...names.map((name) => {
      const row = seen.get(name);
      if (!row) return made("td", "n none", "—");
      const ratio = row[key] / found[0][key], cell = made("td", "n", `${shown(ratio)}×${row === found[0] ? " ●" : {equal: " =", near: " ◐", few: " ○"}[markOf(row)] ?? ""}`);
      if (row.name !== name) cell.append(" ", made("span", "about", BATCH.test(row.name) ? `@${BATCH.exec(row.name)[1]}` : "other batch"));
      cell.setAttribute("data-head", name);
      cell.style.setProperty("--heat", `${Math.min(100, 40 * (ratio - 1)).toFixed(0)}%`);
      return cell;
    })]);
    const isOther = rows.some(([, ...cells]) => cells.some((cell) => cell.textContent.includes("@")));
    const fold = made("details", "glance", made("summary", "", made("h3", "", GLANCE)), made("p", "about", `× the lowest of the row: ● lowest, = equal, ◐ too close to call, ○ too few or disturbed runs to say, no mark: clearly more.${isOther ? " @256: of that batch." : ""}${cut}`), table(GLANCE, "heat", ["workload", ...names], rows, `${{cost: "Cost", time: "Time", value: "Time × cost"}[state.by]} of this configuration over the lowest of the row`));
    fold.id = "glance";
    return [fold];
  }

  /** On a phone its rows stand as cards, as those of the page's own tables do. */
  function stacked(element) {
    const heads = [...element.querySelectorAll("thead th")].map((head) => head.textContent);
    onPhone(() => {
      element.querySelector("table").classList.add("stacked");
      for (const row of element.querySelectorAll("tbody tr")) [...row.cells].forEach((cell, place) => cell.setAttribute("data-head", heads[place]));
    });
    return element;
  }

  /** The best of each machine, and below which price of its hour it wins clearly over that of each other one; null for none. */
  function turning(rows) {
    const firsts = rows.filter((row) => row.even_at !== null);
    return firsts.map((row) => ({row, below: winsBelow(row, firsts.filter((other) => other !== row), data.rule)}));
  }

  /** By which of their runs machines are compared whose rows these are. */
  const by = (found) => (found.every(({row}) => row.of.usd.length === 1) ? "one run of each" : "medians");

  /** At which price another machine wins, in a sentence: scripts/pages/flips.py. */
  function flip(state, found) {
    const share = ({row, below}) => (below ?? row.even_at) / row.usd_per_hour, hasPrice = ({below, row}) => below >= LEAST_SHARE * row.usd_per_hour;
    const rivals = found.slice(1).map((one) => (hasPrice(one) ? one : {...one, below: null}));
    if (!rivals.length) return "";
    const {row, below} = rivals.reduce((most, one) => (hasPrice(one) - hasPrice(most) || share(one) - share(most)) > 0 ? one : most);
    const even = `even by ${by(found)} at ${shown(perHour(row, row.even_at))} ${anHour} (${priced(state, row)})`;
    const clear = below === null ? "no price is known at which it wins clearly" : `clearly cheaper below ${shown(perHour(row, below))}`;
    return `For ${readable(row.cell.workload)} alone, ${data.machines[row.cell.hardware]} is ${even}, and ${clear}.${data.beside}`;
  }

  /** Prices at which another machine would cost as little: of medians, and so far below that the rule calls it cheaper. */
  function wins(found) {
    const line = ({row, below}) => [row.name, ...[row.usd, row.seconds, ...[row.usd_per_hour, row.even_at, below].map((value) => perHour(row, value))].map((value) => made("td", "n", shown(value)))];
    if (!found.length) return [];
    const none = found.every(({row}) => row.of.usd.length >= 4) ? "at no price" : "not known, too few runs";
    const fold = made("details", "", made("summary", "", "At which price would another machine cost less?"),
      made("p", "about", `Each machine by ${by(found)}. At the even price it costs as much as the lowest of the others; below the last price it wins clearly (—: ${none}).`), stacked(table("At which price would another machine cost less", "",
      ["configuration", "USD", "s", anHour, `even at, ${anHour}`, `clearly less below, ${anHour}`], found.map(line))));
    fold.id = "flips";
    return [fold];
  }

  /** Say beside each field why what stands in it is no setting; return what is refused. */
  function refused() {
    const found = [];
    for (const field of form.querySelectorAll("[data-limit]")) {
      const why = field.disabled ? "" : refusal(field.value, data.limits[field.dataset.limit]), place = field.parentElement.querySelector(".problem");
      field.setCustomValidity(why);
      field.toggleAttribute("aria-invalid", why !== "");
      Object.assign(place, {textContent: why, hidden: !why});
      if (why) found.push(`${field.parentElement.firstChild.textContent}: ${why}.`);
    }
    return found;
  }

  function answer() {
    const wrong = refused();
    refusedNow = link.disabled = wrong.length > 0;
    if (wrong.length) {
      show(made("p", "answer", `Not computed. ${wrong.join(" ")}`));
      return;
    }
    const fields = new FormData(form), state = stateOf(fields, data.limits), rows = ask(data, state);
    const about = data.workloads[state.workload], name = readable(state.workload);
    const hasRun = data.cells.some(({workload, hardware}) => workload === state.workload && hardware === state.on);
    if (state.takes !== null && !hasRun) {
      show(made("p", "answer", state.on ? `${name} was not run on ${data.machines[state.on]}: cannot be told.` : `Choose the machine on which it takes ${shown(state.takes)} h.`));
      return;
    }
    const amount = state.accuracy !== null ? `a training to an accuracy of ${state.accuracy}` : state.samples !== null ? `${Number.isInteger(state.samples) ? state.samples.toLocaleString("en-US") : shown(state.samples)} ${about.noun}` : about.unit;
    const unit = state.takes !== null ? own(state, name) : `${amount} of ${name}`;
    if (!rows.length || rows[0].out) {
      const priced = data.cells.some(({workload, hardware}) => workload === state.workload && hourly(data.prices[state.option]?.[hardware], hardware, state) !== null);
      const why = rows.length ? "Nothing is fast and cheap enough for that deadline and budget."
        : !priced ? "No machine has a price so bought: type one."
        : state.takes !== null ? `No training of ${name} on ${data.machines[state.on]} is known that is as short.`
        : state.accuracy !== null ? "No configuration reached that accuracy." : "With so many preemptions no training ends.";
      show(made("p", "answer", why), ...(rows.length ? bars(state, rows, 1) : []));
    } else {
      const times = scaleOf(state, about, rows);
      const what = `${name}: each bar is dollars${times === 1 ? "" : " per 1,000 trainings"}, followed by × the lowest and the time.`;
      const found = turning(rows.filter((row) => !row.out)), turns = state.by === "cost" ? flip(state, found) : "";
      show(sentence(state, rows, times, unit), ...elsewhere(state), made("p", "", [changed(state, rows), turns, ...over(state)].filter(Boolean).join(" ")), cards(state, rows, times), ...ways(state, times), ...(about.left_out ? [made("p", "about", about.left_out)] : []), made("p", "about", `${what} ${rows.some((row) => / to /.test(noted(state, row, rows[0]))) ? "A to b×: the range that decides, too close with 1 in it; dots" : "Dots"} are single runs. `, legend()), ...bars(state, rows, times),
        ...(Object.keys(data.workloads).length > 1 ? glance(state) : []), ...wins(found));
    }
  }

  /** The sentence is read aloud; what a reader has opened of the rest stays open. */
  function show(sentence, ...more) {
    const name = (folded) => folded.firstChild.textContent.replace(/[\d,]+/g, "");
    for (const folded of rest.querySelectorAll("details")) opened[folded.open ? "add" : "delete"](name(folded));
    said.replaceChildren(sentence);
    rest.replaceChildren(...more);
    for (const folded of rest.querySelectorAll("details")) folded.open = opened.has(name(folded));
  }

  /** The address that asks what the form does. */
  function address() {
    const kept = new URLSearchParams([...new FormData(form)].filter(([name, value]) => value !== (start.get(name) ?? "")));
    return kept.size ? `#ask&${kept}` : location.pathname + location.search + (location.hash.startsWith("#ask&") ? "" : location.hash);
  }

  /** Whether the address asks what the form does. */
  const isThere = () => new URL(address(), location.href).href === location.href;

  /** Keep the question in the address: a new step of the history where a field begins to change. */
  function keep() {
    if (refusedNow || isThere()) return;
    history[settled ? "pushState" : "replaceState"](null, "", address());
    settled = false;
  }

  function follow() {
    const names = data.cells.filter((cell) => cell.workload === form.elements.workload.value).map((cell) => cell.name), chosen = form.elements.base.value;
    form.elements.base.replaceChildren(new Option("nothing", ""), ...names.map((name) => new Option(name, name, false, name === chosen)));
    const prices = data.prices[form.elements.option.value] ?? {};
    for (const name of Object.keys(data.machines)) form.elements[`price.${name}`].placeholder = prices[name] ? shown(prices[name].usd_per_hour) : "no price";
    const uses = new Set(Object.values(prices).filter((price) => price.own).map((price) => price.own.hours_per_month));
    form.elements.hours.placeholder = [...uses].join(" or ") || "none is owned";
    const {samples, noun, is_whole} = asked(), {samples: many, takes, on, accuracy} = form.elements, hasOwn = takes.value !== "";
    many.parentElement.firstChild.textContent = is_whole ? `${noun} (no samples recorded)` : noun;
    const until = accuracy.value !== "";
    many.placeholder = until ? "until the accuracy" : hasOwn ? "as mine" : shown(samples, is_whole ? 1 : 4);
    takes.placeholder = until ? "until the accuracy" : "then say on what";
    on.disabled = on.parentElement.hidden = !hasOwn;
    const ran = new Set(data.cells.filter((cell) => cell.workload === form.elements.workload.value).map((cell) => cell.hardware));
    // What was chosen stays, and the answer says where nothing ran on it: another machine would be another question.
    if (!on.value && ran.size === 1) [on.value] = ran;
    const {like} = form.elements, chosenLike = like.value, there = data.cells.filter((cell) => cell.workload === form.elements.workload.value && cell.hardware === on.value);
    like.replaceChildren(new Option("its fastest there", ""), ...there.map(({name}) => new Option(name, name, false, name === chosenLike)));
    like.disabled = like.parentElement.hidden = !hasOwn || there.length < 2;
    for (const option of on.options) option.disabled = !ran.has(option.value) && option.value !== on.value;
    form.elements.accuracy.disabled = !data.cells.some((cell) => cell.workload === form.elements.workload.value && cell.runs.some((run) => run.reached));
  }

  /** How long a training is is said in one way: what is typed empties the others. */
  function alone({name, value}) {
    if (LENGTHS.includes(name) && value !== "") for (const other of LENGTHS) if (other !== name) form.elements[other].value = "";
  }

  follow();
  const start = new FormData(form);
  let settled = true, refusedNow = false, typed = false;
  /** Names of what the reader has opened, also while an answer shows none of it. */
  const opened = new Set(NARROW.matches ? [] : [GLANCE]);
  const said = made("div"), rest = made("div"), link = document.getElementById("link");
  said.setAttribute("aria-live", "polite");
  place.replaceChildren(said, rest);

  /** Fill the form as the address asks, or as the page opens where it asks for nothing, and answer. */
  function read() {
    const kept = new URLSearchParams(location.hash.startsWith("#ask&") ? location.hash.slice(5) : "");
    for (const field of form.elements) if (field.name && !start.has(field.name)) field.value = "";
    // A link may be older than the study: what it no longer has stays as the page opens.
    const has = (field, value) => !field.options || [...field.options].some((option) => option.value === value);
    typed = false;
    for (const step of ["workload", "on", null]) { // which base cells there are depends on the workload, and as which configuration on the machine
      for (const [name, value] of [...start, ...kept]) {
        const field = form.elements[name];
        if ((step !== null && name !== step) || !field || !has(field, value)) continue;
        field.value = value;
      }
      follow();
    }
    for (const name of [...LENGTHS].reverse()) alone(form.elements[name]); // an address may ask for several
    follow();
    if ([...form.querySelectorAll("details [name]")].some((field) => kept.has(field.name))) form.querySelector("details").open = true;
    if (kept.size && form.closest("details:not([open])")) showAt(home);
    answer();
    if (!refusedNow && !isThere()) history.replaceState(null, "", address());
    settled = true;
  }

  /** What a link to the form leads to: its heading would else lie under the bar of sections. */
  const home = form.closest("section") ?? form;

  /** Scroll to an element, and open what it is folded in. */
  function showAt(there) {
    for (let fold = there.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    there.closest(".folded")?.classList.remove("folded");
    there.scrollIntoView();
  }

  /** A click on the page's own navigation leaves the question in the address; one on a question leads to the form. */
  function go(event) {
    const name = event.target.closest?.('a[href^="#"]')?.hash.slice(1), there = document.getElementById(name);
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (name?.startsWith("ask&")) showAt(home);
    if (there?.matches("details")) there.open = true;
    if (!there || !location.hash.startsWith("#ask&")) return;
    event.preventDefault();
    history.pushState(null, "", location.href);
    showAt(there);
  }

  for (const panel of document.querySelectorAll("#first .static")) panel.hidden = true;
  document.querySelector("#first .static #glance")?.removeAttribute("id"); // an answer makes its own
  for (const element of [form, place, ...document.querySelectorAll(".asks")]) element.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", ({target}) => (typed ||= target.name === "takes", alone(target), follow(), answer(), keep()));
  form.addEventListener("change", () => { settled = true; });
  form.addEventListener("reset", () => setTimeout(() => (typed = false, follow(), answer(), settled = true, keep())));
  // A jump to a section asks nothing else: an answer that is made anew is as high as a guess until it is seen, and the section moves.
  for (const name of ["popstate", "hashchange"]) window.addEventListener(name, () => isThere() || read());
  document.addEventListener("click", go);
  link.addEventListener("click", () => copy(link, location.href, "Copy it from the address bar"));
  read();
  if (location.hash.startsWith("#ask&")) showAt(home); // a link leads to its answer
}

if (document.getElementById("ask-data")) begin();
