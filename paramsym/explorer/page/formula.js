"use strict";
/* Formulas: the library's LaTeX in the letters of a paper, typeset by MathJax once it is there, and as plain HTML before. */

explorer.inLetters = (latex, paper) => {
  const forms = explorer.papers[paper].letters;
  return latex.replace(/\\letter\{(\w+)\}/g, (_, name) => forms[name] ?? explorer.papers.bert.letters[name] ?? name)
    .replace(/(_\{(?:[^{}]|\{[^{}]*\})*\})(\^)/g, "$1$2");
};

explorer.form = (name, paper) => explorer.inLetters(`\\letter{${name}}`, paper);

/* Two letters that look the same in a set of letters; null if there are none. */
explorer.clash = (names, paper) => {
  const taken = {};
  for (const name of names) {
    const form = explorer.form(name, paper);
    if (taken[form]) return `it writes both ${taken[form]} and ${name} as ${form}`;
    taken[form] = name;
  }
  return null;
};

explorer.html = (latex) => {
  const tokens = latex.match(/\\[a-zA-Z]+|\\.|\{,\}|[{}^_]|\d+|\s+|./g) ?? [];
  const signs = {
    "\\cdot": "·", "\\lfloor": "⌊", "\\rfloor": "⌋", "\\lceil": "⌈", "\\rceil": "⌉", "\\max": "max", "\\min": "min", "\\bmod": " mod ",
    "\\sum": "∑", "\\ldots": "…", "{,}": ",", "-": "−", "\\left": "", "\\right": "", "\\displaystyle": "", "\\,": "",
  };
  let at = 0;
  const group = () => {
    if (tokens[at] !== "{") return piece();
    at += 1;
    const inside = sequence();
    at += 1;
    return inside;
  };
  const piece = () => {
    const token = tokens[at++];
    if (token === "^") return `<sup>${group()}</sup>`;
    if (token === "_") return `<sub>${group()}</sub>`;
    if (token === "{") { at -= 1; return group(); }
    if (token === "\\frac") {
      const [above, below] = [group(), group()];
      const bracketed = (text, pattern) => (pattern.test(text.replace(/<[^>]+>/g, "").trim()) ? `(${text})` : text);
      return `${bracketed(above, /[+−]/)}/${bracketed(below, /[+−\s\u202f]/)}`;
    }
    if (["\\text", "\\mathit", "\\mathcal", "\\operatorname"].includes(token)) {
      const inside = group().replace(/<\/?i>/g, "").replace(/\u202f/g, " ");
      return token === "\\text" || token === "\\operatorname" ? inside : `<i>${inside}</i>`;
    }
    if (token in signs) return signs[token];
    if (/^\s+$/.test(token)) return /[+=-]/.test(tokens[at - 2] ?? "") || /[+=-]/.test(tokens[at] ?? "") ? " " : "\u202f";
    if (/^\\[a-zA-Z]+$/.test(token)) return `<i>&${token.slice(1)};</i>`;
    return /^[a-zA-Z]$/.test(token) ? `<i>${token}</i>` : explorer.escape(token.replace(/^\\/, ""));
  };
  const sequence = () => {
    let out = "";
    while (at < tokens.length && tokens[at] !== "}") out += piece();
    return out;
  };
  return sequence();
};

/* A long equation in pieces, cut before its signs where nothing is open, so that lines break there. */
explorer.pieces = (latex) => {
  const found = [""];
  let open = 0;
  for (const token of latex.match(/\\left|\\right|\\.|[{}]| [+=-] |[^\\{} ]+| /g) ?? []) {
    if (token === "{" || token === "\\left") open += 1;
    if (token === "}" || token === "\\right") open -= 1;
    if (/^ [+=-] $/.test(token) && open === 0) found.push("");
    found[found.length - 1] += token;
  }
  return found.map((one) => one.trim().replace(/^(?=[+=-])/, "{} "));  // so that a sign is set as one between two sides
};

const typeset = new Map();

/* Put a formula into an element; what MathJax has set once is kept. */
explorer.setFormula = (element, latex) => {
  element.dataset.latex = latex;
  element.classList.toggle("long", latex.length > 50);  // a formula that cannot be broken gets its own scrollbar
  if (!globalThis.MathJax?.tex2svg || latex.length > 1500) {
    element.innerHTML = explorer.html(latex);
    return;
  }
  if (!typeset.has(latex)) {
    if (typeset.size > 2000) typeset.clear();
    typeset.set(latex, globalThis.MathJax.tex2svg(latex, { display: false }));
  }
  element.replaceChildren(typeset.get(latex).cloneNode(true));
};

/* Load MathJax after the page has been painted; without it formulas stay as they are. */
explorer.loadMathJax = () => {
  globalThis.MathJax = {
    startup: { typeset: false },
    svg: { fontCache: "none" },
    options: { enableMenu: false },
    loader: { load: [] },
  };
  const script = explorer.element("script", { src: "../_static/mathjax/tex-svg-full.js" });
  script.addEventListener("load", () => globalThis.MathJax.startup.promise.then(() => {
    document.head.append(globalThis.MathJax.svgStylesheet());
    for (const element of document.querySelectorAll("[data-latex]")) explorer.setFormula(element, element.dataset.latex);
  }));
  document.head.append(script);
};
