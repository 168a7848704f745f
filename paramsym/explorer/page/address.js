/* The state of the page, in its address: a link restores it. */
"use strict";

explorer.state = {
  models: [], active: 0, inputs: {}, question: "params", paper: "bert", why: "", chart: "",
  choices: { pass: "forward", count: "FLOPs", precision: "float32", attention: "eager" },
};

/* Only what differs from the published sizes and the usual choices is written. */
explorer.address = (state) => {
  const written = new URLSearchParams();
  state.models.forEach((model, side) => {
    const prefix = side ? "with" : "model", before = side ? "with." : "";
    written.set(prefix, `${model.family}.${model.number}.${model.name}`);
    model.variant.letters.forEach(([letter], place) => {
      const known = model.variant.models[model.name]?.[place];
      if (known == null || BigInt(known) !== model.sizes[letter]) written.set(before + letter, model.sizes[letter]);
    });
  });
  for (const [letter, value] of Object.entries(state.inputs)) written.set(`input.${letter}`, value);
  written.set("question", state.question);
  const question = explorer.questions.find((one) => one.name === state.question);
  for (const name of Object.keys(question.choices)) written.set(name, state.choices[name]);
  if (state.paper !== "bert") written.set("letters", state.paper);
  for (const name of ["why", "chart"]) if (state[name]) written.set(name, state[name]);
  return `#${written}`;
};

/* What the page shows when it is opened: its own models, or the first of many. */
explorer.usualModels = () => (explorer.many ? [explorer.look("gpt2")?.family ?? Object.keys(explorer.index)[0]] : Object.keys(explorer.index))
  .map((family) => [family, 0, explorer.index[family][0].names[0]]);

const sideOf = async (read, prefix, before) => {
  const text = read.get(prefix);
  if (!text) return null;
  const [family, number, ...rest] = text.split(".");
  const known = explorer.index[family]?.[Number(number)];
  const found = known ? { family, number: Number(number), name: rest.join(".") } : explorer.look(text);
  if (!found) return null;
  const model = await explorer.model(found.family, found.number, found.name);
  for (const [letter] of model.variant.letters) {
    const value = explorer.read(read.get(before + letter) ?? "");
    if (value !== null) model.sizes[letter] = value;
  }
  return model;
};

/* Read an address into the state; a choice that is missing or wrong has its default. */
explorer.restore = async (hash) => {
  const read = new URLSearchParams(hash.replace(/^#/, ""));
  const { state } = explorer;
  const asked = await sideOf(read, "model", ""), usual = asked ? [] : await Promise.all(explorer.usualModels().map((one) => explorer.model(...one)));
  const [first, other] = asked ? [asked] : usual, second = (await sideOf(read, "with", "with.")) ?? other;
  explorer.say(read.get("model") && !asked ? `'${read.get("model")}' is not on this page; this is ${first.name}.` : "");
  state.models = second ? [first, second] : [first];
  state.active = 0;
  state.inputs = {};
  for (const [key, value] of read) {
    if (key.startsWith("input.") && explorer.read(value) !== null) state.inputs[key.slice(6)] = explorer.read(value);
  }
  const question = explorer.questions.find((one) => one.name === read.get("question"));
  if (question) state.question = question.name;
  else if (state.models.every(({ variant }) => !variant.letters.length && variant.questions.flops)) state.question = "flops";  // its parameters do not move
  for (const { choices } of explorer.questions) {
    for (const [name, known] of Object.entries(choices)) if (known.includes(read.get(name))) state.choices[name] = read.get(name);
  }
  if (read.get("letters") in explorer.papers) state.paper = read.get("letters");
  state.why = read.get("why") ?? "";
  state.chart = read.get("chart") ?? "";
};
