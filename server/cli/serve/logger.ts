import { styleText } from "node:util";
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from "pino";
import type { Config } from "../../gateway/config/schema.ts";
import { traceLogFields } from "../../observability/active-span.ts";

/** Destination of log records. `isTTY` decides whether `auto` is pretty, and whether colours are used. */
export type LogStream = DestinationStream & { readonly isTTY?: boolean };

/** Reports whether the log uses the format for people: on request, or with `auto` on a terminal. */
function isPretty(format: Config["log"]["format"], stream: LogStream): boolean {
  return format === "pretty" || (format === "auto" && stream.isTTY === true);
}

/** Creates the gateway's logger, writing to `stream`. A pretty log shows error stacks only at level debug or trace. */
export function createLogger({ level, format }: Config["log"], stream: LogStream): Logger {
  const hasStacks = level === "debug" || level === "trace";
  const destination = isPretty(format, stream) ? createPrettyStream(stream, hasStacks) : stream;
  return pino({ level, timestamp: stdTimeFunctions.isoTime, mixin: traceLogFields }, destination);
}

const labels: Readonly<Record<number, readonly [string, Parameters<typeof styleText>[0]]>> = {
  10: ["TRACE", "dim"],
  20: ["DEBUG", "dim"],
  30: ["INFO ", "green"],
  40: ["WARN ", "yellow"],
  50: ["ERROR", "red"],
  60: ["FATAL", "red"],
};

/** Formats pino's records as `12:00:00.123 INFO  message key=value`. */
function createPrettyStream(stream: LogStream, hasStacks: boolean): DestinationStream {
  return {
    write(record) {
      const { level, time, pid: _pid, hostname: _host, msg = "", err, ...rest } = JSON.parse(record);
      const [label, style] = labels[level] ?? ["?", "dim"];
      const facts = Object.entries({ ...rest, ...(err === undefined ? {} : { err: err.message }) });
      const parts = [
        String(time).slice(11, 23),
        stream.isTTY ? styleText(style, label, { validateStream: false }) : label,
        onOneLine(String(msg)),
        ...facts.map(
          ([name, value]) =>
            `${name}=${typeof value === "string" ? onOneLine(value) : JSON.stringify(value)}`,
        ),
      ];
      stream.write(`${parts.join(" ")}\n${hasStacks && err?.stack ? `${err.stack}\n` : ""}`);
    },
  };
}

/** Text from a tool or client must not be able to end the line or send control characters to the terminal. */
function onOneLine(text: string): string {
  return /^[^\p{Cc}]*$/u.test(text) ? text : JSON.stringify(text).replaceAll(/[\u007f-\u009f]/g, "?");
}
