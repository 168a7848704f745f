/* Start, and one way for every change: from the state to the page and to its address. */
"use strict";

explorer.update = () => {
  explorer.showSizes();
  explorer.answers = explorer.showAnswer();
  explorer.showWhy();
  clearTimeout(explorer.waiting);
  explorer.waiting = setTimeout(() => {
    explorer.showChart();
    if (explorer.hasAddress) history.replaceState(null, "", explorer.address(explorer.state));
  }, 60);
};

explorer.rebuild = () => {
  explorer.buildSizes();
  explorer.buildLetterChoices();
  explorer.update();
};

const themes = { auto: "those of the system", light: "light", dark: "dark" };

const setTheme = (name) => {
  document.documentElement.dataset.theme = name;
  explorer.find("theme").setAttribute("aria-label", `Colours: ${themes[name]}`);
  explorer.find("theme").textContent = { auto: "◐", light: "☀", dark: "☾" }[name];
  try { localStorage.setItem("theme", name); } catch { /* a browser that keeps nothing */ }
};

explorer.start = async () => {
  document.documentElement.classList.toggle("framed", globalThis.top !== globalThis);
  explorer.hasAddress = location.protocol !== "about:";  // inside a notebook the page has none
  Object.assign(explorer, await explorer.loadPack("index"));
  for (const one of document.querySelectorAll("[data-many]")) one.hidden = !explorer.many;
  document.querySelector("[data-copy=link]").hidden = !explorer.hasAddress;
  const names = Object.values(explorer.index).flatMap((variants) => variants.flatMap((one) => one.names));
  explorer.find("models").replaceChildren(...names.map((name) => explorer.element("option", { value: name })));
  explorer.find("paper").replaceChildren(...Object.entries(explorer.papers).map(([name, { source }]) => explorer.element("option", { value: name }, source)));
  explorer.find("theme").addEventListener("click", () => {
    const order = Object.keys(themes), now = document.documentElement.dataset.theme;
    setTheme(order[(order.indexOf(now) + 1) % order.length]);
  });
  setTheme(document.documentElement.dataset.theme in themes ? document.documentElement.dataset.theme : "auto");
  explorer.buildTabs();
  explorer.listenToSizes();
  explorer.listenToWhy();
  explorer.listenToChart();
  explorer.listenToCopies();
  explorer.listenToConfigs();
  await explorer.restore(location.hash);
  explorer.rebuild();
  document.body.dataset.ready = "true";
  addEventListener("hashchange", async () => {
    if (location.hash === explorer.address(explorer.state)) return;
    await explorer.restore(location.hash);
    explorer.rebuild();
  });
};

explorer.start();
