/* What can be taken along: LaTeX, Python, a link, the code that computes the numbers, a picture. */
"use strict";

const perLine = 5;

explorer.latex = () => {
  const { state } = explorer;
  return explorer.answers.filter((one) => !one.error).map((answer, side) => {
    const model = state.models[side], sizes = Object.entries(explorer.all(model, state.inputs)).map(([name, value]) => `${name}=${value}`).join(", ");
    const rows = [];
    answer.terms.forEach(({ latex }, number) => {
      const written = explorer.inLetters(latex.replace(/^-/, ""), state.paper), sign = latex.startsWith("-") ? "- " : number ? "+ " : "";
      if (number % perLine === 0) rows.push("");
      rows[rows.length - 1] += `${number % perLine ? " " : ""}${sign}${written}`;
    });
    const unit = answer.question.name === "flops" ? state.choices.count : answer.question.unit;
    return [`% ${model.variant.title}: ${explorer.number(answer.total)} ${unit} at ${sizes}`, "\\begin{align*}",
      (rows.length ? rows : ["0"]).map((row, number) => `${number ? "&\\quad " : "N &= "}${row}`).join(" \\\\\n"), "\\end{align*}"].join("\n");
  }).join("\n\n");
};

const PYTHON = { forward: "'forward'", training: "'both'", float32: "'float32'", bfloat16: "'bfloat16'", eager: "'torch-eager'", fused: "'torch-sdpa'", FLOPs: "flops", MACs: "macs" };

/* The letters that the Python of a model needs; a published model has its own. */
explorer.symbols = ({ python, given, letters, inputs }) => {
  const needed = [...(/^ps\.load/.test(python) ? [] : letters), ...(given ? [...letters, ...inputs] : [])].map(([name]) => name);
  const names = [...new Set(needed)].filter((name) => new RegExp(`\\b${name}\\b`).test(python + given)).join(" ");
  return names ? [`${names.replaceAll(" ", ", ")} = ps.dims("${names}")`] : [];
};

/* The question that is shown, as a call about a model. */
explorer.call = ({ given }, question, state) =>
  question.call.replace("{model}", `model${given}`).replace(/\{(\w+)\}/g, (_, name) => PYTHON[state.choices[name]]);

