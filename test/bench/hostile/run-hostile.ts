import { parseArgs } from "node:util";
import { buildSandbox } from "../servers/built-gateway.ts";
import { runHostile } from "./hostile.ts";

// npm run bench -- hostile [--seconds 300] [--connections 1000]: fails when a limit is exceeded.

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "300" },
    connections: { type: "string", default: "1000" },
  },
});
await using opened = new AsyncDisposableStack();
const report = await runHostile({
  argvOf: await buildSandbox(opened),
  connections: Number(values.connections),
  quietMs: 20_000,
  attackMs: Number(values.seconds) * 1000,
  isPinned: true,
});
const rows = {
  "process survived": report.hasSurvived,
  "limit of 768 MiB by a cgroup": report.isMemoryLimited,
  "RSS before, MiB": Math.round(report.quietRssMib),
  "maximum RSS, MiB (below 300)": Math.round(report.maxRssMib),
  "p99 of a client, quiet, ms": report.quietP99Ms.toFixed(2),
  "p99 of a client, attacked, ms (below 3 times)": report.attackP99Ms.toFixed(2),
  "slowest Login from another address, ms (below 2000)": Math.round(report.loginWorstMs),
  Logins: report.logins,
  "failed calls": report.failures.length,
  "connections of attackers": report.connections,
};
for (const [name, value] of Object.entries(rows)) {
  process.stdout.write(`${name}: ${value}\n`);
}
for (const failure of report.failures.slice(0, 5)) {
  process.stdout.write(`  ${failure}\n`);
}
const isMet =
  report.hasSurvived &&
  report.maxRssMib < 300 &&
  report.attackP99Ms < 3 * report.quietP99Ms &&
  report.loginWorstMs < 2000 &&
  report.failures.length === 0;
process.exitCode = isMet ? 0 : 1;
