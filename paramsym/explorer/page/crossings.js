/* The sizes at which one line of the chart passes another: exact, because each line is a polynomial of known degree. */
"use strict";

const MOST_TRIED = 2048;

const signOf = (value) => (value > 0n ? 1 : value < 0n ? -1 : 0);

/* The values at first + t * step, t = 0, 1, ..., of the polynomial through some points, times a number that makes them whole. */
const sampled = (points, first, step) => {
  const without = (at, skipped) => points.reduce((product, [x], number) => (number === skipped ? product : product * (at - x)), 1n);
  const below = points.map(([x], number) => without(x, number));
  const common = below.reduce((product, one) => product * (one < 0n ? -one : one), 1n);
  return points.map((_, t) => first + BigInt(t) * step)
    .map((at) => points.reduce((sum, [, y], number) => sum + y * without(at, number) * (common / below[number]), 0n));
};

/* The first value and its differences of every order: p(t) is the sum of differences[k] times the binomial "t over k". */
const differencesOf = (values) => {
  const found = [];
  for (let row = values; row.length; row = row.slice(1).map((one, number) => one - row[number])) found.push(row[0]);
  return found;
};

const valueAt = (differences, t) => {
  let sum = 0n, choose = 1n;
  differences.forEach((one, k) => { sum += one * choose; choose = (choose * (t - BigInt(k))) / BigInt(k + 1); });
  return sum;
};

/* The places 1, ..., last at which a polynomial's sign differs from the place before. Between two sign changes of
   its difference, the polynomial only rises or only falls; so bisection finds all of them. */
explorer.turns = (differences, last) => {
  if (differences.length < 2 || last < 1n) return [];
  const bounds = [0n, ...explorer.turns(differences.slice(1), last - 1n), last], found = [];
  const sign = (t) => signOf(valueAt(differences, t));
  for (let number = 1; number < bounds.length; number += 1) {
    let from = bounds[number - 1];
    while (sign(from) !== sign(bounds[number])) {
      let [low, high] = [from, bounds[number]];
      while (high - low > 1n) { const middle = (low + high) / 2n; if (sign(middle) === sign(from)) low = middle; else high = middle; }
      found.push(high);
      from = high;
    }
  }
  return found;
};

/* The sizes that have to be compared, of those that both models can have: between two of them no line passes another. */
const telling = (one, other, values, step) => {
  const [first, last] = [values[0], values.at(-1)], count = (last - first) / step;
  if (values.all) return { sizes: values, exact: true };
  const gap = (value) => { const [a, b] = [one.count(value), other.count(value)]; return a === null || b === null ? null : a - b; };
  if (one.power && other.power) {
    const low = Math.max(one.power.low, other.power.low), degree = Math.max(one.power.high, other.power.high) + low;
    const points = values.slice(0, degree + 1).map((value) => [value, gap(value) * value ** BigInt(low)]);
    if (points.length > degree) {
      const sizes = [first];
      for (const turn of explorer.turns(differencesOf(sampled(points, first, step)), count)) {
        const until = turn + 64n < count ? turn + 64n : count;  // other conditions may refuse this size
        for (let t = turn; t <= until; t += 1n) { const value = first + t * step; if (gap(value) !== null) { sizes.push(value); break; } }
      }
      return { sizes, exact: true };
    }
  }
  if (count > MOST_TRIED) return { sizes: values, exact: false };
  return { sizes: Array.from({ length: Number(count) + 1 }, (_, t) => first + BigInt(t) * step), exact: true };
};

/* Every size at which one line passes another, smallest first; ``exact`` says whether there can be no others. */
explorer.crossings = (drawn, values, step) => {
  const found = [];
  let exact = true;
  drawn.forEach((one, number) => drawn.slice(number + 1).forEach((other) => {
    const told = telling(one, other, values, step);
    exact &&= told.exact;
    let side = 0, equal = null;
    for (const value of told.sizes) {
      const [a, b] = [one.count(value), other.count(value)];
      if (a === null || b === null) continue;
      const now = signOf(a - b);
      if (now === 0) equal ??= value;
      else {
        if (side && now !== side) {
          const [above, below] = now > 0 ? [one, other] : [other, one], at = equal ?? value;
          found.push({ value: at, above: above.name, below: below.name, equal: equal !== null, count: above.count(at) });
        }
        side = now;
        equal = null;
      }
    }
  }));
  found.sort((a, b) => (a.value < b.value ? -1 : a.value > b.value ? 1 : 0));
  return { found, exact };
};
