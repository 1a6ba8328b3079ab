// A client of the TypeScript SDK: takes its steps as lines of JSON on stdin, answers each in a line.
//
//   node client.mjs PROGRAM ARGUMENT...                     the server that is started
//   {"list": true}                                          tools/list
//   {"call": NAME, "arguments": {}, "abort_after_ms": 500}  tools/call, cancelled after a while
//   {"together": [STEP, ...]}                               several at once
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

// Installed elsewhere than beside this file, where `import` does not look.
const require = createRequire(`${process.env.MDVISION_NODE_MODULES}/`);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "mdvision-tests", version: "1.0.0" });

async function take(step) {
  if (step.together) return { together: await Promise.all(step.together.map(take)) };
  const progress = [];
  try {
    return { result: await asked(step, progress), progress };
  } catch (error) {
    return { thrown: { name: error.name, code: error.code, message: error.message }, progress };
  }
}

function asked(step, progress) {
  if (step.list) return client.listTools();
  const abort = new AbortController();
  if (step.abort_after_ms) setTimeout(() => abort.abort("not wanted any more"), step.abort_after_ms);
  return client.callTool({ name: step.call, arguments: step.arguments }, undefined, {
    signal: abort.signal,
    onprogress: (told) => progress.push(told),
  });
}

await client.connect(new StdioClientTransport({ command, args, stderr: "inherit" }));
const hello = {
  server: client.getServerVersion(),
  capabilities: client.getServerCapabilities(),
  instructions: client.getInstructions(),
};
console.log(JSON.stringify(hello));
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await take(JSON.parse(line))));
}
await client.close();
