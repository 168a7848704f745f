/* The values at which a slider stops: those that keep the conditions between sizes. */
"use strict";

const gcd = (one, other) => { while (other) [one, other] = [other, one % other]; return one; };

const divisorsOf = (value) => {
  const found = [];
  for (let one = 1n; one * one <= value && one < 100000n; one += 1n) {
    if (value % one === 0n) found.push(one, value / one);
  }
  return found;
};

const MOST_STOPS = 240;
const FAR = { S: 16384n, S_d: 4096n, B: 128n };  // sliders of inputs, which nobody publishes, reach twice as far

/* The values of a letter's slider. Letters that must divide this one make it go in steps; if it must divide others, its
   values are their divisors. ``all`` of the result is true if no possible size between the first and the last is left out. */
explorer.stops = (model, letter, inputs, end = null) => {
  const { variant } = model, sizes = explorer.all(model, inputs), now = sizes[letter];
  const value = (side) => (typeof side === "number" ? BigInt(side) : sizes[side]);
  const least = BigInt([...variant.letters, ...variant.inputs].find(([name]) => name === letter)[1] || 1);
  let step = 1n, whole = null;
  for (const [small, large] of variant.divides) {
    if (small === large) continue;
    if (large === letter) { const by = value(small); if (by > 0n) step = (step / gcd(step, by)) * by; }
    if (small === letter) whole = whole === null ? value(large) : gcd(whole, value(large));
  }
  const place = variant.letters.findIndex(([name]) => name === letter);
  const known = place < 0 ? [] : Object.values(variant.models).map((one) => BigInt(one[place] ?? 512));
  let found, all = true;
  if (whole !== null && whole > 0n) found = divisorsOf(whole).filter((one) => one % step === 0n);
  else {
    const most = end ?? [...known, now, 8n, FAR[letter] ?? 0n].reduce((a, b) => (a > b ? a : b)) * 2n, from = (least + step - 1n) / step, count = most / step - from + 1n;
    found = [];
    if (count <= BigInt(MOST_STOPS)) for (let one = from; one <= most / step; one += 1n) found.push(one * step);
    else {
      all = false;
      for (let number = 0; number <= MOST_STOPS; number += 1) {
        found.push(BigInt(Math.round(Number(from) * (Number(most / step) / Number(from)) ** (number / MOST_STOPS))) * step);
      }
      found.push(...known.filter((one) => one % step === 0n && one <= most));
    }
  }
  found = found.filter((one) => one >= least);
  found.push(now);
  return Object.assign([...new Set(found)].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)), { all });
};

/* Whether a model can have a size: the conditions of the parameters, of the costs, and of the question that is open. */
explorer.possible = (model, state, letter, value) => {
  const sizes = { ...explorer.all(model, state.inputs), [letter]: value }, open = explorer.asked(model, state)?.[0];
  return model.variant.programs.every((_, number) => (number > 1 && number !== open) || !explorer.run(model.variant, number, sizes).error);
};

/* The stop at a position, or the nearest one that the model can have. */
explorer.nearest = (model, state, letter, stops, position) => {
  for (let away = 0; away < stops.length; away += 1) {
    for (const at of [position + away, position - away]) {
      if (at >= 0 && at < stops.length && explorer.possible(model, state, letter, stops[at])) return stops[at];
    }
  }
  return stops[position];
};
