/* Numbers as people read them, and small helpers that build elements. */
"use strict";
const explorer = { families: {}, packed: {} };

explorer.number = (value) => String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

/* A value in short: 124 M, 5.2 GB. It is said beside the exact number, never in its place. */
explorer.short = (value, unit) => {
  const sign = value < 0n ? "−" : "", size = value < 0n ? -value : value;
  const digits = String(size);
  if (digits.length < 5) return "";
  const step = Math.floor((digits.length - 1) / 3);
  const bytes = unit === "bytes";
  const names = bytes ? ["", "kB", "MB", "GB", "TB", "PB", "EB"] : ["", "thousand", "million", "billion", "trillion", "quadrillion", "quintillion"];
  if (!names[step]) return `${sign}${digits[0]}.${digits.slice(1, 3)} × 10^${digits.length - 1} ${bytes ? "bytes" : ""}`.trim();
  const whole = digits.length - 3 * step;
  return `${sign}${digits.slice(0, whole)}${whole < 3 ? "." + digits.slice(whole, 3) : ""} ${names[step]}`;
};

/* A share of a whole in percent, from BigInts. */
explorer.share = (part, whole) => (whole > 0n ? Number((part * 100000n) / whole) / 1000 : 0);

/* The share as text: a part above zero is never 0.0 %, and a part below the whole never 100.0 %. */
explorer.percent = (part, whole) => {
  const share = explorer.share(part, whole).toFixed(1);
  if (share === "0.0" && part > 0n) return "< 0.1 %";
  return share === "100.0" && part < whole ? "> 99.9 %" : `${share} %`;
};

/* A whole number as typed, with or without separators; null for anything else. */
explorer.read = (text) => {
  const plain = text.trim().replace(/(?<=\d)[,_'\s\u202f\u00a0](?=\d{3}(\D|$))/g, "");
  return /^\d{1,60}$/.test(plain) ? BigInt(plain) : null;
};

explorer.element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "html") made.innerHTML = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
};

/* A name that breaks at its dots and underscores if it has to. */
explorer.broken = (name) => name.split(/(?<=[._])/).flatMap((piece, number) => (number ? [document.createElement("wbr"), piece] : [piece]));

explorer.find = (id) => document.getElementById(id);
explorer.escape = (text) => String(text).replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);
