import { type DescMessage, isMessage, type Message } from "@bufbuild/protobuf";
import { type Operation, OperationSchema } from "../../gen/hostplane/v1/operation_pb.ts";
import type { Command, Rendering } from "./table/command.ts";
import { fieldText } from "./table/field-text.ts";
import { followOperation } from "./table/follow-operation.ts";
import { jsonOfMessage } from "./table/message-json.ts";
import { operationSummary } from "./table/operation-text.ts";
import type { ExitCode } from "./table/output.ts";
import { printOne } from "./table/print-one.ts";
import { printableLine } from "./table/printable-line.ts";
import type { Printer } from "./table/printer.ts";
import type { Answer, Session, Stream } from "./table/session.ts";
import { whileRead } from "./while-read.ts";
import { withoutMissing } from "./without-missing.ts";

type RenderingOf<Kind extends Rendering["kind"]> = Extract<Rendering, { readonly kind: Kind }>;

/** A response of some RPC; a row's own functions know its type. */
type AnyAnswer = Answer<DescMessage>;

/** Reads the page of a list that starts at the token. */
export type ReadPage = (pageToken: string, pageSize: number) => Promise<AnyAnswer>;

const maxPageSize = 1000;

/** Of lists with `--limit`. */
const limitDefault = 100;

/** Prints the items of all pages as one table or document, at most `limit` of them. */
export async function printList(
  rendering: RenderingOf<"list">,
  readPage: ReadPage,
  values: object,
  printer: Printer,
): Promise<void> {
  const { schema, id } = rendering;
  const items: Message[] = [];
  let last: AnyAnswer | undefined;
  for await (const answer of pages(readPage, limitOf(values), () => items.length)) {
    items.push(...rendering.items(answer.message));
    last = answer;
  }
  const missing = missingIn(last?.header);
  reportMissing(missing, printer);
  for (const note of last === undefined ? [] : (rendering.notes?.(last.message) ?? [])) {
    printer.err(note);
  }
  switch (printer.format) {
    case "name":
      for (const item of items) {
        printer.out(nameOf(item, id));
      }
      break;
    case "table":
      printTable(rendering, items, values, printer);
      break;
    default: {
      const json = items.map((item) => jsonOfMessage(schema, item));
      printer.document(withoutMissing(json, missing));
    }
  }
}

function printTable(
  { schema, columns, optionalColumns = [], below }: RenderingOf<"list">,
  items: readonly Message[],
  values: object,
  printer: Printer,
): void {
  const head = Object.keys(columns);
  const rows = items.map((item) =>
    Object.values(columns).map((cell) =>
      typeof cell === "string" ? fieldText(schema, item, cell) : cell(item),
    ),
  );
  const isShown = head.map(
    (name, index) => !optionalColumns.includes(name) || rows.some((row) => row[index] !== ""),
  );
  const shown = (cells: readonly string[]) => cells.filter((_cell, index) => isShown[index]);
  printer.table(
    { head: shown(head), rows: rows.map(shown) },
    items.map((item) => below?.(item, values) ?? []),
  );
}

/** Prints items page by page, so that a long log needs no memory. */
export async function printLog(
  { schema, items, lines }: RenderingOf<"log">,
  readPage: ReadPage,
  printer: Printer,
): Promise<void> {
  for await (const { message } of pages(readPage, Number.POSITIVE_INFINITY, () => 0)) {
    for (const item of items(message)) {
      if (printer.format === "table" && lines !== undefined) {
        for (const line of lines(item)) {
          printer.out(line);
        }
      } else {
        const json = jsonOfMessage(schema, item);
        printer.format === "yaml" ? printer.documentInStream(json) : printer.out(JSON.stringify(json));
      }
    }
  }
}

async function* pages(readPage: ReadPage, limit: number, countSoFar: () => number) {
  let pageToken = "";
  do {
    const answer = await readPage(pageToken, Math.min(limit - countSoFar(), maxPageSize));
    yield answer;
    const { nextPageToken = "" } = answer.message as { readonly nextPageToken?: string };
    pageToken = nextPageToken;
  } while (pageToken !== "" && countSoFar() < limit);
}

