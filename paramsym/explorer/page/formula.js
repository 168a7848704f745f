/* Formulas: the library's LaTeX in the letters of a paper, typeset by KaTeX. */
"use strict";

/* Whole words get thin spaces, as the library writes them: "block n", not "blockn". */
explorer.inLetters = (latex, paper) => {
  const form = (name) => explorer.papers[paper].letters[name] ?? explorer.papers.bert.letters[name] ?? name;
  const spaced = (space, name) => (form(name).includes("\\mathit") ? " \\, " : space);
  return latex.replace(/(?<=[\d})]) (?=\\letter\{(\w+)\})/g, spaced)
    .replace(/(?<=\\letter\{(\w+)\}(?:\^\{\w+\})?) (?=\\(?:letter|left|frac))/g, spaced)
    .replace(/\\letter\{(\w+)\}/g, (_, name) => form(name))
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

/* A formula as HTML, with MathML for screen readers; what KaTeX has set once is kept. */
const typeset = new Map();

explorer.formula = (latex) => {
  if (!typeset.has(latex)) {
    if (typeset.size > 2000) typeset.clear();
    typeset.set(latex, katex.renderToString(latex, { throwOnError: false, strict: false }));
  }
  return typeset.get(latex);
};

/* Put a formula into an element. */
explorer.setFormula = (element, latex) => {
  if (element.dataset.latex === latex) return;
  element.dataset.latex = latex;
  element.innerHTML = explorer.formula(latex);
};
