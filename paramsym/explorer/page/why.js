/* Why a letter changes a count or cancels from it: the library's derivation, step by step, with the sizes put in. */
"use strict";

/* The derivation that each tab shows: for memory, that of one of its parts. */
const EXPLAINED = { params: "params", flops: "flops", activations: "activations", cache: "cache", training: "activations", inference: "cache" };
const COUNTS = { params: "parameters", flops: "FLOPs of a forward pass", activations: "activations (float32, eager)", cache: "cache (elements)" };

/* Sentences and equations are in one table, and the steps contain their indices. */
const readReasons = ({ table, counts, programs }) => counts.map((byName, number) => ({
  programs: programs[number],
  counts: Object.fromEntries(Object.entries(byName).map(([name, letters]) => [name, Object.fromEntries(
    Object.entries(letters).map(([letter, [cancels, enters, verdict, steps]]) => [letter, {
      cancels: Boolean(cancels), enters: Boolean(enters), verdict: table[verdict],
      steps: steps.map(([place, factors, value]) => ({ said: table[place][0], equation: table[place][1], numbers: factors || null, value })),
    }]))])),
}));

explorer.reasons = (family) => {
  explorer.families[`why/${family}`] ??= explorer.loadPack(`why/${family}`).then(readReasons);
  return explorer.families[`why/${family}`];
};

const said = (pieces, paper) => pieces.map((piece) => (typeof piece === "string" ? explorer.escape(piece) : explorer.formula(explorer.inLetters(piece[0], paper)))).join("");

/* KaTeX breaks no line between \\left and \\right, and a bracket may be wider than the page. */
const breakable = (latex) => latex.replaceAll("\\left(", "\\bigl(").replaceAll("\\right)", "\\bigr)");

const numbers = (step, counts, sizes) => {
  const value = explorer.number(counts[step.value]).replace("-", "−");
  if (!step.numbers) return `= ${value}`;
  const written = step.numbers.map(([often, factors]) => {
    let times = often;
    const values = factors.map((one) => (typeof one === "number" ? counts[one] : sizes[one] ?? BigInt(one))), lone = values.length === 1 && values[0] < 0n;
    if (lone) { times = -times; values[0] = -values[0]; }
    const body = values.map(explorer.number).join(" · ") || "1";
    return { sign: times < 0 ? "−" : "+", body: Math.abs(times) === 1 ? body : `${Math.abs(times)} · ${body}` };
  });
  const left = written.map(({ sign, body }, number) => (number ? ` ${sign} ${body}` : sign === "−" ? `−${body}` : body)).join("");
  return left === value ? `= ${value}` : `${left} = ${value}`;
};

/* The buttons that say of every count whether the letter cancels from it. */
const verdicts = (found, letter, shown) => Object.entries(COUNTS).filter(([name]) => found[name]?.[letter]).map(([name, title]) => {
  const { cancels, enters } = found[name][letter];
  const word = !enters ? "is in no factor" : cancels ? "cancels" : "changes it";
  return explorer.element("button", { type: "button", class: `verdict ${cancels ? "cancels" : "stays"}`, "aria-pressed": String(name === shown), "data-count": name,
    onclick: () => { explorer.state.question = name; explorer.update(); } }, `${title}: ${word}`);
});

let asked = 0;

explorer.showWhy = async () => {
  const { state } = explorer, model = state.models[state.active], box = explorer.find("why"), turn = (asked += 1);
  const letters = Object.keys(explorer.all(model, state.inputs)), choice = explorer.find("why-letter");
  for (const card of ["why-card", "chart-card"]) explorer.find(card).hidden = !letters.length;
  if (!letters.includes(state.why)) state.why = letters.includes("A") ? "A" : letters[0] ?? "";
  choice.value = state.why;
  let reasons;
  try { reasons = (await explorer.reasons(model.family))[model.number]; } catch (error) { box.textContent = error.message; return; }
  if (turn !== asked) return;
  let name = EXPLAINED[state.question];
  if (!reasons.counts[name]?.[state.why]) name = reasons.counts.params?.[state.why] ? "params" : name;
  const found = reasons.counts[name]?.[state.why];
  if (!found) {
    const place = explorer.asked(model, state), enters = place && state.why in model.variant.degrees[place[0]];
    const told = reasons.counts.params ? `${state.why} only multiplies the terms that it is in.` : "This count has no derivation here.";
    const question = explorer.questions.find((one) => one.name === state.question), call = explorer.call(model.variant, question, state);
    box.replaceChildren(explorer.element("p", {}, enters ? `${told} In Python, ps.explain(${call}, "${state.why}") shows every step.` : `${state.why} is not in this count.`));
    delete box.dataset.key;
    return;
  }
  const key = JSON.stringify([model.family, model.number, state.why, name, state.paper]);
  const sizes = explorer.all(model, state.inputs), ran = explorer.run({ ...model.variant, programs: reasons.programs }, 0, sizes);
  if (box.dataset.key !== key) {
    box.dataset.key = key;
    box.replaceChildren(explorer.element("div", { class: "row" }, ...verdicts(reasons.counts, state.why, name)),
      explorer.element("p", { html: said(found.verdict, state.paper) }),
      explorer.element("ol", { class: "steps" }, ...found.steps.map((step) => {
        const formula = explorer.element("div", { class: "math step" });
        explorer.setFormula(formula, breakable(explorer.inLetters(step.equation, state.paper)));
        return explorer.element("li", {}, explorer.element("p", { html: said(step.said, state.paper) }), formula, explorer.element("div", { class: "numbers" }));
      })));
  }
  box.querySelectorAll(".numbers").forEach((line, number) => { line.textContent = ran.error ? ran.error : numbers(found.steps[number], ran.counts, sizes); });
};

explorer.listenToWhy = () => {
  explorer.find("why-letter").addEventListener("change", (event) => { explorer.state.why = event.target.value; explorer.update(); });
};

/* The letters that can be explained or charted. */
explorer.buildLetterChoices = () => {
  const { state } = explorer, model = state.models[state.active];
  const options = (letters) => letters.map(([name, , argument, meaning]) => explorer.element("option", { value: name }, `${name}${argument || meaning ? ` (${argument || meaning})` : ""}`));
  const own = [...model.variant.letters, ...model.variant.inputs];
  explorer.find("why-letter").replaceChildren(...options(own));
  const shared = own.filter(([name]) => state.models.every((one) => name in explorer.all(one, state.inputs)));
  explorer.find("chart-letter").replaceChildren(...options(shared));
};
