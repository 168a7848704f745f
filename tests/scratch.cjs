// node scratch.cjs CHROMIUM ADDRESS: use the scratch page as a reader would, and write what was seen as JSON. Nothing is judged here.
const { chromium } = require("playwright-core");

async function main(executablePath, address) {
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(300000);
  const seen = { requests: [], console: [], examples: [] };
  page.on("request", (request) => seen.requests.push(request.url()));
  page.on("console", (message) => message.location().url.endsWith("/favicon.ico") || seen.console.push(message.text()));
  page.on("pageerror", (error) => seen.console.push(String(error)));

  const text = (name) => page.textContent(`#scratch-${name}`);
  const value = () => page.inputValue("#scratch-cell");
  const ended = () => page.waitForFunction(() => !document.getElementById("scratch-run").disabled);
  const write = (code) => page.fill("#scratch-cell", code);
  const runKeys = async () => {
    await page.press("#scratch-cell", "Control+Enter");
    await ended();
  };

  await page.goto(`${address}/scratch.html`);
  seen.before = [...seen.requests];
  seen.button = await text("run");
  for (const option of await page.$$eval("#scratch-example option", (all) => all.map((one) => one.value))) {
    await page.selectOption("#scratch-example", option);
    await page.click("#scratch-run");
    await ended();
    await page.waitForFunction(() => [...document.querySelectorAll(".scratch-formula")].every((one) => one.querySelector("mjx-container")));
    seen.examples.push({
      status: await text("status"),
      text: await page.innerText("#scratch-output"),
      formulas: await page.$$eval(".scratch-formula mjx-assistive-mml", (all) => all.map((one) => one.textContent)),
      tables: await page.$$eval(".scratch-html table", (all) => all.length),
      faults: await page.$$eval("#scratch-output mjx-merror, .scratch-error", (all) => all.length),
    });
  }
  seen.buttonAfter = await text("run");

  await write("import paramsym as ps\n\nprint('before')\nps.MultiHeadAttention(786, 12)\n");
  await runKeys();
  seen.error = { status: await text("status"), text: await page.innerText("#scratch-output") };

  await write("import paramsym as ps\n\nps.H\n\nps.F\n");
  await runKeys();
  await page.click("#scratch-output .scratch-source >> nth=1");
  seen.line = await page.evaluate(() => {
    const cell = document.activeElement;
    return cell.value.slice(cell.selectionStart, cell.selectionEnd);
  });

  await write("while True:\n    pass\n");
  await page.press("#scratch-cell", "Control+Enter");
  await page.waitForFunction(() => document.getElementById("scratch-status").textContent === "Running …");
  seen.alive = await page.evaluate(() => 6 * 7); // the page answers while the cell is busy
  await page.click("#scratch-stop");
  seen.stopped = await text("status");
  await write("6 * 7");
  await runKeys();
  seen.again = await page.innerText("#scratch-output");

  await write("");
  await page.focus("#scratch-cell");
  await page.keyboard.type("if True:\npass");
  seen.indented = await value();
  await page.keyboard.press("Shift+Tab");
  seen.unindented = await value();
  await page.keyboard.press("Tab");
  seen.tabbed = await value();
  await page.keyboard.press("Control+z");
  seen.undone = await value();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  seen.focus = await page.evaluate(() => document.activeElement.id);

  await page.selectOption("#scratch-example", "0");
  await page.selectOption("#scratch-example", "mine");
  seen.mine = await value();

  seen.widths = [];
  for (const width of [400, 800, 2000]) {
    await page.setViewportSize({ width, height: 800 });
    seen.widths.push([width, await page.evaluate(() => document.documentElement.scrollWidth)]);
  }
  await browser.close();
  process.stdout.write(JSON.stringify(seen));
}

main(...process.argv.slice(2)).catch((error) => {
  process.stderr.write(String(error.stack));
  process.exit(1);
});
