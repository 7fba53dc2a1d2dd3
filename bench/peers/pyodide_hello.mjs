// A fresh Pyodide in a fresh Node: what "one process per call" costs. Runs the code given, or says hello.
import { loadPyodide } from 'pyodide';

const pyodide = await loadPyodide();
pyodide.runPython(process.argv[2] ?? 'print("hello")');
if (process.argv[3] === 'stay') setTimeout(() => {}, 60_000);
else process.exit(0);
