/* A chart over one letter: the parts of one model, or the totals of two, and the sizes at which one passes another. */
"use strict";

const MOST_LINES = 6, MOST_SHOWN = 8;

/* A line of the chart: name, function from a size to a count (null if the model cannot have the size), powers of the letter. */
const lines = (letter) => {
  const { state } = explorer;
  const of = (model) => {
    const { variant } = model, known = new Map(), sizes = explorer.all(model, state.inputs);
    return (name, program, place) => {
      const [high, low, stepped] = variant.degrees[program][letter] ?? [0, 0, []];
      const count = (value) => {
        if (!known.has(value)) known.set(value, explorer.run(variant, program, { ...sizes, [letter]: value }).counts ?? null);
        return known.get(value)?.[place] ?? null;
      };
      return { name, count, power: stepped === true || stepped.includes(place) ? null : { high, low } };
    };
  };
  const asked = state.models.map((model) => explorer.asked(model, state));
  if (asked.some((one) => !one)) return [];
  if (state.models.length > 1) return state.models.map((model, side) => of(model)(model.name, asked[side][0], asked[side][1]));
  const [model] = state.models, now = explorer.answer(model, state), line = of(model);
  if (now.error) return [];
  const parts = now.parts.map((one, place) => ({ ...one, place })).sort((a, b) => (a.value < b.value ? 1 : -1)).slice(0, MOST_LINES);
  return parts.map(({ name, place }) => line(name, asked[0][0], asked[0][3][place][1]));
};

const LEFT = 16, BOTTOM = 34, TOP = 28, phone = matchMedia("(max-width: 560px)");

/* The picture is scaled to the width of the window; on a phone it is drawn narrower, so that its words can be read. */
explorer.chartPicture = (letter, drawn, values, found, now) => {
  const [WIDTH, HEIGHT, BESIDE] = phone.matches ? [360, 250, 110] : [720, 320, 130];
  const last = values.at(-1), most = drawn.flatMap((one) => values.map((value) => one.count(value) ?? 0n)).reduce((a, b) => (a > b ? a : b), 1n);
  const x = (value) => LEFT + (Number(value) / Number(last)) * (WIDTH - 2 * LEFT);
  const y = (count) => HEIGHT - BOTTOM - (Number((count * 100000n) / most) / 100000) * (HEIGHT - BOTTOM - TOP);
  const pieces = [`<line class="axis" x1="${LEFT}" x2="${WIDTH - LEFT}" y1="${HEIGHT - BOTTOM}" y2="${HEIGHT - BOTTOM}"/>`];
  pieces.push(`<line class="now" x1="${x(now)}" x2="${x(now)}" y1="${TOP}" y2="${HEIGHT - BOTTOM}"/>`);
  drawn.forEach((one, number) => {
    const points = values.filter((value) => one.count(value) !== null).map((value) => `${x(value).toFixed(1)},${y(one.count(value)).toFixed(1)}`);
    pieces.push(`<polyline class="line line-${number}" points="${points.join(" ")}"><title>${explorer.escape(one.name)}</title></polyline>`);
  });
  for (const { value, count } of found) pieces.push(`<circle class="crossing" cx="${x(value)}" cy="${y(count)}" r="4"/>`);
  for (const value of [values[0], now, last]) {
    const place = value === now ? "middle" : value === last ? "end" : "start";
    if (value !== now || (x(now) > BESIDE && x(now) < WIDTH - BESIDE)) pieces.push(`<text x="${x(value)}" y="${HEIGHT - 12}" text-anchor="${place}">${value === now ? `${letter} = ` : ""}${explorer.number(value)}</text>`);
  }
  pieces.push(`<text x="${LEFT}" y="${TOP - 10}">${explorer.number(most)}</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Counts along ${letter}">${pieces.join("")}</svg>`;
};

explorer.showChart = () => {
  const { state } = explorer, model = state.models[state.active], choice = explorer.find("chart-letter");
  const letters = [...choice.options].map((one) => one.value);
  const wanted = state.question === "params" ? ["H", "L", "C", "n3"] : ["S", "W", "B", "H"];  // that the question depends on
  const letter = letters.includes(state.chart) ? state.chart : wanted.find((one) => letters.includes(one)) ?? letters[0] ?? "";
  choice.value = letter;
  const box = explorer.find("chart"), list = explorer.find("crossings");
  const drawn = letter ? lines(letter) : [];
  const here = letter ? explorer.all(model, state.inputs)[letter] : 1n;
  const stops = letter ? explorer.stops(model, letter, state.inputs, here * 4n > 8n ? here * 4n : 8n) : [];
  const values = stops.filter((value) => drawn.every((one) => one.count(value) !== null));
  values.all = stops.all;
  list.replaceChildren();
  if (drawn.length < 1 || values.length < 2) { box.textContent = "There is nothing to draw: the model cannot have these sizes, or only one value is possible."; return; }
  const step = values.slice(1).map((value, number) => value - values[number]).reduce((a, b) => { while (b) [a, b] = [b, a % b]; return a; });
  const { found, exact } = explorer.crossings(drawn, values, step), now = explorer.all(model, state.inputs)[letter];
  box.innerHTML = `${explorer.chartPicture(letter, drawn, values, found, now)}<ul class="legend">${drawn.map((one, number) => `<li class="line-${number}">${explorer.escape(one.name)}</li>`).join("")}</ul>`;
  list.replaceChildren(...found.slice(0, MOST_SHOWN).map(({ value, below, above, equal }) => explorer.element("li", { "data-crossing": value },
    explorer.element("b", {}, `${letter} = ${explorer.number(value)}`), equal ? `: ${above} and ${below} are equal, and ${above} is larger beyond it.` : `: the first size at which ${above} is larger than ${below}.`)));
  const range = `from ${explorer.number(values[0])} to ${explorer.number(values.at(-1))}`, note = (words) => list.append(explorer.element("li", { class: "note" }, words));
  if (!found.length) note(`No line passes another ${range}.`);
  if (found.length > MOST_SHOWN) note(`${found.length - MOST_SHOWN} more ${range}.`);
  if (!exact) note(`A line moves in steps here: ${range}, only the sizes that are drawn were tried.`);
};

explorer.listenToChart = () => {
  explorer.find("chart-letter").addEventListener("change", (event) => { explorer.state.chart = event.target.value; explorer.update(); });
  phone.addEventListener("change", () => explorer.update());
};
