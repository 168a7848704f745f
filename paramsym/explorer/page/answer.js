/* The answer: totals, closed forms whose terms light their parts and tensors, and the parts as bars. */
"use strict";

explorer.buildTabs = () => {
  const { state } = explorer, tabs = explorer.find("tabs");
  const choose = (name, focus) => {
    state.question = name;
    explorer.update();
    if (focus) tabs.querySelector("[aria-selected=true]").focus();
  };
  tabs.replaceChildren(...explorer.questions.map(({ name, title }) => explorer.element("button",
    { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "answer", "data-question": name, onclick: () => choose(name, false) }, title)));
  tabs.addEventListener("keydown", (event) => {
    const names = explorer.questions.map((one) => one.name), at = names.indexOf(state.question);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(names[(to + names.length) % names.length], true);
  });
};

const showChoices = (question) => {
  const { state } = explorer, box = explorer.find("choices");
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const chosen = tab.dataset.question === question.name;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
  }
  explorer.find("answer").setAttribute("aria-labelledby", `tab-${question.name}`);
  if (box.dataset.question !== question.name) {
    box.dataset.question = question.name;
    box.replaceChildren(...Object.entries(question.choices).map(([name, known]) => explorer.element("label", {}, `${name} `,
      explorer.element("select", { "data-choice": name, onchange: (event) => { state.choices[name] = event.target.value; explorer.update(); } },
        ...known.map((one) => explorer.element("option", { value: one }, one))))));
  }
  for (const select of box.querySelectorAll("select")) select.value = state.choices[select.dataset.choice];
};

const unitOf = (question, state) => (question.name === "flops" ? state.choices.count : question.unit);

const showTotals = (answers, state) => {
  const totals = explorer.find("totals");
  const pieces = answers.map((answer, side) => explorer.element("p", { class: `total side-${side}` },
    answers.length > 1 ? explorer.element("span", { class: "name" }, state.models[side].name) : "",
    explorer.element("strong", { class: "count" }, answer.error ? "—" : explorer.number(answer.total)), " ",
    explorer.element("span", { class: "unit" }, answer.error ? "" : unitOf(answer.question, state)), " ",
    explorer.element("span", { class: "short" }, answer.error ? "" : explorer.short(answer.total, answer.question.unit))));
  if (answers.length > 1 && answers.every((one) => !one.error)) {
    const difference = answers[1].total - answers[0].total;
    pieces.push(explorer.element("p", { class: "total difference" }, explorer.element("span", { class: "name" }, "difference"),
      explorer.element("strong", {}, `${difference > 0n ? "+" : difference < 0n ? "−" : ""}${explorer.number(difference < 0n ? -difference : difference)}`)));
  }
  totals.replaceChildren(...pieces);
  const said = answers.length > 1 ? ".name, strong" : "*";
  explorer.find("echo").textContent = pieces.map((one) => [...one.querySelectorAll(said)].map((child) => child.textContent).join(" ")).join(", ");
  const wrong = answers.find((one) => one.error);
  const refusal = explorer.find("refusal");
  refusal.hidden = !wrong;
  refusal.textContent = wrong?.error ?? "";
};

/* Light a term, a part or both, and the tensors that belong to them. */
explorer.light = (side, terms, part) => {
  for (const one of document.querySelectorAll(".lit")) one.classList.remove("lit");
  if (terms === null) return;
  const lit = (selector) => document.querySelectorAll(selector).forEach((one) => one.classList.add("lit"));
  for (const term of terms) lit(`.formula[data-side="${side}"] [data-term="${term}"]`);
  for (const row of document.querySelectorAll(`#parts tr[data-side-${side}], #tensors tr[data-side="${side}"]`)) {
    const own = JSON.parse(row.dataset[`side-${side}`] ?? row.dataset.terms);
    const match = part === null ? own.some((one) => terms.includes(one)) : row.dataset.part === part;
    row.classList.toggle("lit", match);
  }
};

const lighting = (side, terms, part) => {
  const on = () => explorer.light(side, terms, part), off = () => explorer.light(side, null);
  return { onmouseenter: on, onfocus: on, onmouseleave: off, onblur: off };
};

const TOO_LONG = 420;

const termLatex = (latex) => {
  if (latex.length < TOO_LONG) return latex;
  const sums = (latex.match(/, /g) ?? []).length + 1;
  return `\\text{the largest of ${sums} sums}`;
};

