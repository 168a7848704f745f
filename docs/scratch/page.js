// The page around the cell: examples, keys, the worker that runs a cell, and what it sends back.
(() => {
  const [told, example, cell, run, stop, status, output] = ["told", "example", "cell", "run", "stop", "status", "output"].map((name) =>
    document.getElementById(`scratch-${name}`),
  );
  const { examples, megabytes, leftOut } = window.scratch;
  let worker = null; // loaded by the first run, and again after a stop
  let running = false;

  function element(tag, text, kind) {
    const made = document.createElement(tag);
    made.textContent = text;
    if (kind) made.className = `scratch-${kind}`;
    return made;
  }

  // Examples, and the reader's own text beside them.

  let mine = null; // what the reader wrote, kept when an example is chosen
  let chosen = "0";

  function choose() {
    if (chosen === "mine" || cell.value !== examples[chosen].text) {
      if (mine === null) example.append(new Option("What you wrote", "mine"));
      mine = cell.value;
    }
    chosen = example.value;
    put(chosen === "mine" ? mine : examples[chosen].text);
  }

  function put(text) {
    cell.value = text;
    cell.rows = Math.min(Math.max(text.split("\n").length + 1, 8), 20); // the button and the first answer stay in sight
  }

  examples.forEach(({ title }, index) => example.append(new Option(title, index)));
  example.addEventListener("change", choose);
  put(examples[0].text);

  // Keys.

  let leaving = false; // Esc was pressed: the next Tab moves on

  function insert(text) {
    document.execCommand("insertText", false, text); // the one way that keeps the browser's undo
  }

  function lineStart() {
    return cell.value.lastIndexOf("\n", cell.selectionStart - 1) + 1;
  }

  function indent(back) {
    const [from, to, start] = [cell.selectionStart, cell.selectionEnd, lineStart()];
    if (!back && from === to) return insert("    ");
    const lines = cell.value.slice(start, to).split("\n");
    const moved = lines.map((line) => (back ? line.replace(/^ {1,4}/, "") : line && `    ${line}`));
    cell.setSelectionRange(start, to);
    insert(moved.join("\n"));
    const end = start + moved.join("\n").length;
    if (from === to) cell.setSelectionRange(Math.max(start, from - lines[0].length + moved[0].length), end);
    else cell.setSelectionRange(start, end);
  }

  cell.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey || event.shiftKey)) {
      event.preventDefault();
      if (!run.disabled) start();
    } else if (event.key === "Enter" && !event.altKey) {
      event.preventDefault();
      const line = cell.value.slice(lineStart(), cell.selectionStart);
      insert(`\n${line.match(/^ */)[0]}${line.trimEnd().endsWith(":") ? "    " : ""}`);
    } else if (event.key === "Tab" && !leaving && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      indent(event.shiftKey);
    }
    if (event.key !== "Shift") leaving = event.key === "Escape";
  });
  cell.addEventListener("blur", () => (leaving = false));

  function goTo(line) {
    const lines = cell.value.split("\n");
    const from = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    cell.focus();
    cell.setSelectionRange(from, from + (lines[line - 1] ?? "").length);
    cell.scrollIntoView({ block: "nearest" });
  }

  // What comes back.

  async function formula(latex) {
    const block = element("div", latex, "formula"); // read as it is written, until it is typeset
    output.append(block);
    await window.MathJax.startup.promise;
    const set = await window.MathJax.tex2chtmlPromise(latex, { display: true });
    block.replaceChildren(set);
    window.MathJax.startup.document.clear();
    window.MathJax.startup.document.updateDocument();
  }

  const show = {
    source: (text, line) => {
      const from = element("button", text, "source");
      from.type = "button";
      from.title = `line ${line}`;
      from.addEventListener("click", () => goTo(line));
      output.append(from);
    },
    latex: formula,
    html: (text) => {
      const block = element("div", "", "html");
      block.innerHTML = text; // what the library writes for notebooks
      for (const folded of block.querySelectorAll("details")) folded.open = folded.querySelectorAll("tr").length <= 40;
      output.append(block);
    },
    text: (text) => {
      if (output.lastChild?.className === "scratch-text") output.lastChild.textContent += text;
      else output.append(element("pre", text, "text"));
    },
    error: (text, line) => {
      const [message, ...lines] = text.split("\n");
      const block = element("div", "", "error");
      block.append(element("p", message));
      if (lines.length) block.append(element("pre", lines.join("\n")));
      output.append(block);
      failedAt = line;
    },
  };

  // Running.

  let began = 0;
  let failedAt = null;

  function state(busy, text) {
    running = busy;
    run.disabled = busy;
    run.textContent = worker === null ? `Run (loads ${megabytes} MB)` : "Run";
    stop.disabled = !busy;
    output.setAttribute("aria-busy", busy);
    status.textContent = text;
  }

  function end(text) {
    worker?.terminate();
    worker = null;
    state(false, text);
  }

  function receive({ data: { kind, text, line } }) {
    if (kind === "stage") state(true, text);
    else if (kind === "began") {
      began = performance.now();
      state(true, "Running …");
    } else if (kind === "done") {
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      state(false, failedAt === null ? `Done in ${seconds} s.` : failedAt ? `An error in line ${failedAt}.` : "An error.");
    } else if (kind === "failed") {
      show.error(text, 0);
      end("Python crashed; the next run loads it again.");
    } else show[kind](text, line);
  }

  function start() {
    output.replaceChildren();
    failedAt = null;
    if (worker === null) {
      worker = new Worker("scratch/worker.js", { type: "module" });
      worker.onmessage = receive;
      worker.onerror = (event) => {
        show.error(event.message ?? "A file of the page cannot be loaded.", 0);
        end("The library could not be loaded.");
      };
    }
    state(true, "Starting …");
    worker.postMessage(cell.value);
  }

  run.addEventListener("click", start);
  stop.addEventListener("click", () => {
    end("Stopped. The next run loads the library again.");
    run.focus();
  });

  // Where it cannot run.

  state(false, "");
  if (window.location.protocol === "file:") {
    const folder = decodeURIComponent(window.location.pathname).replace(/\/[^/]*$/, "");
    told.append("A browser runs Python only from a web server, and this page was opened as a file. Type this, then open the address: ");
    told.append(element("code", `python -m http.server --directory "${folder}"`), " ");
    const link = element("a", "http://localhost:8000/scratch.html");
    link.href = link.textContent;
    told.append(link);
  } else if (leftOut) {
    told.append(`This copy of the documentation cannot run the cell: ${leftOut}. The examples run in any Python that has the library.`);
  }
  if (told.hasChildNodes()) {
    told.hidden = false;
    run.disabled = true;
    run.textContent = "Run";
  }
})();
