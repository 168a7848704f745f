// The library itself, in a thread of its own: it can be stopped, and the page never waits for it.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const say = (kind, text = "", line = 0) => postMessage({ kind, text, line });

async function start() {
  say("stage", "Loading Python …");
  const libraries = fetch(new URL("libraries.zip", import.meta.url)).then((answer) => {
    if (!answer.ok) throw new Error(`libraries.zip: ${answer.status} ${answer.statusText}`);
    return answer.arrayBuffer();
  });
  const stdin = () => null; // nobody is there to answer input()
  const [python, archive] = await Promise.all([loadPyodide({ stdin }), libraries]);
  say("stage", "Loading SymPy and paramsym …");
  const site = python.runPython("import site; site.getsitepackages()[0]");
  python.unpackArchive(archive, "zip", { extractDir: site });
  python.runPython("import paramsym, sympy");
  return python.pyimport("cell");
}

const started = start();

onmessage = async ({ data }) => {
  try {
    const cell = await started;
    say("began");
    cell.run(data, say);
    say("done");
  } catch (error) {
    say("failed", String(error.message ?? error)); // Python itself broke: too deep a recursion, no memory left, a file that is missing
  }
};
