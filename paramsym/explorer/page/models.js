/* The families, each packed in this page or in a file beside it, and the counts that their exported functions return. */
"use strict";

explorer.unpack = async (packed) => {
  const bytes = Uint8Array.from(atob(packed), (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Function(`"use strict"; return (${await new Response(stream).text()});`)();
};

explorer.loadPack = async (path) => {
  if (!(path in explorer.packed)) {
    await new Promise((resolve, reject) => {
      const script = explorer.element("script", { src: `${path}.js`, onload: resolve, onerror: () => reject(new Error(`${path}.js is missing beside this page.`)) });
      document.head.append(script);
    });
  }
  return explorer.unpack(explorer.packed[path]);
};

/* A family comes as columns; the page speaks of one variant at a time. */
const rows = ({ columns, answers, types, programs }) => ({
  types,
  variants: columns.title.map((_, number) => {
    const variant = { programs: programs[number], questions: {} };
    for (const [key, values] of Object.entries(columns)) variant[key] = values[number];
    for (const [question, choices] of Object.entries(answers)) {
      for (const [choice, values] of Object.entries(choices)) {
        if (values[number]) (variant.questions[question] ??= {})[choice] = values[number];
      }
    }
    return variant;
  }),
});

explorer.load = (name) => {
  explorer.families[name] ??= explorer.loadPack(`families/${name}`).then(rows);
  return explorer.families[name];
};

/* Where a published name or a class is: its family, the variant, and the name of its sizes. */
explorer.look = (wanted) => {
  const plain = wanted.trim().toLowerCase(), last = (name) => name.split("/").at(-1).replace("keras.applications.", "").toLowerCase();
  for (const exact of [true, false]) {
    for (const [family, variants] of Object.entries(explorer.index)) {
      for (const [number, { title, names }] of variants.entries()) {
        const name = names.find((one) => (exact ? one.toLowerCase() : last(one)) === plain);
        if (name !== undefined) return { family, number, name };
        if (exact && title.toLowerCase() === plain) return { family, number, name: names[0] };
      }
      if (exact && family.toLowerCase() === plain) return { family, number: 0, name: variants[0].names[0] };
    }
  }
  return null;
};

explorer.model = async (family, number, name, sizes = {}) => {
  const variant = (await explorer.load(family)).variants[number];
  const given = variant.models[name] ?? Object.values(variant.models)[0] ?? variant.letters.map(() => 4);
  const model = { family, number, name: name ?? Object.keys(variant.models)[0] ?? variant.title, variant, sizes: {} };
  variant.letters.forEach(([letter], place) => { model.sizes[letter] = sizes[letter] ?? BigInt(given[place] ?? 512); });
  return model;
};

/* All sizes of a model with those of its input. */
explorer.all = (model, inputs) => {
  const found = { ...model.sizes };
  for (const [letter] of model.variant.inputs) found[letter] = inputs[letter] ?? explorer.usual(model, letter);
  return found;
};

/* The first value of a letter of the input: one text of 512 positions, halved until the model has that many; two
   texts where a single one is computed with other steps. */
explorer.usual = (model, letter) => {
  const given = model.variant.inputs.find(([name]) => name === letter)?.[4];
  if (given) return BigInt(given);
  if (model.variant.programs.length < 2) return started(model, letter);
  const { variant } = model, first = started(model, letter), sizes = { ...model.sizes };
  for (const [name] of variant.inputs) sizes[name] = started(model, name);
  for (let long = sizes.S; long > 1n && explorer.run(variant, 1, sizes).error; long /= 2n) {
    for (const name of Object.keys(POSITIONS)) if (sizes[name] > 1n) sizes[name] /= 2n;
  }
  if (letter in POSITIONS) return explorer.run(variant, 1, sizes).error ? first : sizes[letter];
  const single = /^B/.test(letter) && variant.programs.some((_, number) => explorer.run(variant, number, sizes).error);
  return single ? 2n : first;
};

const POSITIONS = { S: 512n, S_d: 128n }, SIDES = ["W", "height", "width"];
const started = (model, letter) => {
  if (letter in POSITIONS) return POSITIONS[letter];
  if (SIDES.includes(letter)) {
    const factor = new RegExp(`(\\d+)\\*${letter}`).exec(model.variant.shapes);
    return factor ? 224n / BigInt(factor[1]) : /input_values/.test(model.variant.shapes) ? 16000n : 224n;
  }
  return 1n;
};

/* What is wrong with a size by itself, in the library's words; empty where nothing is. */
explorer.tooSmall = (variant, sizes) => {
  for (const [letter, least, argument] of [...variant.letters, ...variant.inputs]) {
    const value = sizes[letter];
    if (value !== undefined && value < BigInt(least)) {
      const wanted = { 0: "zero or more", 1: "a positive whole number" }[least] ?? `${least} or more`;
      return `${argument || letter} is ${value}; wanted ${wanted}.`;
    }
  }
  return "";
};

/* Run one of a variant's exported functions; the error is the sentence of the condition that is broken. */
explorer.run = (variant, number, sizes) => {
  const { arguments: names, run } = variant.programs[number];
  const wrong = explorer.tooSmall(variant, Object.fromEntries(names.map((name) => [name, sizes[name]])));
  if (wrong) return { error: wrong };
  try {
    return { counts: run(...names.map((name) => sizes[name])) };
  } catch (error) {
    if (error instanceof RangeError) return { error: error.message };
    throw error;
  }
};

/* The choice of a question that the page is set to, as the data has it: "forward/FLOPs". */
explorer.choice = (question, state) => Object.keys(question.choices).map((name) => state.choices[name]).join("/");

/* The answer of a model in the data: program, total, terms and parts; undefined if there is none. */
explorer.asked = ({ variant }, state) => {
  const question = explorer.questions.find((one) => one.name === state.question);
  return variant.questions[question.name]?.[explorer.choice(question, state)];
};

/* The answer of a model: total, terms and parts as BigInts with what the page shows of them, or the error. */
explorer.answer = (model, state, changed = {}) => {
  const question = explorer.questions.find((one) => one.name === state.question);
  const { variant } = model;
  const found = explorer.asked(model, state);
  if (!found) return { error: `${variant.title}: ${variant.missing[question.name]}`, question };
  const [program, total, terms, parts] = found;
  const ran = explorer.run(variant, program, { ...explorer.all(model, state.inputs), ...changed });
  if (ran.error) return { ...ran, question };
  return {
    question,
    total: ran.counts[total],
    terms: terms.map(([text, place]) => ({ latex: variant.texts[text], value: ran.counts[place] })),
    parts: parts.map(([name, place, within]) => ({ name, value: ran.counts[place], terms: within })),
  };
};
