import { createInterface } from "node:readline";
import type { ReadStream } from "node:tty";

/** Streams on which a person is asked. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream | ReadStream;
  readonly stderr: NodeJS.WriteStream | (NodeJS.WritableStream & { readonly isTTY?: boolean });
}

/** Reports whether a person can be asked. */
export function canAsk({ stdin, stderr }: Terminal = process): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** Asks a question on stderr and returns the answer; empty if the input ends or is interrupted. */
export function ask(question: string, { stdin, stderr }: Terminal = process): Promise<string> {
  const lines = createInterface({ input: stdin, output: stderr, terminal: false });
  stderr.write(question);
  return new Promise((resolve) => {
    lines.once("line", resolve);
    lines.once("SIGINT", () => resolve(""));
    lines.once("close", () => resolve(""));
  }).then((answer) => {
    lines.close();
    return String(answer).trim();
  });
}

/** Asks a question that is answered with yes or no. Anything else than y or yes means no. */
export async function confirms(question: string, terminal: Terminal = process): Promise<boolean> {
  return /^y(es)?$/i.test(await ask(`${question} [y/N] `, terminal));
}