/** Prints what is known about one thing. @throws Error when the response has none */
export function printItem(
  { schema, item, view, id }: RenderingOf<"show">,
  { message, header }: AnyAnswer,
  values: object,
  printer: Printer,
): void {
  const shown = item(message, values);
  if (shown === undefined) {
    throw new Error("the gateway returned nothing");
  }
  const missing = missingIn(header);
  reportMissing(missing, printer);
  printOne(
    printer,
    schema,
    shown,
    nameOf(shown, id),
    () => view(shown, { missing, header }),
    (json) => withoutMissing(json, missing),
  );
}

/** Prints the operation that a change has started; with `wait` also its progress. Fails unless it completes then. */
export async function printOperation(
  answer: AnyAnswer,
  session: Session,
  isWaiting: boolean,
  printer: Printer,
): Promise<ExitCode> {
  const { operation } = answer.message as { readonly operation?: Operation };
  if (operation === undefined || !isMessage(operation, OperationSchema)) {
    throw new Error("the gateway returned no operation");
  }
  if (isWaiting) {
    return (await followOperation(session, operation.id, printer)) ? 0 : 1;
  }
  const line = `operation ${operation.id}: ${operationSummary(operation)}`;
  printOne(printer, OperationSchema, operation, operation.id, () => ({ lines: [line] }));
  return 0;
}

/** Prints what a change has done. */
export function printChange(
  { done, id, notes }: Pick<RenderingOf<"change">, "done" | "id" | "notes">,
  { message }: AnyAnswer,
  output: DescMessage,
  values: object,
  printer: Printer,
): void {
  const name = id === undefined ? String(Object.values(values)[0] ?? "") : id(message, values);
  printOne(printer, output, message, name, () => ({ lines: [done(message, values)] }));
  for (const note of notes?.(message, values) ?? []) {
    printer.err(note);
  }
}

/**
 * Prints the messages of a stream as they come, no faster than they are read, until the stream ends or stdout is closed. Returns
 * the last message.
 */
export async function printStream(
  follow: (signal: AbortSignal) => Promise<Stream<DescMessage>>,
  createLines: () => (message: Message) => readonly string[],
  toPrint: (message: Message) => readonly [DescMessage, object] | undefined,
  printer: Printer,
): Promise<Message | undefined> {
  const linesOf = createLines();
  const isDocument = printer.format === "json" || printer.format === "yaml";
  let last: Message | undefined;
  await whileRead(async (signal) => {
    const { messages, header } = await follow(signal);
    // Operations go on when this command is stopped; their ids allow following or cancelling them.
    for (const id of isDocument ? [] : (header.get("hostplane-operation")?.split(", ") ?? [])) {
      printer.out(`operation ${id}`);
    }
    for await (const message of messages) {
      last = message;
      if (isDocument) {
        const printed = toPrint(message);
        if (printed !== undefined) {
          const [of, part] = printed;
          printer.documentInStream(jsonOfMessage(of, part as never));
        }
      } else {
        for (const line of linesOf(message)) {
          printer.out(line);
        }
      }
      await printer.drained(signal);
    }
  });
  return last;
}

/** Returns the name of an item for commands: what `id` says, otherwise its id or name. */
function nameOf(item: Message, id: ((item: Message) => string) | undefined): string {
  const { id: ownId, name = "" } = item as Message & { readonly id?: unknown; readonly name?: string };
  return printableLine(id === undefined ? String(ownId ?? name) : id(item));
}

/** Returns the number after `--limit`. */
function limitOf(values: object): number {
  const { limit } = values as { readonly limit?: number };
  return Object.hasOwn(values, "limit") ? (limit ?? limitDefault) : Number.POSITIVE_INFINITY;
}

function missingIn(header: Headers | undefined): string[] {
  return header?.get("hostplane-missing")?.split(", ") ?? [];
}

function reportMissing(missing: readonly string[], printer: Printer): void {
  if (missing.length > 0) {
    printer.err(`could not be read: ${missing.join(", ")}`);
  }
}

/** Reports whether the command prints operations, which can be waited for. */
export function canWait({ rendering }: Command): boolean {
  switch (rendering.kind) {
    case "operation":
      return true;
    case "change":
      return rendering.follow !== undefined;
    default:
      return rendering.kind === "custom" && rendering.canWait === true;
  }
}