explorer.python = () => {
  const { state } = explorer;
  return ["import paramsym as ps", ...state.models.map((model) => {
    const { variant } = model, question = explorer.questions.find((one) => one.name === state.question);
    const sizes = (names) => names.map((name) => `"${name}": ${explorer.all(model, state.inputs)[name]}`).join(", ");
    const build = explorer.many && !/\(/.test(model.name) && variant.models[model.name] ? `ps.load(${JSON.stringify(model.name)})` : variant.python;
    const own = variant.letters.map(([name]) => name), inputs = variant.inputs.map(([name]) => name);
    const call = explorer.call(variant, question, state);
    const at = (names) => (names.length ? `.at({${sizes(names)}})` : ""), params = question.name === "params";
    const whole = variant.given && !params;  // inputs in the letters of the model: all sizes are put in together
    const letters = variant.given && /^ps\.load/.test(build) ? ".origin[0]" : "";
    return [...explorer.symbols(variant), `model = ${build || `...  # the ${variant.title} of this page`}${letters}${whole ? "" : at(own)}`,
      `print(${params ? "model.count" : `${call}${at(whole ? [...own, ...inputs] : inputs)}.count`})`].join("\n");
  })].join("\n");
};

explorer.code = () => {
  const { state } = explorer;
  return state.models.map((model) => {
    const { variant } = model, [program, total] = explorer.asked(model, state) ?? [0, 0];
    return `// ${variant.title}, as ps.export writes it; the total of this tab is count(...)[${total}]\n${variant.programs[program].run}`;
  }).join("\n\n");
};

explorer.link = () => `${location.href.split("#")[0]}${explorer.address(explorer.state)}`;

/* The totals, the parts as bars, and the chart, as one picture that needs nothing from this page. */
explorer.picture = () => {
  const { state } = explorer, style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(name).trim();
  const out = [], answers = explorer.answers;
  let y = 34;
  const text = (x, words, more = "") => out.push(`<text x="${x}" y="${y}" ${more}>${explorer.escape(words)}</text>`);
  answers.forEach((answer, side) => {
    const unit = answer.question.name === "flops" ? state.choices.count : answer.question.unit;
    text(20, `${state.models[side].name}: ${answer.error ?? `${explorer.number(answer.total)} ${unit}`}`, 'font-size="20" font-weight="bold"');
    y += 24;
    const sizes = Object.entries(explorer.all(state.models[side], state.inputs)).map(([name, value]) => `${name} = ${explorer.number(value)}`).join(", ");
    text(20, sizes, 'font-size="13"');
    y += 24;
    const most = (answer.parts ?? []).map((one) => one.value).reduce((a, b) => (a > b ? a : b), 1n);
    for (const { name, value } of answer.parts ?? []) {
      text(20, name, 'font-size="13"');
      out.push(`<rect x="330" y="${y - 11}" height="13" width="${(explorer.share(value, most) * 3).toFixed(1)}" fill="${colour(`--side-${side}`)}"/>`);
      text(880, explorer.number(value), 'font-size="13" text-anchor="end"');
      y += 20;
    }
    y += 18;
  });
  const chart = explorer.find("chart").querySelector("svg");
  if (chart) {
    const copy = chart.cloneNode(true), drawn = [...chart.querySelectorAll("*")];
    [...copy.querySelectorAll("*")].forEach((one, number) => {
      const look = getComputedStyle(drawn[number]);
      for (const name of ["stroke", "fill", "stroke-width", "stroke-dasharray", "font-size"]) one.style.setProperty(name, look.getPropertyValue(name));
    });
    copy.setAttribute("x", 20); copy.setAttribute("y", y); copy.setAttribute("width", 860); copy.setAttribute("height", 382);
    out.push(new XMLSerializer().serializeToString(copy));
    y += 400;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="900" height="${y}" viewBox="0 0 900 ${y}" font-family="sans-serif" fill="${colour("--text")}"><rect width="100%" height="100%" fill="${colour("--ground")}"/>${out.join("")}</svg>`;
};

const saved = (blob, name) => {
  const link = explorer.element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};

const asPng = (picture) => new Promise((resolve, reject) => {
  const image = new Image();
  image.addEventListener("load", () => {
    const canvas = explorer.element("canvas", { width: image.width * 2, height: image.height * 2 });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob(resolve, "image/png");
  });
  image.addEventListener("error", () => reject(new Error("the picture cannot be drawn.")));
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture)}`;
});

explorer.copied = "";

explorer.listenToCopies = () => {
  const said = (words) => { explorer.find("copied").textContent = words; };
  document.addEventListener("click", async (event) => {
    const { copy, save } = event.target.dataset ?? {};
    if (copy) {
      explorer.copied = explorer[copy]();
      try { await navigator.clipboard.writeText(explorer.copied); said(`Copied: ${copy}.`); } catch {
        const area = explorer.element("textarea", { "aria-hidden": true }, explorer.copied);  // pages from a file may have no clipboard
        document.body.append(area);
        area.select();
        said(document.execCommand("copy") ? `Copied: ${copy}.` : "The browser does not let this page copy.");
        area.remove();
      }
    }
    if (save) {
      const picture = explorer.picture(), name = `${explorer.state.models.map((one) => one.name.split("/").at(-1)).join("-and-")}-${explorer.state.question}`;
      saved(save === "svg" ? new Blob([picture], { type: "image/svg+xml" }) : await asPng(picture), `${name}.${save}`);
      said(`Saved: ${name}.${save}`);
    }
  });
};