const showFormulas = (answers, state) => {
  const key = JSON.stringify([state.question, state.paper, state.choices, state.models.map((one) => [one.family, one.number]), answers.map((one) => one.error)]);
  const box = explorer.find("formulas");
  if (box.dataset.key !== key) {
    box.dataset.key = key;
    box.replaceChildren(...answers.map((answer, side) => {
      const formula = explorer.element("div", { class: `formula side-${side}`, "data-side": side, role: "group", "aria-label": "closed form" });
      (answer.terms ?? []).forEach(({ latex }, number) => {
        const negative = latex.startsWith("-");
        const sign = number || negative ? explorer.element("span", { class: "sign" }, negative ? "−" : "+") : "";
        const math = explorer.element("span", { class: "math" }), full = explorer.inLetters(latex.replace(/^-/, ""), state.paper);
        const parts = answer.parts.filter((one) => one.terms.includes(number)).map((one) => one.name);
        explorer.setFormula(math, termLatex(full));
        formula.append(sign, explorer.element("button", { type: "button", class: "term", "data-term": number, title: parts.join("\n"), ...lighting(side, [number], null) },
          math, explorer.element("span", { class: "value" })));
      });
      if (!answer.error && !answer.terms.length) formula.append(explorer.element("span", {}, "Nothing: this model keeps no state for the next step."));
      return formula;
    }));
  }
  answers.forEach((answer, side) => (answer.terms ?? []).forEach(({ value }, number) => {
    const place = box.querySelector(`[data-side="${side}"] [data-term="${number}"] .value`);
    place.textContent = explorer.number(value < 0n && answer.terms[number].latex.startsWith("-") ? -value : value);
  }));
};

/* Parts that have the same name in both models share a row. */
const showParts = (answers, state) => {
  const table = explorer.find("parts"), several = answers.length > 1, names = [...new Set(answers.flatMap((one) => (one.parts ?? []).map((part) => part.name)))];
  const most = answers.flatMap((one) => (one.parts ?? []).map((part) => part.value)).reduce((a, b) => (a > b ? a : b), 1n);
  const key = JSON.stringify([several, names, answers.map((one) => !one.error), explorer.find("formulas").dataset.key]);
  if (table.dataset.key !== key) {
    table.dataset.key = key;
    const heads = several ? ["part", "", state.models[0].name, state.models[1].name, "difference"] : ["part", "", unitOf(answers[0].question, state), "share"];
    const rows = names.map((name) => {
      const found = answers.map((one) => one.parts?.find((part) => part.name === name));
      const side = found[0] ? 0 : 1;
      return explorer.element("tr", { "data-part": name, ...Object.fromEntries(found.flatMap((one, number) => (one ? [[`data-side-${number}`, JSON.stringify(one.terms)]] : []))) },
        explorer.element("th", { scope: "row" }, explorer.element("button", { type: "button", class: "part", ...lighting(side, found[side].terms, name) }, ...explorer.broken(name))),
        explorer.element("td", { class: "bars", "aria-hidden": true }, ...answers.map((_, number) => explorer.element("span", { class: `bar side-${number}` }))),
        ...answers.map(() => explorer.element("td", { class: "amount" })), explorer.element("td", { class: "last" }));
    });
    table.replaceChildren(explorer.element("thead", {}, explorer.element("tr", {}, ...heads.map((one, number) =>
      explorer.element(one ? "th" : "td", one ? { scope: "col", class: number > 1 ? "right" : "" } : { class: "bars" }, one)))), explorer.element("tbody", {}, ...rows));
  }
  for (const row of table.tBodies[0]?.rows ?? []) {
    const values = answers.map((one) => one.parts?.find((part) => part.name === row.dataset.part)?.value ?? 0n);
    row.querySelectorAll(".bar").forEach((bar, side) => { bar.style.width = `${explorer.share(values[side], most)}%`; });
    row.querySelectorAll(".amount").forEach((cell, side) => { cell.textContent = explorer.number(values[side]); });
    const difference = values.at(-1) - values[0];
    row.querySelector(".last").textContent = several
      ? `${difference > 0n ? "+" : difference < 0n ? "−" : ""}${explorer.number(difference < 0n ? -difference : difference)}`
      : explorer.percent(values[0], answers[0].total ?? 0n);
  }
};

const showTensors = (answers, state) => {
  const box = explorer.find("tensors-box"), table = explorer.find("tensors"), model = state.models[state.active], side = state.active;
  const listed = state.question === "params" && !answers[side].error ? model.variant.tensors : [];
  box.hidden = !listed.length;
  const key = JSON.stringify([model.family, model.number, state.paper, listed.length, side]);
  if (table.dataset.key === key || !listed.length) return;
  table.dataset.key = key;
  const parts = answers[side].parts;
  table.replaceChildren(explorer.element("thead", {}, explorer.element("tr", {}, explorer.element("th", { scope: "col" }, "tensor"), explorer.element("th", { scope: "col" }, "shape"))),
    explorer.element("tbody", {}, ...listed.map(([name, shape, part, terms]) => explorer.element("tr", { "data-side": side, "data-terms": JSON.stringify(terms), "data-part": parts[part]?.name, ...lighting(side, terms, parts[part]?.name ?? null) },
      explorer.element("th", { scope: "row", html: explorer.escape(name).replace(/\.(?![^{]*\})/g, ".<wbr>") }),
      explorer.element("td", { html: `(${explorer.formula(explorer.inLetters(shape, state.paper))})` })))));
};

explorer.showAnswer = () => {
  const { state } = explorer, answers = state.models.map((model) => explorer.answer(model, state));
  showChoices(answers[0].question);
  showTotals(answers, state);
  showFormulas(answers, state);
  showParts(answers, state);
  showTensors(answers, state);
  return answers;
};
