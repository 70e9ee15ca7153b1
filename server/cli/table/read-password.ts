import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import type { ReadStream } from "node:tty";
import { UsageError } from "./usage-error.ts";

/** Streams for reading a password and for prompting. */
export interface PasswordInput {
  readonly stdin: NodeJS.ReadStream | ReadStream;
  readonly stderr: NodeJS.WritableStream;
}

/** Reads a secret that exists already: on a terminal once, without echo; otherwise the single line of stdin. */
export async function readSecret(question: string, input: PasswordInput = process): Promise<string> {
  const secret = input.stdin.isTTY ? await ask(`${question}: `, input) : await lineOf(input);
  if (secret === "") {
    throw new UsageError(`no ${question.toLowerCase()} was given`);
  }
  return secret;
}

async function lineOf({ stdin }: PasswordInput): Promise<string> {
  const lines = (await text(stdin)).replace(/\r?\n$/, "").split(/\r?\n/);
  const [line = ""] = lines;
  if (line === "" || lines.length > 1) {
    throw new UsageError(
      "expected the password as a single line on stdin; run on a terminal to be prompted for it",
    );
  }
  return line;
}

/**
 * Reads a password without showing it: on a terminal it prompts twice, without echo; otherwise it reads the single line of
 * stdin. Never taken from an argument, since every user of the host can read those.
 * @throws UsageError when no password is given, when the two differ, or when the prompt is interrupted
 */
export async function readPassword(question: string, input: PasswordInput = process): Promise<string> {
  if (!input.stdin.isTTY) {
    return lineOf(input);
  }
  const password = await ask(`${question}: `, input);
  if (password === "") {
    throw new UsageError("no password was given; nothing was changed");
  }
  if (password !== (await ask("Repeat the password: ", input))) {
    throw new UsageError("the two passwords differ; nothing was changed");
  }
  return password;
}

function ask(prompt: string, { stdin, stderr }: PasswordInput): Promise<string> {
  // Readline edits the line and echoes it; the echo is discarded.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output, terminal: true, historySize: 0 });
  stderr.write(prompt);
  return new Promise((resolve, reject) => {
    lines.once("line", resolve);
    lines.once("SIGINT", () => reject(new UsageError("interrupted; nothing was changed")));
    // The end of the terminal's input. After a line has been read this has no effect.
    lines.once("close", () => reject(new UsageError("no password was given; nothing was changed")));
  }).then(
    (line) => end(String(line)),
    (error) => {
      end("");
      throw error;
    },
  );

  function end(line: string): string {
    lines.close();
    stderr.write("\n");
    return line;
  }
}
