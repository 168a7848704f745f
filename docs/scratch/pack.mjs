// node pack.mjs PYODIDE SOURCE TARGET EXAMPLE...: run precompile.py inside Pyodide on the archive SOURCE, and write the archive TARGET.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [pyodide, source, target, ...examples] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`));
const python = await loadPyodide({ stdout: () => {}, stderr: () => {} });
const site = python.runPython("import site; site.getsitepackages()[0]");
python.unpackArchive(new Uint8Array(readFileSync(source)), "zip", { extractDir: site });
python.FS.writeFile("/tmp/precompile.py", readFileSync(new URL("precompile.py", import.meta.url)));
python.runPython("import sys; sys.path.append('/tmp')");
const texts = examples.map((path) => readFileSync(path, "utf8"));
python.pyimport("precompile").pack(site, JSON.stringify(texts), "/tmp/libraries.zip");
writeFileSync(target, python.FS.readFile("/tmp/libraries.zip"));
