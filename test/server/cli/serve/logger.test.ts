import { test } from "tap";
import { createLogger } from "../../../../server/cli/serve/logger.ts";
import type { Config } from "../../../../server/gateway/config/schema.ts";

function linesOf(
  log: Config["log"],
  isTTY: boolean,
  write: (logger: ReturnType<typeof createLogger>) => void,
): string[] {
  const lines: string[] = [];
  write(createLogger(log, { isTTY, write: (line: string) => void lines.push(line) }));
  return lines;
}

test("auto is pretty on a terminal and JSON elsewhere", async (t) => {
  const log = { level: "info", format: "auto" } as const;
  const [json = ""] = linesOf(log, false, (logger) => logger.info({ tool: "lvs" }, "hello"));
  t.match(JSON.parse(json), { msg: "hello", tool: "lvs", level: 30 });
  const [pretty = ""] = linesOf(log, true, (logger) => logger.info({ tool: "lvs", n: 1 }, "hello"));
  t.match(pretty, /^\d\d:\d\d:\d\d\.\d{3} \S*INFO \S* hello tool=lvs n=1\n$/);
  const [plain = ""] = linesOf({ level: "info", format: "pretty" }, false, (logger) => logger.warn("hello"));
  t.match(plain, /^\S+ WARN {2}hello\n$/);
});

test("a pretty record stays on one line whatever it contains", async (t) => {
  const lines = linesOf({ level: "info", format: "pretty" }, false, (logger) =>
    logger.error({ said: "a\nb\u001b[31m" }, "two\nlines\u009b"),
  );
  t.match(lines, [/^[^\p{Cc}]*\n$/u]);
});

test("a pretty record contains the stack only at level debug", async (t) => {
  const fail = (logger: ReturnType<typeof createLogger>) =>
    logger.error({ err: new Error("boom") }, "failed");
  t.match(linesOf({ level: "info", format: "pretty" }, false, fail), [/^\S+ ERROR failed err=boom\n$/]);
  t.match(linesOf({ level: "debug", format: "pretty" }, false, fail), [/err=boom\nError: boom\n {4}at /]);
});
