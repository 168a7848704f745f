/* The form: which model, and a slider and a field for each of its sizes. */
"use strict";

/* One row: the letter as the paper writes it, what it is, a field and a slider. */
const sizeRow = (letter, argument, meaning) => {
  const id = `size-${letter}`;
  const title = [argument, meaning].filter(Boolean).join(": ");
  return explorer.element("div", { class: "size", "data-letter": letter, title },
    explorer.element("label", { for: id, class: "letter" }, explorer.element("span", { class: "math" }),
      explorer.element("span", { class: "argument", html: explorer.escape(argument || meaning).replace(/[._]/g, "$&<wbr>") })),
    explorer.element("input", { id, class: "field", inputmode: "numeric", autocomplete: "off", "aria-describedby": `${id}-why` }),
    explorer.element("input", { type: "range", class: "slider", min: 0, step: 1, "aria-label": `${letter}: ${title}` }),
    explorer.element("span", { id: `${id}-why`, class: "wrong", role: "status" }));
};

/* Build the rows of the model that is changed. */
explorer.buildSizes = () => {
  const { state } = explorer, model = state.models[state.active];
  const letters = explorer.find("letters"), inputs = explorer.find("inputs");
  letters.replaceChildren(...model.variant.letters.map(([letter, , argument, meaning]) => sizeRow(letter, argument, meaning)));
  const all = new Map(state.models.flatMap((one) => one.variant.inputs).map((one) => [one[0], one]));
  inputs.replaceChildren(...[...all.values()].map(([letter, , argument, meaning]) => sizeRow(letter, argument, meaning)));
  explorer.find("shapes").textContent = model.variant.shapes;
  explorer.find("model").value = model.name;
  explorer.find("shown").textContent = explorer.many || state.models.length > 1 ? "" : model.name;
  explorer.find("letters-set").hidden = !model.variant.letters.length;
  const variants = explorer.index[model.family];
  explorer.find("variant").replaceChildren(...variants.map(({ title, names, apart }, number) =>
    explorer.element("option", { value: number, selected: number === model.number },
      `${title}${apart ? ` (${apart})` : variants.filter((one) => one.title === title).length > 1 ? ` as ${names[0].split("/").at(-1)}` : ""}`)));
  explorer.find("variant-label").hidden = variants.length < 2;
  explorer.find("sides").replaceChildren(...(state.models.length < 2 ? [] : state.models.map((one, side) =>
    explorer.element("button", { type: "button", "aria-pressed": String(side === state.active), class: `side side-${side}`,
      onclick: () => { state.active = side; explorer.rebuild(); } }, one.name))));
  explorer.find("second").textContent = state.models.length > 1 ? "Close the comparison" : explorer.many ? "Compare with another model" : "Compare with other sizes";
};

/* Set fields and sliders to the sizes of the state; the field that is typed in is left alone. */
explorer.showSizes = () => {
  const { state } = explorer, model = state.models[state.active], all = explorer.all(model, state.inputs);
  explorer.find("inputs-set").hidden = state.question === "params";
  for (const row of document.querySelectorAll(".size")) {
    const { letter } = row.dataset, field = row.querySelector(".field"), slider = row.querySelector(".slider");
    const value = all[letter] ?? explorer.usual(model, letter);
    explorer.setFormula(row.querySelector(".math"), explorer.form(letter, state.paper));
    if (document.activeElement !== field) { field.value = explorer.number(value); field.removeAttribute("aria-invalid"); row.querySelector(".wrong").textContent = ""; }
    const here = letter in all ? model : state.models.find((one) => letter in explorer.all(one, state.inputs)) ?? model;
    const stops = explorer.stops(here, letter, state.inputs);
    slider.max = stops.length - 1;
    slider.value = stops.indexOf(value);
    slider.setAttribute("aria-valuetext", explorer.number(value));
    row.stops = stops;
    row.model = here;
  }
  const choice = explorer.find("paper");
  const used = [...new Set(state.models.flatMap((one) => Object.keys(explorer.all(one, state.inputs))))];
  for (const option of choice.options) {
    const clash = explorer.clash(used, option.value);
    option.disabled = clash !== null;
    option.title = clash ? `Not for this model: ${clash}.` : "";
  }
  if (choice.selectedOptions[0]?.disabled) { state.paper = "bert"; }
  choice.value = state.paper;
};

explorer.setSize = (letter, value) => {
  const { state } = explorer, model = state.models[state.active];
  if (letter in model.sizes) model.sizes[letter] = value;
  else state.inputs[letter] = value;
  explorer.update();
};

const typed = (row, field) => {
  const value = explorer.read(field.value), said = row.querySelector(".wrong");
  field.toggleAttribute("aria-invalid", value === null);
  said.textContent = value === null ? `${row.dataset.letter} is '${field.value}'; wanted a whole number.` : "";
  if (value !== null) explorer.setSize(row.dataset.letter, value);
};

explorer.listenToSizes = () => {
  const { state } = explorer, form = explorer.find("sizes");
  form.addEventListener("input", (event) => {
    const row = event.target.closest(".size");
    if (!row) return;
    if (event.target.classList.contains("field")) typed(row, event.target);
    else explorer.setSize(row.dataset.letter, explorer.nearest(row.model, state, row.dataset.letter, row.stops, Number(event.target.value)));
  });
  form.addEventListener("focusout", (event) => { if (event.target.classList.contains("field")) setTimeout(explorer.showSizes); });
  form.addEventListener("keydown", (event) => {  // the arrows go to the next size that is possible
    const row = event.target.closest(".size"), by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!row || !by || !event.target.classList.contains("field")) return;
    event.preventDefault();
    const now = explorer.all(row.model, state.inputs)[row.dataset.letter];
    const further = row.stops.filter((one) => (by > 0 ? one > now : one < now));
    const next = (by > 0 ? further : further.reverse()).find((one) => explorer.possible(row.model, state, row.dataset.letter, one));
    if (next === undefined) return;
    event.target.value = explorer.number(next);
    explorer.setSize(row.dataset.letter, next);
  });
  explorer.find("model").addEventListener("change", async (event) => {
    const found = explorer.look(event.target.value);
    explorer.say(found ? "" : `'${event.target.value}' is not on this page: take a name from the list, or read its config.json.`);
    if (!found) return;
    await explorer.choose(found.family, found.number, found.name);
  });
  explorer.find("variant").addEventListener("change", (event) => {
    const { family } = state.models[state.active], number = Number(event.target.value);
    explorer.choose(family, number, explorer.index[family][number].names[0]);
  });
  explorer.find("paper").addEventListener("change", (event) => { state.paper = event.target.value; explorer.update(); });
  explorer.find("published").addEventListener("click", () => {
    const { family, number, name } = state.models[state.active];
    explorer.choose(family, number, name);
  });
  explorer.find("second").addEventListener("click", async () => {
    if (state.models.length > 1) { state.models = [state.models[state.active]]; state.active = 0; } else {
      const { family, number, name } = state.models[0], names = explorer.index[family][number].names;
      state.models.push(await explorer.model(family, number, names[(names.indexOf(name) + 1) % names.length]));
      state.active = 1;
    }
    explorer.rebuild();
  });
};

/* Put another model in the place of the one that is changed. */
explorer.choose = async (family, number, name, sizes = {}) => {
  const { state } = explorer;
  state.models[state.active] = await explorer.model(family, number, name, sizes);
  explorer.rebuild();
};

explorer.say = (text) => {
  explorer.find("config-said").textContent = text;
  explorer.find("config-said").classList.toggle("bad", text !== "");
};
