import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { createPrinter } from "../../../server/cli/create-printer.ts";
import { printItem, printList } from "../../../server/cli/render.ts";
import type { Noun } from "../../../server/cli/table/command.ts";
import type { Format } from "../../../server/cli/table/printer.ts";

export interface Printed {
  readonly out: string[];
  readonly err: string[];
}

/**
 * Prints a response as the command of a noun does, without a gateway.
 * @param header headers of the response
 */
export async function printed<Schema extends DescMessage>(
  noun: Noun,
  name: string,
  message: MessageShape<Schema>,
  options: {
    readonly format?: Format;
    readonly header?: Readonly<Record<string, string>>;
    readonly values?: object;
  } = {},
): Promise<Printed> {
  const { format = "table", header = {}, values = {} } = options;
  const { rendering } = noun.commands.find((each) => each.name === name) ?? {};
  const lines: Printed = { out: [], err: [] };
  const output = {
    out: (text: string) => void lines.out.push(...text.split("\n")),
    err: (line: string) => void lines.err.push(line),
  };
  const printer = createPrinter(output, format);
  const answer = { message, header: new Headers(header) };
  if (rendering?.kind === "list") {
    await printList(rendering, async () => answer, values as never, printer);
  } else if (rendering?.kind === "show") {
    printItem(rendering, answer, values as never, printer);
  } else {
    throw new TypeError(`${name} is neither a list nor one item`);
  }
  return lines;
}
