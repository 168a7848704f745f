"use strict";
/* A chart over one letter: the parts of one model, or the totals of two, and the sizes at which one passes another. */

const MOST_LINES = 6;

/* What is drawn: a name and a function from a size to a count, null where the model cannot have it. */
const lines = (letter) => {
  const { state } = explorer;
  const at = (model) => {
    const known = new Map();
    return (value) => {
      if (!known.has(value)) known.set(value, explorer.answer(model, state, { [letter]: value }));
      return known.get(value);
    };
  };
  if (state.models.length > 1) {
    return state.models.map((model) => { const answer = at(model); return { name: model.name, count: (value) => answer(value).total ?? null }; });
  }
  const [model] = state.models, answer = at(model), now = explorer.answer(model, state);
  if (now.error) return [];
  const parts = now.parts.map((one, place) => ({ ...one, place })).sort((a, b) => (a.value < b.value ? 1 : -1)).slice(0, MOST_LINES);
  return parts.map(({ name, place }) => ({ name, count: (value) => { const found = answer(value); return found.error ? null : found.parts[place].value; } }));
};

/* Between two sizes at which one line is above and below another, find the first size at which that has changed. */
explorer.crossing = (above, low, high, step) => {
  let [from, to] = [0n, (high - low) / step];
  while (to - from > 1n) {
    let middle = (from + to) / 2n, side = null;
    for (let away = 0n; away < 64n && side === null; away += 1n) {
      for (const one of [middle + away, middle - away]) {
        if (side === null && one > from && one < to) { side = above(low + one * step); if (side !== null) middle = one; }
      }
    }
    if (side === null) break;
    if (side === above(low)) from = middle; else to = middle;
  }
  return low + to * step;
};

const crossings = (drawn, values, step) => {
  const found = [];
  for (let one = 0; one < drawn.length; one += 1) {
    for (let other = one + 1; other < drawn.length; other += 1) {
      const above = (value) => {
        const [a, b] = [drawn[one].count(value), drawn[other].count(value)];
        return a === null || b === null ? null : a > b ? 1 : a < b ? -1 : 0;
      };
      let last = null;
      for (const value of values) {
        const side = above(value);
        if (side === null || side === 0) continue;
        if (last && side !== last.side) {
          const first = (value - last.value) % step === 0n ? explorer.crossing(above, last.value, value, step) : value;
          const [low, high] = side > 0 ? [other, one] : [one, other];
          found.push({ value: first, below: drawn[low].name, above: drawn[high].name, equal: above(first) === 0, count: drawn[high].count(first) });
        }
        last = { value, side };
      }
    }
  }
  return found.sort((a, b) => (a.value < b.value ? -1 : a.value > b.value ? 1 : 0)).slice(0, 8);
};

const WIDTH = 720, HEIGHT = 320, LEFT = 16, BOTTOM = 34, TOP = 12;

explorer.chartPicture = (letter, drawn, values, found, now) => {
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
    if (value !== now || (x(now) > 130 && x(now) < WIDTH - 130)) pieces.push(`<text x="${x(value)}" y="${HEIGHT - 12}" text-anchor="${place}">${value === now ? `${letter} = ` : ""}${explorer.number(value)}</text>`);
  }
  pieces.push(`<text x="${LEFT}" y="${TOP + 10}">${explorer.number(most)}</text>`);
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
  const values = letter ? explorer.stops(model, letter, state.inputs, here * 4n > 8n ? here * 4n : 8n).filter((value) => drawn.every((one) => one.count(value) !== null)) : [];
  list.replaceChildren();
  if (drawn.length < 1 || values.length < 2) { box.textContent = "There is nothing to draw: the model cannot have these sizes, or only one value is possible."; return; }
  const step = values.slice(1).map((value, number) => value - values[number]).reduce((a, b) => { while (b) [a, b] = [b, a % b]; return a; });
  const found = crossings(drawn, values, step), now = explorer.all(model, state.inputs)[letter];
  box.innerHTML = `${explorer.chartPicture(letter, drawn, values, found, now)}<ul class="legend">${drawn.map((one, number) => `<li class="line-${number}">${explorer.escape(one.name)}</li>`).join("")}</ul>`;
  list.replaceChildren(...found.map(({ value, below, above, equal }) => explorer.element("li", { "data-crossing": value },
    explorer.element("b", {}, `${letter} = ${explorer.number(value)}`), equal ? `: ${above} and ${below} are equal, and ${above} is larger behind it.` : `: the first size at which ${above} is larger than ${below}.`)));
  if (!found.length) list.append(explorer.element("li", { class: "note" }, `No line passes another from ${explorer.number(values[0])} to ${explorer.number(values.at(-1))}.`));
};

explorer.listenToChart = () => {
  explorer.find("chart-letter").addEventListener("change", (event) => { explorer.state.chart = event.target.value; explorer.update(); });
};
